"""What the exact leak of FHR and FWR gives away: linear equations over GF(2), and how many of them identify a value."""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.analysis import Analysis
from fldp.oracles.base.claims import SUPPORTS, UNUSED, CellClaim
from fldp.oracles.base.revelations import ParityLeak
from fldp.oracles.base.strategy import times
from fldp.oracles.flexible.fhr import FHR
from fldp.oracles.flexible.fwr import FWR, HRR
from fldp.oracles.flexible.lwr import LWR
from fldp.oracles.flexible.walsh import agreeing

W_co = TypeVar("W_co", bound=FHR | FWR | HRR | LWR, covariant=True)


class WalshAnalysis(Analysis[W_co]):
    """Reports are characters of the item, some of them exact."""

    def leak(self, data: Array) -> tuple[Array, Array]:
        """Return the masks under which reports reveal the item's exact parity, and these parities, one column each."""
        raise NotImplementedError

    def agreement(self, data: Array, items: Array) -> Floats:
        """Return the likelihood of the noisy part of each report under every item, up to a factor."""
        raise NotImplementedError

    def likelihoods(self, data: Array) -> Floats:
        masks, parities = self.leak(data)
        items = self.oracle.estimator.items.astype(masks.dtype)
        return self.agreement(data, items) * agreeing(masks, parities, items)

    def parities(self) -> ParityLeak:
        return ParityLeak(self.oracle.estimator.order, self.oracle.estimator.items, self.leak)


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
