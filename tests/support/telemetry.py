"""Telemetry for the tests: metrics, installs with a clock that is told the time, and what their ledgers hold."""

import os
import sqlite3
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from fldp.participant.epochs import month_of
from fldp.participant.sqlite_store import FileStore
from fldp.telemetry.agent import Agent, Places
from fldp.telemetry.metrics import metrics_of
from fldp.telemetry.modes import Mode

ABOUT = {"why": "to know", "owner": "a@b.example", "expires": "2999-12-31"}
FIELDS = {
    "format": "fldp-metrics-1",
    "app": "paint",
    "collector": "http://127.0.0.1:9",  # nobody listens there
    "epsilon": 1.0,
    "default": "on",
    "metric": {
        "theme": {"kind": "choice", "values": ["light", "dark", "system"], **ABOUT},
        "sync": {"kind": "flag", **ABOUT},
        "startup": {"kind": "duration", "weight": 2, **ABOUT},
    },
}
ON = Mode("on", "a test")


def declared(**changes):
    return metrics_of({**FIELDS, **changes})


def only(name, **changes):
    """AppMetrics with one metric, which every lot draws."""
    return declared(metric={name: FIELDS["metric"][name]}, **changes)


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def install(folder, metrics, moment, *, mode=ON, notice=None):
    """Start a program at a moment."""
    places = Places(str(Path(folder) / "app.db"), str(Path(folder) / "answers.db"))
    return Agent(metrics, mode, places, clock=lambda: moment, notice=notice)


def lived(folder, metrics, values, days=("2026-01-10", "2026-02-10")):
    """Record values in a period, and let the next begin; return the agent of that."""
    agent = install(folder, metrics, at(days[0]))
    agent.end_periods()
    for name, value in values.items():
        assert agent.record(name, value)
    agent.save()
    agent = install(folder, metrics, at(days[1]))
    agent.end_periods()
    return agent


def reports(agent):
    with agent.state.exclusive() as rows:
        return rows.reports()


def charges(agent):
    """The charges of the person's ledger."""
    path = agent._places.ledger
    if not os.path.exists(path):
        return ()
    with FileStore(path).exclusive() as book:
        return book.ledger.charges


def above_limits(charged):
    """Return the months and years above the default limits, added up here and not by the ledger."""
    months = {}
    for charge in charged:
        months.setdefault(month_of(charge.epoch), []).append(Fraction(charge.cost.epsilon))
    bad = [month for month, costs in months.items() if sum(costs) > 2]
    years = [month for month in months if sum(sum(months.get(month + k, ())) for k in range(12)) > 12]
    return bad + years


HEAD = f"| metric | reports | true shares inside of their intervals | widest half of an interval |\n|{'---|' * 4}"


def outcome_row(name, reports, inside, ends):
    """The row of a metric in the table that the acceptance runs print for the documents."""
    half = (ends[:, 1] - ends[:, 0]).max() / 2 / reports
    return f"| `{name}` | {reports:,} | {inside} of {len(ends)} | {half:.1%} |"


@contextmanager
def quick_folder():
    """A folder in memory where there is such a place: what is tested is not the disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield Path(folder)


class Doomed(sqlite3.Connection):
    """A connection whose process is killed at a commit: the ``left``-th of all, before it or after it."""

    left, before = 0, True

    def execute(self, statement, *arguments):
        if statement != "COMMIT":
            return super().execute(statement, *arguments)
        Doomed.left -= 1
        if Doomed.left == 0 and Doomed.before:
            os.kill(os.getpid(), 9)
        done = super().execute(statement, *arguments)
        if Doomed.left == 0:
            os.kill(os.getpid(), 9)
        return done


def forked(action):
    """Run an action in a process of its own; return whether it ended by itself."""
    child = os.fork()
    if not child:
        try:
            action()
        except BaseException:
            os._exit(3)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.waitstatus_to_exitcode(status) in (0, -9), status
    return status == 0


def killed_at(commit, before, action):
    """Run an action in a process that is killed at a commit; return whether it ended before that."""

    def doomed():
        Doomed.left, Doomed.before = commit, before
        connect = sqlite3.connect
        sqlite3.connect = lambda *arguments, **options: connect(*arguments, **options, factory=Doomed)
        action()

    return forked(doomed)
