"""Independence: formed pairs of reports of one value must agree as often as random pairs.

One report can be perfectly private and a batch not: where the words of one user's noise are used for the next user
again, or every call starts the same stream, the difference of two reports shows what no report shows. The inequality of
epsilon and eta is about one report and cannot see it. So this has a null hypothesis of its own: *reports
of one value are independent and alike*. Then disjoint pairs agree with one probability, however they were formed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.binomial_bounds import wilson
from fldp.privacy.auditor.event_choice import AuditedClaim
from fldp.privacy.auditor.events import Marks
from fldp.privacy.auditor.outputs import OutputRows
from fldp.randomness.stream import Stream

NULL = AuditedClaim(0.0, 1.0)
_LAGS = (1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128, 256)
_MAX_COLUMNS = 32

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class Pairing:
    """A way to form disjoint pairs of the reports of one value: neighbours within a call, or twins in two calls.

    >>> Pairing(2, late=False).pairs(5)
    (array([0, 1, 5, 6]), array([2, 3, 7, 8]))
    >>> Pairing(0, late=False).pairs(3)
    (array([0, 1, 2]), array([3, 4, 5]))
    """

    lag: int
    late: bool

    def pairs(self, size: int) -> Pairs:
        """Return the positions of both halves of each pair, in two consecutive calls."""
        if not self.lag:
            return np.arange(size), np.arange(size, 2 * size)
        places = np.arange(self.lag * self.late, size - self.lag)
        left = places[(places // self.lag + self.late) % 2 == 0]
        left = np.concatenate([left, left + size])
        return left, left + self.lag

    @property
    def words(self) -> str:
        """A description of who is paired with whom."""
        if not self.lag:
            return "reports at the same place in two calls"
        return f"reports {self.lag} apart in a call"


@dataclass(frozen=True)
class Suspicion:
    """What looked dependent on the learning half: whose reports, how paired, which column (-1 is the whole report)."""

    ratio: float
    value: int
    pairing: Pairing
    column: int
    agree: bool

    def words(self, names: Sequence[str]) -> str:
        """Describe what is compared with random pairs."""
        what = "agree" if self.column < 0 else f"agree in {names[self.column]}"
        return f"{self.pairing.words} {'' if self.agree else 'dis'}{what}"

    def marks(self, rows: OutputRows, pairs: Pairs) -> Marks:
        """Return which pairs agree as suspected."""
        numbers = _column(rows, self.column)
        return np.asarray((numbers[pairs[0]] == numbers[pairs[1]]) == self.agree)


def random_pairs(count: int, stream: Stream) -> Pairs:
    """Pair reports at random, each with one other."""
    order = np.argsort(stream.words(count), kind="stable")[: count // 2 * 2]
    return order[::2], order[1::2]


def suspicions(learn: Sequence[OutputRows], z: float, stream: Stream) -> Iterator[Suspicion]:
    """Yield for every value, pairing and column how far the agreement differs from random pairs."""
    size = len(learn[0]) // 2
    pairings = [Pairing(0, False)] + [Pairing(lag, late) for lag in _LAGS if size >= 8 * lag for late in (False, True)]
    for value, rows in enumerate(learn):
        random = random_pairs(len(rows), stream)
        for column in range(-1, min(rows.numbers.shape[1], _MAX_COLUMNS)):
            numbers = _column(rows, column)
            low, high = _agreement(numbers, random, z)
            for pairing in pairings:
                mine_low, mine_high = _agreement(numbers, pairing.pairs(size), z)
                yield Suspicion(mine_low / max(high, 1e-300), value, pairing, column, True)
                yield Suspicion((1 - mine_high) / max(1 - low, 1e-300), value, pairing, column, False)


def _column(rows: OutputRows, column: int) -> NDArray[np.unsignedinteger]:
    return rows.codes if column < 0 else rows.numbers[:, column]


def _agreement(numbers: NDArray[np.unsignedinteger], pairs: Pairs, z: float) -> tuple[float, float]:
    agree = np.count_nonzero(numbers[pairs[0]] == numbers[pairs[1]])
    low, high = wilson(agree, len(pairs[0]), z)
    return float(low), float(high)
