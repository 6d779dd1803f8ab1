"""Responses that are signs or parities of an item: FHR, FWR and HRR."""

from fractions import Fraction

from fldp.randomness.coins import SymbolCoin, exp_lower
from fldp.randomness.word_pool import SECURE, WordSource
from fldp.responder.fhr_items import Items
from fldp.responder.fwr_item import bits_of, item_of, least_left, plain_bias
from fldp.responder.response import Response, chooser, fields_packer, high_of
from fldp.support.exact_numbers import exact
from fldp.support.validation import fail

MAX_HASH_BITS, MAX_MASKS = 8, 12
_LISTED = 1 << 16  # values whose items are computed beforehand


def halving(owner: str, name: str, value: object) -> Fraction:
    """Accept 1, 1/2, 1/4 and so on, as a fraction.

    >>> halving("FWR", "eta", 0.25)
    Fraction(1, 4)
    >>> halving("FWR", "eta", 0.3)
    Traceback (most recent call last):
    fldp.errors.ParameterError: FWR: eta must be 1, 1/2, 1/4, ... (the nearest are 1/2 and 1/4), got 0.3
    """
    try:
        share = Fraction(0) if isinstance(value, str) else exact(value)
    except (TypeError, ValueError, OverflowError):
        share = Fraction(0)
    if not Fraction(1, 1 << MAX_MASKS) <= share <= 1:
        raise fail(owner, name, f"1, 1/2, 1/4, ... down to 1/{1 << MAX_MASKS}", value)
    above = Fraction(1)
    while above / 2 >= share:
        above /= 2
    if share != above:
        raise fail(owner, name, f"1, 1/2, 1/4, ... (the nearest are {above} and {above / 2})", value)
    return share


def fhr(
    title: str,
    epsilon: float,
    domain_size: int,
    items: str = "spread",
    *,
    source: WordSource = SECURE,
) -> Response:
    """Return the response of FHR: see ``fldp.oracles.flexible.fhr.draw_pairs``."""
    rows = Items.spread(domain_size) if items == "spread" else Items.paper(domain_size)
    high, mask, word = high_of(rows.rows), rows.rows - 1, source.word
    keep, first = SymbolCoin.build(title, epsilon, 2).keep, rows.first + high

    def draw(value: int) -> tuple[int, int]:
        drawn, coin, item = word(), word(), value + first
        i, w = drawn & mask | high, drawn >> 32 & mask | high
        w ^= (item & -item) * ((w & item).bit_count() & 1)
        pair = i & mask, (i ^ w) & mask
        swap = ((i & item).bit_count() ^ (coin >= keep) ^ 1) & 1
        return pair[swap], pair[1 - swap]

    return Response(domain_size, draw, 2 * rows.bits, fields_packer(rows.bits, rows.bits), Fraction(1, 2))


def best_hash_bits(epsilon: float) -> int:
    """Return the ``m`` whose ``g = 2^m`` symbols minimise ``(e^eps+g-1)^2/(g-1)``, the smaller of two equals.

    >>> [best_hash_bits(epsilon) for epsilon in (0.4, 1.0, 2.0, 3.0)]
    [1, 2, 3, 4]
    """
    power = exp_lower(min(epsilon, 64.0))
    return min(range(1, MAX_HASH_BITS + 1), key=lambda m: (power + 2**m - 1) ** 2 / (2**m - 1))


def fwr(
    title: str,
    epsilon: float,
    domain_size: int,
    eta: float = 1.0,
    hash_bits: int | None = None,
    *,
    source: WordSource = SECURE,
) -> Response:
    """Return the response of FWR: see ``fldp.oracles.flexible.fwr_kernels.draw_parities``."""
    leaks = Fraction(eta).denominator.bit_length() - 1
    bits = hash_bits or best_hash_bits(epsilon)
    if leaks + bits > MAX_MASKS:
        raise fail(title, "eta", f"at least 1/{1 << (MAX_MASKS - bits)} with {bits} hash bits", eta)
    return _parities(title, epsilon, domain_size, (leaks, bits), source)


def hrr(
    title: str,
    epsilon: float,
    domain_size: int,
    eta: float = 1.0,
    hash_bits: int = 1,
    *,
    source: WordSource = SECURE,
) -> Response:
    """Return the response of HRR: one parity, which goes through the coin."""
    if eta != 1 or hash_bits != 1:
        raise fail(title, "eta and hash_bits", "1; FWR has others", (eta, hash_bits))
    return _parities(title, epsilon, domain_size, (0, 1), source)


def _parities(title: str, epsilon: float, domain_size: int, kind: tuple[int, int], source: WordSource) -> Response:
    """Return the response of masks, of which the first parities are exact and the others a symbol for the coin."""
    leaks, bits = kind
    masks, width, item = leaks + bits, bits_of(domain_size), item_of(domain_size)
    choose, word = chooser(SymbolCoin.build(title, epsilon, 1 << bits)), source.word
    most, high, pairs = (1 << width) - 1, high_of(1 << width), range((masks + 1) // 2)
    items = tuple(item(value) + high for value in range(domain_size)) if domain_size <= _LISTED else None
    weights = [1 << place for place in (*range(leaks), *range(bits))]

    def draw(value: int) -> tuple[int, ...]:
        own = items[value] if items else item(value) + high
        drawn: list[int] = []
        for _ in pairs:
            both = word()
            drawn += (both & most, both >> 32 & most)
        del drawn[masks:]
        answers = [(((mask | high) & own).bit_count() & 1 ^ 1) * weight for mask, weight in zip(drawn, weights)]  # noqa: B905
        return *drawn, sum(answers[:leaks]) + (choose(sum(answers[leaks:]), word()) << leaks)

    widths = (width,) * masks + (masks,)
    return Response(domain_size, draw, sum(widths), fields_packer(*widths), Fraction(1, 1 << leaks))


def fhr_left(domain_size: int, items: str = "spread") -> int:
    """Return the least number of values that a report of FHR leaves possible.

    >>> fhr_left(1024), fhr_left(1024, "paper")
    (512, 1)
    """
    return (Items.spread(domain_size) if items == "spread" else Items.paper(domain_size)).anonymity


def fwr_left(domain_size: int, eta: float = 1.0) -> int:
    """Return the least number of values that a report of FWR leaves possible.

    >>> fwr_left(1023, 0.5), fwr_left(1023)
    (511, 1023)
    """
    leaks = Fraction(eta).denominator.bit_length() - 1
    return least_left(domain_size, leaks, plain_bias(domain_size) if leaks else 0)
