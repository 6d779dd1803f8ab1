"""Plans for numbers: how many cells, which views of them with which weights, and the error to expect.

A distribution is asked for in two ways, by chance the one or the other: the cell itself by SS, or a wave over all
cells. Least squares over both has less variance than either, and than any hierarchy of intervals. A mean is asked for
by one wide wave.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import cast

import numpy as np

from fldp.data.anytime_intervals import MINIMUM, PLANNED
from fldp.data.dataframes import Columns, Framed, by_column
from fldp.data.number import LEVEL
from fldp.data.scale import DISTRIBUTION, MAX_BINS, MEAN, MIN_BINS, POINTS, Scale
from fldp.estimation.expected_error import users_constraint
from fldp.estimation.number_shares import even_number
from fldp.numerics.types import Floats
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.plain.subset_selection import SS
from fldp.oracles.plain.wave import Wave, nearest_widths
from fldp.oracles.sampled.sampled import Sampled
from fldp.oracles.sampled.views import base_oracle
from fldp.support.display import Displayed
from fldp.support.validation import integer, one_of, positive

WEIGHTS = 4096  # what the weights of views add up to, about
_MAX_EXPONENT = 700.0  # beyond which a float cannot hold the power of e
_BETWEEN = 10  # edges before the middle: cells that views join, by 4 and 16, are known least well between their ends
_COUNTS: tuple[int, ...] = tuple(1 << k for k in range(4, 11))  # of cells that are compared

View = tuple[list[int | str], float]  # an entry of ``views``, and its share of the people


def best_width(epsilon: float, bins: int) -> int:
    """Return the width of the wave beside the cells of a distribution: near ``bins e^(-eps/2)/4``.

    >>> best_width(1.0, 32), best_width(4.0, 16)
    (5, 3)
    """
    return _nearest(bins * math.exp(-epsilon / 2) / 4, bins)


def mean_width(epsilon: float, points: int = POINTS) -> int:
    """Return the width of the wave for a mean: half of the points up to epsilon 1, then less.

    >>> mean_width(1.0), mean_width(2.0)
    (128, 63)
    """
    return _nearest(points / 2 * (1 if epsilon <= 1 else math.exp(-0.35 * epsilon)), points)


def _nearest(wanted: float, bins: int) -> int:
    """Return the good width nearest to a number, at least 1; of two that are equally near, the smaller."""
    return min(nearest_widths(max(1.0, wanted), bins), key=lambda width: (abs(width - wanted), width))


def number_views(question: int, bins: int, epsilon: float) -> list[View]:
    """Return the views of a number in this many cells, and their shares of the people.

    >>> number_views(0, 32, 1.0)
    [([0], 0.45), (['wave', 0, 5], 0.55)]
    """
    wave, rest = (10 + min(epsilon, 4.0)) / 20, (10 - min(epsilon, 4.0)) / 20
    cells: list[int | str] = [question]
    if bins <= math.exp(min(epsilon, _MAX_EXPONENT)) / 3:
        return [(cells, 1.0)]
    entry: list[int | str] = ["wave", question, best_width(epsilon, bins)]
    if bins >= 512 and bins % 16 == 0:
        return [(cells, 0.33), (["cells", question, 4], 0.17), (["cells", question, 16], 0.10), (entry, 0.40)]
    if 128 <= bins < 512 and bins % 4 == 0:
        return [(cells, 0.65 * rest), (["cells", question, 4], 0.35 * rest), (entry, wave)]
    return [(cells, rest), (entry, wave)]


def weights_of(shares: Sequence[float]) -> list[int]:
    """Return the shares of views as the integers that a survey names.

    >>> weights_of([0.45, 0.55])
    [1843, 2253]
    """
    return [max(1, round(WEIGHTS * share)) for share in shares]


def number_oracle(scale: Scale, epsilon: float) -> Oracle:
    """Return the oracle that asks for a number: one wide wave for a mean, views of the cells for a distribution.

    >>> number_oracle(Scale(0, 1, goal="mean"), 1.0)
    Wave(epsilon=1.0, domain_size=256, width=128)
    >>> number_oracle(Scale(0, 1), 1.0)
    Sampled(epsilon=1.0, answers=[32], views=[[0], ['wave', 0, 5]], weights=[1843, 2253])
    """
    if scale.goal == MEAN:
        return Wave(epsilon=epsilon, domain_size=scale.size, width=mean_width(epsilon, scale.size))
    views, shares = zip(*number_views(0, scale.size, epsilon), strict=True)
    entries, weights = tuple(map(tuple, views)), tuple(weights_of(shares))
    return Sampled(epsilon=epsilon, answers=(scale.size,), views=entries, weights=weights)


def best_bins(users: int, epsilon: float) -> int:
    """Return how many cells suit this many people: the fewest whose width is below four errors of the CDF.

    >>> [best_bins(users, 1.0) for users in (10_000, 100_000, 1_000_000)]
    [16, 32, 128]
    """
    for bins in _COUNTS:
        if 1 / bins <= 4 * math.sqrt(NumberPlan(bins, epsilon, users).cdf_variance / users):
            return bins
    return _COUNTS[-1]


@lru_cache(maxsize=64)
def _covariance(bins: int, epsilon: float) -> Floats:
    """Return the covariance of the shares of all cells, times the number of people, where all are equally frequent."""
    every = np.zeros((bins, bins))
    for entry, share in number_views(0, bins, epsilon):
        every += share * _information(entry, bins, epsilon)
    inverse = np.linalg.inv(every + np.trace(every) / bins**2)
    return np.asarray(inverse - inverse.mean(axis=0) - inverse.mean(axis=1)[:, None] + inverse.mean())


def _information(entry: list[int | str], bins: int, epsilon: float) -> Floats:
    """Return what a report of a view tells about the shares of the cells."""
    if entry[0] == "wave":
        return Wave(epsilon=epsilon, domain_size=bins, width=int(entry[2])).estimator.information
    joined = int(entry[2]) if entry[0] == "cells" else 1
    size = bins // joined
    group = np.arange(bins) // joined
    same = np.asarray(group[:, None] == group, np.float64)
    return (same - 1 / size) / cell_spread(cast(SS, base_oracle(SS.name, epsilon, size)))


def cell_spread(oracle: SS) -> float:
    """Return the variance of one report, person included, along shares whose sum is 0: the same in every direction."""
    p, q, size = float(oracle.estimator.p), float(oracle.estimator.q), oracle.domain_size
    part = oracle.report_format.shape[0] / size
    return part * (1 - part) / (p - q) ** 2 * size / (size - 1)


@dataclass(frozen=True)
class NumberRow:
    """What to expect of a number of cells; errors are standard errors of shares, and of the mean over the range.

    A reach is half the interval that the dashboard shows, for every look; the CDF's is the widest of its band.
    """

    bins: int
    cell: float
    cdf_error: float
    mean_error: float
    bits: int
    cdf_reach: float = 0.0
    mean_reach: float = 0.0


@dataclass(frozen=True)
class NumberPlan(Framed, Displayed):
    """What to expect of a number that is asked of this many people.

    Variances are times the number of people, for numbers that are spread evenly; they hardly depend on that.

    >>> plan = NumberPlan(32, 1.0, 100_000)
    >>> round(plan.cdf_variance, 2), round(plan.mean_variance, 2)
    (8.13, 1.92)
    """

    bins: int
    epsilon: float
    users: int
    goal: str = DISTRIBUTION

    def __post_init__(self) -> None:
        integer(MIN_BINS, MAX_BINS)("number", "bins", self.bins)
        positive("number", "epsilon", self.epsilon)
        users_constraint("number", "users", self.users)
        one_of(DISTRIBUTION, MEAN)("number", "goal", self.goal)

    @property
    def views(self) -> list[View]:
        """The views, and their shares of the people."""
        return number_views(0, self.bins, self.epsilon)

    @cached_property
    def cdf_variance(self) -> float:
        """The mean variance of the CDF over all edges."""
        covariance = _covariance(self.bins, self.epsilon)
        return float(np.diag(np.cumsum(np.cumsum(covariance, axis=0), axis=1))[:-1].mean())

    @cached_property
    def mean_variance(self) -> float:
        """The variance of the mean over the range: of the middles of the cells, or of the points."""
        if self.goal == MEAN:
            points = np.linspace(0.0, 1.0, self.bins)
            wave = Wave(epsilon=self.epsilon, domain_size=self.bins, width=mean_width(self.epsilon, self.bins))
            even = np.full(self.bins, 1 / self.bins)
            return float(wave.estimator.linear_variances(points[None], even)[0] + points.var())
        middles = (np.arange(self.bins) + 0.5) / self.bins
        return float(middles @ _covariance(self.bins, self.epsilon) @ middles)

    @property
    def bits(self) -> int:
        """The bits of a report: the longest of any view, and the number of the view."""
        if self.goal == MEAN:
            return Wave(
                epsilon=self.epsilon, domain_size=self.bins, width=mean_width(self.epsilon, self.bins)
            ).report_format.bits
        longest = max(_bits(entry, self.bins, self.epsilon) for entry, _ in self.views)
        return longest + (len(self.views) - 1).bit_length()

    @property
    def rows(self) -> list[NumberRow]:
        """The plan beside others with fewer and more cells."""
        if self.goal == MEAN:
            return [self._row]
        return [NumberPlan(bins, self.epsilon, self.users)._row for bins in sorted({*_COUNTS[:5], self.bins})]

    @property
    def _row(self) -> NumberRow:
        errors = (0.0 if self.goal == MEAN else self.cdf_variance, self.mean_variance)
        cdf, mean = (math.sqrt(variance / self.users) for variance in errors)
        return NumberRow(self.bins, 1 / self.bins, cdf, mean, self.bits, *self._reaches)

    @property
    def _reaches(self) -> tuple[float, float]:
        """Half of two intervals of the dashboard: the widest of the CDF (near its middle), and the mean."""
        scale = self._scale
        number = even_number(number_oracle(scale, self.epsilon), scale, self.users).watched(PLANNED * MINIMUM)
        if self.goal == MEAN:
            return 0.0, number.mean().reach
        middle = self.bins // 2
        edges = np.arange(max(1, middle - _BETWEEN), middle + 1)
        return number.widest(edges, 1 - (1 - LEVEL) / (self.bins - 1)), number.mean().reach

    @property
    def _scale(self) -> Scale:
        return Scale(0, 1, bins=self.bins, goal=self.goal)

    def _columns(self) -> Columns:
        names = ("bins", "cell", "cdf_error", "mean_error", "bits")
        return by_column(names, [vars(row) for row in self.rows])


def _bits(entry: list[int | str], bins: int, epsilon: float) -> int:
    if entry[0] == "wave":
        return Wave(epsilon=epsilon, domain_size=bins, width=int(entry[2])).report_format.bits
    return base_oracle(SS.name, epsilon, bins // (int(entry[2]) if entry[0] == "cells" else 1)).report_format.bits


def plan_number(users: int, epsilon: float, *, bins: int | None = None, goal: str = DISTRIBUTION) -> NumberPlan:
    """Plan a number that is asked of this many people: the cells by the rule unless they are given.

    >>> plan_number(users=100_000, epsilon=1.0).bins, plan_number(users=100_000, epsilon=1.0, goal="mean").bins
    (32, 256)
    """
    one_of(DISTRIBUTION, MEAN)("number", "goal", goal)
    chosen = bins if bins is not None else POINTS if goal == MEAN else best_bins(users, epsilon)
    return NumberPlan(chosen, epsilon, users, goal)
