"""Responses that are one symbol, or a seed and a symbol: RR, GRR, HR, OLH."""

from fldp.randomness.coins import SymbolCoin, exp_lower
from fldp.randomness.word_pool import SECURE, WordSource
from fldp.responder.response import WORD, Response, chooser, fields_packer, high_of, lifted, symbol_packer
from fldp.support.validation import fail, integer, is_integer

_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
MAX_SYMBOLS = 2**32 - 1
MAX_BLOCKS = 1 << 16


def rr(title: str, epsilon: float, domain_size: int = 2, *, source: WordSource = SECURE) -> Response:
    """Return the response of RR: the value, or the opposite one, as GRR on two values has it.

    >>> rr("RR", 1.0).draw(1) in (0, 1)
    True
    """
    keep, word = SymbolCoin.build(title, epsilon, 2).keep, source.word
    return Response(domain_size, lambda value: value ^ (word() >= keep), 1, symbol_packer(domain_size))


def grr(title: str, epsilon: float, domain_size: int, *, source: WordSource = SECURE) -> Response:
    """Return the response of GRR: the value, or another one.

    >>> grr("GRR", 1.0, 5).draw(3) in range(5)
    True
    """
    coin, word = SymbolCoin.build(title, epsilon, domain_size), source.word
    keep, other, high = coin.keep, coin.other, high_of(domain_size)
    lift, base = lifted(keep, other)
    base -= high

    def draw(value: int) -> int:
        thrown, raised = word(), value + high  # as in ``chooser``, without its call
        another = (thrown + lift) // other - base
        return (another + (another >= raised), raised)[thrown < keep] - high

    return Response(domain_size, draw, (domain_size - 1).bit_length(), symbol_packer(domain_size))


def power_of_two(owner: str, name: str, value: object) -> int:
    """Accept a power of two, at most ``MAX_BLOCKS``."""
    number = integer(1, MAX_BLOCKS)(owner, name, value)
    if number & (number - 1):
        raise fail(owner, name, "a power of two", value)
    return int(number)


def two_values(owner: str, name: str, value: object) -> int:
    """Accept the number of values of randomized response.

    >>> two_values("RR", "domain_size", 2)
    2
    """
    if not is_integer(value) or value != 2:
        raise fail(owner, name, "2 (GRR takes more)", value)
    return 2


def hr(title: str, epsilon: float, domain_size: int, blocks: int = 1, *, source: WordSource = SECURE) -> Response:
    """Return the response of HR; see ``fldp.oracles.plain.hadamard_response.draw_positions``."""
    if blocks > domain_size:
        raise fail(title, "blocks", f"at most domain_size, {domain_size}", blocks)
    shift, bits = blocks.bit_length() - 1, (-(-domain_size // blocks)).bit_length()
    mask, own, word = (1 << bits) - 1, blocks - 1, source.word
    choose, high = chooser(SymbolCoin.build(title, epsilon, 2 * blocks)), high_of(domain_size)
    raised = high >> shift

    def draw(value: int) -> int:
        position, coin = word() & mask | raised, word()
        row, half = (value + high >> shift) + 1, choose((value + high & own) * 2, coin)
        wrong = ((position & row).bit_count() ^ half ^ 1) & 1
        return (half >> 1) << bits | (position ^ (row & -row) * wrong) & mask

    return Response(domain_size, draw, shift + bits, symbol_packer(blocks << bits))


def best_symbols(epsilon: float) -> int:
    """Return the number of symbols ``g >= 2`` that minimises ``(e^eps+g-1)^2/((e^eps-1)^2 (g-1))``: near ``e^eps+1``.

    The derivative vanishes at ``g = e^eps + 1``, and the function is convex, so it is one of the two neighbours. Ties
    go to the smaller.

    >>> best_symbols(1.0), best_symbols(0.01), best_symbols(4.0)
    (4, 2, 56)
    """
    power = exp_lower(epsilon)
    low = max(2, min(int(power) + 1, MAX_SYMBOLS - 1))
    return min((low, low + 1), key=lambda g: (power + g - 1) ** 2 / (g - 1))


def olh(title: str, epsilon: float, domain_size: int, *, source: WordSource = SECURE) -> Response:
    """Return the response of OLH: the seed of a hash, and the hashed value through the coin."""
    symbols, word = best_symbols(min(epsilon, 64.0)), source.word
    choose = chooser(SymbolCoin.build(title, epsilon, symbols))

    def draw(value: int) -> tuple[int, int]:
        seed, coin = word(), word()
        return seed, choose(keyed_hash(seed, value) * symbols >> 64, coin)

    width = (symbols - 1).bit_length()
    return Response(domain_size, draw, 64 + width, fields_packer(64, width))


def keyed_hash(seed: int, value: int) -> int:
    """Return the 64-bit hash of a value under a seed, as ``fldp.numerics.word_kernels.keyed_hash`` does.

    >>> hex(keyed_hash(0, 0))
    '0xe220a8397b1dcdaf'
    """
    z = (seed + (value + 1) * _GOLDEN) & WORD
    z = (z ^ (z >> 30)) * _MIX_1 & WORD
    z = (z ^ (z >> 27)) * _MIX_2 & WORD
    return z ^ (z >> 31)
