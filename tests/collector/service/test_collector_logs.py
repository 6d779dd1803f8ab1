"""What the collector writes about its own mistakes: JSON in every line, whoever made them."""

import json
import subprocess
import sys

import pytest

from fldp.collector import server
from fldp.collector.http import middleware
from fldp.errors import FldpError

MISTAKES = {
    "an exception was not caught": "1 / 0",
    "a thread has ended by an exception": "import threading\nthreading.Thread(target=lambda: 1 / 0).start()",
    "an exception was ignored": "class Bad:\n    def __del__(self):\n        1 / 0\nBad()",
}


@pytest.mark.parametrize(("event", "code"), MISTAKES.items())
def test_a_mistake_that_nobody_caught_is_one_line_with_its_traceback(event, code):
    program = f"from fldp.collector.service import logs\nlogs.configure(enabled=False)\n{code}\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    [line] = map(json.loads, done.stderr.splitlines())
    assert (line["level"].lower(), line["event"]) == ("error", event)
    assert "ZeroDivisionError" in line["traceback"]


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (MemoryError(), 503, "the collector has no memory left, try again"),
        (FldpError("GRR: epsilon must be positive"), 422, "GRR: epsilon must be positive"),
        (middleware.ClientDisconnect(), 400, "the connection ended within the body"),
        (ZeroDivisionError("secret"), 500, "the collector made a mistake; its log says more"),
    ],
)
def test_an_error_is_answered_by_its_kind_and_says_nothing_of_the_inside(error, status, told):
    problem = middleware._problem(error)
    assert (problem.status, problem.fields["detail"]) == (status, told)


def test_a_system_that_permits_few_files_is_told_of(monkeypatch, caplog):
    limits = []
    monkeypatch.setattr(server.resource, "getrlimit", lambda _: (256, 512))
    monkeypatch.setattr(server.resource, "setrlimit", lambda _, chosen: limits.append(chosen))
    monkeypatch.setattr(server.logs.log, "propagate", True)
    server.allow_connections(10_000)
    assert limits == [(512, 512)]
    assert "the system permits fewer connections" in caplog.text


def test_without_uvloop_the_loop_is_pythons_own(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert server.loop_factory() is None
