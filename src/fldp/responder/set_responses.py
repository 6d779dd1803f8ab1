"""The response that is a set of values: SS, by a random set of about the right size that is then corrected.

There are ``d - 1`` places. Random ones are drawn from all of them, as many as it takes to hit about ``w - 1`` different
ones. Given their number, these are uniform, because no place differs from another. Random ones are then taken out, or
random others added, until there are ``w - 1``: they stay uniform. The last member is the true value if its coin says
so, else one more random place. Place ``j`` stands for the value ``j``, and the place of the true value for the last
value. So **sets of one kind are exactly uniform**, where the kernel for batches (Floyd's sample by multiply-high) makes
them uniform within ``w d/2^64``; the coin is the same, which allows for the uneven ones, and so the ratio of two
probabilities is below ``e^eps`` by that factor.

Places lie in blocks of 256, so that one is a byte: then ``translate`` returns the places of a block that were drawn,
sorted and each once, in one call. A random bit of each draw says which half of the blocks it falls into, and so on.

How many corrections it takes does not depend on the value, and is independent of which set comes out.
"""

from bisect import insort
from collections.abc import Callable, Iterator
from fractions import Fraction
from io import BytesIO
from math import log1p
from operator import mul
from struct import Struct

from fldp.errors import ParameterError
from fldp.randomness.coins import SubsetCoin, exp_lower
from fldp.randomness.word_pool import SECURE, WordSource
from fldp.responder.response import Report, Response, high_of

_TRIES = 32  # places that are drawn at once: most sets need fewer
_BLOCK = 256
_BYTES = tuple(bytes((byte,)) for byte in range(_BLOCK))
_LISTED = 1 << 16

Blocks = list[bytearray]  # the members of each block, as sorted bytes


def best_size(epsilon: float, domain_size: int) -> int:
    """Return the size of the sets: the neighbour of ``d/(e^eps+1)`` with the smaller variance for rare values.

    Ties go to the smaller. A set has at least one value.

    >>> best_size(1.0, 1023), best_size(1.0, 12), best_size(8.0, 12), best_size(0.01, 2)
    (275, 3, 1, 1)
    """
    power = exp_lower(epsilon)
    low = max(1, int(domain_size / (power + 1)))
    return min((low, low + 1)[: domain_size - low], key=lambda size: _rare_variance(power, size, domain_size))


def _rare_variance(power: Fraction, size: int, domain_size: int) -> Fraction:
    """Return ``(e^eps-1)^2 q (1-q)/(p-q)^2``, which is finite for every epsilon."""
    rest = domain_size - size
    weight = size * power + rest
    return (weight - power) * ((rest - 1) * weight + size * power) / (size * rest**2)


def ss(
    title: str, epsilon: float, domain_size: int, *, set_size: int | None = None, source: WordSource = SECURE
) -> Response:
    """Return the response of SS: a sorted set that names the value or not.

    >>> response = ss("SS", 1.0, 12)
    >>> report = response.draw(3)
    >>> len(report), report == tuple(sorted(set(report))), len(response.pack(report))
    (3, True, 2)
    """
    size, others = set_size or best_size(min(epsilon, 64.0), domain_size), domain_size - 1
    if size >= domain_size:
        raise ParameterError(f"{title}: set_size must be below the number of values, {domain_size}, got {size}")
    keep, word, raw = SubsetCoin.build(title, epsilon, size, domain_size).keep, source.word, source.raw
    members, listed, high = drawer(others, size - 1, raw), lister(domain_size, size), high_of(domain_size)
    last, last_byte, blocks = others // _BLOCK, _BYTES[others % _BLOCK], (high >> 8) - 1

    def draw(value: int) -> tuple[int, ...]:
        kept, places = members(), places_below(others, raw)
        resize(kept, size - 1, places)
        another, raised = pick(kept, False, places) + high, value + high
        home = raised >> 8 & blocks
        there = kept[home]
        kept[home] = without = there.translate(None, _BYTES[raised & 255])
        kept[last] += last_byte[: len(there) - len(without)]
        member = ((another, others + high)[another == raised], raised)[word() < keep]
        insort(kept[member >> 8 & blocks], member & 255)
        return listed(kept)

    bits = size * (domain_size - 1).bit_length()
    return Response(domain_size, draw, bits, set_packer(domain_size, size))


