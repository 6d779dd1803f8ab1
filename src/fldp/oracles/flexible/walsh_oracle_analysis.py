"""What the exact leak of FHR and FWR gives away: linear equations over GF(2), and how many of them identify a value."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.analysis import Analysis, analyses
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
