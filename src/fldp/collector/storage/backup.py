"""Backup: a snapshot of a whole store in one file, and a store of any kind restored from it.

The file is a SQLite database with the tables of a collector, so that anything can read it that reads SQLite.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fldp.collector.storage.protocol import CollectorStore, Snapshot, StoreError
from fldp.collector.storage.sqlite import file as sqlite_file
from fldp.collector.storage.sqlite.snapshot import SqliteSnapshot
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.collector.storage.tables import COLUMNS
from fldp.collector.storage.witness import witness_path
from fldp.support.atomic_files import whole_file
from fldp.support.progress import progress

_JOURNAL, _WAL = slice(18, 20), b"\2\2"  # what the header of a SQLite file says of its journal


def backup(store: CollectorStore, path: Path) -> int:
    """Write all of a store into a new file, however much is written to it meanwhile; return the number of rows."""
    with store.snapshot() as snapshot:
        return _file(path, snapshot, sqlite_file.finalize)


def restore_file(archive: Path, path: Path) -> int:
    """Make the database file of a collector from an archive."""
    with open_archive(archive) as snapshot:
        return _file(path, snapshot, lambda _: None)


def restore(archive: Path, store: CollectorStore) -> int:
    """Fill an empty store from an archive."""
    with open_archive(archive) as snapshot:
        return copy(snapshot, store)


def copy(snapshot: Snapshot, store: CollectorStore) -> int:
    """Copy everything into an empty store, in one transaction; return the number of rows."""
    rows = sum(map(snapshot.amount, COLUMNS))
    with progress("copying rows", rows) as advance:
        store.load(snapshot, advance)
    return rows


@contextmanager
def open_archive(path: Path) -> Iterator[SqliteSnapshot]:
    """Open an archive for reading and check it; nothing is changed in it, or beside it."""
    with sqlite_file.store_errors(path):
        with path.open("rb") as file:
            if file.read(20)[_JOURNAL] == _WAL:
                raise StoreError(f"{path}: is the database of a collector, not a backup; make one with fldp backup")
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            sqlite_file.check_readable(path, connection)
            snapshot = SqliteSnapshot(connection)
            if wrong := snapshot.damage():
                raise StoreError(f"{path}: is damaged: {wrong[0]}")
            sqlite_file.complete(connection)
            yield snapshot
        finally:
            connection.close()


def _file(path: Path, snapshot: Snapshot, finish: Callable[[Path], None]) -> int:
    """Make a database file that gets its name when all of it is on the disk."""
    if path.exists():
        raise _in_the_way(path)
    with sqlite_file.store_errors(path), _unless_in_the_way(path), whole_file(path, replace=False) as hidden:
        store = SqliteStore(hidden)
        try:
            rows = copy(snapshot, store)
        finally:
            store.close()
        finish(hidden)
        _clear(path)
    return rows


@contextmanager
def _unless_in_the_way(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise _in_the_way(path) from None


def _in_the_way(path: Path) -> StoreError:
    return StoreError(f"{path}: already exists, and is not overwritten")


def _clear(path: Path) -> None:
    """Remove the witness of a database that was here before; refuse its log, which SQLite would replay."""
    for suffix in ("-wal", "-journal"):
        if (left := path.with_name(path.name + suffix)).exists():
            raise _in_the_way(left)
    witness_path(path).unlink(missing_ok=True)
