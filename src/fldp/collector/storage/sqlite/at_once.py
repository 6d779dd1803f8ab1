"""A commit in one statement: submissions whose keys are all new, of one segment, as nearly every commit is.

Each statement lets other threads run, and must then wait for its turn among them. So a view that only this connection
has takes the whole commit as one row, and its trigger writes it: one statement is a transaction by itself.
"""

import sqlite3

from fldp.collector.storage.admission import NewRows, NotAllNew
from fldp.collector.storage.checksums import with_checksum
from fldp.collector.storage.protocol import Row
from fldp.collector.storage.sqlite.writes import IS_CLOSED, schema, state_digest
from fldp.collector.storage.tables import COLUMNS

_COLUMNS = "survey, day, kind, n, folded, data, checksum, hashes, numbers, commits, latest, digest"
_MARKS = ", ".join("?" * len(_COLUMNS.split(", ")))
_INSERT = f"INSERT INTO new_rows ({_COLUMNS}) VALUES ({_MARKS})"  # noqa: S608
_VIEW = "CREATE TEMP VIEW new_rows AS SELECT " + ", ".join(f"NULL AS {name}" for name in _COLUMNS.split(", "))

# The hashes of key, body and day follow each other, row by row. Of json_each(), ``key`` is the place of a row, and
# ``value`` is how many reports were accepted, above 32 bits of checksum.
_TRIGGER = f"""
CREATE TEMP TRIGGER commit_new_rows INSTEAD OF INSERT ON new_rows BEGIN
    SELECT RAISE(ABORT, 'not all new')
    WHERE NOT EXISTS (SELECT 1 FROM surveys WHERE number = NEW.survey AND NOT {IS_CLOSED})
        OR NOT EXISTS (
            SELECT 1 FROM state, pragma_user_version
            WHERE commits = NEW.commits AND digest = NEW.latest AND user_version = {{schema}}
        );
    INSERT INTO keys ({COLUMNS["keys"]})
        SELECT NEW.survey, substr(NEW.hashes, 96 * key + 1, 32), substr(NEW.hashes, 96 * key + 33, 32),
            value >> 32, substr(NEW.hashes, 96 * key + 65, 32), 0, value & 0xffffffff
        FROM json_each(NEW.numbers);
    INSERT INTO segments ({COLUMNS["segments"]})
        VALUES (NEW.survey, NEW.day, NEW.kind, NEW.n, NEW.folded, NEW.data, NEW.checksum);
    UPDATE state SET commits = commits + 1, digest = NEW.digest;
END
"""  # noqa: S608


def prepare(connection: sqlite3.Connection) -> None:
    """Make the view and its trigger; nothing of them is in the file."""
    connection.execute(_VIEW)
    connection.execute(_TRIGGER.format(schema=schema()))


def commit_at_once(connection: sqlite3.Connection, new: NewRows, state: Row) -> Row:
    """Commit new rows of one segment durably; return the row of the table state, which was ``state`` before.

    Raise ``NotAllNew`` if it was not, or if something else must be decided; then nothing is done.
    """
    ((survey, day, part),) = new.segments
    segment = with_checksum((survey, day, part.kind, part.n, 0, part.data))
    numbers, sums = [row[3] << 32 | row[-1] for row in new.keys], sum(row[-1] for row in new.keys)
    identity, commits, latest, segments, segments_sum, keys, keys_sum, *others = state
    # What the triggers of the tables will have made of it when it is digested.
    row = segments + 1, segments_sum + segment[-1], keys + len(numbers), keys_sum + sums, *others
    digest = state_digest((identity, commits, latest, *row))
    try:
        connection.execute(_INSERT, (*segment, new.hashes, repr(numbers), commits, latest, digest))
    except sqlite3.IntegrityError:
        raise NotAllNew from None
    return identity, commits + 1, digest, *row
