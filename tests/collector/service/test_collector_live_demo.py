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
    lines = []
    crowd = live_demo._Crowd(lines.append, 600)
    people = threading.Thread(target=crowd.answer, args=("http://c.example", None), daemon=True)
    people.start()
    assert refused.wait(300)
    crowd.stopped.set()
    people.join(300)
    assert not people.is_alive()
    assert lines == []


def test_people_whom_a_running_collector_refuses_say_so(refused):
    lines = []
    live_demo._Crowd(lines.append, 0).answer("http://c.example", None)
    assert lines == ["the simulated people gave up: the collector stops"]


def test_a_survey_is_published_before_its_answers_come(monkeypatch):
    """By the clock of its collector, which ends today: what is published then has no past."""
    now, crowd = datetime(2026, 11, 16, 12, tzinfo=UTC), live_demo._Crowd([].append, 0)
    monkeypatch.setattr(live_demo, "system", lambda: now)
    published, answered = {}, []

    class RecordingClient:
        def __init__(self, *args, **options): ...

        def __enter__(self):
            return self

        def __exit__(self, *error): ...

        def create(self, survey):
            published[survey.name] = crowd.clock()

        def merge(self, tally, survey, day):
            answered.append((survey.name, day, tally.n))

        def create_token(self, scope):
            crowd.stopped.set()
            return SimpleNamespace(token=scope)

    monkeypatch.setattr(live_demo, "Client", RecordingClient)
    crowd.answer("http://c.example", None)
    days = [(now - timedelta(days=ago)).date().isoformat() for ago in range(live_demo.HISTORY, 0, -1)]
    assert [(name, day) for name, day, _ in answered] == [("lunch", day) for day in days]
    assert len({people for _, _, people in answered}) > 1
    assert published == {"lunch": now - timedelta(days=live_demo.HISTORY), "commute": now}
