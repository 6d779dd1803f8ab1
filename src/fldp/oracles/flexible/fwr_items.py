"""Items of FWR: which point of ``F_2^r`` represents which value, so that both sides of a parity are frequent.

A leaked parity says on which side of a hyperplane the item lies. Where the domain fills the space, both sides are
half of it. Where it does not, the natural order would leave one side nearly empty for the mask of the top bit.
So values are scattered by a fixed bijection of ``[0, 2^r)``, a function of ``d`` alone: three rounds of an odd
multiplication, an addition and a shift, with constants from a seed. From 256 values on, seed 0 leaves at least 0.41 of
the values on each side; below, the best of 256 seeds is in a table, and leaves at least 0.4 from 64 values on.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fldp.data.values import Values
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.responder.fwr_item import SEEDS as _SEEDS  # noqa: F401
from fldp.responder.fwr_item import bits_of as bits_of
from fldp.responder.fwr_item import constants_of, least_left

U64 = np.uint64


def scatter(values: Values, domain_size: int, seed: int | None = None) -> NDArray[np.uint64]:
    """Return the items of values, by a fixed bijection of ``[0, 2^r)``.

    >>> scatter(np.arange(6), 6)
    array([0, 3, 7, 1, 6, 5], dtype=uint64)
    """
    bits = bits_of(domain_size)
    items = values.astype(np.uint64)
    if domain_size == 1 << bits:
        return items
    shift, rounds = constants_of(domain_size, seed)
    # Odd factors, offsets and xor-shifts are bijections modulo 2^bits, and so is their composition.
    for factor, offset in rounds:
        items = (items * U64(factor) + U64(offset)) & U64((1 << bits) - 1)
        items ^= items >> U64(shift)
    return items


@lru_cache(maxsize=64)
def largest_bias(domain_size: int) -> int:
    """Return the largest imbalance between the two sides of a hyperplane, over those with values on both sides.

    >>> largest_bias(1024), largest_bias(1023), largest_bias(600)
    (0, 1, 70)
    """
    bits = bits_of(domain_size)
    if domain_size == 1 << bits:
        return 0
    used = np.zeros(1 << bits, np.int64)
    used[scatter(np.arange(domain_size), domain_size)] = 1
    bias = np.abs(walsh_hadamard(used, load_numba=False)[1:])
    return int(bias[bias < domain_size].max(initial=0))


def anonymity(domain_size: int, leaks: int) -> int:
    """Return a lower bound on the number of values that a leak of ``leaks`` parities leaves possible.

    >>> anonymity(1024, 1), anonymity(1000, 1), anonymity(1000, 3), anonymity(1024, 10)
    (512, 493, 113, 1)
    """
    return least_left(domain_size, leaks, largest_bias(domain_size) if leaks else 0)
