"""What an oracle costs: bits of a report, time of the client, time of the server; measured."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from fldp.oracles.base.frequency_oracle import FrequencyOracle

_REPEATS, _ENOUGH = 3, 0.05  # repetitions, and seconds that they take together, at least
Clock = Callable[[], float]


@dataclass(frozen=True)
class Cost:
    """The bits of a report, and seconds of the processor, the least of several: on one core, with secure randomness.

    ``client`` and ``tally`` are for all ``users``, ``estimate`` is for all values at once, and ``tally_tenth`` is for a
    tenth of the reports.
    """

    oracle: FrequencyOracle
    users: int
    client: float
    tally: float
    estimate: float
    tally_tenth: float

    @property
    def bits(self) -> int:
        """The bits of one report."""
        return self.oracle.report_format.bits

    @property
    def server(self) -> float:
        """Seconds to tally all reports and to estimate all values."""
        return self.tally + self.estimate

    @property
    def total(self) -> float:
        """Seconds of the client and of the server."""
        return self.client + self.server

    @property
    def growth(self) -> float:
        """How many times as long ten times the reports take to tally."""
        return self.tally / self.tally_tenth


def measure(oracles: list[FrequencyOracle], users: int, clock: Clock = process_time) -> Iterator[Cost]:
    """Time oracles on a number of users, spread over all values.

    >>> import fldp
    >>> (cost,) = measure([fldp.GRR(epsilon=1.0, domain_size=9)], 1000)
    >>> cost.bits, cost.client > 0
    (4, True)
    """
    for oracle in oracles:
        values = np.arange(users) % oracle.domain_size
        reports = oracle.privatize(values)
        tally = oracle.tally(reports)
        works = (
            lambda oracle=oracle, values=values: oracle.privatize(values),
            lambda oracle=oracle, reports=reports: oracle.tally(reports),
            lambda oracle=oracle, tally=tally: oracle.estimate(tally),
            lambda oracle=oracle, reports=reports: oracle.tally(reports[: users // 10]),
        )
        yield Cost(oracle, users, *(_least(work, clock) for work in works))


def _least(work: Callable[[], Any], clock: Clock) -> float:
    """Return the least seconds of several repetitions; the first call compiles or loads, and is not counted."""
    work()
    seconds = [_seconds(work, clock) for _ in range(_REPEATS)]
    while sum(seconds) < _ENOUGH:
        seconds.append(_seconds(work, clock))
    return min(seconds)


def _seconds(work: Callable[[], Any], clock: Clock) -> float:
    start = clock()
    work()
    return clock() - start


def duration(seconds: float) -> str:
    """Return a time in the unit that people would use.

    >>> duration(1.5e-9), duration(0.0000632), duration(2.0)
    ('1.5 ns', '63.2 µs', '2 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
