"""The schema of a collector in a PostgreSQL database: connecting, creating, migrating, locking."""

import logging
import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolClosed, PoolTimeout

from fldp.collector.config.database_url import Database
from fldp.collector.storage import migrations
from fldp.collector.storage.postgres.liveness import Pulse, Watched
from fldp.collector.storage.protocol import StoreError

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # what it has to say, our own errors say

SCHEMA = "fldp"
LOCKS = 0x666C6470  # "fldp": the first number of our advisory locks; the second is a survey's, or one of these
MIGRATING, ROUND, FOLDING = -3, -2, -1
KNOWN = len(migrations.steps("postgres"))  # the schema that this release writes
Connection = Watched

# How sessions of this release are named where the address names none; sessions of schema 3 and before have this name.
APPLICATION, EARLIER = "fldp-4", "fldp"
_REACHED = {
    "connect_timeout": "5",
    "keepalives_idle": "10",  # a server that is gone without a word is noticed within half a minute
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
    "application_name": APPLICATION,
}
# The last of these is what the triggers of ``refuse_earlier`` look at.
_SESSION = f"SET search_path TO {SCHEMA}, pg_temp; SET client_encoding TO 'UTF8'; SET fldp.schema TO '{KNOWN}'"
_WRITTEN = ("keys", "segments", "tallies")


@dataclass(frozen=True)
class SessionLimits:
    """What the server itself ends, in milliseconds; 0 is no limit.

    ``statement``: a statement that takes longer. ``lock``: one that waits longer for others. ``idle``: the session of
    whoever is within a transaction and says nothing, such as a collector that was frozen: so its locks are let go.
    """

    statement: int
    lock: int
    idle: int

    def set(self, connection: Connection, scope: str = "SESSION") -> None:
        """Set them for a session, or for the rest of a transaction (``LOCAL``)."""
        connection.max_seconds = self.seconds
        connection.execute(
            f"SET {scope} statement_timeout TO {self.statement}; SET {scope} lock_timeout TO {self.lock};"
            f" SET {scope} idle_in_transaction_session_timeout TO {self.idle}"
        )

    @property
    def seconds(self) -> float:
        """How long to wait for a server that should have ended it."""
        return self.statement / 1000 + _MARGIN if self.statement else math.inf


_MARGIN = 2.0
REQUEST = SessionLimits(statement=10_000, lock=750, idle=10_000)
READING = SessionLimits(
    statement=600_000, lock=750, idle=600_000
)  # estimates, exports, backups: nobody waits for their locks
ROUND_OF_FOLDING = replace(REQUEST, idle=60_000)  # which hears of every step
CLEARING = replace(REQUEST, statement=600_000)
COPYING = SessionLimits(statement=0, lock=10_000, idle=600_000)
MIGRATION = SessionLimits(statement=0, lock=60_000, idle=60_000)


def parameters(database: Database) -> dict[str, Any]:
    """Return how to connect, as keywords. No message repeats what libpq says: it may contain the password."""
    try:
        address = conninfo_to_dict(database.url)
    except psycopg.Error:
        raise StoreError("serve: database is not an address that PostgreSQL understands") from None
    named = {"application_name": APPLICATION} if address.get("application_name") == EARLIER else {}
    return {**_REACHED, **address, **named, "autocommit": True}


def configure(connection: Connection, pulse: Pulse, limits: SessionLimits = REQUEST) -> None:
    """Set up a session: our tables, no endless wait, and commits that are on the disk when they return."""
    pulse.watch(connection)
    connection.execute(_SESSION)
    limits.set(connection)
    if _setting(connection, "synchronous_commit") == "off":
        connection.execute("SET synchronous_commit TO on")


def prepare(database: Database, pulse: Pulse, *, make: bool) -> None:
    """Make the tables that are missing; refuse a database that is something else, or newer than this code."""
    with store_errors(database), Connection.connect(**parameters(database)) as connection:
        configure(connection, pulse, MIGRATION)
        _check_server(database, connection)
        with connection.transaction():
            lock(connection, MIGRATING)
            done = _version(database, connection)
            if done == 0 and not make:
                raise StoreError(f"{database}: has no tables of a collector")
            _migrate(connection, done)


def _check_server(database: Database, connection: Connection) -> None:
    if _setting(connection, "server_encoding") != "UTF8":
        raise StoreError(f"{database}: its encoding must be UTF8")
    if _setting(connection, "fsync") != "on":
        raise StoreError(f"{database}: its server runs with fsync = off, and would lose acknowledged reports")


