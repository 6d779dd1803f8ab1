"""What the exact leak of FHR and FWR gives away: linear equations over GF(2), and how many of them identify a value."""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.claims import SUPPORTS, UNUSED, CellClaim
from fldp.oracles.base.revelations import ParityLeak
from fldp.oracles.base.strategy import times
from fldp.oracles.flexible.walsh_oracle import WalshOracle

W_co = TypeVar("W_co", bound=WalshOracle, covariant=True)


@analyses(WalshOracle)
class WalshAnalysis(Analysis[W_co]):
    """Reports are characters of the item, some of them exact."""

    def parities(self) -> ParityLeak:
        return ParityLeak(self.oracle.walsh_order, self.oracle.value_items, self.oracle.leak)


def spanned(bits: int, each: int, idle: int = 0) -> list[float]:
    """Return how likely 0, 1, ... reports span all bits, if each but the first ``idle`` brings ``each`` vectors."""
    return [spanning(bits, (n - idle) * each) for n in range(idle + -(-(bits + 60) // each) + 1)]


def spanning(bits: int, vectors: int) -> float:
    """Return the probability that uniform vectors of ``bits`` bits span the whole space.

    >>> spanning(1, 3), spanning(2, 1)
    (0.875, 0.0)
    """
    return float(np.prod([1 - 2.0 ** (k - vectors) for k in range(bits)])) if vectors >= bits else 0.0


def signs_of(order: int, items: Array) -> NDArray[np.int64]:
    """Return for every position the sum of the signs of these rows of the matrix.

    >>> signs_of(4, np.array([1, 3]))
    array([ 2, -2,  0,  0])
    """
    return walsh_hadamard(times(items, order))


def whole(sums: NDArray[np.int64], each: int) -> NDArray[np.int64]:
    """Divide sums exactly by a factor; -1, which is no number of reports, where they do not divide."""
    return np.where(sums % each, -1, sums // each)


def items_claims(
    test: str,
    counts: NDArray[np.int64],
    trials: NDArray[np.int64],
    used: NDArray[np.bool_],
    bounds: tuple[float, float],
) -> Iterator[CellClaim]:
    """Claim the items of values by both bounds, and unused items by the bound of noise alone."""
    low, high = bounds
    name = "item {}".format
    places, idle = np.flatnonzero(used), np.flatnonzero(~used)
    yield CellClaim(test, SUPPORTS, counts[places], trials[places], low, high, lambda cell: name(places[cell]))
    if idle.size:
        yield CellClaim(f"unused {test}", UNUSED, counts[idle], trials[idle], low, low, lambda cell: name(idle[cell]))
