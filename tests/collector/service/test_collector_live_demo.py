"""The simulated people of the live demo, without a server."""

import threading

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
    people = threading.Thread(
        target=live_demo._answer, args=("http://c.example", None, lines.append, stopped, 600), daemon=True
    )
    people.start()
    assert refused.wait(60)
    stopped.set()
    people.join(60)
    assert not people.is_alive()
    assert lines == []


def test_people_whom_a_running_collector_refuses_say_so(refused):
    lines = []
    live_demo._answer("http://c.example", None, lines.append, threading.Event(), 0)
    assert lines == ["the simulated people gave up: the collector stops"]
