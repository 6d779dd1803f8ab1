"""Opening of a store, by the folder of a SQLite file or the address of a PostgreSQL database."""

from pathlib import Path

from fldp.collector.config.database_url import Database
from fldp.collector.config.settings import Settings
from fldp.collector.storage.protocol import CollectorStore, StoreError
from fldp.collector.storage.sqlite.file import FILE
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.support.optional_imports import load


def serve_store(settings: Settings) -> CollectorStore:
    """Open the store of a collector, created if missing, with a connection for everybody who may want one."""
    if settings.database is None:
        store: CollectorStore = SqliteStore(settings.data / FILE)
    else:
        store = _postgres(settings.database, connections=2 * settings.threads + 8, make=True)
    try:
        if wrong := store.inspect():  # better no collector than one that takes reports for a database that is damaged
            raise StoreError(f"{settings.database or settings.data / FILE}: {wrong[0]}")
    except BaseException:
        store.close()
        raise
    return store


def open_store(data: Path, database: Database | None = None, *, make: bool = False) -> CollectorStore:
    """Open a store that is there, or make one."""
    if database is not None:
        return _postgres(database, connections=4, make=make)
    if not make and not (data / FILE).is_file():
        raise StoreError(f"{data / FILE}: is not there; name the folder of a collector with --data, or its --database")
    return SqliteStore(data / FILE)


def _postgres(database: Database, *, connections: int, make: bool) -> CollectorStore:
    load("psycopg", "postgres")
    load("psycopg_pool", "postgres")
    from fldp.collector.storage.postgres.store import PostgresStore

    return PostgresStore(database, connections=connections, make=make)
