"""An oracle that kills the process it counts in, once, in the middle of a run: for tests of engines."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import fldp


def _anything(owner, name, value):
    return value


@dataclass(frozen=True, repr=False)
class Fatal(fldp.GRR):
    """GRR, but the first process that counts a second batch is killed, before others have counted theirs."""

    marker: str = ""
    victim: str = "self"  # or "executor": the Java process above it

    name = "fatal"
    params: ClassVar = {**fldp.GRR.params, "marker": _anything, "victim": _anything}
    counted: ClassVar[list] = []

    def count(self, data, state):
        super().count(data, state)
        self.counted.append(len(data))
        if len(self.counted) > 1 and _first(self.marker):
            os.kill(os.getpid() if self.victim == "self" else _executor(os.getpid()), signal.SIGKILL)
            signal.pause()  # an executor takes its children with it


def _first(marker):
    """Tell one caller of all, in whatever process, that it is the first."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _executor(process):
    """Return the executor of Spark that a Python worker belongs to, and nothing else that may be above it."""
    while process > 1:
        if b"ExecutorBackend" in Path(f"/proc/{process}/cmdline").read_bytes():
            return process
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    raise AssertionError("no executor above this process")
