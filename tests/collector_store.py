"""What tests of a store share: surveys in it, submissions to it, and a look behind its back."""

import json
import sqlite3
import time

from collector_server import specification
from fldp import Survey
from fldp.collector.store import Entry, Submission
from fldp.collector.windows import Window

DAY = "2026-11-01"


def publish(store, **collect):
    survey = Survey.from_dict(specification(**collect))
    entry, _ = store.publish(Entry(0, survey.version, survey.name, json.dumps(survey.canonical), "2026", None))
    return survey, entry.number


def submission(survey, number, name, values=(0,), body=None, **more):
    reports = survey.oracle.privatize(list(values))
    return Submission(number, name, body or name, reports, **more)


def whole(store, survey, number):
    with store.snapshot() as snapshot:
        return Window(number).tally(snapshot, survey.oracle)


def rows(store, query):
    return sqlite3.connect(store.path).execute(query).fetchall()


def damage(store, statement, *values):
    connection = sqlite3.connect(store.path)
    connection.execute(statement, values)
    connection.commit()
    connection.close()


def until(found, seconds=20):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end
        time.sleep(0.01)
