"""StageCoins: the thresholds of a two-stage randomized response (RAPPOR), as exact rationals.

The first stage is drawn once and kept: a bit is flipped with probability ``f/2``. The second is drawn for every report:
a kept 1 is reported as 1 with probability ``q``, a kept 0 with probability ``p``. Each of two values sets at most ``h``
bits that the other does not, so with ``p* = P(report 1 | true 0)`` and ``q* = P(report 1 | true 1)``

- all reports of one person together, which depend on the kept bits alone, have at most ``((1 - f/2)/(f/2))^(2h)``;
- one report has a ratio of at most ``(q* (1 - p*) / (p* (1 - q*)))^h``.

Both stay at or below what was declared. Everything is integer arithmetic, as in ``fldp.randomness.coins``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil

from fldp.errors import ParameterError
from fldp.randomness.coins import BITS, LOSS, MIN_PLANES, exp_lower
from fldp.support.validation import fail

_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class StageCoins:
    """Numbers of ``planes`` bits are compared with ``flip``, and then with ``one`` or ``zero``.

    >>> coins = StageCoins.build("RAPPOR", 1.0, 4.0, hashes=2, p=None)
    >>> coins.ratio <= exp_lower(1.0), coins.lasting_ratio <= exp_lower(4.0)
    (True, True)
    >>> float(round(coins.f, 3)), float(round(coins.p, 3)), float(round(coins.q, 3))
    (0.538, 0.306, 0.571)
    """

    hashes: int
    planes: int
    flip: int
    zero: int
    one: int

    @classmethod
    def build(cls, owner: str, epsilon: float, lasting: float, *, hashes: int, p: float | None) -> "StageCoins":
        """Round ``f`` up; take ``p`` as given, or the one with the least error; then the largest allowed ``q``.

        Takes the least number of planes, from 20 on, that keeps both ratios within 1/1024 of what was asked.
        """
        if epsilon > lasting:
            raise fail(owner, "epsilon", f"at most epsilon_permanent, {lasting!r}", epsilon)
        if lasting >= BITS:
            raise _degenerate(owner, epsilon, lasting, p)
        for planes in range(MIN_PLANES, BITS + 1):
            coins = cls._of(planes, epsilon, lasting, hashes, p)
            if _near(coins.ratio, epsilon) and _near(coins.lasting_ratio, lasting):
                return coins
        raise _degenerate(owner, epsilon, lasting, p)

    @classmethod
    def _of(cls, planes: int, epsilon: float, lasting: float, hashes: int, p: float | None) -> "StageCoins":
        whole, first, all_together = 1 << planes, exp_lower(epsilon), exp_lower(lasting)

        def coins(flip: int, zero: int = 1, one: int = 2) -> "StageCoins":
            return cls(hashes, planes, flip, zero, one)

        flip = _least(1, whole // 2, lambda flip: coins(flip).lasting_ratio <= all_together)
        wanted = coins(flip).best_p(exp_lower(epsilon / hashes)) if p is None else Fraction(p)
        zero = min(max(1, ceil(wanted * whole)), whole - 2)
        missing = _least(1, whole - zero, lambda missing: coins(flip, zero, whole - missing).ratio <= first)
        return coins(flip, zero, whole - missing)

    def best_p(self, odds: Fraction) -> Fraction:
        """Return the ``p`` that makes ``q*`` one half, given the ratio of the odds of a reported bit.

        Of all pairs with that ratio it has the least error for bits that few people set, as in OUE. The caller clamps
        it to what thresholds can realise.
        """
        flip, p_star = self.f / 2, 1 / (1 + odds)
        return ((1 - flip) * p_star - flip * _HALF) / (1 - 2 * flip) if 2 * flip < 1 else _HALF

    @property
    def f(self) -> Fraction:
        """The probability that a kept bit is drawn at random; it is flipped in half of these cases."""
        return Fraction(2 * self.flip, 1 << self.planes)

    @property
    def p(self) -> Fraction:
        """The probability that a kept 0 is reported as 1."""
        return Fraction(self.zero, 1 << self.planes)

    @property
    def q(self) -> Fraction:
        """The probability that a kept 1 is reported as 1."""
        return Fraction(self.one, 1 << self.planes)

    @cached_property
    def p_star(self) -> Fraction:
        """The probability that a true 0 is reported as 1."""
        return self.p + self.f / 2 * (self.q - self.p)

    @cached_property
    def q_star(self) -> Fraction:
        """The probability that a true 1 is reported as 1."""
        return self.q - self.f / 2 * (self.q - self.p)

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two values."""
        p, q = self.p_star, self.q_star
        return (q * (1 - p) / (p * (1 - q))) ** self.hashes

    @property
    def lasting_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of the kept bits, and so of any number of reports."""
        return (2 / self.f - 1) ** (2 * self.hashes)


def _least(low: int, high: int, good: Callable[[int], bool]) -> int:
    """Binary search for the least good number; all numbers above a good one are good, and ``high`` is."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle + 1, high)
    return low


def _near(ratio: Fraction, epsilon: float) -> bool:
    """Whether a ratio is above 1, at most the declared one, and hardly below it."""
    most = exp_lower(epsilon)
    return 1 < ratio <= most and ratio - 1 >= (1 - LOSS) * (most - 1)


def _degenerate(owner: str, epsilon: float, lasting: float, p: float | None) -> ParameterError:
    parameters = f"epsilon={epsilon!r}, epsilon_permanent={lasting!r}" + (f", p={p!r}" if p is not None else "")
    return ParameterError(f"{owner}: {parameters} cannot be realised by {BITS}-bit sampling")