def _version(database: Database, connection: Connection) -> int:
    """Return the number of steps that were done here, 0 if there is nothing yet."""
    tables = connection.execute("SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s)", (SCHEMA,))
    names = {row[0] for row in tables}
    if not names:
        return 0
    if "migrations" not in names:
        raise StoreError(f"{database}: its schema {SCHEMA} is not a collector's")
    (done,) = connection.execute("SELECT coalesce(max(step), 0) FROM migrations").fetchone() or (0,)
    if done > KNOWN:
        raise StoreError(f"{database}: has schema {done}, this version of fldp knows up to {KNOWN}")
    return int(done)


def _migrate(connection: Connection, done: int) -> None:
    """Do the steps that are missing, all in the transaction that holds the lock."""
    if done == 0:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.execute("CREATE TABLE IF NOT EXISTS migrations (step integer PRIMARY KEY)")
    for number, step in enumerate(migrations.steps("postgres"), 1):
        if number > done:
            connection.execute(step)
            connection.execute("INSERT INTO migrations VALUES (%s)", (number,))


def check_current(connection: Connection) -> None:
    """Refuse to write to tables that a later release has brought up to date since.

    Whoever calls this holds a shared lock on ``MIGRATING``, so that the answer holds until the transaction ends.
    """
    (done,) = connection.execute("SELECT max(step) FROM migrations").fetchone() or (0,)
    check_schema(done)


def check_schema(done: int) -> None:
    """Refuse to write where another number of steps was done."""
    if done != KNOWN:
        raise StoreError(
            f"the database has schema {done} now, this collector writes {KNOWN}: replace it by a newer one"
        )


def refuses_earlier(connection: Connection) -> bool:
    """Whether collectors of earlier releases cannot write any more."""
    row = connection.execute(
        "SELECT count(*) FROM pg_trigger WHERE tgname = 'refuse_earlier' AND tgrelid = ANY(%s::regclass[])",
        ([f"{SCHEMA}.{table}" for table in _WRITTEN],),
    ).fetchone()
    return row is not None and row[0] == len(_WRITTEN)


def refuse_earlier(connection: Connection) -> bool:
    """Let no collector of an earlier release write from here on, unless one is connected; return whether it is so.

    They do not look at the schema before they write. So the server does: their sessions do not say which one they know.
    """
    lock(connection, MIGRATING)
    if refuses_earlier(connection):
        return True
    beside = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s LIMIT 1"
    if connection.execute(beside, (EARLIER,)).fetchone():
        return False
    connection.execute(f"LOCK TABLE {', '.join(_WRITTEN)} IN SHARE ROW EXCLUSIVE MODE")
    for table in _WRITTEN:
        connection.execute(
            f"CREATE TRIGGER refuse_earlier BEFORE INSERT OR UPDATE OR DELETE ON {table} FOR EACH STATEMENT"
            " WHEN (coalesce(nullif(current_setting('fldp.schema', true), ''), '0')::integer < 4)"
            " EXECUTE FUNCTION refuse_earlier_release()"
        )
    return True


def lock(connection: Connection, *numbers: int, shared: bool = False) -> None:
    """Wait for locks that last until the transaction ends, always in the same order."""
    # Ascending: transactions that take the same locks in one order cannot deadlock.
    function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
    statement = f"SELECT {function}({LOCKS}, number) FROM unnest(%s::integer[]) AS number"  # noqa: S608
    connection.execute(statement, (sorted(set(numbers)),))


def begin_shared(connection: Connection, *numbers: int) -> None:
    """Begin a transaction and wait for its shared locks, as ``lock`` does, in one round trip."""
    listed = ", ".join(map(str, sorted(set(numbers))))
    locked = f"SELECT pg_advisory_xact_lock_shared({LOCKS}, number) FROM unnest(ARRAY[{listed}]) AS number"  # noqa: S608
    connection.execute(f"BEGIN; {locked}", prepare=False)


def free_surveys(connection: Connection, numbers: Collection[int]) -> set[int]:
    """Take shared locks that last until the transaction ends, without waiting; return whose could be taken."""
    locked = f"pg_try_advisory_xact_lock_shared({LOCKS}, number)"
    statement = f"SELECT number, {locked} FROM unnest(%s::integer[]) AS number"  # noqa: S608
    taken = connection.execute(statement, (sorted(set(numbers)),))
    return {number for number, is_free in taken if is_free}


def _setting(connection: Connection, name: str) -> str:
    row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
    return str(row[0]) if row else ""


@contextmanager
def store_errors(database: Database) -> Iterator[None]:
    """Turn errors of PostgreSQL into a StoreError of one line."""
    try:
        yield
    except (PoolTimeout, PoolClosed):
        raise StoreError(f"{database}: does not answer") from None
    except psycopg.Error as error:
        reason = error.diag.message_primary or str(error).strip().partition("\n")[0]
        raise StoreError(f"{database}: {reason or type(error).__name__}") from None
