"""Surveys in a store, and submissions to it."""

import json

from fldp import Survey
from fldp.collector.storage.protocol import StoredSurvey, Submission
from fldp.collector.storage.window import DayWindow
from support.collector_requests import specification

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
