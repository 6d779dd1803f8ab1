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

U64 = np.uint64

_GOLDEN = 0x9E3779B97F4A7C15
_SEEDS = bytes.fromhex(
    "0000000000000003030300000000000049030c042900000000000000000000660899246604660499000c000e000e840e0e08087b07102b"
    "000000000000000023c40542054b2f4b2323010134010101ad01b5070707b50722073cc007034b03038b034b0303df0f44052f2f070a02"
    "0717170504051c0206000000000000000009096f3d6f1b6fd9ad04043444254434a304a3da9bdadada8b9b09090904048b048b8b8b428b"
    "002f2f2f0044000044444444441aa91aea2f969696259696424242dddddddd97dd97970697007c002000426c025a1d69003a3e02020231"
    "0416041616ae0a0c480a480c1a00000c05083e080a00006300020000000000000000"
)


def bits_of(domain_size: int) -> int:
    """Return ``r``, the number of bits of an item.

    >>> bits_of(8), bits_of(9)
    (3, 4)
    """
    return (domain_size - 1).bit_length()


def scatter(values: Values, domain_size: int, seed: int | None = None) -> NDArray[np.uint64]:
    """Return the items of values, by a fixed bijection of ``[0, 2^r)``.

    >>> scatter(np.arange(6), 6)
    array([0, 3, 7, 1, 6, 5], dtype=uint64)
    """
    bits = bits_of(domain_size)
    items = values.astype(np.uint64)
    if domain_size == 1 << bits:
        return items
    if seed is None:
        seed = _SEEDS[domain_size - 2] if domain_size < 256 else 0
    constants, most, shift = _GOLDEN * (2 * seed + 1) % 2**64, (1 << bits) - 1, U64((bits + 1) // 2)
    # Odd factors, offsets and xor-shifts are bijections modulo 2^bits, and so is their composition.
    for k in (0, 16, 32):
        factor, offset = constants >> k & most | 1, constants >> (k + 8) & most
        items = (items * U64(factor) + U64(offset)) & U64(most)
        items ^= items >> shift
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

    A leak is an affine subspace: it holds ``2^-rank`` of the values, up to the imbalance of each of its hyperplanes.
    Exact for one parity, and for domains that fill their space.

    >>> anonymity(1024, 1), anonymity(1000, 1), anonymity(1000, 3), anonymity(1024, 10)
    (512, 493, 113, 1)
    """
    least = domain_size
    for rank in range(1, leaks + 1):
        parts = 1 << rank
        least = min(least, -(-(domain_size - (parts - 1) * largest_bias(domain_size)) // parts))
    return max(1, least)
