"""The simulated people of the live demo, without a server."""

import threading
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from fldp.collector import live_demo
from fldp.errors import CollectorError


@pytest.fixture
def refused(monkeypatch):
    """A client whose requests are all refused; the event is set by the first."""
    event = threading.Event()

    class RefusedClient:
        def __init__(self, *args, **options): ...

        def __enter__(self):
            return self

        def __exit__(self, *error): ...

        def create(self, survey):
            event.set()
            raise CollectorError("the collector stops")

    monkeypatch.setattr(live_demo, "Client", RefusedClient)
    return event


def test_people_whom_a_stopping_collector_refuses_say_nothing(refused):
    lines, stopped = [], threading.Event()
    told = ("http://c.example", None, lines.append, stopped, 600, live_demo._Calendar())
    people = threading.Thread(target=live_demo._answer, args=told, daemon=True)
    people.start()
    assert refused.wait(60)
    stopped.set()
    people.join(60)
    assert not people.is_alive()
    assert lines == []


def test_people_whom_a_running_collector_refuses_say_so(refused):
    lines = []
    live_demo._answer("http://c.example", None, lines.append, threading.Event(), 0, live_demo._Calendar())
    assert lines == ["the simulated people gave up: the collector stops"]


def test_a_survey_is_published_before_its_answers_come(monkeypatch):
    """By the clock of its collector, which ends today: what is published then has no past."""
    now, calendar, stopped = datetime(2026, 11, 16, 12, tzinfo=UTC), live_demo._Calendar(), threading.Event()
    monkeypatch.setattr(live_demo, "system", lambda: now)
    published, answered = {}, []

    class RecordingClient:
        def __init__(self, *args, **options): ...

        def __enter__(self):
            return self

        def __exit__(self, *error): ...

        def create(self, survey):
            published[survey.name] = calendar()

        def merge(self, tally, survey, day):
            answered.append((survey.name, day, tally.n))

        def create_token(self, scope):
            stopped.set()
            return SimpleNamespace(token=scope)

    monkeypatch.setattr(live_demo, "Client", RecordingClient)
    live_demo._answer("http://c.example", None, [].append, stopped, 0, calendar)
    days = [(now - timedelta(days=ago)).date().isoformat() for ago in range(live_demo.HISTORY, 0, -1)]
    assert [(name, day) for name, day, _ in answered] == [("lunch", day) for day in days]
    assert len({people for _, _, people in answered}) > 1
    assert published == {"lunch": now - timedelta(days=live_demo.HISTORY), "commute": now}
