"""Telemetry for the tests: metrics, installs with a clock that is told the time, and what their ledgers hold."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

from fldp.participant.epochs import month_of
from fldp.participant.sqlite_store import FileStore
from fldp.telemetry.agent import Agent, Places
from fldp.telemetry.metrics import metrics_of, read_metrics
from fldp.telemetry.modes import Mode
from fldp.telemetry.periods import system
from fldp.telemetry.state import State
from support.promises import write_table

WORDY = Path(__file__).parents[2] / "examples" / "wordy"

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


def install(folder, metrics, moment, *, mode=ON, **options):
    """Start a program at a moment."""
    places = Places(str(Path(folder) / "app.db"), str(Path(folder) / "answers.db"))
    return Agent(metrics, mode, places, clock=lambda: moment, **options)


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


class SampleProgram:
    """The program of ``examples/wordy`` with its first metric alone; last month somebody ran it and asked for JSON."""

    def __init__(self, folder, url, *, app, relay=None):
        self.folder, code = Path(folder), WORDY / "wordy.py"
        text = (WORDY / "metrics.toml").read_text()
        text = text[: text.index("[metric.recursive]")].replace("2027-06-30", "2999-01-01").replace('"local"', '"on"')
        text = text.replace("https://collector.example", url).replace('"wordy"', f'"{app}"')
        way = f'relay = "{relay}"' if relay else ""
        (self.folder / "metrics.toml").write_text(text.replace('relay = "https://relay.example"', way))
        (self.folder / "wordy.py").write_text(code.read_text())
        self.metrics = read_metrics(str(self.folder / "metrics.toml"))
        state = self.folder / "state" / "fldp"
        self._places = Places(str(state / "telemetry" / f"{app}.db"), str(state / "answers.db"))
        self.last = system().replace(day=1) - timedelta(days=1)
        self.agent(self.last - timedelta(days=40)).end_periods()
        self.agent(self.last).record("format", "json")

    def agent(self, moment):
        """The program at a moment, in this process; what it records is stored at once."""
        agent = Agent(self.metrics, ON, self._places, clock=lambda: moment)
        record = agent.record
        agent.record = lambda name, value: record(name, value) and agent.save()
        return agent

    def run(self, *, wait=False):
        """Run it as a process; it can wait until what is due was sent, which a short program does not."""
        waiting = (
            "import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__'); "
            "from fldp import telemetry; assert telemetry.flush(120)"
        )
        program = str(self.folder / "wordy.py")
        line = [sys.executable, *(["-c", waiting] if wait else []), program, "--format", "csv", program]
        names = {"XDG_STATE_HOME": str(self.folder / "state"), "XDG_CONFIG_HOME": str(self.folder)}
        names["PATH"] = os.environ["PATH"]
        return subprocess.run(line, env=names, capture_output=True, text=True, check=True, cwd=self.folder)

    def hurry(self):
        """Let the time to send be now."""
        with State(self._places.state).exclusive() as rows:
            rows._execute("UPDATE reports SET due = ''")

    @property
    def reports(self):
        return reports(self.agent(system()))


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


HEAD = ("| metric | reports | true shares inside their intervals | widest half of an interval |", f"|{'---|' * 4}")


def write_year(name, installs, rows):
    """Write the table of a year of simulated installs into the page about telemetry."""
    write_table(name, [f"Installs: {installs:,}", "", *HEAD, *rows], WORDY.parents[1] / "docs" / "telemetry.md")


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
