"""The end of a period: one metric by lot, one report, within the limits, whatever happens on the way."""

import os
import shutil
import sqlite3
import sys
from collections import Counter
from contextlib import closing, suppress
from datetime import timedelta
from fractions import Fraction
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fldp import wire
from fldp.survey import Survey
from fldp.telemetry import drawing, state
from fldp.telemetry.agent import Agent
from fldp.telemetry.drawing import drawn_lot
from fldp.telemetry.metrics import AppMetric
from fldp.telemetry.specification import specification
from support import careless_sqlite
from support.telemetry import (
    ABOUT,
    FIELDS,
    above_limits,
    at,
    charges,
    declared,
    forked,
    install,
    killed_at,
    lived,
    only,
    quick_folder,
    reports,
)

MONTHS = ("2026-01-10", "2026-02-10", "2026-03-10", "2026-04-10")


@pytest.fixture
def folder():
    with quick_folder() as folder:
        yield folder


def test_a_report_is_one_of_the_metrics_survey(folder):
    metrics = only("theme")
    agent = lived(folder, metrics, {"theme": "dark"})
    [report] = reports(agent)
    survey = Survey.from_dict(specification(metrics, metrics.metrics["theme"]))
    assert len(wire.decode(report.body, survey.oracle, survey.version)) == 1
    assert (report.period, report.metric, report.state) == ("2026-01", "theme", "waiting")
    assert "2026-02-10" <= report.due < "2026-02-13T00:00:01Z"
    [charge] = charges(agent)
    assert (charge.cost.epsilon, charge.cost.eta, charge.epoch) == (2, 1, "2026-02")


def test_the_file_holds_no_value_after_that(folder, monkeypatch):
    careless_sqlite.use(monkeypatch)
    metrics = only("theme")
    agent = install(folder, metrics, at("2026-01-10"))
    agent.record("theme", "dark")
    agent.save()
    assert b"themedark" in (folder / "app.db").read_bytes()
    agent = install(folder, metrics, at("2026-02-10"))
    agent.end_periods()
    assert b"themedark" not in (folder / "app.db").read_bytes()
    with agent.state.exclusive() as rows:
        assert rows.aggregate("2026-01", "theme") == {}


def test_attributes_cost_once_and_numbers_each_time(folder):
    for name, expected in (("theme", [2]), ("startup", [1, 1, 1])):
        inside = folder / name
        inside.mkdir()
        for earlier, later in pairwise(MONTHS):
            agent = lived(inside, only(name), {name: "dark" if name == "theme" else 150.0}, days=(earlier, later))
        assert [charge.cost.epsilon for charge in charges(agent)] == expected
        assert [report.period for report in reports(agent)] == ["2026-01", "2026-02", "2026-03"]


def test_every_period_is_reported_while_the_limits_cover_it(folder):
    """Three metrics at epsilon 1 for seven months: at most 2 in a month, and at most 8 in all."""
    days = [f"2026-{month:02d}-10" for month in range(1, 8)]
    for earlier, later in pairwise(days):
        agent = lived(folder, declared(), {"theme": "dark"}, days=(earlier, later))
    assert [report.period for report in reports(agent)] == [day[:7] for day in days[:-1]]


def test_the_first_month_of_a_ledger_says_nothing(folder):
    metrics = only("startup", period="week", epsilon=0.2)
    agent = lived(folder, metrics, {"startup": 5.0}, days=("2026-01-06", "2026-01-13"))
    assert reports(agent) == []
    with agent.state.exclusive() as rows:
        [(period, metric, why)] = rows.finished()
    assert (period, metric) == ("2026-W02", "startup")
    assert "2026-02" in why


def test_one_metric_a_period_by_its_weight():
    """The law of the lot is exactly the weights: every place below their sum is one metric's."""
    metrics = [
        AppMetric("a", "flag", "any", weight=1),
        AppMetric("b", "flag", "any", weight=3),
        AppMetric("c", "flag", "any"),
    ]
    places = iter(range(5))
    counted = Counter()
    real, drawing.secrets.randbelow = drawing.secrets.randbelow, lambda end: next(places) if end == 5 else None
    try:
        counted.update(drawn_lot(metrics) for _ in range(5))
    finally:
        drawing.secrets.randbelow = real
    assert counted == {"a": 1, "b": 3, "c": 1}


@pytest.mark.parametrize(
    ("period", "days", "end"),
    [("month", ("2026-01-10", "2026-02-10"), "2026-02-12T23:59:59Z"), ("week", ("2026-02-02", "2026-02-09"), None)],
)
def test_the_time_to_send_is_uniform_over_the_next_days(folder, monkeypatch, period, days, end):
    """Of all seconds of three days, or of one, each is one number below their count: the last of them is the latest."""
    asked = []
    monkeypatch.setattr(drawing.secrets, "randbelow", lambda below: asked.append(below) or below - 1)
    birth = install(folder, only("startup", period=period, epsilon=0.2), at("2026-01-01"))
    birth.end_periods()
    [report] = reports(lived(folder, birth.metrics, {}, days=days))
    assert asked == [2, {"month": 3, "week": 1}[period] * 86_400]
    assert report.due == (end or "2026-02-09T23:59:59Z")


