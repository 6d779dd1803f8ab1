"""The live demo: a collector that keeps nothing, and simulated people who answer while it runs."""

import tempfile
import threading
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fldp.client import Client
from fldp.collector.config.clock import day, system
from fldp.collector.config.settings import Settings
from fldp.collector.server import Say, run
from fldp.errors import FldpError, ParameterError
from fldp.support.canonical_json import Json
from fldp.survey.survey import Survey

A_SECOND = 40  # people
HISTORY = 14  # days
PER_DAY = 900  # on average; fewer answer on two days of a week
WEEK = (1.15, 1.2, 1.1, 1.1, 1.05, 0.7, 0.7)
_KEPT = ("data", "database", "tls_certificate", "tls_key")

COMMUTE: dict[str, Json] = {
    "name": "commute",
    "question": "How do you get to work on most days?",
    "description": "The city council uses the totals to plan where bicycle lanes and bus stops are needed.",
    "labels": ["on foot", "bicycle", "bus", "tram", "train", "car, alone", "car, with others", "motorcycle", "at home"],
    "oracle": {"name": "grr", "epsilon": 1.0},
}
LUNCH: dict[str, Json] = {
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
    with tempfile.TemporaryDirectory(prefix="fldp-demo-") as folder, _Crowd(say, settings.stop_seconds) as crowd:
        return run(replace(settings, data=Path(folder)), say, crowd.clock, began=crowd.begin)


class _Crowd:
    """The people, and the calendar by which they and the collector live. They stop answering when the demo ends.

    The calendar begins in the past, so that a survey is published before its answers come.
    """

    def __init__(self, say: Say, patience: float) -> None:
        self._say, self._patience = say, patience
        self._days_ago = HISTORY
        self._threads: list[threading.Thread] = []
        self.stopped = threading.Event()

    def __enter__(self) -> "_Crowd":
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        for thread in self._threads:
            thread.join(5)

    def clock(self) -> datetime:
        """Return the time by the calendar."""
        return system() - timedelta(days=self._days_ago)

    def begin(self, url: str, secret: str | None) -> None:
        """Start the people's answers, beside the collector that now listens."""
        self._threads.append(threading.Thread(target=self.answer, args=(url, secret), daemon=True))
        self._threads[-1].start()

    def answer(self, url: str, secret: str | None) -> None:
        """Publish, say where to look, and answer, one request for each person."""
        try:
            with Client(url, secret, retries=1, allow_insecure=True) as client:
                self._live_through_history(client)
                self._answer_today(client, url)
        except FldpError as error:
            # A collector that is told to stop refuses requests at once, and ends within its stop_seconds.
            if not self.stopped.wait(self._patience):
                self._say(f"the simulated people gave up: {error}")

    def _live_through_history(self, client: Client) -> None:
        """Publish a survey, merge what people answered on each of the days before, and set the calendar to today."""
        survey = Survey.from_dict(LUNCH)
        client.create(survey)
        while self._days_ago:
            shares = SHARES if self._days_ago > HISTORY // 2 else SHARES + SHIFT
            reports = survey.oracle.privatize(_values(round(PER_DAY * WEEK[self.clock().weekday()]), shares))
            client.merge(survey.oracle.tally(reports), survey, day=day(self.clock()))
            self._days_ago -= 1

    def _answer_today(self, client: Client, url: str) -> None:
        survey = Survey.from_dict(COMMUTE)
        client.create(survey)
        self._say(f"dashboard: {url}/#token={client.create_token('admin').token}")  # nothing is kept: all may be tried
        self._say(f"answer page: {url}/s/{survey.name}")
        self._say(f"simulated people answer, {A_SECOND} a second; Ctrl-C ends it, and nothing is kept")
        while not self.stopped.wait(1 / A_SECOND):
            client.send(survey.privatize([survey.label(int(_values(1, SHARES)[0]))]), survey)


def _values(people: int, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.random.default_rng().choice(len(shares), people, p=shares / shares.sum())
