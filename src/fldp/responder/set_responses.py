"""The response that is a set of values: SS, by a random set of about the right size that is then corrected.

Each other value joins the set by one random byte, with a probability near ``w/(d-1)``. Given its size, such a set is
uniform. Random members are then taken out, or random others added, until ``w`` are in it: it stays uniform. The true
value takes the place of a random member if its coin says so. So **sets of one kind are exactly uniform**, where the
kernel for batches (Floyd's sample by multiply-high) makes them uniform within ``w d/2^64``; the coin is the same, which
allows for the uneven ones, and so the ratio of two probabilities is below ``e^eps`` by that factor.

How many corrections it takes does not depend on the value, and is independent of which set comes out.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import compress

from fldp.errors import ParameterError
from fldp.randomness.coins import SubsetCoin, exp_lower
from fldp.randomness.word_pool import SECURE, WordSource
from fldp.responder.response import Report, Response

_TRIES = 64  # places that are drawn at once: most sets need fewer
_BYTE = (b"\0", b"\1")
_LISTED = 1 << 16


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
    word = source.word
    keep, every = SubsetCoin.build(title, epsilon, size, domain_size).keep, range(domain_size)
    values = tuple(every) if domain_size <= _LISTED else every  # numbers that exist already are quicker to hand out
    joining = round(256 * size / others)
    table, raw = bytes(byte < joining for byte in range(256)), source.raw

    def draw(value: int) -> tuple[int, ...]:
        flags = bytearray(raw(others).translate(table))
        places = places_below(others, raw)
        resize(flags, size, places)
        named = word() < keep
        flags[pick(flags, 1, places)] = not named
        return tuple(compress(values, b"".join((flags[:value], _BYTE[named], flags[value:]))))

    bits = size * (domain_size - 1).bit_length()
    return Response(domain_size, draw, bits, set_packer(domain_size, size))


def places_below(bound: int, raw: Callable[[int], bytes]) -> Iterator[int]:
    """Yield uniform numbers below a bound without end: draw the fewest bits that suffice, and reject the rest."""
    mask = (1 << (bound - 1).bit_length()) - 1
    while True:
        drawn = memoryview(raw(_TRIES * 2)).cast("H") if mask < 1 << 16 else memoryview(raw(_TRIES * 4)).cast("I")
        for number in drawn:
            if number & mask < bound:
                yield number & mask


def pick(flags: bytearray, flag: int, places: Iterator[int]) -> int:
    r"""Return a uniform place among those with this flag: the first of uniform places that has it.

    >>> pick(bytearray(b"\1\0\1\0"), 0, iter([0, 2, 3, 1]))
    3
    """
    for place in places:
        if flags[place] == flag:
            return place
    raise AssertionError("places never end")


def resize(flags: bytearray, size: int, places: Iterator[int]) -> None:
    r"""Take random members out, or add random others, until the set has this size.

    >>> flags = bytearray(b"\1\1\0\0")
    >>> resize(flags, 1, iter([3, 0]))
    >>> bytes(flags)
    b'\x00\x01\x00\x00'
    """
    surplus = flags.count(1) - size
    member = int(surplus > 0)
    for _ in range(abs(surplus)):
        flags[pick(flags, member, places)] = 1 - member


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
