"""What tests of both stores share: a new one of either kind, and a look behind its back."""

import sqlite3
from contextlib import closing

import psycopg

from fldp.collector.config.database_url import Database
from fldp.collector.storage.postgres.store import PostgresStore
from fldp.collector.storage.sqlite.store import SqliteStore
from support.postgres_server import server
from support.submissions import DAY, publish, submission, whole

STORES = ("sqlite", "postgres")

__all__ = ["DAY", "STORES", "damage", "opened", "publish", "rows", "stored_in", "submission", "whole"]


def opened(kind, folder):
    """Open a new store of a kind."""
    return SqliteStore(folder / "fldp.db") if kind == "sqlite" else PostgresStore(Database(server().database()))


def stored_in(kind):
    """Return the settings of a collector that keeps its data in a new store of a kind."""
    return {} if kind == "sqlite" else {"database": server().database()}


def _asked(store, statement, values):
    if isinstance(store, SqliteStore):
        connection = sqlite3.connect(store.path)
    else:
        connection = psycopg.connect(store.database.url, options="-c search_path=fldp -c fldp.schema=99")
        statement = statement.replace("?", "%s")
    with closing(connection):
        cursor = connection.execute(statement, values)
        rows = cursor.fetchall() if cursor.description else None
        connection.commit()
    return rows


def rows(store, query, *values):
    return _asked(store, query, values)


def damage(store, statement, *values):
    _asked(store, statement, values)
