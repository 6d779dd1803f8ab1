"""Coins: random decisions by integer thresholds, whose realised probabilities are exact rationals.

A coin compares a random integer of ``B`` bits with a threshold, so its probability is a rational with
denominator ``2^B``, never the real number of the formula. Privacy decides which way to round: the ratio of the two
probabilities must stay at or below ``e^epsilon``. Everything here is rational arithmetic on a lower bound ``E`` of
``e^epsilon``; no floating-point number decides anything.

Rounding only ever makes an oracle more private than declared, and by little: the realised ratio ``R`` satisfies
``R - 1 >= (1 - 1/1024) (E - 1)``. An epsilon for which no threshold does is refused.
"""

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf, nextafter

from fldp.errors import ParameterError

BITS = 64
_SCALE = 1 << BITS
LOSS = Fraction(1, 1024)
MIN_PLANES = 20
_DIGITS = Context(prec=120)
_SMALL = 16.0  # refused below it: differences that 64 bits do not resolve; above it: probabilities that they do not


@lru_cache(maxsize=1024)
def exp_lower(epsilon: float) -> Fraction:
    """Return the largest multiple of ``2^-128`` that does not exceed ``e^epsilon``.

    >>> float(exp_lower(1.0))
    2.718281828459045
    """
    power = Decimal(epsilon).exp(_DIGITS)
    return Fraction(int(_DIGITS.multiply(power, Decimal(2**128))), 2**128)


