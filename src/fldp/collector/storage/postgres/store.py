"""A store in one schema of a PostgreSQL database, for any number of collectors at the same time."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, replace
from typing import Any, cast

from psycopg_pool import ConnectionPool, PoolTimeout

from fldp.collector.config.database_url import Database
from fldp.collector.storage.admission import NewRows, NotAllNew
from fldp.collector.storage.checksums import row_checksum, verified, with_checksum
from fldp.collector.storage.postgres import schema
from fldp.collector.storage.postgres.commits import PATIENT, Commits
from fldp.collector.storage.postgres.liveness import MAX_SILENCE, Pulse
from fldp.collector.storage.postgres.schema import FOLDING, LOCKS, MIGRATING, ROUND, Connection, lock
from fldp.collector.storage.postgres.snapshot import ENTRY, SEGMENT, PostgresSnapshot, segment
from fldp.collector.storage.postgres.writes import (
    Overtaken,
    commit,
    commit_new,
    fill,
    fold,
    move_tickets,
    probe,
    rows,
)
from fldp.collector.storage.protocol import (
    TAKEN_REPORTS,
    Admitted,
    Fold,
    Listing,
    PastVersion,
    Segment,
    Snapshot,
    StoredIssuer,
    StoredKey,
    StoredSurvey,
    StoredToken,
    StoreError,
    Submission,
    SubmissionResult,
    Withdrawal,
)
from fldp.collector.storage.tables import COLUMNS, ORPHANS, OWNED, VERSIONS, counted, past_versions
from fldp.support.progress import Progress

_PURGED = 500  # rows deleted in one transaction
_TRIES = 10  # at a commit that another one gets in the way of
_TURN = 0.25  # seconds to wait for a connection between two looks at the server
_TIDY = 30.0  # seconds between two rounds of clearing away
_TOKEN = COLUMNS["tokens"]


class PostgresStore:
    """A store in the schema ``fldp`` of a PostgreSQL database, created if missing.

    Order of locks, so that no two transactions wait for each other: surveys by their numbers, then tickets, then keys.
    """

    def __init__(self, database: Database, *, connections: int = 16, make: bool = True) -> None:
        self.database = database
        self._untidy = 0.0
        self._alone = False  # whether collectors of earlier releases cannot write any more
        self._commits = Commits(self._attempt)
        self._round: Connection | None = None
        self._pulse = Pulse(schema.parameters(database))
        try:
            schema.prepare(database, self._pulse, make=make)
        except BaseException:
            self._pulse.close()
            raise
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            connection_class=Connection,
            kwargs=schema.parameters(database),
            configure=lambda connection: schema.configure(connection, self._pulse),
            check=self._check,
            min_size=1,
            max_size=max(4, connections),
            timeout=_TURN,
            reconnect_timeout=1.0,  # the next one who asks tries again
            open=True,
        )

    # ------------------------------------------------------------------------------------------- connections

    def _check(self, connection: Connection) -> None:
        """See that a connection is good before it is used; if it is not, what broke it broke the others too."""
        connection.max_seconds = MAX_SILENCE
        try:
            ConnectionPool.check_connection(connection)
        except Exception:
            self._pool.drain()
            raise

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """One connection. While the database does not answer, everybody is refused at once."""
        with schema.store_errors(self.database):
            if self._pulse.is_hung:
                raise StoreError(f"{self.database}: does not answer")
            connection = self._borrow()
            connection.max_seconds = schema.REQUEST.seconds
            try:
                yield connection
            finally:
                self._pool.putconn(connection)  # it is rolled back, or replaced if it is broken

    def _borrow(self) -> Connection:
        """Wait for a connection that nobody uses, or for a new one, while the server answers."""
        began = time.monotonic()
        while True:
            try:
                return self._pool.getconn()
            except PoolTimeout:
                if reason := self._pulse.overdue(began, schema.REQUEST.seconds):
                    raise StoreError(f"{self.database}: {reason}") from None

    @contextmanager
    def _writing(self, limits: schema.SessionLimits | None = None) -> Iterator[Connection]:
        """One transaction; if this ends well, all of it is on the disk. If not, all of it may be, or nothing."""
        with self._connected() as connection, connection.transaction():
            if limits:
                limits.set(connection, "LOCAL")
            yield connection

    def _select(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._connected() as connection:
            return rows(connection, query, values)

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        with self._writing(schema.READING) as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield PostgresSnapshot(connection)

    def close(self) -> None:
        """Close all connections. Whoever still waits for one gets an error."""
        self._pulse.close()
        self._pool.close(timeout=1.0)

    def probe(self) -> None:
        with self._writing() as connection:
            probe(connection)

    def size(self) -> int:
        tables = "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relkind = 'r' AND relnamespace = "
        return int(self._select(f"{tables} to_regnamespace(%s)", [schema.SCHEMA])[0][0])

    def objections(self) -> list[str]:
        return []

    def accept(self) -> None:
        pass

    def inspect(self) -> list[str]:
        with self.snapshot() as snapshot:
            return snapshot.damage()

    # ----------------------------------------------------------------------------------------------- surveys

    def publish(self, new: StoredSurvey) -> tuple[StoredSurvey, bool]:
        with self._writing() as connection:
            added = _publish(connection, new)
            stored = rows(connection, f"SELECT {ENTRY} FROM surveys WHERE version = %s", [new.version])  # noqa: S608
        if not stored:
            raise StoreError(f"{self.database}: the survey was deleted as it was published, try again")
        return StoredSurvey(*stored[0]), added == 1

    def succeed(self, number: int, successor: StoredSurvey) -> bool:
        with self._writing() as connection:
            lock(connection, number)
            closing = "UPDATE surveys SET closed = %s WHERE number = %s AND closed IS NULL"
            if not connection.execute(closing, (successor.created, number)).rowcount:
                return False
            _publish(connection, successor)
            move_tickets(connection, number, successor.version)
            return True

    def find(self, version: str) -> StoredSurvey | None:
        return next(iter(self._entries("version = %s", version)), None)

    def find_number(self, number: int) -> StoredSurvey | None:
        return next(iter(self._entries("number = %s", number)), None)

    def named(self, name: str) -> list[StoredSurvey]:
        return self._entries("name = %s", name)

    def _entries(self, where: str, value: str | int) -> list[StoredSurvey]:
        if not _possible(str(value)):
            return []
        query = f"SELECT {ENTRY} FROM surveys WHERE {where} ORDER BY number DESC"  # noqa: S608
        return [StoredSurvey(*row) for row in self._select(query, [value])]

    def listing(self, version: str) -> Listing | None:
        return next(iter(self._listings("version = %s", version)), None)

    def listings(self, name: str | None = None) -> list[Listing]:
        return self._listings("true") if name is None else self._listings("name = %s", name)

    def _listings(self, where: str, *values: str) -> list[Listing]:
        columns = "number, version, name, closed IS NOT NULL"
        query = f"SELECT {columns} FROM surveys WHERE {where} ORDER BY number DESC"  # noqa: S608
        return [Listing(*row) for row in self._select(query, values)] if all(map(_possible, values)) else []

    def versions(self, name: str) -> list[PastVersion]:
        return past_versions(self._select(VERSIONS.format(mark="%s"), [name, name])) if _possible(name) else []

    def counts(self) -> dict[int, int]:
        return dict(
            self._select(
                "SELECT survey, sum(n)::bigint FROM (SELECT survey, n FROM tallies UNION ALL"
                " SELECT survey, n FROM segments WHERE folded = 0) AS counted GROUP BY survey"
            )
        )

    def withdrawn_counts(self) -> dict[int, int]:
        return dict(
            self._select(
                "SELECT survey, sum(n)::bigint FROM (SELECT survey, withdrawn AS n FROM tallies WHERE withdrawn > 0"
                " UNION ALL SELECT survey, -n FROM segments WHERE folded = 0 AND kind >= %s) AS taken GROUP BY survey",
                [TAKEN_REPORTS],
            )
        )

    def close_surveys(self, numbers: Sequence[int], now: str) -> None:
        with self._writing() as connection:
            lock(connection, *numbers)
            connection.execute(
                "UPDATE surveys SET closed = %s WHERE number = ANY(%s) AND closed IS NULL", (now, list(numbers))
            )

    def reopen_survey(self, number: int) -> None:
        with self._writing() as connection:
            lock(connection, number)
            connection.execute("UPDATE surveys SET closed = NULL WHERE number = %s", (number,))

    def delete_surveys(self, numbers: Sequence[int]) -> None:
        # After this transaction nobody finds the surveys or adds to them, so the rest can be purged in steps.
        with self._writing() as connection:
            lock(connection, *numbers)
            connection.execute(
                "WITH gone AS (DELETE FROM surveys WHERE number = ANY(%s) RETURNING *), remembered AS"
                " (INSERT INTO past_versions SELECT number, version, name, created, closed FROM gone)"
                " INSERT INTO deletions SELECT number, version, name FROM gone",
                (list(numbers),),
            )
        self.purge()

    def deletions(self) -> list[StoredSurvey]:
        begun = self._select("SELECT number, version, name FROM deletions ORDER BY number")
        return [StoredSurvey(number, version, name, "", "", None) for number, version, name in begun]

    def purge(self) -> None:
        begun = {entry.number for entry in self.deletions()}
        for table in OWNED:
            numbers = begun.intersection(self._orphans(table))
            for number in numbers:
                while self._purge_some(table, number):
                    pass
            if numbers:
                self._clear(table)
        if begun:
            with self._writing() as connection:
                connection.execute("DELETE FROM deletions WHERE number = ANY(%s)", (list(begun),))

    def scrub(self) -> None:
        """Do nothing: folding has its rows cleared away by itself, and the log is the server's own to keep."""

    def _clear(self, tables: str, *, shrink: bool = True) -> None:
        """Make the server reclaim what was deleted or replaced; left alone, it takes its time.

        To shrink a table takes a moment in which nobody else may write to it.
        """
        with self._connected() as connection:
            schema.CLEARING.set(connection)
            try:
                connection.execute(f"VACUUM (SKIP_LOCKED, TRUNCATE {shrink}) {tables}")
            finally:
                if not connection.closed:
                    schema.REQUEST.set(connection)

    def _orphans(self, table: str) -> list[int]:
        """Return numbers that have rows but no survey, by leaping from number to number: there may be many rows."""
        return [row[0] for row in self._select(ORPHANS.format(table=table))]

    def _purge_some(self, table: str, number: int) -> bool:
        statement = (
            f"DELETE FROM {table} WHERE ctid = ANY(ARRAY("  # noqa: S608
            f"SELECT ctid FROM {table} WHERE survey = %s LIMIT {_PURGED}))"
        )
        with self._writing() as connection:
            lock(connection, number)
            return connection.execute(statement, (number,)).rowcount == _PURGED

    # ----------------------------------------------------------------------------------------------- reports

    def commit(self, submissions: Sequence[Submission], day: str) -> list[SubmissionResult]:
        if all(not isinstance(new, Withdrawal) for new in submissions) or self._refuses_earlier():
            return self._commits.commit(submissions, day)
        others = iter(self._commits.commit([new for new in submissions if not isinstance(new, Withdrawal)], day))
        outdated = SubmissionResult(Admitted.OUTDATED)
        return [outdated if isinstance(new, Withdrawal) else next(others) for new in submissions]

    def _refuses_earlier(self) -> bool:
        """Whether no collector can write that would misread withdrawals; if none is connected, none can from now on."""
        if not self._alone:
            with self._writing() as connection:
                self._alone = schema.refuse_earlier(connection)
        return self._alone

    def _attempt(self, submissions: Sequence[Submission], day: str, milliseconds: int) -> list[SubmissionResult]:
        limits = None if milliseconds == PATIENT else replace(schema.REQUEST, lock=milliseconds)
        if limits is None and (new := NewRows.of(submissions, day)):
            with suppress(NotAllNew), self._connected() as connection:
                commit_new(connection, new)
                return new.outcomes
        for _ in range(_TRIES):
            try:
                with self._writing(limits) as connection:
                    return commit(connection, submissions, day, hurried=limits is not None)
            except Overtaken:  # the key is there now, and decides
                continue
        raise StoreError(f"{self.database}: other collectors commit the same keys, try again")

    def pending(self) -> list[tuple[int, str, int]]:
        return cast(
            "list[tuple[int, str, int]]",
            self._select(
                "SELECT survey, day, sum(abs(n))::bigint FROM surveys JOIN segments ON survey = number AND folded = 0"
                " GROUP BY survey, day ORDER BY survey, day"
            ),
        )

    def tail(self, survey: int, day: str, most_bytes: int) -> list[Segment]:
        chosen = (
            "SELECT id FROM (SELECT id, sum(octet_length(data)) OVER (ORDER BY id) - octet_length(data) AS before"
            " FROM segments WHERE survey = %s AND folded = 0 AND day = %s AND kind < %s) AS sized WHERE before < %s"
        )
        query = f"SELECT {SEGMENT} FROM segments WHERE id IN ({chosen})"  # noqa: S608
        return [segment(row) for row in self._select(query, (survey, day, TAKEN_REPORTS, most_bytes))]

    def room(self, survey: int, day: str, most_bytes: int) -> list[Segment]:
        segments = self._select(
            f"SELECT {SEGMENT} FROM segments WHERE survey = %s AND folded = 1 AND day = %s"  # noqa: S608
            " AND (kind = 2 OR octet_length(data) < %s)",
            (survey, day, most_bytes),
        )
        return [segment(row) for row in segments]

    @contextmanager
    def folding(self) -> Iterator[bool]:
        """Hold the compaction lock by a transaction, so that the server takes it from a collector that is frozen."""
        with self._writing(schema.ROUND_OF_FOLDING) as connection:
            (is_ours,) = rows(connection, "SELECT pg_try_advisory_xact_lock(%s, %s)", [LOCKS, ROUND])[0]
            self._round = connection if is_ours else None
            try:
                yield is_ours
            finally:
                self._round = None
        if is_ours and time.monotonic() >= self._untidy:
            self._clear("segments, tallies", shrink=False)
            self._untidy = time.monotonic() + _TIDY

    def fold(self, step: Fold) -> bool:
        self._renew()
        try:
            with self._writing() as connection:
                # The lock of a round is lost with its connection. These two belong to this very transaction:
                # no second step runs beside it, and nobody deletes the survey under it.
                lock(connection, MIGRATING, shared=True)
                lock(connection, FOLDING)
                lock(connection, step.survey, shared=True)
                fold(connection, step)
        except Overtaken:
            return False
        return True

    def _renew(self) -> None:
        """Tell the server that whoever holds the lock of a round is not frozen."""
        if self._round is not None:
            with schema.store_errors(self.database):
                self._round.execute("")

    # ------------------------------------------------------------------------------------- tickets and tokens

    def add_tickets(self, survey: int, tickets: Sequence[bytes]) -> bool:
        with self._writing() as connection:
            lock(connection, survey, shared=True)  # so that nobody deletes it before this commits
            if not rows(connection, "SELECT 1 FROM surveys WHERE number = %s", [survey]):
                return False
            connection.execute(
                "INSERT INTO tickets SELECT %s, ticket, 0, checksum"
                " FROM unnest(%b::bytea[], %s::bigint[]) AS new (ticket, checksum)",
                (survey, sorted(tickets), [row_checksum(survey, ticket, 0) for ticket in sorted(tickets)]),
            )
        return True

    def has_ticket(self, survey: int, ticket: bytes) -> bool:
        return bool(self._select("SELECT 1 FROM tickets WHERE survey = %s AND ticket = %s", [survey, ticket]))

    def add_token(self, token: StoredToken) -> None:
        with self._writing() as connection:
            statement = f"INSERT INTO tokens ({_TOKEN}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"  # noqa: S608
            connection.execute(statement, with_checksum(astuple(token)))

    def find_token(self, digest: bytes) -> StoredToken | None:
        tokens = self._select(f"SELECT {_TOKEN} FROM tokens WHERE hash = %s", [digest])  # noqa: S608
        return StoredToken(*verified("tokens", tokens[0])) if tokens else None

    def tokens(self) -> list[StoredToken]:
        tokens = self._select(f"SELECT {_TOKEN} FROM tokens ORDER BY place")  # noqa: S608
        return [StoredToken(*verified("tokens", row)) for row in tokens]

    def revoke_token(self, identifier: str, now: str) -> bool:
        if not _possible(identifier):
            return False
        with self._writing() as connection:
            wanted = f"SELECT {_TOKEN} FROM tokens WHERE id = %s FOR UPDATE"  # noqa: S608
            tokens = rows(connection, wanted, [identifier])
            if not tokens:
                return False
            token = StoredToken(*verified("tokens", tokens[0]))
            revoked = replace(token, revoked=token.revoked or now)
            connection.execute(
                "UPDATE tokens SET revoked = %s, checksum = %s WHERE id = %s",
                (revoked.revoked, row_checksum(*astuple(revoked)), identifier),
            )
            return True

    def gateway_keys(self) -> list[StoredKey]:
        query = f"SELECT {COLUMNS['gateway_keys']} FROM gateway_keys ORDER BY number DESC LIMIT 2"  # noqa: S608
        return [StoredKey(*verified("gateway_keys", row)) for row in self._select(query, [])]

    def add_gateway_key(self, key: StoredKey) -> None:
        with self._writing() as connection:
            row = with_checksum(astuple(key))
            connection.execute("INSERT INTO gateway_keys VALUES (%s, %b, %s, %s) ON CONFLICT DO NOTHING", row)
            connection.execute("DELETE FROM gateway_keys WHERE number < %s", (key.number - 1,))

    def find_issuer(self, key_id: bytes) -> StoredIssuer | None:
        stored = self._select(f"SELECT {COLUMNS['issuers']} FROM issuers WHERE key_id = %s", [key_id])  # noqa: S608
        return StoredIssuer(*verified("issuers", stored[0])) if stored else None

    def add_issuer(self, issuer: StoredIssuer) -> None:
        with self._writing() as connection:
            row = with_checksum(astuple(issuer))
            connection.execute("INSERT INTO issuers VALUES (%b, %b, %s, %s, %s)", row)

    def bind_issuer(self, key_id: bytes, version: str, now: str) -> bool:
        known = self.find_issuer(key_id) or StoredIssuer(key_id, None, now)
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO issuers VALUES (%b, %b, %s, %s, %s) ON CONFLICT (key_id) DO UPDATE SET"
                " version = excluded.version, checksum = excluded.checksum WHERE issuers.version IS NULL",
                with_checksum(astuple(replace(known, version=version))),
            )
            bound = rows(connection, "SELECT version FROM issuers WHERE key_id = %s", [key_id])
            return bool(bound == [(version,)])

    # ------------------------------------------------------------------------------------------------- copies

    def load(self, snapshot: Snapshot, advance: Progress) -> None:
        with self._writing(schema.COPYING) as connection:
            if not schema.refuse_earlier(connection):
                raise StoreError(f"{self.database}: a collector of an earlier release is connected: stop it first")
            # Nobody writes until all is copied: the tables are empty when this is checked, and stay so.
            connection.execute(f"LOCK TABLE {', '.join(COLUMNS)} IN EXCLUSIVE MODE")
            for table in COLUMNS:
                if rows(connection, f"SELECT 1 FROM {table} LIMIT 1", []):  # noqa: S608
                    raise StoreError(f"{self.database}: must be empty, and holds {table}")
                fill(connection, table, counted(snapshot.rows(table), advance))
            last = snapshot.last_number()
            connection.execute("SELECT setval('surveys_number_seq', %s, %s)", (max(1, last), last > 0))


def _publish(connection: Connection, new: StoredSurvey) -> int:
    return connection.execute(
        "INSERT INTO surveys (version, name, specification, created) VALUES (%s, %s, %s, %s)"
        " ON CONFLICT (version) DO NOTHING",
        (new.version, new.name, new.specification, new.created),
    ).rowcount


def _possible(text: str) -> bool:
    """Whether PostgreSQL can hold a text at all: it has no character 0, and no halves of characters."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
