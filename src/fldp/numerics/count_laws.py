"""Laws of sums of scores: exact and saddlepoint tails, and the counts that are compatible with what was observed.

An estimate is a sum of what every report adds to it, its *scores*. A report of a holder has one law, a report of
anybody else another; both have two or three values. ``CountLaw`` knows the law of the sum for any number of holders.

Tails are saddlepoint approximations (Barndorff-Nielsen 1986), on a lattice with the second continuity correction of
Daniels (1987). They are checked against enumeration in ``tests/numerics/test_count_laws.py``. Where the law is a sum of
binomials of at most ``MAX_EXACT`` reports, the ends of intervals are exact; the tail of a value that nobody holds is
exact there, too.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.binomial_bounds import incomplete_beta
from fldp.numerics.bounded_laws import normal_tail
from fldp.numerics.types import Floats

MAX_EXACT = 1000  # reports: beyond it, the saddlepoint is within a thousandth of the exact tail where that matters
_MAX_KNOTS = 512  # different observations; more are interpolated
_STEPS = 60  # of Newton's method, at most
_SECANTS = 30  # at most
_FAR = 40.0  # a normal point beyond which there is nothing
_FLAT = 0.02  # standard errors from the mean within which the limit of the formula is taken
_MIN_TAIL = 1e-11  # tails below are lost in the rounding of a transform


@dataclass(frozen=True, eq=False)
class ScoreLaw:
    """What one report adds: some values, with their chances."""

    values: Floats
    chances: Floats

    @classmethod
    def of(cls, *pairs: tuple[float, float]) -> "ScoreLaw":
        """Return the law of these pairs of a value and its chance; those without a chance are left out."""
        values, chances = np.array([pair for pair in pairs if pair[1] > 0], np.float64).T
        return cls(values, chances)

    def cumulants(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the logarithm of the mean of ``exp(theta x)``, and its first two derivatives."""
        powers = theta[..., None] * self.values
        most = powers.max(axis=-1)
        terms = self.chances * np.exp(powers - most[..., None])
        total = terms.sum(axis=-1)
        mean = terms @ self.values / total
        spread = (terms * (self.values - mean[..., None]) ** 2).sum(axis=-1) / total
        return most + np.log(total), mean, spread

    @cached_property
    def mean(self) -> float:
        """The mean."""
        return float(self.chances @ self.values)

    @cached_property
    def third(self) -> float:
        """The third central moment."""
        return float(self.chances @ (self.values - self.chances @ self.values) ** 3)


