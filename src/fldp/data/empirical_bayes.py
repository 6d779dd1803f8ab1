"""Empirical Bayes: counts shrunk by what the tally itself says about how counts are spread.

Most values of a large domain are rare, and their estimates are noise. The estimates of all values together show how
counts are spread: a *prior*, fitted by nonparametric maximum likelihood (Kiefer and Wolfowitz 1956) with the oracle's
own law of an estimate, its mean held at the known mean count. The count of a value is then the mean of its posterior.

It is **biased**: rare values are drawn towards each other. A value that is clearly seen moves by at most a quarter of a
standard error (limited translation, Efron and Morris 1972): its estimate is ``sqrt(2 ln d)`` standard errors above the
mean count, and the posterior believes three quarters of that. Of equal values, one in ten surveys has such an estimate
by chance; there the posterior does not.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.bounded_laws import Bounded
from fldp.numerics.count_laws import Observed
from fldp.numerics.types import Floats

if TYPE_CHECKING:
    from fldp.data.estimate import Estimate

MIN_VALUES = 100  # of one run: with fewer, norm-sub is better
MAX_MOVE = 0.25  # standard errors that a clearly seen value moves
_STEPS, _NEWTON, _CLASSES = 300, 40, 8
_SPREADS, _MIXING = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0), 50  # of public knowledge, relative to what it expects
_TRIED = 1000  # values at least that are drawn anew to calibrate intervals
_WIDER, _UNLIKELY = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0), 1.35  # errors; of a log likelihood, 90 %


@dataclass(frozen=True, eq=False)
class CountNoise:
    """The law of the estimates of some values, as a function of the count: exact where it is binomial, else normal."""

    part: Observed | Bounded
    counts: Floats
    stderr: Floats

    @property
    def null(self) -> Floats:
        """The errors of values that nobody holds."""
        return np.asarray(np.where(np.asarray(self.part.null) > 0, self.part.null, self.stderr), np.float64)

    @property
    def slope(self) -> float:
        """What a holder adds to the variance of an estimate, on average over the values."""
        return float(np.mean(self.part.slope))

    @cached_property
    def bins(self) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
        """Return the bin of every value, and the mean estimate, the mean null error and the size of each bin."""
        classes = np.round(np.log(np.maximum(self.null, 1e-9)) * _CLASSES).astype(np.int64)
        steps = np.round((self.counts - self.counts.min()) / self._width).astype(np.int64)
        keys = (classes - classes.min()) * (int(steps.max()) + 1) + steps
        _, places, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        places = places.reshape(-1)
        means = np.bincount(places, self.counts) / sizes
        return places, means, np.bincount(places, self.null) / sizes, sizes.astype(np.float64)

    @property
    def _width(self) -> float:
        """The width of a bin: a small part of an error, and no less than supports are apart."""
        apart = 1 / self.part.scale if self._is_exact and isinstance(self.part, Observed) else 0.0
        return max(float(np.median(self.null)) / 12, apart, 1e-9)

    @property
    def _is_exact(self) -> bool:
        return isinstance(self.part, Observed) and self.part.law.is_binomial

    def again(self, counts: Floats, chance: np.random.Generator) -> "CountNoise":
        """Return the law of estimates that are drawn anew, of values with these counts."""
        part, top = self.part, max(float(counts.max()), 1.0)
        if isinstance(part, Observed) and part.law.is_binomial:
            part = part.drawn(counts, chance)
            estimates = part.means(part.sums, part.trials)
        else:
            estimates = chance.normal(counts, np.sqrt(np.maximum(self.null**2 + self.slope * counts, 0)))
        stderr = np.sqrt(np.maximum(self.null**2 + self.slope * np.clip(estimates, 0, top), 1e-12))
        return CountNoise(part, estimates, stderr)

    def likelihoods(self, grid: Floats) -> Floats:
        """Return how likely each bin (row) is under each count of the grid (column), up to a factor for each row."""
        _, means, null, _ = self.bins
        if self._is_exact:
            assert isinstance(self.part, Observed)
            logs = self.part.support_likelihoods(means, grid)
        else:
            variances = np.maximum(null[:, None] ** 2 + self.slope * grid, 1e-12)
            logs = -((means[:, None] - grid) ** 2) / (2 * variances) - np.log(variances) / 2
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def grid_of(noise: CountNoise, mean: float | None, most: float) -> Floats:
    """Return the counts of the prior: from 0 to the largest that is plausible, denser where they are small."""
    error = float(np.median(noise.null))
    top = min(most, max(float((noise.counts + 5 * noise.stderr).max()), error))
    parts = [np.zeros(1), np.linspace(0, min(6 * error, top), 61), np.geomspace(min(error, top) / 2, top, 140)]
    if mean:
        parts.append(np.clip(np.geomspace(mean / 16, mean * 16, 41), 0, top))
    return np.unique(np.concatenate(parts))


def fitted_prior(likely: Floats, sizes: Floats, grid: Floats, mean: float | None) -> Floats:
    """Return the prior of the largest likelihood, by expectation maximisation, with this mean if it is known."""
    prior, tilt = np.full(len(grid), 1 / len(grid)), 0.0
    for _ in range(_STEPS):
        if mean is not None:
            prior, tilt = _with_mean(prior, grid - min(max(mean, grid[0]), grid[-1]), tilt)
        prior = prior * ((sizes / np.maximum(likely @ prior, 1e-300)) @ likely)
        prior /= prior.sum()
    return prior if mean is None else _with_mean(prior, grid - mean, tilt)[0]


def _log_likelihood(likely: Floats, sizes: Floats, prior: Floats) -> float:
    return float(sizes @ np.log(np.maximum(likely @ prior, 1e-300)))


def _with_mean(weights: Floats, off: Floats, tilt: float) -> tuple[Floats, float]:
    """Return the shares nearest to weights, in likelihood, whose mean of ``off`` is 0: ``w / (1 + t off)``; and ``t``.

    Newton's method from the last ``t``, kept where all shares are positive.
    """
    if off.min() >= 0 or off.max() <= 0:
        return weights, tilt
    low, high = (-1 + 1e-9) / float(off.max()), (-1 + 1e-9) / float(off.min())
    tilt = min(max(tilt, low), high)
    for _ in range(_NEWTON):
        shares = off / (1 + tilt * off)
        excess = float(weights @ shares)
        if abs(excess) <= 1e-6 * float(weights @ np.abs(shares)):
            break
        low, high = (tilt, high) if excess > 0 else (low, tilt)
        step = tilt + excess / max(float(weights @ shares**2), 1e-300)
        tilt = step if low < step < high else (low + high) / 2
    tilted = weights / (1 + tilt * off)
    return tilted / tilted.sum(), tilt


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior of the counts of some values: shares of the grid for each bin, and the bin of each value."""

    noise: CountNoise
    mean: float | None
    most: float
    grid: Floats
    shares: Floats
    prior: Floats

    @classmethod
    def of(cls, noise: CountNoise, mean: float | None, most: float) -> "Posterior":
        """Fit the prior, and update it for each bin."""
        grid = grid_of(noise, mean, most)
        likely = noise.likelihoods(grid)
        prior = fitted_prior(likely, noise.bins[3], grid, mean)
        shares = likely * prior
        return cls(noise, mean, most, grid, shares / shares.sum(axis=1, keepdims=True), prior)

    @property
    def _places(self) -> NDArray[np.intp]:
        return self.noise.bins[0]

    @cached_property
    def means(self) -> Floats:
        """The posterior means of all values."""
        return np.asarray((self.shares @ self.grid)[self._places])

    @cached_property
    def moved(self) -> Floats:
        """The posterior means; values that are clearly seen stay near their estimates."""
        return self.limited(self.means)

    @cached_property
    def clear(self) -> NDArray[np.bool_]:
        """Which values are clearly seen."""
        usual = float(self.means.mean()) if self.mean is None else self.mean
        above, believed = self.noise.counts - usual, self.means - usual
        enough = math.sqrt(2 * math.log(max(len(above), 2))) * self.noise.stderr
        return np.asarray((above > enough) & (believed > 0.75 * above))

    def limited(self, means: Floats) -> Floats:
        """Return means; values that are clearly seen stay near their estimates."""
        counts, error = self.noise.counts, self.noise.stderr
        near = np.clip(means, counts - MAX_MOVE * error, counts + MAX_MOVE * error)
        return np.clip(np.where(self.clear, near, means), 0, self.most)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return both ends of credible intervals, of the level that covers as asked in a survey like this one.

        They contain those by the widest prior that is likely. A value that is clearly seen has few others to learn
        from, and an error of its own.
        """
        low, high = self._ends(self._calibrated(level))
        least, most = self._widest._ends(level)
        low, high = np.minimum(low, least), np.maximum(high, most)
        reach = NormalDist().inv_cdf((1 + level) / 2) * self.noise.stderr
        low = np.where(self.clear, self.noise.counts - reach, np.minimum(low, self.moved))
        high = np.where(self.clear, self.noise.counts + reach, np.maximum(high, self.moved))
        return np.clip(low, 0, self.most), np.clip(high, 0, self.most)

    @cached_property
    def _widest(self) -> "Posterior":
        """The same by the widest prior that is hardly less likely: few values do not tell how far apart counts are.

        Each prior is the fitted one with counts spread further, by a part of an error.
        """
        likely, sizes, prior = self.noise.likelihoods(self.grid), self.noise.bins[3], self.prior
        least = _log_likelihood(likely, sizes, prior) - _UNLIKELY
        for spread in _WIDER:
            wider = self._spread_by(spread * float(np.median(self.noise.null)))
            if _log_likelihood(likely, sizes, wider) < least:
                break
            prior = wider
        shares = likely * prior
        return replace(self, prior=prior, shares=shares / shares.sum(axis=1, keepdims=True))

    def _spread_by(self, spread: float) -> Floats:
        """Return the prior with a normal law around each count, and the same mean if it is known."""
        near = np.exp(-(((self.grid[:, None] - self.grid) / spread) ** 2) / 2) * np.gradient(self.grid)
        prior = self.prior @ (near / near.sum(axis=1, keepdims=True))
        return prior if self.mean is None else _with_mean(prior, self.grid - self.mean, 0.0)[0]

    def _ends(self, level: float) -> tuple[Floats, Floats]:
        """Return the ends of the posterior, with the chance of who answered where it is a single point."""
        added = np.cumsum(self.shares, axis=1)
        tail, z = (1 - level) / 2, NormalDist().inv_cdf((1 + level) / 2)
        first, last = (added < tail).sum(axis=1), (added < 1 - tail).sum(axis=1)
        low, high = self.grid[first], self.grid[np.minimum(last, len(self.grid) - 1)]
        middle = self.shares @ self.grid
        low = middle - np.hypot(np.maximum(middle - low, 0), z * np.sqrt(middle))
        high = middle + np.hypot(np.maximum(high - middle, 0), z * np.sqrt(middle))
        return np.maximum(low, 0)[self._places], high[self._places]

    def _calibrated(self, level: float) -> float:
        """Return the level whose intervals cover this share of counts drawn from the posterior and estimated anew."""
        chance = np.random.default_rng((len(self.noise.counts), int(self.most)))
        tries = [self._again(chance) for _ in range(-(-_TRIED // len(self.noise.counts)))]
        # Half of the misses are kept for what a prior cannot know: frequent values that drown in the noise.
        levels = [1 - (1 - level) / 2**k for k in range(1, 9)]
        return float(next((each for each in levels if _covered(tries, each) >= level), levels[-1]))

    def _again(self, chance: np.random.Generator) -> tuple[Floats, "Posterior"]:
        """Draw counts from the posterior, estimate them in a survey like this one, and return both."""
        added = np.cumsum(self.shares, axis=1)[self._places]
        drawn = (added < chance.random(len(added))[:, None]).sum(axis=1)
        counts = chance.poisson(self.grid[np.minimum(drawn, len(self.grid) - 1)]).astype(np.float64)
        noise = self.noise.again(np.minimum(counts, self.most), chance)
        return counts, Posterior.of(noise, self.mean, self.most)


def _covered(tries: list[tuple[Floats, Posterior]], level: float) -> float:
    """Return the share of counts within their intervals."""
    inside = []
    for counts, posterior in tries:
        low, high = posterior._ends(level)
        inside.append(((low <= counts) & (counts <= high)).mean())
    return float(np.mean(inside))


@dataclass(frozen=True, eq=False)
class Informed:
    """A posterior with public knowledge mixed in: counts that were expected before anybody answered.

    Each count follows the fitted prior, or is near what was expected, by a relative spread. How often the second, and
    how near, is fitted by maximum likelihood: knowledge that does not agree with the estimates is left out.
    """

    fitted: Posterior
    expected: Floats

    @cached_property
    def _mixture(self) -> tuple[Floats, Floats, Floats]:
        """Return how likely each count is near what was expected, and its mean and its variance in that case."""
        counts, expected = self.fitted.noise.counts, self.expected
        grid, prior = self.fitted.grid, self.fitted.prior
        places, means, null, _ = self.fitted.noise.bins
        other = (_normal(means[:, None], grid, self._variances(null[:, None], grid)) @ prior)[places]
        noise = self._variances(self.fitted.noise.null, expected)
        best = (-math.inf, counts, counts, counts)
        for spread in _SPREADS:
            own = (spread * expected) ** 2 + expected + 1e-9
            near = _normal(counts, expected, noise + own)
            share = 0.5
            for _ in range(_MIXING):
                belief = share * near / np.maximum(share * near + (1 - share) * other, 1e-300)
                share = float(belief.mean())
            likely = float(np.log(np.maximum(share * near + (1 - share) * other, 1e-300)).sum())
            pulled = own / (own + noise)
            best = max(best, (likely, belief, expected + pulled * (counts - expected), pulled * noise), key=_first)
        return best[1:]

    def _variances(self, null: Floats, counts: Floats) -> Floats:
        return np.maximum(null**2 + self.fitted.noise.slope * counts, 1e-12)

    @cached_property
    def moved(self) -> Floats:
        """The posterior means."""
        belief, means, _ = self._mixture
        return self.fitted.limited(belief * means + (1 - belief) * self.fitted.means)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return both ends of credible intervals: of what is nearly sure, or else of both cases together."""
        (belief, means, variances), (low, high) = self._mixture, self.fitted.interval(level)
        reach = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(variances)
        sure, never = belief > (1 + level) / 2, belief < (1 - level) / 2
        least = np.where(never, low, np.where(sure, means - reach, np.minimum(low, means - reach)))
        most = np.where(never, high, np.where(sure, means + reach, np.maximum(high, means + reach)))
        return np.maximum(np.minimum(least, self.moved), 0), np.minimum(np.maximum(most, self.moved), self.fitted.most)


