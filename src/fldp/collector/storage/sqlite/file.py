"""The SQLite file of a collector: connecting, creating, migrating."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fldp.collector.storage.checksums import row_checksum
from fldp.collector.storage.migrations import steps
from fldp.collector.storage.protocol import StoreError
from fldp.collector.storage.tables import COLUMNS, COUNTED
from fldp.support.sqlite_errors import sqlite_reason

FILE = "fldp.db"
_APPLICATION = 0x666C6463  # "fldc": SQLite keeps it in the file's header, so that other files are known as such
_PATIENCE = 10.0  # seconds to wait for another process
_STATEMENTS = 256  # that stay prepared: some are for as many rows as come, up to 64
_DURABLE = (
    "PRAGMA synchronous = FULL",  # a commit is on the disk when it returns
    "PRAGMA fullfsync = ON",
)
_READING = ("PRAGMA query_only = ON", *_DURABLE)  # one that reads shortens the log, too: what it copies must be kept
_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    *_DURABLE,
    "PRAGMA secure_delete = ON",  # what is deleted is overwritten
    "PRAGMA trusted_schema = OFF",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA cache_size = -16384",  # KiB: keys lie in the order of their hashes, so a commit touches pages everywhere
    "PRAGMA wal_autocheckpoint = 1000",  # pages: while a long log is cut, every commit waits (60 MB take 25 ms)
)


def migrations() -> list[str]:
    """Return the steps that make the tables, in their order.

    >>> len(migrations()) >= 1
    True
    """
    return steps("sqlite")


def connect(path: Path, *, writes: bool) -> sqlite3.Connection:
    """Open a file that is there."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(
        uri,
        uri=True,
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS,
    )
    try:
        for setting in _SETTINGS if writes else _READING:
            connection.execute(setting)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def shorten_log(connection: sqlite3.Connection) -> None:
    """Write what the log holds into the file as far as nobody reads from it, while others commit."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


def empty_log(connection: sqlite3.Connection) -> bool:
    """Write the log into the file and cut it to nothing; False if somebody reads from it just now."""
    connection.execute("PRAGMA busy_timeout = 0")  # commits must not wait for a long export
    try:
        return bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(1000 * _PATIENCE)}")


def prepare(path: Path) -> None:
    """Make the file if there is none, and its tables; refuse a file that is something else, or newer than this code."""
    with store_errors(path):
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        connection = connect(path, writes=False)
        try:
            _check_kind(path, connection)  # before anything is changed in it
        finally:
            connection.close()
        connection = connect(path, writes=True)
        try:
            migrate(path, connection)
        finally:
            connection.close()


def migrate(path: Path, connection: sqlite3.Connection) -> None:
    """Do the steps that are missing, each with its number in one transaction."""
    _check_kind(path, connection)
    connection.create_function("row_checksum", -1, row_checksum, deterministic=True)
    for number, step in enumerate(migrations(), 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if number > _pragma(connection, "user_version"):
                _statements(connection, step)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise


def check(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file whose tables differ from the tables of this version of fldp."""
    _check_kind(path, connection)
    schema, known = _pragma(connection, "user_version"), len(migrations())
    if schema != known:
        raise StoreError(f"{path}: has schema {schema}, this version of fldp reads {known}")


def check_readable(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file that holds no tables of this or an older version of fldp."""
    _check_kind(path, connection)
    if _pragma(connection, "user_version") == 0:
        raise StoreError(f"{path}: holds no tables of a collector")


def complete(connection: sqlite3.Connection) -> None:
    """Present the tables of an older schema as those of this one; the file itself is not changed."""
    schema = _pragma(connection, "user_version")
    if schema < 2:
        _add_checksums(connection)
    if schema < 4:
        _add_withdrawals(connection)
    if schema < 5:
        empty = "SELECT x'' AS key_id, x'' AS private, '' AS created, '' AS version, 0 AS checksum WHERE 0"
        connection.execute(f"CREATE TEMP VIEW issuers AS {empty}")
    if schema < 3:
        empty = "SELECT 0 AS number, x'' AS private, '' AS created, 0 AS checksum WHERE 0"
        connection.execute(f"CREATE TEMP VIEW gateway_keys AS {empty}")


def _add_withdrawals(connection: sqlite3.Connection) -> None:
    """Have no report withdrawn, and no version deleted that anybody remembers."""
    keys = "temp.old_keys" if _pragma(connection, "user_version") < 2 else "main.keys"
    connection.execute(
        "CREATE TEMP VIEW keys AS SELECT survey, key, body, accepted, NULL AS day, 0 AS withdrawn, checksum"  # noqa: S608
        f" FROM {keys}"
    )
    connection.execute("CREATE TEMP VIEW tallies AS SELECT *, 0 AS withdrawn FROM main.tallies")
    empty = "SELECT 0 AS number, '' AS version, '' AS name, '' AS created, NULL AS closed WHERE 0"
    connection.execute(f"CREATE TEMP VIEW past_versions AS {empty}")


def _add_checksums(connection: sqlite3.Connection) -> None:
    connection.create_function("row_checksum", -1, row_checksum, deterministic=True)
    for table in COUNTED:
        columns = COLUMNS[table].removesuffix(", checksum").removesuffix(", day, withdrawn")
        view = "old_keys" if table == "keys" else table
        rowid = "rowid AS rowid, " if table == "tokens" else ""
        connection.execute(
            f"CREATE TEMP VIEW {view} AS SELECT {rowid}{columns}, row_checksum({columns}) AS checksum"  # noqa: S608
            f" FROM main.{table}"
        )


def finalize(path: Path) -> None:
    """Leave WAL mode, so that the file is complete by itself and can be read without a log."""
    connection = connect(path, writes=True)
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        connection.close()


def _check_kind(path: Path, connection: sqlite3.Connection) -> None:
    kind, schema = _pragma(connection, "application_id"), _pragma(connection, "user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if kind != _APPLICATION and (kind or schema or tables):
        raise StoreError(f"{path}: is not a collector's database")
    if schema > len(migrations()):
        raise StoreError(f"{path}: has schema {schema}, this version of fldp knows up to {len(migrations())}")


def _statements(connection: sqlite3.Connection, script: str) -> None:
    """Run a script inside the open transaction; ``executescript`` would commit it first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            run_statement(connection, statement)
            statement = ""


def run_statement(connection: sqlite3.Connection, statement: str) -> None:
    """Run one statement of a migration."""
    connection.execute(statement)


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the disk into a StoreError of one line."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {sqlite_reason(error)}") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened: {error.strerror}") from None
