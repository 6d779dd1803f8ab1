"""A store in one SQLite file: one writer, any number of readers."""

import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, replace
from pathlib import Path

from fldp.collector.storage.admission import NewRows, NotAllNew
from fldp.collector.storage.checksums import row_checksum, verified, with_checksum
from fldp.collector.storage.protocol import (
    TAKEN_REPORTS,
    Fold,
    Listing,
    PastVersion,
    Row,
    Segment,
    Snapshot,
    StoredIssuer,
    StoredKey,
    StoredSurvey,
    StoredToken,
    StoreError,
    Submission,
    SubmissionResult,
)
from fldp.collector.storage.sqlite import at_once, writes
from fldp.collector.storage.sqlite import file as sqlite_file
from fldp.collector.storage.sqlite.at_once import commit_at_once
from fldp.collector.storage.sqlite.snapshot import SEGMENT, SqliteSnapshot, entry, orphans, segment
from fldp.collector.storage.tables import COLUMNS, OWNED, VERSIONS, counted, past_versions
from fldp.collector.storage.witness import Commit, CommitWitness, objection
from fldp.support.progress import Progress

_PROBE_BYTES = 1 << 16
_PURGED = 500  # rows deleted in one transaction, so that reports need not wait long
_LISTING = f"SELECT number, version, name, {writes.IS_CLOSED} FROM surveys"  # noqa: S608


