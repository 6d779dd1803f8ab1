"""The client in a program: light, quiet, and nobody's problem."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fldp import telemetry
from fldp.errors import DomainError, FldpError
from fldp.telemetry import _Running
from fldp.telemetry.installed_programs import one_installed
from support.commands import run_here
from support.telemetry import FIELDS

ROOT = Path(__file__).parents[2]
HEAVY = {"numpy", "numba", "httpx", "cryptography", "msgspec", "typer", "rich", "dataclasses", "inspect", "http", "ssl"}
LIGHT = """
import sys
before = set(sys.modules)
from fldp import telemetry
telemetry.setup(%r)
telemetry.record("format", "json")
with telemetry.timed("run"):
    pass
telemetry.flush()
print(*sorted(set(sys.modules) - before))
"""


@pytest.fixture
def variables(tmp_path, monkeypatch):
    """No choice is made, nothing is kept, and nothing says that this is a machine without people."""
    for name in list(os.environ):
        if name in ("CI", "DO_NOT_TRACK", "GITHUB_ACTIONS") or name.startswith("FLDP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield tmp_path
    telemetry.strict(False)
    if _Running.agent is not None:
        _Running.agent.end()
    _Running.agent, _Running.mode, _Running.reason = None, "off", "setup was not called"


def python(code, *arguments, **more):
    line = [sys.executable, "-c", code, *arguments]
    return subprocess.run(line, env={**os.environ, **more}, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("mode", ["local", "on"])
def test_a_program_that_records_loads_next_to_nothing(variables, mode):
    path = str(ROOT / "examples" / "wordy" / "metrics.toml")
    loaded = set(python(LIGHT % path, FLDP_TELEMETRY=mode).stdout.split())
    assert "fldp.telemetry.agent" in loaded
    heavy = HEAVY - ({"dataclasses", "inspect"} if mode == "on" else set())  # a ledger is opened, once
    assert not {name.partition(".")[0] for name in loaded} & heavy
    assert not any(name.startswith(("fldp.oracles", "fldp.survey", "fldp.client")) for name in loaded)


def test_what_is_recorded_is_kept_when_the_program_ends(variables):
    code = """
import json, sys
from fldp import telemetry
telemetry.setup(json.loads(sys.argv[1]))
telemetry.record("theme", "dark")
"""
    python(code, json.dumps({**FIELDS, "default": "local"}))
    assert one_installed("paint").view()["values"]["theme"]["would_report"] == "dark"
    state = variables / "state" / "fldp" / "telemetry"
    assert state.stat().st_mode & 0o777 == 0o700
    assert (state / "paint.db").stat().st_mode & 0o777 == 0o600


def test_a_fork_stores_nothing_twice(variables):
    table = {
        "pages": {"kind": "number", "take": "sum", "edges": [1], "why": "w", "owner": "o", "expires": "2999-01-01"}
    }
    code = """
import json, os, sys
from fldp import telemetry
telemetry.setup(json.loads(sys.argv[1]))
telemetry.flush()
telemetry.record("pages", 5)
if os.fork() == 0:
    telemetry.record("pages", 1)
    sys.exit()
os.wait()
"""
    python(code, json.dumps({**FIELDS, "default": "local", "metric": table}))
    assert one_installed("paint").view()["values"]["pages"]["kept"] == {"": 6.0}


FORK = """
import json, os, sqlite3, sys, threading
from fldp import telemetry
telemetry.setup(json.loads(sys.argv[1]))
telemetry.flush(60)
agent, opened, release = telemetry._Running.agent, threading.Event(), threading.Event()
closed = False

def busy():
    global closed
    with agent.state.exclusive():
        opened.set()
        release.wait(float(sys.argv[2]))
        closed = True

threading.Thread(target=busy, daemon=True).start()
opened.wait()
child = os.fork()
if not child:
    telemetry.record("theme", "dark")
    print(closed, telemetry.mode, flush=True)
    sys.exit(0)
status = os.waitpid(child, 0)[1]
release.set()
sys.exit(status)
"""


@pytest.mark.parametrize(("seconds", "said"), [("0.1", "True on"), ("600", "False off")])
def test_a_fork_waits_for_open_files_or_its_child_does_without(variables, seconds, said):
    """A child that inherits SQLite's locks from a thread that is not there any more hangs when it opens a file."""
    done = python(FORK, json.dumps(FIELDS), seconds)
    assert done.stdout.strip() == said
    assert done.stderr == ""


def test_a_forked_server_stores_values_before_its_end(variables):
    """Its parent has set telemetry up, and the child is killed in the end."""
    code = """
import json, os, sys
from fldp import telemetry
from fldp.telemetry import agent
agent._MINUTE = 0.01
telemetry.setup(json.loads(sys.argv[1]))
telemetry.flush(60)
if not os.fork():
    telemetry.record("theme", "dark")
    running, kept = telemetry._Running.agent, None
    while not kept:
        with running.state.exclusive() as rows:
            kept = rows.aggregate(running._current, "theme")
    os._exit(0)
os._exit(os.wait()[1])
"""
    python(code, json.dumps({**FIELDS, "default": "local"}))
    assert one_installed("paint").view()["values"]["theme"]["would_report"] == "dark"