def log_upper(ratio: Fraction) -> float:
    """Return the logarithm of a ratio, rounded up to a float.

    >>> log_upper(Fraction(1)), log_upper(exp_lower(1.0))
    (0.0, 1.0)
    """
    exact = _DIGITS.ln(_DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
    near = float(exact)
    return near if Decimal(near) >= exact else nextafter(near, inf)


def degenerate(owner: str, epsilon: float) -> ParameterError:
    """Build the error for an epsilon that no threshold realises; the caller raises it.

    >>> degenerate("GRR", 1e-300)
    ParameterError('GRR: epsilon=1e-300 is too small for this domain: 64-bit sampling cannot realise it')
    """
    size = "small" if epsilon < _SMALL else "large"
    return ParameterError(
        f"{owner}: epsilon={epsilon!r} is too {size} for this domain: {BITS}-bit sampling cannot realise it"
    )


@dataclass(frozen=True)
class SymbolCoin:
    """A choice among ``symbols``: the true one for ``keep`` of the ``2^64`` words, each other one for ``other``.

    >>> coin = SymbolCoin.build("GRR", 1.0, 5)
    >>> coin.keep + 4 * coin.other == 2**64
    True
    >>> coin.p / coin.q <= exp_lower(1.0)
    True
    """

    symbols: int
    keep: int
    other: int

    @classmethod
    def build(cls, owner: str, epsilon: float, symbols: int) -> "SymbolCoin":
        """Choose the thresholds: ``other`` rounded up, ``keep`` what remains."""
        if epsilon >= BITS:
            raise degenerate(owner, epsilon)
        E = exp_lower(epsilon)
        other = -(-_SCALE // (E + symbols - 1))  # ceiling: a larger q lowers the ratio
        keep = _SCALE - (symbols - 1) * other
        coin = cls(symbols, keep, other)
        if keep <= other or keep - other < (1 - LOSS) * (E - 1) * other:
            raise degenerate(owner, epsilon)
        if keep > E * other:  # cannot happen: other was rounded up
            raise AssertionError(f"{owner}: threshold above the declared epsilon {epsilon!r}")
        return coin

    @cached_property
    def p(self) -> Fraction:
        """The probability of the true symbol."""
        return Fraction(self.keep, _SCALE)

    @cached_property
    def q(self) -> Fraction:
        """The probability of each other symbol."""
        return Fraction(self.other, _SCALE)


@dataclass(frozen=True)
class SubsetCoin:
    """Whether a set of ``size`` of ``domain_size`` values contains the true one: for ``keep`` of the ``2^64`` words.

    The set's other members are drawn in at most ``size`` steps, each a multiply-high of a word by a bound ``b`` of at
    most ``domain_size - 1``. That gives a number ``floor(2^64/b)`` or ``ceil(2^64/b)`` words, between ``1 - b/2^64``
    and ``1 + b/2^64`` times its fair share. With ``s = size (domain_size - 1)/2^64``, the product of such factors,
    and so the probability of a set given the coin, is between ``1 - s`` and ``1/(1 - s)`` times the uniform one.
    Therefore the coin takes ``E (1 - s)^2`` for ``E``. Two sets that both contain the true value, or neither of which
    does, are within ``1/(1 - s)^2`` of each other, and that is below ``E`` for every coin that is not refused. Members
    that are drawn exactly uniformly, by the same coin, keep the ratio below ``E (1 - s)^2``.

    >>> coin = SubsetCoin.build("SS", 1.0, 3, 12)
    >>> coin.ratio / coin.even**2 <= exp_lower(1.0)
    True
    """

    size: int
    domain_size: int
    keep: int

    @classmethod
    def build(cls, owner: str, epsilon: float, size: int, domain_size: int) -> "SubsetCoin":
        """Choose the largest threshold that keeps the ratio at its worst over the uneven draws."""
        if epsilon >= BITS:
            raise degenerate(owner, epsilon)
        E, blank = exp_lower(epsilon), cls(size, domain_size, 0)
        odds = E * blank.even**2 * size / (domain_size - size)
        coin = cls(size, domain_size, int(_SCALE * odds / (1 + odds)))
        if coin.ratio < 1 + (1 - LOSS) * (E - 1):
            raise degenerate(owner, epsilon)
        if coin.ratio > E * coin.even**2:  # cannot happen: keep was rounded down
            raise AssertionError(f"{owner}: threshold above the declared epsilon {epsilon!r}")
        return coin

    @cached_property
    def p(self) -> Fraction:
        """The probability that the set contains the true value."""
        return Fraction(self.keep, _SCALE)

    @property
    def even(self) -> Fraction:
        """``1 - s``, a lower bound for the probability of any set relative to the uniform one."""
        return 1 - Fraction(self.size * (self.domain_size - 1), _SCALE)

    @property
    def ratio(self) -> Fraction:
        """The mean probability of a set with the true value over the mean probability of one without."""
        return self.p / (1 - self.p) * Fraction(self.domain_size - self.size, self.size)


@dataclass(frozen=True)
class UnaryCoins:
    """The two coins of a unary encoding: ``p`` for the true bit, ``q`` for every other.

    One 64-bit word decides the true bit; ``planes`` bit planes decide the others, 64 at a time.

    >>> coins = UnaryCoins.build("OUE", 1.0, symmetric=False)
    >>> coins.p
    Fraction(1, 2)
    >>> coins.ratio <= exp_lower(1.0)
    True
    """

    planes: int
    true_threshold: int
    other_threshold: int

    @classmethod
    def build(cls, owner: str, epsilon: float, *, symmetric: bool) -> "UnaryCoins":
        """Round ``q = 1/(1 + odds)`` up, then take the largest ``p`` that the ratio allows, or one half.

        Symmetric coins share epsilon between the true and the other bit; else all of it goes into the other.

        Takes the least number of planes, from 20 on, that keeps ``q`` and the ratio within 1/1024 of what was asked.
        """
        if epsilon >= BITS:
            raise degenerate(owner, epsilon)
        E, odds = exp_lower(epsilon), exp_lower(epsilon / 2 if symmetric else epsilon)
        for planes in range(MIN_PLANES, BITS + 1):
            other = -(-(1 << planes) // (1 + odds))
            q = Fraction(other, 1 << planes)
            if q > (1 + LOSS) / (1 + odds):
                continue
            true = int(E * q / (1 - q + E * q) * _SCALE) if symmetric else _SCALE // 2
            coins = cls(planes, true, other)
            if coins.p > coins.q and 1 + (1 - LOSS) * (E - 1) <= coins.ratio <= E:
                return coins
        raise degenerate(owner, epsilon)

    @cached_property
    def p(self) -> Fraction:
        """The probability that the true bit is reported as 1."""
        return Fraction(self.true_threshold, _SCALE)

    @cached_property
    def q(self) -> Fraction:
        """The probability that any other bit is reported as 1."""
        return Fraction(self.other_threshold, 1 << self.planes)

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two values."""
        return self.p * (1 - self.q) / (self.q * (1 - self.p))


@dataclass(frozen=True)
class SetCoin:
    """A choice of an element: each one inside a set has ``own`` of the ``2^64`` words, each one outside has ``other``.

    No word is left over, so the elements inside are exactly uniform, and so are those outside.

    >>> coin = SetCoin.build("PGR", 1.0, 4, 9)
    >>> 4 * coin.own + 9 * coin.other == 2**64
    True
    >>> Fraction(coin.own, coin.other) <= exp_lower(1.0)
    True
    """

    inside: int
    outside: int
    own: int
    other: int

    @classmethod
    def build(cls, owner: str, epsilon: float, inside: int, outside: int) -> "SetCoin":
        """Round ``other`` up until the remaining words divide evenly into ``own`` for each element inside.

        Pre-condition: the two sizes have no common factor.
        """
        if epsilon >= BITS:
            raise degenerate(owner, epsilon)
        E = exp_lower(epsilon)
        other = -(-_SCALE // (E * inside + outside))
        # The least number from there on with 2^64 - outside * other divisible by inside.
        other += (_SCALE * pow(outside, -1, inside) - other) % inside
        own, rest = divmod(_SCALE - outside * other, inside)
        if own <= other or own - other < (1 - LOSS) * (E - 1) * other:
            raise degenerate(owner, epsilon)
        if rest or own > E * other:  # cannot happen: other was rounded up, to the right remainder
            raise AssertionError(f"{owner}: threshold above the declared epsilon {epsilon!r}")
        return cls(inside, outside, own, other)

    @property
    def keep(self) -> int:
        """The number of words that give an element inside."""
        return self.inside * self.own

    @cached_property
    def p(self) -> Fraction:
        """The probability of each element inside."""
        return Fraction(self.own, _SCALE)

    @cached_property
    def q(self) -> Fraction:
        """The probability of each element outside."""
        return Fraction(self.other, _SCALE)
