"""Servers to be measured: each is a process of its own with a folder of its own, and ends with its block."""

import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from fldp import Survey, wire
from load import Load, send

VALUES, EPSILON = 1023, 1.0
SURVEY = {
    "name": "bench",
    "question": "Which one?",
    "labels": [f"value {number}" for number in range(VALUES)],
    "oracle": {"name": "fhr", "epsilon": EPSILON},
    "collect": {"minimum": 1},
}
TALLIED = {**SURVEY, "collect": {"minimum": 1, "retention": "tally"}}  # the same, and no reports are kept
HERE = Path(__file__).parent
_TICK = os.sysconf("SC_CLK_TCK")


@cache
def body_of(reports: int, *, is_tallied: bool = False) -> tuple[Survey, bytes]:
    """Return the survey, and a batch of so many reports."""
    survey = Survey.from_dict(TALLIED if is_tallied else SURVEY)
    values = [number % VALUES for number in range(reports)]
    return survey, wire.encode(survey.oracle.privatize(values), survey.version)


def processor(process: int) -> float:
    """Return the seconds of the processor that a process has used, all of its threads together."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


@dataclass
class Served:
    """A server that runs. ``others`` are the processes that work for it, such as those of its database.

    Its survey keeps no reports if ``is_tallied``.
    """

    process: "subprocess.Popen[str]"
    port: int
    others: Callable[[], Sequence[int]] = field(default=tuple)
    is_tallied: bool = False

    def send(self, reports: int, connections: int, seconds: int, pause: float = 0.0, *, refused: bool = False) -> Load:
        """Send batches of so many reports, one after the other on each connection."""
        survey, body = body_of(reports, is_tallied=self.is_tallied)
        url = f"http://127.0.0.1:{self.port}/v1/versions/{survey.version}/reports"
        measured = send(url, body, connections=connections, seconds=seconds, pause=pause)
        if measured.broken or (measured.refused and not refused):
            raise RuntimeError(
                f"{measured.refused} of {measured.requests} requests were refused, {measured.broken} broken off"
            )
        return measured

    @property
    def used(self) -> tuple[float, float]:
        """The seconds of the processor that it has used so far, and those that work for it."""
        return processor(self.process.pid), sum(map(processor, self.others()))

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
def collector(*flags: str, storing: bool = True, publishing: bool = True, is_tallied: bool = False) -> Iterator[Served]:
    """Run a collector with one survey, which another collector on the same database may have published."""
    start = ["-m", "fldp"] if storing else [str(HERE / "without_storing.py")]
    port = free_port()
    with TemporaryDirectory() as folder:
        token = Path(folder) / "admin.token"
        where = ["--data", folder, "--port", str(port), "--admin-token-file", str(token)]
        with _process([*start, "serve", *where, "--log", "false", *flags]) as process:
            if publishing:
                headers = {"Authorization": f"Bearer {token.read_text().strip()}"}
                survey = TALLIED if is_tallied else SURVEY
                httpx.post(f"http://127.0.0.1:{port}/v1/surveys", json=survey, headers=headers).raise_for_status()
            yield Served(process, port, is_tallied=is_tallied)


@contextmanager
def bare(kind: str) -> Iterator[Served]:
    """Run the same HTTP server around a function: ``constant`` answers, ``tally`` decodes and adds up before."""
    port = free_port()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "survey.json"
        file.write_text(json.dumps(SURVEY))
        with _process([str(HERE / "bare.py"), kind, str(port), str(file)]) as process:
            yield Served(process, port)


@contextmanager
def one_insert(database: str) -> Iterator[Served]:
    """Run what somebody would write instead."""
    port = free_port()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "survey.json"
        file.write_text(json.dumps(SURVEY))
        with _process([str(HERE / "one_insert.py"), database, str(port), str(file)]) as process:
            yield Served(process, port)


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
