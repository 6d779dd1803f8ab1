"""What tests of a store share: surveys in it, submissions to it, and a look behind its back."""

import json
import sqlite3
import time
from contextlib import closing

import psycopg

from fldp import Survey
from fldp.collector.config.database_url import Database
from fldp.collector.storage.postgres.store import PostgresStore
from fldp.collector.storage.protocol import StoredSurvey, Submission
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.collector.storage.window import DayWindow
from support.collector_server import specification
from support.postgres_server import server

STORES = ("sqlite", "postgres")
DAY = "2026-11-01"


def publish(store, labels=None, **collect):
    fields = specification(**collect)
    survey = Survey.from_dict({**fields, "labels": labels or fields["labels"]})
    entry, _ = store.publish(StoredSurvey(0, survey.version, survey.name, json.dumps(survey.canonical), "2026", None))
    return survey, entry.number


def submission(survey, number, name, values=(0,), body=None, **more):
    reports = survey.oracle.privatize(list(values))
    return Submission(number, name, body or name, reports, **more)


def whole(store, survey, number):
    with store.snapshot() as snapshot:
        return DayWindow(number).tally(snapshot, survey.oracle)


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
        connection = psycopg.connect(store.database.url, options="-c search_path=fldp")
        statement = statement.replace("?", "%s")
    with closing(connection):
        cursor = connection.execute(statement, values)
        found = cursor.fetchall() if cursor.description else None
        connection.commit()
    return found


def rows(store, query, *values):
    return _asked(store, query, values)


def damage(store, statement, *values):
    _asked(store, statement, values)


def until(found, seconds=120):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end
        time.sleep(0.01)
