"""The item of one value of FWR, as ``fldp.oracles.flexible.fwr_items`` has it for many, in plain integers."""

from collections.abc import Callable
from functools import lru_cache

from fldp.errors import ParameterError

MAX_PLAIN = 1 << 16  # values whose imbalance plain Python computes; more take seconds, which is for NumPy

GOLDEN = 0x9E3779B97F4A7C15
SEEDS = bytes.fromhex(
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


def constants_of(domain_size: int, seed: int | None = None) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return the shift of the bijection on ``[0, 2^r)``, and the factor and the offset of each of its rounds.

    >>> constants_of(6)
    (2, ((5, 4), (3, 7), (1, 1)))
    """
    bits = bits_of(domain_size)
    if seed is None:
        seed = SEEDS[domain_size - 2] if domain_size < 256 else 0
    drawn, most = GOLDEN * (2 * seed + 1) % 2**64, (1 << bits) - 1
    rounds = tuple((drawn >> k & most | 1, drawn >> (k + 8) & most) for k in (0, 16, 32))
    return (bits + 1) // 2, rounds


def item_of(domain_size: int) -> Callable[[int], int]:
    """Return the function from a value to its item.

    >>> list(map(item_of(6), range(6)))
    [0, 3, 7, 1, 6, 5]
    """
    bits = bits_of(domain_size)
    if domain_size == 1 << bits:
        return int
    most, (shift, rounds) = (1 << bits) - 1, constants_of(domain_size)

    def item(value: int) -> int:
        for factor, offset in rounds:
            value = value * factor + offset & most
            value ^= value >> shift
        return value

    return item


def least_left(domain_size: int, leaks: int, bias: int) -> int:
    """Return a lower bound on the number of values that a leak of ``leaks`` parities leaves possible.

    A leak is an affine subspace: it holds ``2^-rank`` of the values, up to the imbalance ``bias`` of each of its
    hyperplanes. Exact for one parity, and for domains that fill their space.

    >>> least_left(1024, 1, 0), least_left(1000, 1, 14), least_left(1000, 3, 14), least_left(1024, 10, 0)
    (512, 493, 113, 1)
    """
    ranks = (1 << rank for rank in range(1, leaks + 1))
    return max(1, min((-(-(domain_size - (parts - 1) * bias) // parts) for parts in ranks), default=domain_size))


@lru_cache(maxsize=64)
def plain_bias(domain_size: int) -> int:
    """Return what ``fldp.oracles.flexible.fwr_items.largest_bias`` does, without NumPy.

    >>> plain_bias(1024), plain_bias(1023), plain_bias(600)
    (0, 1, 70)
    """
    size = 1 << bits_of(domain_size)
    if domain_size == size:
        return 0
    if domain_size > MAX_PLAIN:
        raise ParameterError(
            f"FWR: with eta below 1 and {domain_size} values, more than {MAX_PLAIN}, "
            "make the oracle, fldp.FWR, and give it to the responder: NumPy counts what a report leaves possible"
        )
    sums = [0] * size
    for item in map(item_of(domain_size), range(domain_size)):
        sums[item] = 1
    step = 1
    while step < size:  # the Walsh-Hadamard transform, one level after the other
        for start in range(0, size, 2 * step):
            low, high = sums[start : start + step], sums[start + step : start + 2 * step]
            sums[start : start + 2 * step] = [*map(int.__add__, low, high), *map(int.__sub__, low, high)]
        step *= 2
    return max((abs(bias) for bias in sums[1:] if abs(bias) < domain_size), default=0)
