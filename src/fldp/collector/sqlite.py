"""SqliteStore: everything in one file, one writer, any number of readers."""

import functools
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import cast

from fldp.collector import sqlite_file
from fldp.collector.admission import Admission, gained
from fldp.collector.sqlite_snapshot import SqliteSnapshot, entry, segment
from fldp.collector.store import Entry, Fold, Outcome, Segment, Snapshot, StoreError, Submission, Token
from fldp.collector.tables import COLUMNS, OWNED, counted

_PURGED = 500  # rows deleted in one transaction, so that reports need not wait long


class SqliteStore:
    """A store in one SQLite file, made if there is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = SqliteStore(Path(folder) / "fldp.db")
    ...     print(store.find("0" * 64), store.tokens())
    ...     store.close()
    None []
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        sqlite_file.prepare(path)
        self._lock = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._closed, self._traces = False, True
        with sqlite_file.plainly(path):
            self._writer = sqlite_file.connect(path, writes=True)
            sqlite_file.check(path, self._writer)

    # ------------------------------------------------------------------------------------------- connections

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; all of it is on the disk when this ends, or none of it is done."""
        with self._lock, sqlite_file.plainly(self.path):
            if self._closed:
                raise StoreError(f"{self.path}: is closed")
            if self._writer.in_transaction:  # one that could not be undone when it failed
                self._writer.execute("ROLLBACK")
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """One read transaction, on a connection of its own."""
        with sqlite_file.plainly(self.path):
            connection = self._borrow()
            try:
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.close()
                raise
            self._readers.append(connection)

    def _borrow(self) -> sqlite3.Connection:
        try:
            return self._readers.pop()
        except IndexError:
            return sqlite_file.connect(self.path, writes=False)

    @contextmanager
    def snapshot(self) -> Iterator[SqliteSnapshot]:
        with self._reading() as connection:
            yield SqliteSnapshot(connection)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for connection in (*self._readers, self._writer):
                connection.close()
            self._readers.clear()

    def size(self) -> int:
        return sum(part.stat().st_size for part in self.path.parent.glob(f"{self.path.name}*") if part.is_file())

    # ----------------------------------------------------------------------------------------------- surveys

    def publish(self, new: Entry) -> tuple[Entry, bool]:
        with self._writing() as connection:
            fresh = _publish(connection, new)
            found = _one(connection, new.version)
        assert found is not None
        return found, fresh == 1

    def succeed(self, number: int, successor: Entry) -> bool:
        with self._writing() as connection:
            closing = "UPDATE surveys SET closed = ? WHERE number = ? AND closed IS NULL"
            if not connection.execute(closing, (successor.created, number)).rowcount:
                return False
            _publish(connection, successor)
            connection.execute(
                "UPDATE tickets SET survey = (SELECT number FROM surveys WHERE version = ?)"
                " WHERE survey = ? AND spent = 0",
                (successor.version, number),
            )
            return True

    def find(self, version: str) -> Entry | None:
        with self._reading() as connection:
            return _one(connection, version)

    def find_number(self, number: int) -> Entry | None:
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM surveys WHERE number = ?", (number,)).fetchone()
            return None if row is None else entry(row)

    def named(self, name: str) -> list[Entry]:
        with self._reading() as connection:
            rows = connection.execute("SELECT * FROM surveys WHERE name = ? ORDER BY number DESC", (name,))
            return [entry(row) for row in rows]

    def counts(self) -> dict[int, int]:
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT survey, sum(n) FROM (SELECT survey, n FROM tallies UNION ALL"
                " SELECT survey, n FROM segments WHERE folded = 0) GROUP BY survey"
            )
            return dict(rows.fetchall())

    def close_surveys(self, numbers: Sequence[int], now: str) -> None:
        with self._writing() as connection:
            connection.executemany(
                "UPDATE surveys SET closed = ? WHERE number = ? AND closed IS NULL", [(now, n) for n in numbers]
            )

    def delete_surveys(self, numbers: Sequence[int]) -> None:
        with self._writing() as connection:  # from here on nobody finds them, and nothing is added to them
            connection.executemany("DELETE FROM surveys WHERE number = ?", [(n,) for n in numbers])
        self.purge()

    def purge(self) -> None:
        for table in OWNED:
            for number in self._orphans(table):
                while self._purge_some(table, number):
                    pass
        self._traces = True
        self.scrub()

    def _orphans(self, table: str) -> list[int]:
        """Return numbers that have rows but no survey, by leaping from number to number: there may be many rows."""
        found, number = [], 0
        with self._reading() as connection:
            known = {row[0] for row in connection.execute("SELECT number FROM surveys")}
            while number is not None:
                row = connection.execute(f"SELECT min(survey) FROM {table} WHERE survey > ?", (number,))  # noqa: S608
                number = row.fetchone()[0]
                if number is not None and number not in known:
                    found.append(number)
        return found

    def _purge_some(self, table: str, number: int) -> bool:
        own = {"segments": "rowid", "tallies": "rowid", "keys": "key", "tickets": "ticket"}[table]
        with self._writing() as connection:
            done = connection.execute(
                f"DELETE FROM {table} WHERE survey = ? AND {own} IN"  # noqa: S608
                f" (SELECT {own} FROM {table} WHERE survey = ? LIMIT {_PURGED})",
                (number, number),
            )
            return done.rowcount == _PURGED

    # ----------------------------------------------------------------------------------------------- reports

    def commit(self, submissions: Sequence[Submission], day: str) -> list[Outcome]:
        with self._writing() as connection:
            admission = _admission(connection)
            outcomes = [admission.admit(submission) for submission in submissions]
            _write(connection, admission, day)
        return outcomes

    def pending(self) -> list[tuple[int, str, int]]:
        with self._reading() as connection:
            return connection.execute(
                "SELECT survey, day, sum(n) FROM surveys JOIN segments ON survey = number AND folded = 0"
                " GROUP BY survey, day"
            ).fetchall()

    def tail(self, survey: int, day: str, most_bytes: int) -> list[Segment]:
        taken: list[Segment] = []
        size = 0
        with self._reading() as connection:
            for row in connection.execute(
                "SELECT id, day, kind, n, data FROM segments WHERE survey = ? AND folded = 0 AND day = ?",
                (survey, day),
            ):
                taken.append(segment(row))
                size += len(taken[-1].data)
                if size >= most_bytes:
                    break
        return taken

    def room(self, survey: int, day: str, most_bytes: int) -> list[Segment]:
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT id, day, kind, n, data FROM segments WHERE survey = ? AND folded = 1 AND day = ?"
                " AND (kind = 2 OR length(data) < ?)",
                (survey, day, most_bytes),
            )
            return [segment(row) for row in rows]

    @contextmanager
    def folding(self) -> Iterator[bool]:
        yield True  # one collector serves a file

    def fold(self, step: Fold) -> bool:
        with self._writing() as connection:
            removed = [connection.execute("DELETE FROM segments WHERE id = ?", (row,)).rowcount for row in step.removed]
            if sum(removed) != len(step.removed):  # the survey was deleted meanwhile
                connection.execute("ROLLBACK")
                connection.execute("BEGIN IMMEDIATE")
                return False
            _insert(connection, [(step.survey, step.day, part) for part in step.added], folded=True)
            _gain(connection, step)
        self._traces = True
        return True

    def scrub(self) -> None:
        """Empty the write-ahead log: in it stands what each commit wrote, one after the other, reports beside keys."""
        with self._lock, sqlite_file.plainly(self.path):
            if self._traces and not self._closed:
                self._traces = not sqlite_file.empty_log(self._writer)

    # ------------------------------------------------------------------------------------- tickets and tokens

    def add_tickets(self, survey: int, tickets: Sequence[bytes]) -> bool:
        with self._writing() as connection:
            if connection.execute("SELECT 1 FROM surveys WHERE number = ?", (survey,)).fetchone() is None:
                return False
            rows = [(survey, ticket) for ticket in sorted(tickets)]
            connection.executemany("INSERT INTO tickets (survey, ticket, spent) VALUES (?, ?, 0)", rows)
        return True

    def has_ticket(self, survey: int, ticket: bytes) -> bool:
        with self._reading() as connection:
            row = connection.execute("SELECT 1 FROM tickets WHERE survey = ? AND ticket = ?", (survey, ticket))
            return row.fetchone() is not None

    def add_token(self, token: Token) -> None:
        with self._writing() as connection:
            connection.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(token))

    def find_token(self, digest: bytes) -> Token | None:
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM tokens WHERE hash = ?", (digest,)).fetchone()
            return None if row is None else Token(*row)

    def tokens(self) -> list[Token]:
        with self._reading() as connection:
            return [Token(*row) for row in connection.execute("SELECT * FROM tokens ORDER BY rowid")]

    def revoke_token(self, identifier: str, now: str) -> bool:
        with self._writing() as connection:
            done = connection.execute(
                "UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ?", (now, identifier)
            )
            return done.rowcount == 1

    # ------------------------------------------------------------------------------------------------- copies

    def load(self, snapshot: Snapshot, advance: Callable[[float], None]) -> None:
        with self._writing() as connection:
            for table, columns in COLUMNS.items():
                if connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():  # noqa: S608
                    raise StoreError(f"{self.path}: must be empty, and holds {table}")
                marks = ", ".join("?" * len(columns.split(", ")))
                rows = counted(snapshot.rows(table), advance)
                connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)  # noqa: S608
            connection.execute("DELETE FROM sqlite_sequence WHERE name = 'surveys'")
            connection.execute("INSERT INTO sqlite_sequence VALUES ('surveys', ?)", (snapshot.last_number(),))