def test_the_lot_does_not_look_at_values(folder):
    """Also metrics without a value are drawn, and report unset."""
    seen = Counter()
    for number in range(60):
        inside = folder / str(number)
        inside.mkdir()
        seen.update(report.metric for report in reports(lived(inside, declared(), {"theme": "dark"})))
    assert sum(seen.values()) == 60
    assert seen["startup"] >= 12  # of 60 with probability 1/2: fewer by chance once in a million
    assert seen["sync"] >= 2  # with probability 1/4: fewer once in a million


def test_periods_of_which_the_program_saw_no_end_are_not_reported(folder):
    agent = lived(folder, only("sync"), {"sync": True}, days=("2026-01-10", "2026-03-10"))
    assert reports(agent) == []
    with agent.state.exclusive() as rows:
        assert rows.finished() == [("2026-01", "", "the program did not run in the period after it")]


@pytest.mark.parametrize(
    ("values", "total"),
    [((1e308, 1e308), sys.float_info.max), ((float("inf"), float("-inf")), 0.0), ((-(10**400), 10**400), 0.0)],
    ids=["large", "infinite", "whole"],
)
def test_no_number_is_too_large_to_be_stored_beside_the_others(folder, values, total):
    """Else a program that recorded it would be silent in that period, and silence would tell the value."""
    startup = {**FIELDS["metric"]["startup"], "take": "sum"}
    agent = install(folder, declared(metric={**FIELDS["metric"], "startup": startup}), at("2026-01-10"))
    for value in values:
        assert agent.record("startup", value)
    agent.record("theme", "dark")
    agent.save()
    with agent.state.exclusive() as rows:
        assert rows.open_periods() == [("2026-01", None)]
        assert rows.aggregate("2026-01", "theme") == {"dark": 1.0}
        assert rows.aggregate("2026-01", "startup") == {"": total}


def test_an_expired_metric_is_not_drawn(folder):
    table = {"sync": {"kind": "flag", **ABOUT, "expires": "2026-02-01"}}
    assert reports(lived(folder, declared(metric=table), {"sync": True})) == []


def test_a_value_of_a_period_that_is_done_is_left_out(folder):
    agent = lived(folder, only("sync"), {"sync": True})
    late = install(folder, only("sync"), at("2026-01-31"))  # a clock that was set back
    late.record("sync", True)
    late.work()
    assert len(reports(agent)) == 1
    with agent.state.exclusive() as rows:
        assert rows.aggregate("2026-01", "sync") == {}


def life(folder, metrics):
    """A year of a program that runs once a month."""
    for month in range(1, 13):
        agent = install(folder, metrics, at(f"2026-{month:02d}-10"))
        agent.end_periods()
        agent.record("startup", 10.0 * month)
        agent.record("theme", ("light", "dark", "system")[month % 3])
        agent.save()


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.long
def test_killed_at_every_commit_nothing_is_drawn_twice(folder, before):
    """Kill -9 at each commit of three months in turn, before it and after it; then the program runs again.

    The metrics are many and cheap, so that a second lot would mostly be another one, which the limits would cover.
    """
    tables = {name: {"kind": "duration", **ABOUT} for name in ("startup", "a", "b", "c", "d", "e", "f")}
    days, metrics = MONTHS[:3], declared(metric=tables, epsilon=0.2)

    def run():
        for day in days:
            agent = install(inside, metrics, at(day))
            agent.end_periods()
            agent.record("startup", 10.0)
            agent.save()

    commit, ended = 0, False
    while not ended:
        commit += 1
        inside = folder / str(commit)
        inside.mkdir()
        ended = killed_at(commit, before, run)
        known = {report.period: report for report in reports(install(inside, metrics, at(days[0])))}
        charged = charges(install(inside, metrics, at(days[0])))
        forked(run)  # the same months again: a clock that was set back, and a program that goes on
        agent = install(inside, metrics, at(days[-1]))
        assert len({report.period for report in reports(agent)}) == len(reports(agent)) <= 2
        assert all(report == known.get(report.period, report) for report in reports(agent))
        assert charges(agent)[: len(charged)] == charged
        assert len({charge.epoch for charge in charges(agent)}) == len(charges(agent)) <= 2
        assert above_limits(charges(agent)) == []
    assert commit > 10


