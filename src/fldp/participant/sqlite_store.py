"""FileStore: a participant's answers in one SQLite file.

A commit is on the disk before it ends, and so is the removal of SQLite's journal (``synchronous = EXTRA``). Otherwise a
power cut could bring the journal back, which undoes the commit: the answer would have been sent, and be drawn again.
"""

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fldp.errors import FldpError, ParameterError
from fldp.participant import epochs
from fldp.participant.ledger import Charge, Ledger, Refusals
from fldp.participant.limits import Spent
from fldp.participant.text_files import ChanceFile, TextFile
from fldp.passes.tokens import SECRET_BYTES
from fldp.support.atomic_files import whole_file
from fldp.support.identifiers import PASS
from fldp.support.sqlite_errors import DAMAGED, sqlite_reason
from fldp.support.validation import fail, positive

if TYPE_CHECKING:
    from sqlite3 import Connection

SCHEMA_VERSION = 4
_PASS = re.compile(f"[0-9a-f]{{{2 * SECRET_BYTES}}}|{PASS.pattern}")
_NOTE = re.compile("[ -~]{1,70000}")
_APPLICATION = 0x666C6470  # "fldp": SQLite keeps it in the file's header, so that other files are known as such
_ANSWERS = """CREATE TABLE answers (
    number  INTEGER PRIMARY KEY,  -- the order of answering
    origin  TEXT NOT NULL,        -- whom it was given to
    name    TEXT NOT NULL,        -- of the survey
    topic   TEXT NOT NULL,
    version TEXT NOT NULL,        -- of the survey
    epsilon TEXT NOT NULL,        -- a fraction, as is eta
    eta     TEXT NOT NULL,
    labels  TEXT NOT NULL,        -- identifies the set of labels
    size    INTEGER NOT NULL,     -- the number of labels
    day     TEXT NOT NULL,        -- in UTC
    epoch   TEXT NOT NULL,        -- the week or the month that it is the answer of; nothing where there is one for all
    renews  INTEGER NOT NULL,     -- 1: charged to the limits of that month, 0: to those that last
    kept    BLOB NOT NULL,        -- what is repeated: the batch that was sent and its key, never the true value
    UNIQUE (origin, version, epoch)
)"""
_REFUSALS = """CREATE TABLE refusals (
    number  INTEGER PRIMARY KEY,
    origin  TEXT NOT NULL UNIQUE, -- whose surveys were refused
    count   INTEGER NOT NULL,     -- how often
    day     TEXT NOT NULL         -- of the last time, in UTC
)"""
_BEGINNING = """CREATE TABLE beginning (
    number  INTEGER PRIMARY KEY CHECK (number = 1),
    born    TEXT NOT NULL         -- the day on which this file began, in UTC
)"""
_EPOCHS = "".join(line for line in _ANSWERS.splitlines(keepends=True) if line.lstrip().startswith(("epoch", "renews")))
_ANSWERS_3 = _ANSWERS.replace(_EPOCHS, "").replace("(origin, version, epoch)", "(origin, version)")
_ANSWERS_2 = _ANSWERS_3.replace("    name    TEXT NOT NULL,        -- of the survey\n", "")
_INDEX, _REFUSALS_INDEX = ("sqlite_autoindex_answers_1", None), ("sqlite_autoindex_refusals_1", None)
_OBJECTS = {  # of each schema that can be read, as SQLite keeps them: a change is a new schema
    2: {("answers", _ANSWERS_2), _INDEX},
    3: {("answers", _ANSWERS_3), _INDEX, ("refusals", _REFUSALS), _REFUSALS_INDEX},
    4: {("answers", _ANSWERS), _INDEX, ("refusals", _REFUSALS), _REFUSALS_INDEX, ("beginning", _BEGINNING)},
}
_YES = {0: False, 1: True}
_CHARGES = {
    2: "SELECT origin, topic, version, epsilon, eta, labels, size, day, topic, '', 0 FROM answers ORDER BY number",
    3: "SELECT origin, topic, version, epsilon, eta, labels, size, day, name, '', 0 FROM answers ORDER BY number",
    4: "SELECT origin, topic, version, epsilon, eta, labels, size, day, name, epoch, renews FROM answers"
    " ORDER BY number",
}
_FIND = {  # the answer of an epoch; earlier schemas have none but the empty one
    2: "SELECT kept FROM answers WHERE origin = ? AND version = ? AND '' = ?",
    3: "SELECT kept FROM answers WHERE origin = ? AND version = ? AND '' = ?",
    4: "SELECT kept FROM answers WHERE origin = ? AND version = ? AND epoch = ?",
}
_COPY = {  # from an earlier schema; 2 did not keep a survey's name: its topic, which is the name unless one is given
    2: "INSERT INTO answers SELECT number, origin, topic, topic, version, epsilon, eta, labels, size, day, '', 0, kept"
    " FROM old",
    3: "INSERT INTO answers SELECT number, origin, name, topic, version, epsilon, eta, labels, size, day, '', 0, kept"
    " FROM old",
}