def _first(fit: tuple[float, Floats, Floats, Floats]) -> float:
    return fit[0]


def _normal(points: Floats, means: Floats, variances: Floats) -> Floats:
    """Return the density of normal laws."""
    return np.asarray(np.exp(-((points - means) ** 2) / (2 * variances)) / np.sqrt(2 * np.pi * variances))


@dataclass(frozen=True, eq=False)
class Shrunk:
    """The posteriors of all values, one for each law; values without one keep what norm-sub gives them."""

    parts: tuple[tuple[NDArray[np.intp], Posterior | Informed], ...]

    @classmethod
    def of(cls, estimate: "Estimate") -> "Shrunk | None":
        """Shrink an unbiased estimate; None where its values are too few, or their law is not known."""
        parts = tuple(_parts(estimate))
        return cls(parts) if parts else None

    def informed(self, shares: Floats, n: int) -> "Shrunk":
        """Return the same with public shares mixed in."""
        return Shrunk(
            tuple(
                (values, Informed(posterior, n * shares[values]))
                for values, posterior in self.parts
                if isinstance(posterior, Posterior)
            )
        )

    def counts(self, others: Floats) -> Floats:
        """Return the counts of all values."""
        counts = others.copy()
        for values, posterior in self.parts:
            counts[values] = posterior.moved
        return counts

    def interval(self, level: float, others: Floats) -> Floats:
        """Return the ends of credible intervals of all values."""
        ends = others.copy()
        for values, posterior in self.parts:
            ends[values] = np.stack(posterior.interval(level), axis=1)
        return ends


def _parts(estimate: "Estimate") -> Iterator[tuple[NDArray[np.intp], Posterior]]:
    """Yield the posterior of the values of each law; its mean is known where these are all values of a run."""
    runs = estimate.oracle.estimator.runs
    for part in estimate.basis.evidence:
        values = part.values
        if len(values) < MIN_VALUES:
            continue
        inside = [
            (run, total) for run, total in zip(runs, estimate.totals, strict=False) if run.start <= values[0] < run.stop
        ]
        size, most = (inside[0][0].stop - inside[0][0].start, inside[0][1]) if inside else (0, estimate.n)
        if most:
            noise = CountNoise(part, estimate.counts[values], estimate.stderr[values])
            yield values, Posterior.of(noise, most / size if size == len(values) else None, float(most))
