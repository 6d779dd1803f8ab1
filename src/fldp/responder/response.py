"""Response: how one value becomes one report, in Python's own integers.

A response is the counterpart of an oracle's ``perturb`` for a single value. It has the same coins, with the same
integer thresholds, and makes of the same random words the same report (except SS, see ``set_responses``). It needs no
arrays, so a client that sends one report loads neither NumPy nor Numba.

The steps do not depend on the value or on a coin: both cases are computed, and one is chosen. Python has shorter ways
for 0 and for shorter integers, so numbers that the value decides are lifted: ``high`` is added to them first, and taken
away again after the choice. Of two numbers with that bit, the common bits are odd where those without it are even.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from fldp.randomness.coins import SymbolCoin
from fldp.support.validation import MAX_LISTED

Report = int | tuple[int, ...] | bytes

MAX_VALUES = MAX_LISTED
WORD = (1 << 64) - 1
_LONG = 1 << 66  # any word added to it has as many of Python's 30-bit digits


@dataclass(frozen=True, eq=False)
class Response:
    """What one report is: a symbol, the tuple of its fields, or packed bits as bytes.

    ``draw`` takes a value that was checked, in ``[0, size)``. ``pack`` writes a report as on the wire, where it has so
    many ``bits``. Where reports are drawn from something that is kept, ``keep`` draws that, as bytes, and ``following``
    returns what draws reports from it.
    """

    size: int
    draw: Callable[[int], Report]
    bits: int
    pack: Callable[[Report], bytes]
    eta: Fraction = Fraction(1)
    keep: Callable[[], bytes] | None = None
    following: Callable[[bytes], Callable[[int], Report]] | None = None


def symbol_packer(count: int) -> Callable[[Report], bytes]:
    r"""Return what packs a symbol below ``count``.

    >>> symbol_packer(300)(258)
    b'\x02\x01'
    """
    size = -(-(count - 1).bit_length() // 8)
    return lambda report: report.to_bytes(size, "little")  # type: ignore[union-attr]


def fields_packer(*widths: int) -> Callable[[Report], bytes]:
    r"""Return what packs a tuple of numbers of these widths, the first one lowest.

    >>> fields_packer(4, 4)((1, 15))
    b'\xf1'
    """
    places = [sum(widths[:k]) for k in range(len(widths))]
    size = -(-sum(widths) // 8)

    def pack(report: Report) -> bytes:
        return sum(map(int.__lshift__, report, places)).to_bytes(size, "little")  # type: ignore[arg-type]

    return pack


def as_bytes(report: Report) -> bytes:
    """Return packed bits, which are bytes already."""
    return report  # type: ignore[return-value]


def lifted(threshold: int, share: int) -> tuple[int, int]:
    """Return ``lift`` and ``base``, so that ``(word + lift) // share - base`` is ``(word - threshold) // share``.

    With the lift, every word is as long as any other and is divided in the same time, also one below the threshold.

    >>> lift, base = lifted(1000, 7)
    >>> [(word + lift) // 7 - base for word in (999, 1000, 1007, 2**64)] == [-1, 0, 1, (2**64 - 1000) // 7]
    True
    """
    base = -(-_LONG // share)
    return base * share - threshold, base


def high_of(size: int) -> int:
    """Return the bit above all numbers below ``size`` that gives them one length in Python.

    >>> high_of(1000) == 2**29, high_of(2**30) == 2**59
    (True, True)
    """
    return 1 << 29 if size <= 1 << 28 else 1 << 59


def chooser(coin: SymbolCoin) -> Callable[[int, int], int]:
    """Return the coin among symbols as a function ``(symbol, word) -> symbol``; see ``fldp.oracles.plain.grr.respond``.

    >>> choose = chooser(SymbolCoin.build("RR", 1.0, 2))
    >>> choose(1, 0), choose(1, 2**64 - 1)
    (1, 0)
    """
    keep, other, high = coin.keep, coin.other, high_of(coin.symbols)
    lift, base = lifted(keep, other)
    base -= high

    def choose(symbol: int, word: int) -> int:
        another, raised = (word + lift) // other - base, symbol + high
        return (another + (another >= raised), raised)[word < keep] - high

    return choose
