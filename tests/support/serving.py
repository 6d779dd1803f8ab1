"""Servers for the tests of the client, each in a process of its own."""

import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from support.commands import run_here, shell
from support.ports import free_port
from support.waiting import until

__all__ = ["FLDP", "collector", "double", "has_collector", "run_here", "running", "shell"]

TESTS = Path(__file__).parents[1]
FLDP = str(Path(sys.executable).parent / "fldp")


@contextmanager
def running(command, **options):
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


@contextmanager
def double():
    """Run the double; give its address, to which a fault is added."""
    port = free_port()
    with running([sys.executable, "-m", "support.collector_double", str(port)], cwd=TESTS) as process:
        url = f"http://127.0.0.1:{port}"
        until(lambda: _answers(process, f"{url}/seen"))
        yield url


def _answers(process, url):
    assert process.poll() is None, "the double has ended"
    with suppress(OSError):
        urllib.request.urlopen(url, timeout=30).close()
        return True


@contextmanager
def collector(folder, *options):
    """Run the collector; give its address and its admin token."""
    token = f"{folder}.token"
    command = [FLDP, "serve", "--data", str(folder), "--port", str(free_port()), "--admin-token-file", token]
    command += options
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as process:
        said = ""
        while not (match := re.search(r"listening on (\S+)", said)):
            line = process.stdout.readline()
            assert line, f"the collector has ended: {said}"
            said += line
        threading.Thread(target=process.stdout.read, daemon=True).start()  # a full pipe would stop the collector
        yield match[1], Path(token).read_text().strip()


def has_collector():
    return find_spec("fldp.cli.serve") is not None
