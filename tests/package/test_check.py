"""`make check`: the tests that need no server are chosen by rule, and cannot do what others may."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import needs

ROOT = Path(__file__).parents[2]

PLANTED = """
import subprocess
import sys


def test_connect():
    import socket

    socket.create_connection(("127.0.0.1", 9))


def test_listen():
    import socket

    socket.create_server(("127.0.0.1", 0))


def test_serve():
    subprocess.Popen([sys.executable, "-m", "fldp", "serve"])


def test_java():
    subprocess.run(["java", "-version"])


def test_chromium():
    subprocess.run(["/usr/bin/chromium"])
"""


def test_it_chooses_the_tests_that_are_not_marked():
    (command,) = re.findall(r"^check: lint .*\n\t(.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert '-m "not serving and not long"' in command


@pytest.mark.parametrize(
    "helper", ["browser", "collector_server", "collector_store", "lakes", "raw_server", "greedy_clients"]
)
def test_helpers_that_serve_are_known(helper):
    assert needs.is_server(f"support.{helper}")


@pytest.mark.parametrize("helper", ["cases", "collector_app", "commands", "javascript", "naive", "submissions"])
def test_helpers_that_do_not_serve_are_known(helper):
    assert not needs.is_server(f"support.{helper}")


def test_a_test_that_is_not_marked_reaches_nobody(tmp_path):
    path = tmp_path / "test_planted.py"
    path.write_text(PLANTED)
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-c", str(ROOT / "pyproject.toml"), str(path), "-q"]
    environment = {**os.environ, "PYTEST_XDIST_WORKER": "none"}  # so that it compiles nothing
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "5 failed" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("is not marked serving") >= 5