@dataclass(frozen=True, eq=False)
class CountLaw:
    """The law of a sum of scores: ``count`` reports of holders, ``trials - absorbed count`` of others.

    ``step`` is the distance of neighbouring sums where they form a lattice, else 0; then half the distance of the two
    scores of a holder is the continuity correction. ``absorbed`` is how many of the trials a holder takes, on average:
    1 unless trials are the reports of a part of the symbols.

    >>> law = CountLaw(ScoreLaw.of((1, 0.75), (0, 0.25)), ScoreLaw.of((1, 0.25), (0, 0.75)), step=1.0)
    >>> law.at_least(np.array([8.0]), np.array([0.0]), np.array([10.0])).round(5).tolist()  # exactly 0.000416
    [0.00041]
    """

    own: ScoreLaw
    other: ScoreLaw
    step: float = 0.0
    absorbed: float = 1.0

    @property
    def is_binomial(self) -> bool:
        """Whether sums are sums of two binomials."""
        return self.step == 1 and self.absorbed == 1 and all({*s.values} <= {0.0, 1.0} for s in (self.own, self.other))

    def at_least(self, sums: Floats, counts: Floats, trials: Floats) -> Floats:
        """Return the probability of a sum of at least ``sums``, for each number of holders among the trials."""
        return normal_tail(self.above(sums, counts, trials))

    def at_most(self, sums: Floats, counts: Floats, trials: Floats) -> Floats:
        """Return the probability of a sum of at most ``sums``."""
        return normal_tail(-self.below(sums, counts, trials))

    def above(self, sums: Floats, counts: Floats, trials: Floats) -> Floats:
        """Return the standard normal point beyond which lies the probability of at least ``sums``."""
        return self._point(sums - self._half, counts, trials)

    def below(self, sums: Floats, counts: Floats, trials: Floats) -> Floats:
        """Return the standard normal point up to which lies the probability of at most ``sums``."""
        return self._point(sums + self._half, counts, trials)

    @property
    def _half(self) -> float:
        return (self.step or float(np.ptp(self.own.values))) / 2

    def _point(self, sums: Floats, counts: Floats, trials: Floats) -> Floats:
        others = np.maximum(trials - self.absorbed * counts, 0.0)
        low, high = (counts * end(self.own.values) + others * end(self.other.values) for end in (np.min, np.max))
        edge = 1e-9 * (high - low)
        inside = (sums > low + edge) & (sums < high - edge)
        means = counts * self.own.mean + others * self.other.mean  # a place to put the others meanwhile
        point = self._saddlepoint(np.where(inside, sums, means), counts, others)
        return np.where(inside, point, np.where(sums >= high - edge, _FAR, -_FAR))

    def _saddlepoint(self, sums: Floats, counts: Floats, others: Floats) -> Floats:
        """Return the modified signed root of the likelihood ratio (Barndorff-Nielsen), which is nearly normal."""
        theta = self._solved(sums, counts, others)
        power, _, spread = self._cumulants(theta, counts, others)
        root = np.sign(theta) * np.sqrt(np.maximum(2 * (theta * sums - power), 0.0))
        gap = 2 * np.sinh(np.clip(theta * self.step / 2, -300, 300)) / self.step if self.step else theta
        skew = (counts * self.own.third + others * self.other.third) / np.maximum(spread, 1e-12) ** 1.5
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            correction = np.log(np.maximum(gap * np.sqrt(spread) / root, 1e-300)) / root
        return root + np.where(np.abs(root) < _FLAT, skew / 6, correction)

    def _cumulants(self, theta: Floats, counts: Floats, others: Floats) -> tuple[Floats, Floats, Floats]:
        own, other = self.own.cumulants(theta), self.other.cumulants(theta)
        first, second, third = (counts * a + others * b for a, b in zip(own, other, strict=True))
        return first, second, third

    def _solved(self, sums: Floats, counts: Floats, others: Floats) -> Floats:
        """Return where the derivative of the cumulants is the sum: Newton's steps, within a bracket that shrinks."""
        most = 60 / min(np.ptp(score.values) or math.inf for score in (self.own, self.other))
        low, high, theta = np.full(sums.shape, -most), np.full(sums.shape, most), np.zeros(sums.shape)
        for _ in range(_STEPS):
            _, mean, spread = self._cumulants(theta, counts, others)
            low, high = np.where(mean < sums, theta, low), np.where(mean < sums, high, theta)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = theta + (sums - mean) / spread
            after = np.where((step >= low) & (step <= high), step, (low + high) / 2)
            moved = np.abs(after - theta) * np.sqrt(spread)  # in standard errors of the tilted law
            theta = after
            if moved.max(initial=0.0) < 1e-4:
                break
        return theta

    def exact_at_least(self, sums: NDArray[np.int64], counts: NDArray[np.int64], n: int) -> Floats:
        """Return the exact probability of at least ``sums`` for a sum of two binomials, by a transform."""
        size = 1 << n.bit_length()
        roots = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
        own, other = (np.log(1 - _chance(score) * (1 - roots)) for score in (self.own, self.other))
        chances = np.fft.irfft(np.exp(np.outer(counts, own) + np.outer(n - counts, other)), size, axis=1)
        return np.asarray(np.where(np.arange(size) >= sums[:, None], chances, 0.0).sum(axis=1))