def test_a_lot_that_is_drawn_stays_drawn(folder, monkeypatch):
    """A process that dies between the lot and the report finds the lot again."""
    metrics = declared()
    agent = install(folder, metrics, at("2026-01-10"))
    agent.end_periods()
    agent.save()
    later = install(folder, metrics, at("2026-02-10"))

    class Killed(BaseException):
        pass

    def dies(*ignored):
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(drawing.Ending, "_drawn", dies)
        with pytest.raises(Killed):
            later.end_periods()
    with later.state.exclusive() as rows:
        [lot] = [metric for period, metric in rows.open_periods() if period == "2026-01"]
    monkeypatch.setattr(drawing, "drawn_lot", dies)
    later.end_periods()
    assert [report.metric for report in reports(later)] == [lot]


def test_several_processes_draw_one_report_and_add_up(folder):
    total = {"pages": {"kind": "number", "take": "sum", "edges": [10, 100], **ABOUT}}
    metrics = declared(metric=total)
    install(folder, metrics, at("2026-01-10")).end_periods()

    def work(day, value):
        agent = install(folder, metrics, at(day))
        agent.record("pages", value)
        agent.end_periods()

    def at_once(*jobs):
        children = []
        for job in jobs:
            child = os.fork()
            if not child:
                try:
                    job()
                except BaseException:
                    os._exit(3)
                os._exit(0)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(jobs)

    at_once(*[lambda: work("2026-01-20", 5)] * 4)
    agent = install(folder, metrics, at("2026-01-20"))
    with agent.state.exclusive() as rows:
        assert rows.aggregate("2026-01", "pages") == {"": 20.0}
    at_once(*[lambda: work("2026-02-02", 1)] * 4)
    assert [report.period for report in reports(agent)] == ["2026-01"]
    assert len(charges(agent)) == 1


DAYS = st.integers(-40, 60) | st.sampled_from([-400, -365, 365, 400])
STEPS = st.lists(st.tuples(DAYS, st.sampled_from(["run", "run", "run", "clean", "lose"])), min_size=5, max_size=40)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS, st.sampled_from(["month", "week"]))
def test_no_clock_brings_an_install_above_its_limits(steps, period):
    """Clocks that jump by days, months and years, cleaning, and a state file that is lost; the ledger stays."""
    metrics = declared(period=period, epsilon=1.0 if period == "month" else 0.4)
    with quick_folder() as folder:
        moment = at("2026-06-15")
        for days, step in steps:
            moment += timedelta(days=days)
            agent = install(folder, metrics, moment)
            agent.record("startup", 10.0)
            agent.record("theme", "dark")
            if step == "clean":
                agent.save()
                with agent.state.exclusive() as rows:
                    rows.clean()
            elif step == "lose":
                (folder / "app.db").unlink(missing_ok=True)
            else:
                agent.end_periods()
        charged = charges(agent)
        assert above_limits(charged) == []
        fresh = Counter((charge.version, charge.epoch) for charge in charged)
        assert not fresh or max(fresh.values()) == 1


def test_the_checks_of_limits_can_fail(folder, monkeypatch):
    """With limits that allow everything, the sum made here says so."""
    from fldp.participant.limits import Limit, Limits

    wide = Limits(month=Limit(100, 1), month_total=Limit(100, 1), year=Limit(100, 1))
    monkeypatch.setattr(Limits, "renewing", classmethod(lambda cls: wide))
    metrics = only("startup", period="week", epsilon=0.9)
    for earlier, later in (
        ("2026-01-26", "2026-02-02"),
        ("2026-02-03", "2026-02-09"),
        ("2026-02-10", "2026-02-16"),
        ("2026-02-17", "2026-02-23"),
    ):
        agent = lived(folder, metrics, {"startup": 1.0}, days=(earlier, later))
    assert above_limits(charges(agent)) != []
    assert sum(charge.cost.epsilon for charge in charges(agent)) == 4 * Fraction(9, 10)


def test_two_processes_may_begin_at_the_same_moment(folder, monkeypatch):
    """The other one fills the file while this one looks whether it is filled."""
    path = folder / "app.db"

    class Overtaken(sqlite3.Connection):
        def execute(self, statement, *arguments):
            if statement == "PRAGMA user_version":
                with suppress(sqlite3.OperationalError), closing(sqlite3.Connection(path, timeout=0)) as other:
                    other.executescript(state._SCHEMA)
            return super().execute(statement, *arguments)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Overtaken))
    agent = install(folder, only("sync"), at("2026-01-10"))
    agent.save()
    assert agent.state.glance("2026-02") == (True, False)


def test_a_state_that_is_damaged_breaks_nothing(folder):
    (folder / "app.db").write_bytes(b"no database" * 1000)
    agent = Agent(
        only("sync"),
        install(folder, only("sync"), at("2026-01-10")).mode,
        install(folder, only("sync"), at("2026-01-10"))._places,
    )
    agent.attempt(agent.end_periods)
    assert "DatabaseError" in agent.trouble
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
