"""Claims: what honest reports are like whatever the data, for the tests of integrity to judge.

Nearly every claim is about *cells*. A cell counts in how many of its trials something happened, which in each of them
has a probability between ``low`` and ``high``, whatever value its sender holds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.types import Floats

SUPPORTS = "every value is supported at least as often as by noise alone, and at most as often as if all held it"
UNUSED = "what stands for no value gets nothing but noise"
NAMED = (
    "fakes that name their targets outright: a report names a value, and any frequencies that noise allows can be the "
    "data; only a value that nobody holds any more can show them"
)


class CellClaim(NamedTuple):
    """Bounds on the probability of each trial of each cell; cells without a name are values."""

    test: str
    claim: str
    counts: NDArray[np.int64]
    trials: int | NDArray[np.int64]
    low: float | Floats
    high: float | Floats
    name: Callable[[int], str] | None = None


class TotalClaim(NamedTuple):
    """A number of successes among independent trials, given as (trials, probability)."""

    test: str
    claim: str
    total: int
    parts: list[tuple[int, float]]


class SumClaim(NamedTuple):
    """A sum of ``n`` independent terms of mean 1 and at most this variance.

    ``most`` is how far a term can be above its mean, and how far below it.
    """

    test: str
    claim: str
    total: float
    n: int
    variance: float
    most: tuple[float, float]


class SumsClaim(NamedTuple):
    """Many sums of ``n`` independent terms of mean 0, each term with at most this mean square.

    ``most`` is how far above 0 a term of each sum can be, and how far below.
    """

    test: str
    claim: str
    sums: Floats
    n: int
    squares: Floats
    most: tuple[Floats, Floats]
    name: Callable[[int], str]


class ChanceClaim(NamedTuple):
    """The worst that was seen, and a bound on its probability."""

    test: str
    claim: str
    worst: str
    p_value: float


Claim = CellClaim | TotalClaim | SumClaim | SumsClaim | ChanceClaim


def supports(counts: NDArray[np.int64], n: int, low: float | Floats, high: float | Floats) -> CellClaim:
    """Claim that every value is supported as often as noise, and holders, make it."""
    return CellClaim("supports", SUPPORTS, counts, n, low, high)


@dataclass(frozen=True, eq=False)
class Scores:
    """Sums of the scores of all pairs of some values, and bounds on one score: its variance and its maximum.

    For two values there is a score of a report whose mean is 0 whatever value its sender holds, and 1 for a fake that
    supports both.
    """

    values: NDArray[np.int64]
    sums: Floats
    variance: Floats
    most: float
