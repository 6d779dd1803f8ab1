"""Responses that are a bit for each value: SUE and OUE, by bit planes of whole rows.

A bit other than the true one is 1 where a random number of ``planes`` bits is below a threshold. All numbers are
compared at once, plane by plane, as operations on integers of ``domain_size`` bits. All planes are drawn, although few
bits are undecided after the first: how many it took would tell something about the numbers behind the bits.
"""

from fldp.randomness.coins import UnaryCoins
from fldp.randomness.word_pool import SECURE, WordSource
from fldp.responder.response import Response, as_bytes

_BITS = tuple(1 << k for k in range(8))


def unary(title: str, epsilon: float, domain_size: int, *, symmetric: bool, source: WordSource = SECURE) -> Response:
    """Return the response of SUE (symmetric) or OUE.

    >>> len(unary("OUE", 1.0, 20, symmetric=False).draw(7))
    3
    """
    coins = UnaryCoins.build(title, epsilon, symmetric=symmetric)
    size, true, word, raw = -(-domain_size // 8), coins.true_threshold, source.word, source.raw
    every = (1 << domain_size) - 1
    plane_bits = _from_lowest_one(coins.other_threshold, coins.planes)
    total, number = len(plane_bits) * size, int.from_bytes
    places = [(start, start + size, bit) for start, bit in zip(range(0, total, size), plane_bits, strict=True)]

    def draw(value: int) -> bytes:
        drawn, above = raw(total), -1  # of ``above``, a bit is 0 where its number is below the threshold so far
        for start, end, bit in places:
            plane = number(drawn[start:end], "little")
            above = above & plane if bit else above | plane
        row = bytearray((above & every ^ every).to_bytes(size, "little"))
        place = value + 8  # never 0: Python shifts and masks a 0 sooner than other numbers, and that shows in the time
        at, own = (place >> 3) - 1, _BITS[place & 7]
        row[at] = row[at] & ~own | own * (word() < true)
        return bytes(row)

    return Response(domain_size, draw, domain_size, as_bytes)


def _from_lowest_one(threshold: int, planes: int) -> list[int]:
    """Return the bits of a threshold from its lowest 1 on: a plane below it decides nothing.

    >>> _from_lowest_one(0b10100, 6)
    [1, 0, 1, 0]
    """
    lowest = (threshold & -threshold).bit_length() - 1
    return [threshold >> k & 1 for k in range(lowest, planes)]
