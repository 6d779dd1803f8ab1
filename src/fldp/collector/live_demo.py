"""The live demo: a collector whose data goes with it, and simulated people who answer while somebody looks."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.client import Client
from fldp.collector.config.clock import day, system
from fldp.collector.config.settings import Settings
from fldp.collector.server import Say, run
from fldp.errors import FldpError, ParameterError
from fldp.survey.survey import Survey

A_SECOND = 40  # people
HISTORY = 14  # days
PER_DAY = 900  # on average; fewer answer on two days of a week
WEEK = (1.15, 1.2, 1.1, 1.1, 1.05, 0.7, 0.7)
_KEPT = ("data", "database", "tls_certificate", "tls_key")

COMMUTE: dict[str, Any] = {
    "name": "commute",
    "question": "How do you get to work on most days?",
    "description": "The city council uses the totals to plan where bicycle lanes and bus stops are needed.",
    "labels": ["on foot", "bicycle", "bus", "tram", "train", "car, alone", "car, with others", "motorcycle", "at home"],
    "oracle": {"name": "grr", "epsilon": 1.0},
}
LUNCH: dict[str, Any] = {
    "name": "lunch",
    "question": "What did you have for lunch?",
    "labels": ["soup", "salad", "sandwich", "noodles", "rice", "pizza", "curry", "leftovers", "nothing"],
    "oracle": {"name": "grr", "epsilon": 2.0},
}
SHARES = np.array([0.1, 0.23, 0.15, 0.12, 0.07, 0.2, 0.06, 0.003, 0.067])
SHIFT = np.array([-0.03, 0.05, 0.0, 0.0, 0.0, -0.04, 0.0, 0.0, 0.02])  # from the first week to the second


def serve(settings: Settings, say: Say) -> list[str]:
    """Serve until told to stop, in a folder that is gone after that; return the threads that have not ended."""
    for name in _KEPT:
        if getattr(settings, name) != getattr(Settings(), name):
            raise ParameterError(f"serve: {name} must be left out with --demo, which keeps nothing")
    calendar = _Calendar()
    crowd = _crowd(say, settings.stop_seconds, calendar)
    with tempfile.TemporaryDirectory(prefix="fldp-demo-") as folder, crowd as began:
        return run(replace(settings, data=Path(folder)), say, calendar, began=began)


class _Calendar:
    """The demo's clock. It begins in the past, so that a survey is published before its answers come."""

    days_ago = HISTORY

    def __call__(self) -> datetime:
        return system() - timedelta(days=self.days_ago)


@contextmanager
def _crowd(say: Say, patience: float, calendar: _Calendar) -> Iterator[Any]:
    """Give what to call when the collector listens; the people stop answering when this ends."""
    stopped, threads = threading.Event(), []

    def began(url: str, secret: str | None) -> None:
        people = (url, secret, say, stopped, patience, calendar)
        threads.append(threading.Thread(target=_answer, args=people, daemon=True))
        threads[0].start()

    try:
        yield began
    finally:
        stopped.set()
        for thread in threads:
            thread.join(5)


def _answer(
    url: str, secret: str | None, say: Say, stopped: threading.Event, patience: float, calendar: _Calendar
) -> None:
    """Publish, say where to look, and answer, one request for each person."""
    try:
        with Client(url, secret, retries=1, allow_insecure=True) as client:
            survey, lunch = Survey.from_dict(COMMUTE), Survey.from_dict(LUNCH)
            client.create(lunch)
            _remember(client, lunch, calendar)
            client.create(survey)
            say(f"dashboard: {url}/#token={client.create_token('admin').token}")  # nothing is kept, so all may be tried
            say(f"answer page: {url}/s/{survey.name}")
            say(f"simulated people answer, {A_SECOND} a second; Ctrl-C ends it, and nothing is kept")
            while not stopped.wait(1 / A_SECOND):
                client.send(survey.privatize([survey.label(int(_values(1, SHARES)[0]))]), survey)
    except FldpError as error:
        # A collector that is told to stop refuses requests at once, and ends within its stop_seconds.
        if not stopped.wait(patience):
            say(f"the simulated people gave up: {error}")


def _remember(client: Client, survey: Survey, calendar: _Calendar) -> None:
    """Have people answer on each of the days before, and then let it be today."""
    while calendar.days_ago:
        shares = SHARES if calendar.days_ago > HISTORY // 2 else SHARES + SHIFT
        reports = survey.oracle.privatize(_values(round(PER_DAY * WEEK[calendar().weekday()]), shares))
        client.merge(survey.oracle.tally(reports), survey, day=day(calendar()))
        calendar.days_ago -= 1


def _values(people: int, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.random.default_rng().choice(len(shares), people, p=shares / shares.sum())
