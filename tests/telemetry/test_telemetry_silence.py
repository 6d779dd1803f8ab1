"""What a collector sees of a program does not depend on what was recorded, how often, or whether anything was."""

from datetime import timedelta
from random import Random

import pytest

from fldp.errors import BudgetError
from fldp.telemetry import drawing, sending
from fldp.telemetry.sending import PlainReply
from support.telemetry import ABOUT, at, declared, install, quick_folder, reports

EXTREME = [float("inf"), float("-inf"), float("nan"), 1e308, -1e308, 5e-324, 10**400, -(10**400), 0, True]
METRICS = {
    "theme": ({"kind": "choice", "values": ["light", "dark"], "take": "most"}, ["light", "dark", "a" * 5000, "\ud800"]),
    "last": ({"kind": "choice", "values": ["light", "other"]}, ["light", "other", "", "unset", "pink"]),
    "sync": ({"kind": "flag"}, [True, False, 1, "yes", None]),
    "version": ({"kind": "version", "values": ["1", "2.0"]}, ["1.9", "2.0.1", "3", "x" * 5000]),
    "startup": ({"kind": "duration"}, [0.5, 250, 1e9, *EXTREME]),
    "total": ({"kind": "number", "edges": [1, 10, 100], "take": "sum"}, [3, 50, *EXTREME]),
    "most": ({"kind": "number", "edges": [1, 10, 100], "take": "max"}, [3, 50, *EXTREME]),
}
MONTHS = ("2026-01-10", "2026-02-10", "2026-03-10", "2026-04-10")
LATER = timedelta(days=4)  # by then every report of a month is due


def seen(monkeypatch, metrics, *recorded, killed=False):
    """Let a program live for some months, in each with other values if there are several lists of them.

    Return its requests with their moments, and what became of its reports. One that is ``killed`` does not end well.
    """
    requests, chance, day = [], Random(3), at(MONTHS[0])

    def request(url, method, path, headers, body=b""):
        sizes = sorted((name, len(text)) for name, text in headers.items())
        requests.append((day, url, method, path, sizes, len(body)))
        return PlainReply(200, b'{"accepted": 1}')

    monkeypatch.setattr(sending, "request", request)
    monkeypatch.setattr(drawing.secrets, "randbelow", chance.randrange)
    with quick_folder() as folder:
        for number, month in enumerate(MONTHS):
            day = at(month)
            agent = install(folder, metrics, day)
            agent.end_periods()
            for name, value in recorded[number % len(recorded)]:
                agent.attempt(lambda agent=agent, name=name, value=value: agent.record(name, value))
            last = agent.end_periods if killed else agent.save
            last()
            day += LATER
            install(folder, metrics, day).send_due()
        facts = [(one.period, one.metric, one.drawn, one.due, one.state, len(one.body)) for one in reports(agent)]
    return requests, facts


@pytest.mark.parametrize("name", METRICS)
def test_no_value_can_be_told_by_requests(name, monkeypatch):
    table, values = METRICS[name]
    metrics = declared(metric={name: {**table, **ABOUT}})
    nothing = seen(monkeypatch, metrics, [])
    assert [len(part) for part in nothing] == [3, 3]
    for value in values:
        assert seen(monkeypatch, metrics, [(name, value)]) == nothing
    assert seen(monkeypatch, metrics, [(name, value) for value in values] * 50) == nothing
    assert seen(monkeypatch, metrics, [(name, values[0])], [(name, values[1])], []) == nothing


def test_no_value_of_one_metric_can_be_told_by_the_reports_of_others(monkeypatch):
    """All of them draw lots, and share the limits of a month."""
    metrics = declared(metric={name: {**table, **ABOUT} for name, (table, _) in METRICS.items()})
    nothing = seen(monkeypatch, metrics, [])
    assert len({metric for _, metric, *_ in nothing[1]}) > 1
    for name, (_, values) in METRICS.items():
        assert seen(monkeypatch, metrics, [(name, value) for value in values]) == nothing


def test_a_program_that_is_killed_reports_whether_it_recorded_or_not(monkeypatch):
    metrics = declared(metric={"theme": {**METRICS["theme"][0], **ABOUT}})
    nothing = seen(monkeypatch, metrics, [], killed=True)
    assert [len(part) for part in nothing] == [3, 3]
    assert seen(monkeypatch, metrics, [("theme", "dark")], killed=True) == nothing
    assert seen(monkeypatch, metrics, [("theme", "dark")], [], killed=True) == nothing


def test_a_planted_silence_is_seen(monkeypatch):
    def careless(metric, held, outcome=drawing.outcome):
        if outcome(metric, held) == "dark":
            raise BudgetError("participant: this one would rather not")
        return outcome(metric, held)

    monkeypatch.setattr(drawing, "outcome", careless)
    metrics = declared(metric={"theme": {**METRICS["theme"][0], **ABOUT}})
    one, other = (_requests(monkeypatch, metrics, value) for value in ("light", "dark"))
    assert one != other


def _requests(monkeypatch, metrics, value):
    try:
        return seen(monkeypatch, metrics, [("theme", value)])[0]
    except BudgetError:
        return []