def support_law(p: Fraction | float, q: Fraction | float) -> CountLaw:
    """Return the law of supports: a binomial of the holders with ``p`` and one of the others with ``q``."""
    own, other = (ScoreLaw.of((1.0, float(chance)), (0.0, float(1 - chance))) for chance in (p, q))
    return CountLaw(own, other, step=1.0)


def _chance(score: ScoreLaw) -> float:
    """Return the chance of a 1."""
    return float(score.chances[score.values == 1].sum())


@dataclass(frozen=True, eq=False)
class Observed:
    """Sums that were observed for some values, and their laws: what tests and intervals of counts rest on.

    ``values`` are those whose counts are meant, ``most`` the largest possible count. ``trials`` has a number for each.
    An end of an interval that is at no possible count is where a normal law would put it: below 0, or above ``most``,
    so that the interval of a negative estimate is not cut.
    """

    values: NDArray[np.intp]
    law: CountLaw
    sums: Floats
    trials: Floats
    most: int

    @classmethod
    def of(
        cls, law: CountLaw, sums: Floats, trials: Floats | float, most: int, values: NDArray[np.intp] | None = None
    ) -> "Observed":
        """Return the observations of all values, or of some."""
        where = np.arange(len(sums)) if values is None else values
        return cls(where, law, sums, np.broadcast_to(np.asarray(trials, np.float64), sums.shape), most)

    @property
    def jump(self) -> float:
        """The most that one report adds to an estimate, or takes away."""
        return float(max(np.abs(score.values).max() for score in (self.law.own, self.law.other))) / self.scale

    @property
    def null(self) -> Floats:
        """The standard errors of values that nobody holds."""
        return np.asarray(np.sqrt(self.trials * self._null_variance) / self.scale, np.float64)

    @property
    def _null_variance(self) -> float:
        other = self.law.other
        return float(other.chances @ other.values**2) - other.mean**2

    @property
    def scale(self) -> float:
        """What a holder adds to a sum, on average, more than another."""
        return self.law.own.mean - self.law.absorbed * self.law.other.mean

    @property
    def slope(self) -> float:
        """What a holder adds to the variance of an estimate."""
        own, other = (score.chances @ score.values**2 - score.mean**2 for score in self._scores)
        return float(own - self.law.absorbed * other) / self.scale**2

    def variance(self, counts: Floats) -> Floats:
        """Return the variances of the estimates at these counts, which are cut to what is possible."""
        return np.maximum(self.null**2 + self.slope * np.clip(counts, 0, self.most), 0.0)

    @property
    def _scores(self) -> tuple[ScoreLaw, ScoreLaw]:
        return self.law.own, self.law.other

    def support_likelihoods(self, estimates: Floats, counts: Floats) -> Floats:
        """Return the logarithms of the chances of estimates (rows) under counts (columns), where supports are binomial.

        By the saddlepoint, which for two binomials is the root of a quadratic equation.
        """
        n, (p, q) = self.most, (_chance(score) for score in self._scores)
        sums = np.clip(estimates[:, None] * self.scale + n * q, 0, n)
        odds, other = p / (1 - p), q / (1 - q)
        linear = counts * odds + (n - counts) * other - sums * (odds + other)
        root = np.sqrt(linear**2 + 4 * odds * other * (n - sums) * sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            square = 2 * odds * other * (n - sums)
            tilt = np.where(linear > 0, 2 * sums / (linear + root), (root - linear) / np.maximum(square, 1e-300))
            tilt = np.clip(tilt, 1e-300, 1e30)
            held, others = p * tilt / (1 - p + p * tilt), q * tilt / (1 - q + q * tilt)
            spread = np.maximum(counts * held * (1 - held) + (n - counts) * others * (1 - others), 1e-12)
            power = counts * np.log1p(p * (tilt - 1)) + (n - counts) * np.log1p(q * (tilt - 1))
            logs = power - sums * np.log(tilt) - np.log(spread) / 2
        none = counts * math.log1p(-p) + (n - counts) * math.log1p(-q)
        return np.where(sums < 0.5, none, logs)

    def drawn(self, counts: Floats, chance: np.random.Generator) -> "Observed":
        """Return the same with supports that are drawn anew, of values with these counts."""
        held = np.rint(counts).astype(np.int64)
        p, q = (_chance(score) for score in self._scores)
        sums = chance.binomial(held, p) + chance.binomial(self.most - held, q)
        return Observed(self.values, self.law, sums.astype(np.float64), self.trials, self.most)

    def moved(self, start: int) -> "Observed":
        """Return the same of values that begin at ``start``."""
        return Observed(self.values + start, self.law, self.sums, self.trials, self.most)

    @cached_property
    def _knots(self) -> tuple[Floats, Floats, NDArray[np.intp] | None]:
        """Return different sums with their trials, and where each value finds its own; None where it interpolates."""
        trials, kinds = np.unique(self.trials, return_inverse=True)
        sums, places = np.unique(self.sums, return_inverse=True)
        if len(trials) > 1:
            pairs, places = np.unique(places.reshape(-1) * len(trials) + kinds.reshape(-1), return_inverse=True)
            return sums[pairs // len(trials)], trials[pairs % len(trials)], places.reshape(-1)
        if len(sums) > _MAX_KNOTS:
            return np.linspace(sums[0], sums[-1], _MAX_KNOTS), np.full(_MAX_KNOTS, trials[0]), None
        return sums, np.full(len(sums), trials[0]), places.reshape(-1)

    def _spread_out(self, levels: Floats) -> Floats:
        """Return what was found for the knots for all values."""
        sums, _, places = self._knots
        return np.interp(self.sums, sums, levels) if places is None else levels[places]

    def p_values(self, stderr: Floats) -> Floats:
        """Return how likely a sum as large is for a value that nobody holds."""
        del stderr
        if not self.law.step and self.trials[0] <= MAX_EXACT:
            return self._enumerated()
        sums, trials, _ = self._knots
        tails = self.law.at_least(sums, np.zeros(len(sums)), trials)
        if self._is_lattice:
            tails = self._exact(sums, trials, tails)
        return np.exp(self._spread_out(np.log(np.maximum(tails, 1e-320))))

    @property
    def _is_lattice(self) -> bool:
        """Whether sums of a value that nobody holds have a binomial law."""
        return len(self.law.other.values) == 2 and self.law.step > 0

    def _exact(self, sums: Floats, trials: Floats, tails: Floats) -> Floats:
        """Replace the tails that matter by the exact ones of a binomial law."""
        low, high = np.sort(self.law.other.values).tolist()
        chance = float(self.law.other.chances[self.law.other.values == high][0])
        exact = tails.copy()
        for k in np.flatnonzero((tails < 0.2) & (trials <= 1e6)).tolist():
            hits = round((sums[k] - trials[k] * low) / (high - low))
            exact[k] = incomplete_beta(chance, hits, trials[k] - hits + 1) if 0 < hits <= trials[k] else tails[k]
        return exact

    def _enumerated(self) -> Floats:
        """Return the exact tails of sums of three scores."""
        other = self.law.other
        trials = round(float(self.trials[0]))
        negated, tails = _enumeration(trials, tuple(other.values.tolist()), tuple(other.chances.tolist()))
        slack = 1e-9 * float(np.ptp(other.values))
        places = np.searchsorted(negated, -(self.sums - slack), side="right")
        return np.asarray(np.minimum(tails[np.maximum(places - 1, 0)], 1.0))

    def interval(self, miss: float, counts: Floats, stderr: Floats) -> tuple[Floats, Floats]:
        """Return both ends: each count beyond them has a tail of less than ``miss / 2`` at what was observed."""
        sums, trials, _ = self._knots
        least, top = self._ends(sums, trials, miss / 2)
        low, high = self._spread_out(least), self._spread_out(top)
        reach = NormalDist().inv_cdf(1 - miss / 2) * stderr
        low = np.where(low <= 0, np.minimum(0.0, counts - reach), np.minimum(low, counts))
        high = np.where(high >= self.most, np.maximum(self.most, counts + reach), np.maximum(high, counts))
        return low, high

    def _ends(self, sums: Floats, trials: Floats, tail: float) -> tuple[Floats, Floats]:
        most = np.full(len(sums), float(self.most))
        z, middle = NormalDist().inv_cdf(1 - tail), np.clip(self.means(sums, trials), 0, most)
        null = np.sqrt(trials * self._null_variance) / self.scale
        error = np.sqrt(np.maximum(null**2 + self.slope * middle, 1e-12))
        low = _root(lambda counts: self.law.above(sums, counts, trials) - z, np.zeros(len(sums)), middle, error)
        high = _root(lambda counts: self.law.below(sums, counts, trials) + z, middle, most, error)
        if self.law.is_binomial and self.most <= MAX_EXACT and tail > _MIN_TAIL:
            low, high = self._polished(sums.astype(np.int64), low, high, tail)
        return low, high

    def means(self, sums: Floats, trials: Floats) -> Floats:
        """Return the counts whose mean sums were observed."""
        return np.asarray((sums - trials * self.law.other.mean) / self.scale)

    def _polished(self, sums: NDArray[np.int64], low: Floats, high: Floats, tail: float) -> tuple[Floats, Floats]:
        """Move both ends to the last counts that are possible by the exact law; they are near."""

        def is_low(at: NDArray[np.intp], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
            return self.law.exact_at_least(sums[at], counts, self.most) < tail

        def is_high(at: NDArray[np.intp], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
            return 1 - self.law.exact_at_least(sums[at] + 1, counts, self.most) < tail

        least, top = np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64)
        _settle(least, is_low, self.most)
        top = self.most - top
        _settle(top, lambda at, counts: is_high(at, self.most - counts), self.most)
        return least.astype(np.float64), (self.most - top).astype(np.float64)


@lru_cache(maxsize=2)  # a look asks for the same tails again
def _enumeration(n: int, values: tuple[float, ...], chances: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return all sums of three scores, negated, from the top, and how likely each is reached."""
    factorials = np.cumsum(np.log(np.maximum(np.arange(n + 1), 1)))
    first, second = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    possible = first + second <= n
    first, second = first[possible], second[possible]
    third = n - first - second
    likely = factorials[n] - factorials[first] - factorials[second] - factorials[third]
    for number, chance in zip((first, second, third), chances, strict=True):
        likely += number * math.log(chance)
    reached = first * values[0] + second * values[1] + third * values[2]
    order = np.argsort(-reached)
    return -reached[order], np.cumsum(np.exp(likely[order]))


Refused = Callable[[NDArray[np.intp], NDArray[np.int64]], NDArray[np.bool_]]


def _settle(least: NDArray[np.int64], refused: Refused, most: int) -> None:
    """Move each entry to the least number that is not refused, given that numbers below are."""
    for step in (1, -1):
        left = np.arange(len(least))
        while len(left):
            tried = least[left] - (step < 0)
            left = left[(refused(left, np.clip(tried, 0, most)) == (step > 0)) & (tried >= 0) & (tried < most)]
            least[left] += step


def _root(function: Callable[[Floats], Floats], low: Floats, high: Floats, scale: Floats) -> Floats:
    """Return where a falling function is 0, or the end that is nearest to it: secants, within a bracket that shrinks.

    The function falls by about 1 over ``scale``.
    """
    start, end = low, high
    none, whole = function(low) <= 0, function(high) >= 0
    last = np.where(none, low, high)
    value = function(last)
    point = np.clip(last + value * scale, low, high)
    for _ in range(_SECANTS):
        now = function(point)
        low, high = np.where(now > 0, point, low), np.where(now > 0, high, point)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = point - now * (point - last) / (now - value)
        last, value = point, now
        point = np.where((step > low) & (step < high), step, (low + high) / 2)
        if np.all(none | whole | (np.abs(now) < 1e-3)):
            point = last
            break
    return np.where(whole, end, np.where(none, start, point))