class SqliteStore:
    """A store in one SQLite file, created if missing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = SqliteStore(Path(folder) / "fldp.db")
    ...     print(store.find("0" * 64), store.tokens())
    ...     store.close()
    None []
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._witness = CommitWitness(path)
        witnessed = self._witnessed()  # before the database is read: it may be written to meanwhile
        if isinstance(witnessed, Commit) and not path.exists():
            raise StoreError(f"{path}: is missing, but {self._witness.path} exists; remove that to start over")
        sqlite_file.prepare(path)
        self._lock = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._closed, self._traces = False, True
        self._state: Row | None = None  # the row of the table state after the last commit, if it is known
        with sqlite_file.store_errors(path):
            self._writer = sqlite_file.connect(path, writes=True)
            sqlite_file.check(path, self._writer)
            at_once.prepare(self._writer)
            self._objections = self._check_witness(self._writer, witnessed)
            if not self._objections:
                self._witness.write(writes.commit_of(writes.read_state(self._writer)))

    # --------------------------------------------------------------------------------------------- integrity

    def _witnessed(self) -> Commit | str | None:
        """Return the last commit that was witnessed, or why that is not known."""
        try:
            return self._witness.read()
        except StoreError as error:
            return str(error)

    def _check_witness(self, connection: sqlite3.Connection, witnessed: Commit | str | None) -> list[str]:
        """Return what the witness says against the database."""
        try:
            commit = writes.commit_of(writes.read_state(connection))
            complaint = witnessed if isinstance(witnessed, str) else objection(commit, witnessed)
        except StoreError as error:
            complaint = str(error)
        hint = "the file or its log is damaged, or an older copy was put back; if on purpose, run fldp fsck --accept"
        return [f"{complaint}: {hint}"] if complaint else []

    def objections(self) -> list[str]:
        witnessed = self._witnessed()
        with self._reading() as connection:
            return self._check_witness(connection, witnessed)

    def accept(self) -> None:
        with self._reading() as connection:
            commit = writes.commit_of(writes.read_state(connection))
        with sqlite_file.store_errors(self.path):
            self._witness.replace(commit)
        self._objections = []

    def inspect(self) -> list[str]:
        """Return what is wrong with the file as a whole. This reads all of it, but does not count reports again."""
        with self._reading() as connection:
            wrong = [str(row[0]) for row in connection.execute("PRAGMA quick_check(20)")]
        return self._objections + ([] if wrong == ["ok"] else wrong)

    # ------------------------------------------------------------------------------------------- connections

    @contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        """Have the connection that writes to oneself."""
        # One writer: SQLite allows no more, and whoever waits here does not time out inside SQLite.
        with self._lock, sqlite_file.store_errors(self.path):
            if self._closed:
                raise StoreError(f"{self.path}: is closed")
            if self._objections:  # more commits would hide that some are missing
                raise StoreError(f"{self.path}: {self._objections[0]}")
            if self._writer.in_transaction:  # one that could not be undone when it failed
                self._writer.execute("ROLLBACK")
            yield self._writer

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction; all of it is on the disk when this ends, or none of it is done."""
        with self._alone() as connection:
            self._state = None
            connection.execute("BEGIN IMMEDIATE")  # the write lock now: a read lock could fail to become one later
            changes, done = connection.total_changes, None
            try:
                yield connection
                if connection.total_changes != changes:
                    done = writes.advance(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            # After the commit, never before: a witness ahead of its database would report a loss that was none.
            if done is not None:
                self._witness.write(done)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction on a connection of its own: a snapshot that does not block the writer."""
        with self._borrowed() as connection:
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        with sqlite_file.store_errors(self.path):
            try:
                connection = self._readers.pop()
            except IndexError:
                connection = sqlite_file.connect(self.path, writes=False)
            try:
                yield connection
            except BaseException:
                connection.close()  # its transaction may still be open
                raise
            self._readers.append(connection)

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
            self._witness.close()

    def size(self) -> int:
        return sum(part.stat().st_size for part in self.path.parent.glob(f"{self.path.name}*") if part.is_file())

    # ----------------------------------------------------------------------------------------------- surveys

    def publish(self, new: StoredSurvey) -> tuple[StoredSurvey, bool]:
        with self._writing() as connection:
            added = writes.publish(connection, new)
            stored = _one(connection, new.version)
        assert stored is not None
        return stored, added == 1

    def succeed(self, number: int, successor: StoredSurvey) -> bool:
        with self._writing() as connection:
            closing = "UPDATE surveys SET closed = ? WHERE number = ? AND closed IS NULL"
            if not connection.execute(closing, (successor.created, number)).rowcount:
                return False
            writes.publish(connection, successor)
            writes.move_tickets(connection, number, successor.version)
            return True

    def find(self, version: str) -> StoredSurvey | None:
        with self._reading() as connection:
            return _one(connection, version)

    def find_number(self, number: int) -> StoredSurvey | None:
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM surveys WHERE number = ?", (number,)).fetchone()
            return None if row is None else entry(row)

    def named(self, name: str) -> list[StoredSurvey]:
        with self._reading() as connection:
            rows = connection.execute("SELECT * FROM surveys WHERE name = ? ORDER BY number DESC", (name,))
            return [entry(row) for row in rows]

    def listing(self, version: str) -> Listing | None:
        return next(iter(self._listings("version = ?", version)), None)

    def listings(self, name: str | None = None) -> list[Listing]:
        return self._listings("true") if name is None else self._listings("name = ?", name)

    def _listings(self, where: str, *values: str) -> list[Listing]:
        with self._reading() as connection:
            rows = connection.execute(f"{_LISTING} WHERE {where} ORDER BY number DESC", values)
            return [Listing(number, version, name, bool(closed)) for number, version, name, closed in rows]

    def versions(self, name: str) -> list[PastVersion]:
        with self._reading() as connection:
            return past_versions(connection.execute(VERSIONS.format(mark="?"), (name, name)))

    def counts(self) -> dict[int, int]:
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT survey, sum(n) FROM (SELECT survey, n FROM tallies UNION ALL"
                " SELECT survey, n FROM segments WHERE folded = 0) GROUP BY survey"
            )
            return dict(rows.fetchall())

    def withdrawn_counts(self) -> dict[int, int]:
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT survey, sum(n) FROM (SELECT survey, withdrawn AS n FROM tallies WHERE withdrawn > 0 UNION ALL"
                " SELECT survey, -n FROM segments WHERE folded = 0 AND kind >= ?) GROUP BY survey",
                (TAKEN_REPORTS,),
            )
            return dict(rows.fetchall())

    def close_surveys(self, numbers: Sequence[int], now: str) -> None:
        with self._writing() as connection:
            connection.executemany(
                "UPDATE surveys SET closed = ? WHERE number = ? AND closed IS NULL", [(now, n) for n in numbers]
            )

    def reopen_survey(self, number: int) -> None:
        with self._writing() as connection:
            connection.execute("UPDATE surveys SET closed = NULL WHERE number = ?", (number,))

    def delete_surveys(self, numbers: Sequence[int]) -> None:
        # After this transaction nobody finds the surveys or adds to them, so the rest can be purged in steps.
        with self._writing() as connection:
            chosen = [(number,) for number in numbers]
            connection.executemany(
                "INSERT INTO deletions SELECT number, version, name FROM surveys WHERE number = ?", chosen
            )
            connection.executemany(
                "INSERT INTO past_versions SELECT number, version, name, created, closed FROM surveys WHERE number = ?",
                chosen,
            )
            connection.executemany("DELETE FROM surveys WHERE number = ?", chosen)
        self.purge()

    def deletions(self) -> list[StoredSurvey]:
        with self._reading() as connection:
            rows = connection.execute("SELECT number, version, name FROM deletions ORDER BY number")
            return [StoredSurvey(number, version, name, "", "", None) for number, version, name in rows]

    def purge(self) -> None:
        begun = {entry.number for entry in self.deletions()}
        for table in OWNED:
            for number in begun.intersection(self._orphans(table)):
                while self._purge_some(table, number):
                    pass
        with self._writing() as connection:
            connection.executemany("DELETE FROM deletions WHERE number = ?", [(number,) for number in begun])
        self._traces = True
        self.scrub()

    def _orphans(self, table: str) -> list[int]:
        with self._reading() as connection:
            return orphans(connection, table)

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

    def commit(self, submissions: Sequence[Submission], day: str) -> list[SubmissionResult]:
        if new := NewRows.of(submissions, day):
            with suppress(NotAllNew):
                self._commit_new(new)
                return new.outcomes
        with self._writing() as connection:
            return writes.commit(connection, submissions, day)

    def _commit_new(self, new: NewRows) -> None:
        """Commit new rows: those of one segment in one statement; else raise NotAllNew, and nothing is done."""
        if len(new.segments) > 1:
            with self._writing() as connection:
                writes.commit_new(connection, new)
            return
        with self._alone() as connection:
            state, self._state = self._state or writes.read_state(connection), None
            self._state = commit_at_once(connection, new, state)
            self._witness.write(writes.commit_of(self._state))

    def probe(self) -> None:
        with self._writing() as connection:
            (schema,) = connection.execute("PRAGMA user_version").fetchone()
            connection.execute(f"PRAGMA user_version = {schema}")  # writes the first page anew, as it is
        with sqlite_file.store_errors(self.path), tempfile.TemporaryFile(dir=self.path.parent, buffering=0) as file:
            file.write(bytes(_PROBE_BYTES))  # one page may fit where a commit does not

    def pending(self) -> list[tuple[int, str, int]]:
        with self._reading() as connection:
            return connection.execute(
                "SELECT survey, day, sum(abs(n)) FROM surveys JOIN segments ON survey = number AND folded = 0"
                " GROUP BY survey, day"
            ).fetchall()

    def tail(self, survey: int, day: str, most_bytes: int) -> list[Segment]:
        taken: list[Segment] = []
        size = 0
        with self._reading() as connection:
            for row in connection.execute(
                f"SELECT {SEGMENT} FROM segments WHERE survey = ? AND folded = 0 AND day = ? AND kind < ?",  # noqa: S608
                (survey, day, TAKEN_REPORTS),
            ):
                taken.append(segment(row))
                size += len(taken[-1].data)
                if size >= most_bytes:
                    break
        return taken

    def room(self, survey: int, day: str, most_bytes: int) -> list[Segment]:
        with self._reading() as connection:
            rows = connection.execute(
                f"SELECT {SEGMENT} FROM segments WHERE survey = ? AND folded = 1 AND day = ?"  # noqa: S608
                " AND (kind = 2 OR length(data) < ?)",
                (survey, day, most_bytes),
            )
            return [segment(row) for row in rows]

    @contextmanager
    def folding(self) -> Iterator[bool]:
        yield True  # one collector serves a file

    def fold(self, step: Fold) -> bool:
        try:
            with self._writing() as connection:
                writes.fold(connection, step)
        except writes.OutdatedStep:
            return False
        self._traces = True
        return True

    def scrub(self) -> None:
        """Empty the write-ahead log: it holds what each commit wrote, in the order of arrival, reports beside keys.

        Most of it goes into the file while others commit, so that they wait for the rest alone.
        """
        if self._traces and not self._closed:
            with self._borrowed() as connection:
                sqlite_file.shorten_log(connection)
        with self._lock, sqlite_file.store_errors(self.path):
            if self._traces and not self._closed:
                self._traces = not sqlite_file.empty_log(self._writer)

    # ------------------------------------------------------------------------------------- tickets and tokens

    def add_tickets(self, survey: int, tickets: Sequence[bytes]) -> bool:
        with self._writing() as connection:
            if connection.execute("SELECT 1 FROM surveys WHERE number = ?", (survey,)).fetchone() is None:
                return False
            rows = [with_checksum((survey, ticket, 0)) for ticket in sorted(tickets)]
            connection.executemany("INSERT INTO tickets VALUES (?, ?, ?, ?)", rows)
        return True

    def has_ticket(self, survey: int, ticket: bytes) -> bool:
        with self._reading() as connection:
            row = connection.execute("SELECT 1 FROM tickets WHERE survey = ? AND ticket = ?", (survey, ticket))
            return row.fetchone() is not None

    def add_token(self, token: StoredToken) -> None:
        with self._writing() as connection:
            connection.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?)", with_checksum(astuple(token)))

    def find_token(self, digest: bytes) -> StoredToken | None:
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM tokens WHERE hash = ?", (digest,)).fetchone()
            return None if row is None else StoredToken(*verified("tokens", row))

    def tokens(self) -> list[StoredToken]:
        with self._reading() as connection:
            rows = connection.execute("SELECT * FROM tokens ORDER BY rowid")
            return [StoredToken(*verified("tokens", row)) for row in rows]

    def revoke_token(self, identifier: str, now: str) -> bool:
        with self._writing() as connection:
            row = connection.execute("SELECT * FROM tokens WHERE id = ?", (identifier,)).fetchone()
            if row is None:
                return False
            token = StoredToken(*verified("tokens", row))
            revoked = replace(token, revoked=token.revoked or now)
            connection.execute(
                "UPDATE tokens SET revoked = ?, checksum = ? WHERE id = ?",
                (revoked.revoked, row_checksum(*astuple(revoked)), identifier),
            )
            return True

    def gateway_keys(self) -> list[StoredKey]:
        with self._reading() as connection:
            rows = connection.execute("SELECT * FROM gateway_keys ORDER BY number DESC LIMIT 2")
            return [StoredKey(*verified("gateway_keys", row)) for row in rows]

    def add_gateway_key(self, key: StoredKey) -> None:
        with self._writing() as connection:
            row = with_checksum(astuple(key))
            connection.execute("INSERT INTO gateway_keys VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row)
            connection.execute("DELETE FROM gateway_keys WHERE number < ?", (key.number - 1,))

    def find_issuer(self, key_id: bytes) -> StoredIssuer | None:
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM issuers WHERE key_id = ?", (key_id,)).fetchone()
            return None if row is None else StoredIssuer(*verified("issuers", row))

    def add_issuer(self, issuer: StoredIssuer) -> None:
        with self._writing() as connection:
            connection.execute("INSERT INTO issuers VALUES (?, ?, ?, ?, ?)", with_checksum(astuple(issuer)))

    def bind_issuer(self, key_id: bytes, version: str, now: str) -> bool:
        known = self.find_issuer(key_id) or StoredIssuer(key_id, None, now)
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO issuers VALUES (?, ?, ?, ?, ?) ON CONFLICT (key_id) DO UPDATE SET"
                " version = excluded.version, checksum = excluded.checksum WHERE issuers.version IS NULL",
                with_checksum(astuple(replace(known, version=version))),
            )
            (bound,) = connection.execute("SELECT version FROM issuers WHERE key_id = ?", (key_id,)).fetchone()
            return bool(bound == version)

    # ------------------------------------------------------------------------------------------------- copies

    def load(self, snapshot: Snapshot, advance: Progress) -> None:
        with self._writing() as connection:
            for table, columns in COLUMNS.items():
                if connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():  # noqa: S608
                    raise StoreError(f"{self.path}: must be empty, and holds {table}")
                marks = ", ".join("?" * len(columns.split(", ")))
                rows = counted(snapshot.rows(table), advance)
                connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)  # noqa: S608
            connection.execute("DELETE FROM sqlite_sequence WHERE name = 'surveys'")
            connection.execute("INSERT INTO sqlite_sequence VALUES ('surveys', ?)", (snapshot.last_number(),))


def _one(connection: sqlite3.Connection, version: str) -> StoredSurvey | None:
    row = connection.execute("SELECT * FROM surveys WHERE version = ?", (version,)).fetchone()
    return None if row is None else entry(row)