def drawer(places: int, members: int, raw: Callable[[int], bytes]) -> Callable[[], Blocks]:
    """Return what draws a uniform set of about this many members, with a block for every value.

    >>> kept = drawer(1000, 100, SECURE.raw)()
    >>> len(kept), 50 < sum(map(len, kept)) < 150
    (4, True)
    """
    blocks = [bytearray(range(min(_BLOCK, places - start))) for start in range(0, places, _BLOCK)]
    blocks += [bytearray()] if places % _BLOCK == 0 else []  # for the last value, which has no place
    levels, few = (len(blocks) - 1).bit_length(), min(members, places - members)
    chosen = hit if few == members else missed  # whichever are fewer are drawn
    draws = round(log1p(-few / places) / log1p(-1 / (_BLOCK << levels)))
    total = draws + levels * (draws // 8) + (1 << levels)

    def draw() -> Blocks:
        read = BytesIO(raw(total)).read
        return [chosen(block, read(count)) for block, count in zip(blocks, shares(draws, levels, read), strict=False)]

    return draw


def shares(draws: int, levels: int, read: Callable[[int], bytes]) -> list[int]:
    r"""Return how many of the draws fall into each of ``2^levels`` blocks, by a random bit of each draw and level.

    >>> shares(3, 2, BytesIO(b"\5\1\1").read)
    [1, 1, 1, 0]
    """
    counts = [draws]
    for _ in range(levels):
        halves: list[int] = []
        for count in counts:
            first = (int.from_bytes(read((count + 7) >> 3), "little") & (1 << count) - 1).bit_count()
            halves += (first, count - first)
        counts = halves
    return counts


def hit(block: bytearray, drawn: bytes) -> bytearray:
    r"""Return the places of a block that were drawn, in order and each once.

    >>> hit(bytearray(range(5)), b"\3\0\7\3")
    bytearray(b'\x00\x03')
    """
    places = block.translate(None, bytes.maketrans(drawn, bytes(len(drawn))))  # those not drawn stand for themselves
    if 0 in drawn:  # and those that were, for 0
        places[:0] = block[:1]
    return places


def missed(block: bytearray, drawn: bytes) -> bytearray:
    r"""Return the places of a block that were not drawn.

    >>> missed(bytearray(range(5)), b"\3\0\7\3")
    bytearray(b'\x01\x02\x04')
    """
    return block.translate(None, drawn)


def places_below(bound: int, raw: Callable[[int], bytes]) -> Iterator[int]:
    """Yield uniform numbers below a bound without end: draw the fewest bits that suffice, and reject the rest."""
    mask = (1 << (bound - 1).bit_length()) - 1
    while True:
        drawn = memoryview(raw(_TRIES * 2)).cast("H") if mask < 1 << 16 else memoryview(raw(_TRIES * 4)).cast("I")
        for number in drawn:
            if number & mask < bound:
                yield number & mask


def pick(kept: Blocks, member: bool, places: Iterator[int]) -> int:
    r"""Return a uniform place among the members, or among the others: the first of uniform places that is one.

    >>> pick([bytearray(b"\1\3")], False, iter([1, 3, 2, 0]))
    2
    """
    for place in places:
        if (place & 255 in kept[place >> 8]) is member:
            return place
    raise AssertionError("places never end")


def resize(kept: Blocks, size: int, places: Iterator[int]) -> None:
    r"""Take random members out, or add random others, until the set has this many.

    >>> kept = [bytearray(b"\0\1")]
    >>> resize(kept, 1, iter([3, 0]))
    >>> kept
    [bytearray(b'\x01')]
    """
    surplus = sum(map(len, kept)) - size
    change: Callable[[bytearray, int], None] = bytearray.remove if surplus > 0 else insort
    for _ in range(abs(surplus)):
        place = pick(kept, surplus > 0, places)
        change(kept[place >> 8], place & 255)


def lister(domain_size: int, size: int) -> Callable[[Blocks], tuple[int, ...]]:
    r"""Return what makes numbers of the members of all blocks, ``size`` together.

    >>> lister(1000, 3)([bytearray(b"\5"), bytearray(b"\0\xff")])
    (5, 256, 511)
    """
    code, width = next((code, width) for code, width in (("B", 1), ("H", 2), ("I", 4)) if domain_size <= 1 << 8 * width)
    blocks, unpack = range(-(-domain_size // _BLOCK)), Struct(f"<{size}{code}").unpack
    upper = [(place, [_BYTES[block >> 8 * place - 8 & 255] for block in blocks]) for place in range(1, width)]

    def listed(kept: Blocks) -> tuple[int, ...]:
        row = bytearray(width * size)
        row[::width] = b"".join(kept)
        for place, numbers in upper:  # the upper bytes of a member are the number of its block
            row[place::width] = b"".join(map(mul, numbers, map(len, kept)))
        return unpack(row)

    return listed


def set_packer(domain_size: int, size: int) -> Callable[[Report], bytes]:
    r"""Return what packs a set of symbols below ``domain_size``, the first one lowest.

    >>> set_packer(16, 2)((1, 15))
    b'\xf1'
    """
    width = (domain_size - 1).bit_length()
    length, digits = -(-width * size // 8), f"0{width}b"
    texts = [format(symbol, digits) for symbol in range(domain_size)] if domain_size <= _LISTED else None
    text_of: Callable[[int], str] = texts.__getitem__ if texts else lambda symbol: format(symbol, digits)

    def pack(report: Report) -> bytes:
        # As text, since adding numbers one by one would take time that grows with the square of their number.
        text = "".join(map(text_of, reversed(report)))  # type: ignore[arg-type]
        return int(text, 2).to_bytes(length, "little")

    return pack
