"""LevelCoins: the thresholds of a unary encoding whose values have different budgets.

A bit is 1 with probability ``a_i`` under its own value ``i``, and with ``b_i`` under any other. The likelihood ratio of
``i`` to ``j`` is largest where bit ``i`` is 1 and bit ``j`` is 0: there it is ``u_i w_j``, where ``u`` is ``a/b`` and
``w`` is ``(1-b)/(1-a)``. So a budget ``r`` for a pair demands ``u_i w_j <= e^r``. The variance of a rare value is
``1/((1-1/w)(u-1))`` per user, which decreases in both. A pair has the smaller of its two budgets. Let ``U`` and ``W``
be the largest ``u`` and ``w``. Then, except for the two values that attain them, ``u_i`` is at most
``min(U, e^eps_i/W)`` and ``w_i`` at most ``min(W, e^eps_i/U)``; and all values can attain these bounds at once. So two
numbers solve the problem that Gu et al. call opt0, for any number of values.

We take ``U = 1 + (E-1) s`` and ``1/W = 1 - (1-1/E) s``, where ``E`` belongs to the least budget, and search for the one
number ``s``. At 1/2 all bits are as in OUE with the least budget. Above it, the values with the least budget give
some of their accuracy to the others. ``tests/randomness/test_levels.py`` compares it with the best pair of numbers, and
with the restricted problems opt1 and opt2.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from fldp.randomness.coins import BITS, LOSS, MIN_PLANES, degenerate, exp_lower

STEPS = 1024  # s is a multiple of 1/1024, from 1/2 on
_FINE = 1 << 128


@dataclass(frozen=True)
class LevelCoins:
    """For each budget the words of ``2^64`` that make a true bit 1, and the numbers of ``2^planes`` for any other bit.

    >>> coins = LevelCoins.build("IDUE", (0.5, 2.0), 600)
    >>> a, b = coins.p(0), coins.q(0)
    >>> a * (1 - b) / (b * (1 - a)) <= exp_lower(0.5)
    True
    """

    planes: int
    true: tuple[int, ...]
    other: tuple[int, ...]

    @classmethod
    def build(cls, owner: str, budgets: tuple[float, ...], balance: int) -> "LevelCoins":
        """Round every ``b`` up, then take the largest ``a`` that neither ratio forbids.

        ``budgets`` of the levels are sorted. Takes the least number of planes, from 20 on, that keeps all ratios within
        1/1024 of what was asked.
        """
        if budgets[-1] >= BITS:
            raise degenerate(owner, budgets[-1])
        ideal = list(_ideal([exp_lower(budget) for budget in budgets], Fraction(balance, STEPS)))
        for planes in range(MIN_PLANES, BITS + 1):
            other = tuple(-int(-(1 << planes) * (1 - v) // (u - v)) for u, v in ideal)
            pairs = zip(ideal, (Fraction(number, 1 << planes) for number in other), strict=True)
            true = tuple(int(min(u * b, 1 - (1 - b) * v) * (1 << BITS)) for (u, v), b in pairs)
            coins = cls(planes, true, other)
            if all(coins._is_near(level, *ratios) for level, ratios in enumerate(ideal)):
                return coins
        raise degenerate(owner, budgets[0])

    def p(self, level: int) -> Fraction:
        """The probability that a true bit of this level is reported as 1."""
        return Fraction(self.true[level], 1 << BITS)

    def q(self, level: int) -> Fraction:
        """The probability that a bit of this level is reported as 1 for another value."""
        return Fraction(self.other[level], 1 << self.planes)

    def _is_near(self, level: int, u: Fraction, v: Fraction) -> bool:
        """Whether both ratios are within what was asked, and not much below."""
        p, q = self.p(level), self.q(level)
        if not 0 < q < p < 1:
            return False
        up, down = p / q, (1 - p) / (1 - q)
        return 1 + (1 - LOSS) * (u - 1) <= up <= u and v <= down <= 1 - (1 - LOSS) * (1 - v)


def _ideal(powers: list[Fraction], s: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield ``u`` and ``1/w`` of every level."""
    most = 1 + (powers[0] - 1) * s
    least = 1 - (1 - 1 / powers[0]) * s
    for power in powers:
        yield min(most, power * least), max(least, most / power)


@lru_cache(maxsize=256)
def best_balance(budgets: tuple[float, ...], sizes: tuple[int, ...]) -> int:
    """Return the ``1024 s`` that minimises the sum of the variances of all values, if none is frequent.

    ``sizes`` are the numbers of values of each level. Integer arithmetic, so that every client gets the same.

    >>> best_balance((1.0,), (5,)), best_balance((1.0, 4.0), (10, 90))
    (512, 692)
    """
    powers = [int(exp_lower(budget) * _FINE) for budget in budgets]
    return min(range(STEPS // 2, STEPS), key=lambda balance: _total(powers, sizes, balance))


def _total(powers: list[int], sizes: Iterable[int], balance: int) -> int:
    """Return the sum of the variances in units of ``2^-128``."""
    most = _FINE + (powers[0] - _FINE) * balance // STEPS
    least = _FINE - (_FINE - _FINE * _FINE // powers[0]) * balance // STEPS
    total = 0
    for power, size in zip(powers, sizes, strict=True):
        u, v = min(most, power * least // _FINE), max(least, most * _FINE // power)
        total += size * _FINE**3 // ((_FINE - v) * (u - _FINE))
    return total