def _publish(connection: sqlite3.Connection, new: Entry) -> int:
    return connection.execute(
        "INSERT INTO surveys (version, name, specification, created) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (version) DO NOTHING",
        (new.version, new.name, new.specification, new.created),
    ).rowcount


def _one(connection: sqlite3.Connection, version: str) -> Entry | None:
    row = connection.execute("SELECT * FROM surveys WHERE version = ?", (version,)).fetchone()
    return None if row is None else entry(row)


def _closed(connection: sqlite3.Connection, survey: int) -> bool | None:
    row = connection.execute("SELECT closed FROM surveys WHERE number = ?", (survey,)).fetchone()
    return None if row is None else row[0] is not None


def _admission(connection: sqlite3.Connection) -> Admission:
    def known(survey: int, key: bytes) -> tuple[bytes, int] | None:
        row = connection.execute("SELECT body, accepted FROM keys WHERE survey = ? AND key = ?", (survey, key))
        return cast("tuple[bytes, int] | None", row.fetchone())

    def unspent(survey: int, ticket: bytes) -> bool:
        query = "SELECT 1 FROM tickets WHERE survey = ? AND ticket = ? AND spent = 0"
        return connection.execute(query, (survey, ticket)).fetchone() is not None

    return Admission(known, functools.cache(lambda survey: _closed(connection, survey)), unspent)


def _write(connection: sqlite3.Connection, admission: Admission, day: str) -> None:
    connection.executemany("INSERT INTO keys VALUES (?, ?, ?, ?)", admission.keys)
    connection.executemany("UPDATE tickets SET spent = 1 WHERE survey = ? AND ticket = ?", admission.tickets)
    _insert(connection, admission.segments(day), folded=False)


def _insert(connection: sqlite3.Connection, parts: Iterable[tuple[int, str, Segment]], *, folded: bool) -> None:
    rows = [(survey, day, part.kind, part.n, folded, part.data) for survey, day, part in parts]
    connection.executemany("INSERT INTO segments (survey, day, kind, n, folded, data) VALUES (?, ?, ?, ?, ?, ?)", rows)


def _gain(connection: sqlite3.Connection, step: Fold) -> None:
    """Add to the tally of a day."""
    where = (step.survey, step.day)
    row = connection.execute("SELECT n, state FROM tallies WHERE survey = ? AND day = ?", where).fetchone()
    connection.execute(
        "INSERT INTO tallies (survey, day, n, state) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (survey, day) DO UPDATE SET n = excluded.n, state = excluded.state",
        (*where, *gained(row, step.gained)),
    )
