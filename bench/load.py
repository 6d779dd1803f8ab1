"""Load by wrk: many connections that stay open, on each one request after the other, and how long each answer took.

wrk is compiled; a load in Python would measure itself. It comes with Debian and Ubuntu: ``tools/need.sh wrk``.
"""

import json
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

SCRIPT = Path(__file__).with_name("requests.lua")


@dataclass(frozen=True)
class Load:
    """What came of a load: answers, how many of them were refusals, and the seconds of the median and slow ones."""

    requests: int
    seconds: float
    refused: int
    broken: int
    p50: float
    p99: float

    def __add__(self, other: "Load") -> "Load":
        """Return both, which were at the same time; of their latencies, the mean of the medians, and the worse tail."""
        return Load(
            requests=self.requests + other.requests,
            seconds=max(self.seconds, other.seconds),
            refused=self.refused + other.refused,
            broken=self.broken + other.broken,
            p50=(self.p50 + other.p50) / 2,
            p99=max(self.p99, other.p99),
        )

    @property
    def good(self) -> int:
        """How many requests were answered, and not refused."""
        return self.requests - self.refused

    @property
    def rate(self) -> float:
        """Good answers a second."""
        return self.good / self.seconds

    @property
    def answers(self) -> float:
        """All answers a second."""
        return self.requests / self.seconds


def send(url: str, body: bytes, *, connections: int, seconds: int, pause: float = 0.0) -> Load:
    """Send a body again and again, each time with a key of its own; ``pause`` seconds before each, on the average."""
    program = shutil.which("wrk")
    if program is None:
        raise RuntimeError("wrk is missing: tools/need.sh wrk")
    with NamedTemporaryFile() as file:
        file.write(body)
        file.flush()
        command = [program, "-t", "1", "-c", f"{connections}", "-d", f"{seconds}s", "--timeout", "30s", "-s", SCRIPT]
        arguments = [file.name, secrets.token_hex(8), f"{1000 * pause:.6f}"]
        said = subprocess.run([*command, url, "--", *arguments], check=True, capture_output=True, text=True).stdout
    return Load(**json.loads(said.rpartition("\nfound ")[2]))
