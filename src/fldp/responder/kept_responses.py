"""The response of LWR: masks and answers that are drawn once and kept as bytes, and the reports drawn from them."""

from collections.abc import Callable

from fldp.errors import WireError
from fldp.randomness.kept_coins import KeptCoins
from fldp.randomness.word_pool import SECURE, WordSource
from fldp.responder.fwr_item import bits_of, item_of
from fldp.responder.response import Response, chooser, fields_packer, high_of

MAX_KEPT_BITS = 3
_LISTED = 1 << 16  # values whose items are computed beforehand

Kept = tuple[int, ...]  # the masks, then the answers to all symbols as one number, that to symbol 0 in its lowest bits


def lwr(
    title: str,
    epsilon: float,
    domain_size: int,
    epsilon_permanent: float,
    hash_bits: int = 1,
    *,
    source: WordSource = SECURE,
) -> Response:
    """Return the response of LWR: see ``fldp.oracles.flexible.lwr_kernels``.

    >>> response = lwr("LWR", 0.5, 1000, 1.0)
    >>> kept = response.keep()
    >>> monday, tuesday = response.following(kept)(3), response.following(kept)(7)
    >>> len(kept), monday[0] == tuesday[0]
    (2, True)
    """
    coins = KeptCoins.build(title, epsilon, epsilon_permanent, 1 << hash_bits)
    draw, report = _drawing(coins, domain_size, hash_bits, source), _reporting(coins, domain_size, hash_bits, source)
    masks = (bits_of(domain_size),) * hash_bits
    stored, reported = (*masks, hash_bits << hash_bits), (*masks, hash_bits)
    pack, read = fields_packer(*stored), _reader(title, stored)
    return Response(
        domain_size,
        lambda value: report(draw())(value),
        sum(reported),
        fields_packer(*reported),
        keep=lambda: pack(draw()),
        following=lambda kept: report(read(kept)),
    )


def _drawing(coins: KeptCoins, domain_size: int, hash_bits: int, source: WordSource) -> Callable[[], Kept]:
    """Return what draws a basis: two masks from each word, then the answer to each symbol."""
    answer, word, most = chooser(coins.first), source.word, (1 << bits_of(domain_size)) - 1

    def draw() -> Kept:
        masks: list[int] = []
        for _ in range((hash_bits + 1) // 2):
            both = word()
            masks += (both & most, both >> 32 & most)
        table = sum(answer(symbol, word()) << hash_bits * symbol for symbol in range(coins.symbols))
        return *masks[:hash_bits], table

    return draw


def _reporting(
    coins: KeptCoins, domain_size: int, hash_bits: int, source: WordSource
) -> Callable[[Kept], Callable[[int], tuple[int, ...]]]:
    """Return what makes of a basis the function from a value to a new report."""
    choose, word, item, high = (
        chooser(coins.second),
        source.word,
        item_of(domain_size),
        high_of(1 << bits_of(domain_size)),
    )
    items = tuple(item(value) + high for value in range(domain_size)) if domain_size <= _LISTED else None

    def report(kept: Kept) -> Callable[[int], tuple[int, ...]]:
        *masks, table = kept
        raised = [(mask | high, 1 << place) for place, mask in enumerate(masks)]
        answers = [table >> hash_bits * symbol & coins.symbols - 1 for symbol in range(coins.symbols)]

        def draw(value: int) -> tuple[int, ...]:
            own = items[value] if items else item(value) + high
            symbol = sum([((mask & own).bit_count() & 1 ^ 1) * weight for mask, weight in raised])
            return *masks, choose(answers[symbol], word())

        return draw

    return report


def _reader(title: str, widths: tuple[int, ...]) -> Callable[[bytes], Kept]:
    """Return the inverse of ``fields_packer``, which refuses bytes that it never wrote."""
    places, size = [sum(widths[:k]) for k in range(len(widths))], -(-sum(widths) // 8)

    def read(kept: bytes) -> Kept:
        number = int.from_bytes(kept, "little")
        if len(kept) != size or number >> sum(widths):
            raise WireError(f"{title}: what is kept must be {size} bytes that end in zeros, as keep() returned them")
        return tuple(number >> place & (1 << width) - 1 for place, width in zip(places, widths, strict=True))

    return read
