"""Timing: a clock runs some work once and returns seconds; two clocks are read by turns."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

Clock = Callable[[], float]
Choice = Callable[[Sequence[float]], float]


def clock(work: Callable[[], Any], units: int = 1, now: Clock = perf_counter) -> Clock:
    """Return a clock of the seconds that the work takes for each of its units."""

    def read() -> float:
        start = now()
        work()
        return (now() - start) / units

    work()  # the first call compiles, or loads what was compiled before
    return read


def fresh_clock(code: str, **environment: str) -> Clock:
    """Return a clock of code that runs in a fresh process and prints its seconds itself.

    Python's own settings in the environment are left out (``-I``).
    """
    command = [sys.executable, "-I", "-c", code]
    options = {"env": os.environ | environment, "check": True, "stdout": subprocess.PIPE, "text": True}
    return lambda: float(subprocess.run(command, **options).stdout)


def best_of(repeats: int, read: Clock) -> Clock:
    """Return a clock that shows the least of several readings."""
    return lambda: min(read() for _ in range(repeats))


def by_turns(rounds: int, ours: Clock, reference: Clock, choose: Choice = min) -> tuple[float, float]:
    """Read both clocks in every round, so that a slow minute of the machine hits both, and choose for each."""
    first, second = zip(*((ours(), reference()) for _ in range(rounds)), strict=True)
    return choose(first), choose(second)
