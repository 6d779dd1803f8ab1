"""Processor time of this process and of the workers that an engine has started.

Seconds on a clock tell how long somebody waits, but on a machine that other programs use they tell about these too.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psutil


@dataclass
class Family:
    """This process, and some of its children with all that they start."""

    children: list[psutil.Process] = field(default_factory=list)

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Count the children that are started in this block as members of the family."""
        before = set(psutil.Process().children())
        yield
        self.children += set(psutil.Process().children()) - before

    def seconds(self) -> float:
        """Return the processor time so far: of this process finely, of others in hundredths."""
        return time.process_time() + sum(map(_seconds, self._members()))

    def spent(self, work: Callable[[], Any]) -> float:
        """Return the processor time that some work takes."""
        before = self.seconds()
        work()
        return self.seconds() - before

    def _members(self) -> set[psutil.Process]:
        members = set(self.children)
        for child in self.children:
            with suppress(psutil.Error):
                members |= set(child.children(recursive=True))
        return members


def _seconds(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0