def _upgrade_from(schema: int) -> tuple[str, ...]:
    """Return the steps from an earlier schema to this one; the day on which the ledger began is added to them."""
    return (
        "ALTER TABLE answers RENAME TO old",
        _ANSWERS,
        _COPY[schema],
        "DROP TABLE old",
        *([_REFUSALS] if schema == 2 else []),
        _BEGINNING,
        f"PRAGMA user_version = {SCHEMA_VERSION}",
    )


_BEGIN = "INSERT INTO beginning (number, born) VALUES (1, ?)"
_SCHEMA = f"""
BEGIN;
{_ANSWERS};
{_REFUSALS};
{_BEGINNING};
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""


class FileStore:
    """Answers in one SQLite file, readable by its owner only, safe for any number of processes at once.

    The file is created if missing. One that is damaged, empty or something else is refused and left alone: over a
    fresh ledger everything would be answered again. ``patience`` is how many seconds to wait for other processes.

    Beside it, ``PATH.chances`` has what chance has chosen for surveys that ask only some of their questions, and
    ``PATH.passes`` has passes; ``PATH.notes`` has keys that relays handed out, and when answers are due that wait. They
    belong together: move and copy all of them.

    A file of an earlier schema is read unchanged, and migrated when the first answer or refusal is written. It began on
    that day, as far as limits that renew are concerned. ``born`` is the day on which a file that is made began: today,
    unless the caller has a clock of its own.
    """

    def __init__(self, path: str | Path, *, patience: float = 10.0, born: str | None = None) -> None:
        self.path, self._patience = _absolute(path), positive("FileStore", "patience", patience)
        _create_if_missing(self.path, epochs.today() if born is None else epochs.checked_day("FileStore", "born", born))
        with self.exclusive() as rows:
            rows.check()

    @contextmanager
    def exclusive(self) -> "Iterator[_Rows]":
        """Open the file anew, so that neither threads nor forks share a connection, and lock it."""
        with _plainly(self.path), closing(self._connect()) as connection:  # closing undoes what was not committed
            connection.execute("BEGIN IMMEDIATE")
            rows = _Rows(self.path, connection)
            rows.check_kind()
            yield rows
            connection.execute("COMMIT")

    def _connect(self) -> "Connection":
        """Open an existing file; one that has vanished is not made anew."""
        import sqlite3

        uri = f"{self.path.as_uri()}?mode=rw"
        connection = sqlite3.connect(uri, uri=True, timeout=self._patience, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA fullfsync = ON")
            connection.execute("PRAGMA secure_delete = ON")  # what is replaced is overwritten, whatever the default
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _absolute(path: str | Path) -> Path:
    """Return the absolute path of a file, since the process may change its folder; refuse an impossible name."""
    try:
        if b"\0" not in os.fsencode(path):
            return Path(path).absolute()
    except UnicodeEncodeError:  # half a character
        pass
    raise fail("FileStore", "path", "a name that a file can have", str(path))


def _create_if_missing(path: Path, born: str) -> None:
    try:
        if not path.exists():
            with _plainly(path):
                _create(path, born)
    except OSError as error:
        raise FldpError(f"{path}: cannot be created: {error.strerror}") from None


def _create(path: Path, born: str) -> None:
    """Create a ledger, unless another process was first.

    A file of that name is a ledger from its first moment, so an empty one is a damaged one.
    """
    import sqlite3

    with (
        suppress(FileExistsError),
        whole_file(path, replace=False) as hidden,
        closing(sqlite3.connect(hidden, isolation_level=None)) as connection,
    ):
        connection.executescript(_SCHEMA)
        connection.execute(_BEGIN, (born,))


class _Rows:
    """The rows of a locked file."""

    def __init__(self, path: Path, connection: "Connection") -> None:
        self._path, self._connection = path, connection
        self._schema = SCHEMA_VERSION

    def check_kind(self) -> None:
        """Refuse a file that is not a ledger, or one of another schema."""
        if self._number("application_id") != _APPLICATION:
            raise FldpError(f"{self._path}: is not a ledger of fldp")
        self._schema = self._number("user_version")
        if self._schema not in _OBJECTS:
            *earlier, last = map(str, _OBJECTS)
            readable = f"{', '.join(earlier)} and {last}"
            raise FldpError(f"{self._path}: has schema {self._schema}, this version of fldp reads {readable}")
        objects = self._connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
        if set(objects) != _OBJECTS[self._schema]:  # such as a trigger, which would change what we write
            self._refuse_file()

    def _number(self, pragma: str) -> int:
        return int(self._connection.execute(f"PRAGMA {pragma}").fetchone()[0])

    def _upgrade(self) -> None:
        """Migrate a file of an earlier schema, within the transaction that writes to it."""
        if self._schema == SCHEMA_VERSION:
            return
        for statement in _upgrade_from(self._schema):
            self._connection.execute(statement)
        self._connection.execute(_BEGIN, (epochs.today(),))
        self._schema = SCHEMA_VERSION

    def chance(self, origin: str, version: str) -> int | None:
        return self._chances.find(origin, version)

    def keep_chance(self, origin: str, version: str, word: int) -> None:
        self._chances.add(origin, version, word)

    @property
    def _chances(self) -> ChanceFile:
        return ChanceFile(self._path.with_name(f"{self._path.name}.chances"))

    def kept_pass(self, origin: str, version: str) -> str | None:
        return self._passes.find(origin, version)

    def keep_pass(self, origin: str, version: str, text: str) -> None:
        self._passes.put(origin, version, text)

    @property
    def _passes(self) -> TextFile:
        return TextFile(self._path.with_name(f"{self._path.name}.passes"), "passes", _PASS)

    def note(self, origin: str, about: str) -> str | None:
        return self._notes.find(origin, about)

    def keep_note(self, origin: str, about: str, text: str) -> None:
        self._notes.put(origin, about, text)

    @property
    def _notes(self) -> TextFile:
        return TextFile(self._path.with_name(f"{self._path.name}.notes"), "notes", _NOTE)

    def check(self) -> None:
        """Refuse a file whose structure, index or numbers are damaged."""
        if self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            self._refuse_file()
        _ = self.ledger, self.refusals

    @property
    def ledger(self) -> Ledger:
        rows = self._connection.execute(_CHARGES[self._schema])
        return Ledger(tuple(self._charge(*row) for row in rows), self._born)

    @property
    def _born(self) -> str:
        """The day on which the ledger began; one of an earlier schema begins now, as far as anybody knows."""
        if self._schema != SCHEMA_VERSION:
            return epochs.today()
        try:
            ((born,),) = self._connection.execute("SELECT born FROM beginning").fetchall()
            return epochs.checked_day("FileStore", "born", born)
        except (ParameterError, ValueError):
            self._refuse_file()

    @property
    def refusals(self) -> tuple[Refusals, ...]:
        if self._schema == 2:
            return ()
        rows = self._connection.execute("SELECT origin, count, day FROM refusals ORDER BY number").fetchall()
        try:
            return tuple(Refusals(*row) for row in rows)
        except ParameterError:
            self._refuse_file()

    def refuse(self, origin: str, day: str) -> None:
        self._upgrade()
        self._connection.execute(
            "INSERT INTO refusals (origin, count, day) VALUES (?, 1, ?)"
            " ON CONFLICT (origin) DO UPDATE SET count = count + 1, day = excluded.day",
            (origin, day),
        )

    def find(self, origin: str, version: str) -> bytes | None:
        return self.find_epoch(origin, version, "")

    def find_epoch(self, origin: str, version: str, epoch: str) -> bytes | None:
        row = self._connection.execute(_FIND[self._schema], (origin, version, epoch)).fetchone()
        if row is not None and not isinstance(row[0], bytes):
            self._refuse_file()
        return None if row is None else bytes(row[0])

    def add(self, charge: Charge, kept: bytes) -> None:
        self._upgrade()
        cost = (str(charge.cost.epsilon), str(charge.cost.eta))
        named = (charge.origin, charge.name, charge.topic, charge.version)
        self._connection.execute(
            "INSERT INTO answers (origin, name, topic, version, epsilon, eta, labels, size, day, epoch, renews, kept)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*named, *cost, charge.labels, charge.size, charge.day, charge.epoch, charge.renews, kept),
        )

    def replace(self, charge: Charge, kept: bytes) -> None:
        self._upgrade()
        self._connection.execute(
            "UPDATE answers SET kept = ? WHERE origin = ? AND version = ? AND epoch = ?",
            (kept, charge.origin, charge.version, charge.epoch),
        )

    def _charge(self, *row: Any) -> Charge:
        try:
            origin, topic, version, epsilon, eta, labels, size, day, name, epoch, renews = row
            cost = Spent(Fraction(epsilon), Fraction(eta), 1)
            return Charge(origin, topic, version, cost, labels, size, day, name, epoch, _YES[renews])
        except (ParameterError, ValueError, TypeError, KeyError, ZeroDivisionError):
            self._refuse_file()

    def _refuse_file(self) -> NoReturn:
        raise FldpError(f"{self._path}: {DAMAGED}")


@contextmanager
def _plainly(path: Path) -> Iterator[None]:
    """Raise errors of SQLite as one line about the file."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise FldpError(f"{path}: {sqlite_reason(error)}") from None
