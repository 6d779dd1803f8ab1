"""What the exact leak of FHR and FWR gives away: linear equations over GF(2), and how many of them identify a value."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.claims import SUPPORTS, UNUSED, CellClaim
from fldp.oracles.base.leaks_and_parts import ParityLeak
from fldp.oracles.base.strategy import times
from fldp.oracles.flexible.walsh import Walsh, agreeing

Leak = Callable[[Array], tuple[Array, Array]]
Agreement = Callable[[Array, Array], Floats]


def parity_leak(estimator: Walsh, leak: Leak) -> ParityLeak:
    """Return the leak of reports that reveal the item's exact parities: ``leak`` tells masks and parities of each."""
    return ParityLeak(estimator.order, estimator.items, leak)


def leaked_likelihoods(estimator: Walsh, data: Array, leak: Leak, agreement: Agreement) -> Floats:
    """Return the likelihood of reports under every value: of their noisy part, and 0 where an exact parity differs."""
    masks, parities = leak(data)
    items = estimator.items.astype(masks.dtype)
    likely = agreement(data, items)
    if masks.shape[1]:
        likely *= agreeing(masks, parities, items)
    return likely


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
