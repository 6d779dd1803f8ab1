"""KeptCoins: two coins among symbols, one thrown once and kept, one thrown for every report, as exact rationals.

The first coin answers each of ``g`` symbols once, and its answers are kept: with ``p1`` a symbol is its own answer,
with ``q1`` it is any other one. The second coin reports what is kept, with ``p2`` as it is, with ``q2`` as any other
one. So a report is the true symbol, or any other one, with the probabilities

    p* = p1 p2 + (g - 1) q1 q2 = p1 - (g - 1) q2 (p1 - q1)
    q* = p1 q2 + q1 p2 + (g - 2) q1 q2 = q1 + q2 (p1 - q1)

and the least ``q2`` with ``p* <= E q*`` is ``(p1 - E q1) / ((p1 - q1) (E + g - 1))``. It is rounded up to a number of
words. Everything is rational arithmetic, as in ``fldp.randomness.coins``.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil

from fldp.randomness.coins import BITS, LOSS, SymbolCoin, degenerate, exp_lower
from fldp.support.validation import fail

_SCALE = 1 << BITS


@dataclass(frozen=True)
class KeptCoins:
    """The coin of what is kept, with ``epsilon_permanent``, and the coin of a report; together they keep ``epsilon``.

    >>> coins = KeptCoins.build("LWR", 0.5, 1.0, 2)
    >>> coins.first.p / coins.first.q <= exp_lower(1.0), coins.p / coins.q <= exp_lower(0.5)
    (True, True)
    >>> round(float(coins.p), 4), round(float(coins.second.p), 4), round(float(coins.change_visible), 2)
    (0.6225, 0.765, 0.3)
    """

    first: SymbolCoin
    second: SymbolCoin

    @classmethod
    def build(cls, owner: str, epsilon: float, permanent: float, symbols: int) -> "KeptCoins":
        """Choose the thresholds of both coins."""
        if epsilon >= permanent:
            raise fail(owner, "epsilon", f"below epsilon_permanent, {permanent!r}, which all reports share", epsilon)
        first = SymbolCoin.build(owner, permanent, symbols)
        E, gap = exp_lower(epsilon), first.p - first.q
        other = ceil(_SCALE * (first.p - E * first.q) / (gap * (E + symbols - 1)))
        keep = _SCALE - (symbols - 1) * other
        if other < 1 or keep <= other:  # the two epsilons are too close to each other, or one is too small
            raise degenerate(owner, epsilon)
        coins = cls(first, SymbolCoin(symbols, keep, other))
        if coins.p - coins.q < (1 - LOSS) * (E - 1) * coins.q:
            raise degenerate(owner, epsilon)
        if coins.p > E * coins.q:  # cannot happen: other was rounded up
            raise AssertionError(f"{owner}: threshold above the declared epsilon {epsilon!r}")
        return coins

    @property
    def symbols(self) -> int:
        """The number ``g`` of symbols."""
        return self.first.symbols

    @cached_property
    def p(self) -> Fraction:
        """The probability ``p*`` that a report is the true symbol."""
        return self.first.p - (self.symbols - 1) * self.second.q * (self.first.p - self.first.q)

    @cached_property
    def q(self) -> Fraction:
        """The probability ``q*`` that a report is another given symbol."""
        return self.first.q + self.second.q * (self.first.p - self.first.q)

    @cached_property
    def change_visible(self) -> Fraction:
        """How likely a change of value can be seen at all, however many reports there are.

        Two values have different symbols under random masks with ``1 - 1/g``, and then different answers are kept with
        ``1 - (2 p1 q1 + (g - 2) q1^2)``.
        """
        p, q, g = self.first.p, self.first.q, self.symbols
        return (1 - Fraction(1, g)) * (1 - 2 * p * q - (g - 2) * q * q)