def test_the_end_of_a_program_does_not_wait_for_others_who_lock_its_file(variables):
    """Somebody else, such as a program that was stopped, has the file, and the program would wait for an hour."""
    code = """
import json, sys
from fldp.telemetry import state
state.PATIENCE = 3600.0
from fldp import telemetry
telemetry.setup(json.loads(sys.argv[1]))
telemetry.record("theme", "dark")
"""
    fields = json.dumps({**FIELDS, "default": "local"})
    python(code, fields)
    path = variables / "state" / "fldp" / "telemetry" / "paint.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        subprocess.run([sys.executable, "-c", code, fields], env=os.environ, check=True, timeout=120)


def test_a_program_that_runs_heeds_what_the_person_says_meanwhile(variables):
    telemetry.setup({**FIELDS, "default": "local"})
    agent = _Running.agent
    telemetry.record("theme", "dark")
    agent.save()
    assert telemetry.mode == "local"
    assert run_here("telemetry", "off").stdout.startswith(b"telemetry is off")
    telemetry.record("theme", "light")
    agent.save()
    assert (telemetry.mode, telemetry.reason) == ("off", "chosen for all programs by fldp telemetry off")
    with agent.state.exclusive() as rows:
        assert [rows.aggregate(period, "theme") for period, _ in rows.open_periods()] == [{}]
    assert run_here("telemetry", "local").stdout.startswith(b"telemetry is local")
    agent.heed()
    telemetry.record("theme", "light")
    agent.save()
    with agent.state.exclusive() as rows:
        assert [rows.aggregate(period, "theme") for period, _ in rows.open_periods()] == [{"light": 1.0}]


def test_somebody_who_says_off_while_values_are_being_stored_finds_none(variables):
    """The choice comes after the program has looked, and before it has the lock."""
    telemetry.setup({**FIELDS, "default": "local"})
    agent, said = _Running.agent, []
    telemetry.flush(60)
    decide = agent._decide

    def late():
        mode = decide()
        if not said:
            said.append(run_here("telemetry", "off"))
        return mode

    agent._decide = late
    telemetry.record("theme", "dark")
    agent.save()
    with agent.state.exclusive() as rows:
        assert [rows.aggregate(period, "theme") for period, _ in rows.open_periods()] == [{}]  # it had run before


@pytest.mark.parametrize(
    "metrics",
    [
        "nowhere.toml",
        {},
        {"app": 1},
        {**FIELDS, "app": "../../paint"},  # a file of it would lie where no command of the person looks
        {**FIELDS, "metric": {"x": {}}},
        {**FIELDS, "epsilon": "much"},
        b"\xff",
        None,
        7,
    ],
)
def test_setup_never_raises_unless_it_is_told_to(variables, metrics):
    telemetry.setup(metrics)
    assert telemetry.mode == "off"
    assert "fldp telemetry lint" in telemetry.reason
    telemetry.record("theme", "dark")
    telemetry.strict()
    with pytest.raises(FldpError, match="cannot be used"):
        telemetry.setup(metrics)


def test_a_file_is_looked_for_beside_the_caller_and_not_in_the_folder(variables, monkeypatch):
    (variables / "metrics.toml").write_text('app = "evil"\ncollector = "https://evil.example"\nepsilon = 1\n')
    monkeypatch.chdir(variables)
    telemetry.setup("metrics.toml")
    assert telemetry.mode == "off"


@pytest.mark.parametrize(
    ("name", "value"), [("theme", "purple"), ("nothing", 1), (None, None), ("startup", float("nan"))]
)
def test_what_is_not_declared_is_ignored_and_raised_in_tests(variables, name, value):
    telemetry.setup({**FIELDS, "default": "local"})
    telemetry.record(name, value)
    telemetry.strict()
    with pytest.raises(DomainError, match="must be declared") as error:
        telemetry.record(name, value)
    assert "purple" not in str(error.value)


def test_a_value_whose_methods_raise_breaks_nothing(variables):
    class Evil(str):
        def __eq__(self, other):
            raise RuntimeError

        __hash__ = str.__hash__

    telemetry.setup({**FIELDS, "default": "local"})
    telemetry.record("theme", Evil("dark"))
    telemetry.record(Evil("theme"), "dark")


def test_a_folder_that_cannot_be_written_breaks_nothing(variables, monkeypatch):
    (variables / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(variables / "file"))
    telemetry.setup({**FIELDS, "default": "local"})
    telemetry.record("theme", "dark")
    assert telemetry.flush(20)
    _Running.agent.end()
    assert "NotADirectoryError" in _Running.agent.trouble


def test_a_block_is_timed_also_where_it_raises(variables):
    telemetry.setup({**FIELDS, "default": "local"})
    with pytest.raises(ZeroDivisionError), telemetry.timed("startup"):
        raise ZeroDivisionError
    assert telemetry.flush(20)
    _Running.agent.save()
    with _Running.agent.state.exclusive() as rows:
        [(period, _)] = rows.open_periods()
        assert sum(rows.aggregate(period, "startup").values()) == 1


def test_there_is_no_other_attribute():
    with pytest.raises(AttributeError, match="no attribute 'purple'"):
        _ = telemetry.purple
