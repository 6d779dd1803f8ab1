"""Servers to be measured: each is a process of its own with a folder of its own, and ends with its block."""

import json
import resource
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from fldp import Survey, wire
from load import Load, requests, send

VALUES, EPSILON = 1023, 1.0
SURVEY = {
    "name": "bench",
    "question": "Which one?",
    "labels": [f"value {number}" for number in range(VALUES)],
    "oracle": {"name": "fhr", "epsilon": EPSILON},
    "collect": {"minimum": 1},
}
HERE = Path(__file__).parent


@dataclass
class Served:
    """A server that runs."""

    process: "subprocess.Popen[str]"
    port: int
    survey: Survey

    def send(self, reports: int, connections: int, seconds: float) -> Load:
        """Send batches of so many reports, one after the other on each connection."""
        values = [number % VALUES for number in range(reports)]
        body = wire.encode(self.survey.oracle.privatize(values), self.survey.version)
        path = f"/v1/versions/{self.survey.version}/reports"
        source = requests(path, body, secrets.token_hex(8))
        found = send(self.port, source, connections=connections, seconds=seconds)
        if found.refused:
            raise RuntimeError(f"{found.refused} of {len(found.times)} requests were refused")
        return found

    @property
    def resident(self) -> int:
        """The bytes of memory that it holds."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * resource.getpagesize()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def collector(*flags: str, storing: bool = True) -> Iterator[Served]:
    """Run a collector with one survey."""
    start = ["-m", "fldp"] if storing else [str(HERE / "without_storing.py")]
    port = free_port()
    with TemporaryDirectory() as folder:
        token = Path(folder) / "admin.token"
        where = ["--data", folder, "--port", str(port), "--admin-token-file", str(token)]
        with _process([*start, "serve", *where, "--log", "false", *flags]) as process:
            survey = Survey.from_dict(SURVEY)
            headers = {"Authorization": f"Bearer {token.read_text().strip()}"}
            httpx.post(f"http://127.0.0.1:{port}/v1/surveys", json=SURVEY, headers=headers).raise_for_status()
            yield Served(process, port, survey)


@contextmanager
def one_insert(database: str) -> Iterator[Served]:
    """Run what somebody would write instead."""
    port = free_port()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "survey.json"
        file.write_text(json.dumps(SURVEY))
        with _process([str(HERE / "one_insert.py"), database, str(port), str(file)]) as process:
            yield Served(process, port, Survey.from_dict(SURVEY))


@contextmanager
def _process(command: Sequence[str]) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as process:
        try:
            if "listening" not in _line(process):
                raise RuntimeError(f"{command[0]} does not start")
            yield process
        finally:
            process.terminate()


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()
