"""Intervals that hold at every look: for people who watch reports come in and may stop at any time.

An interval of 95 % covers at one look that was decided beforehand. Whoever looks every day, and believes the first
interval that leaves something out, is misled far more often. These sequences (Robbins' mixture of normal laws) cover at
all looks at once, whenever one stops: with ``V`` the variance of an estimated count after as many reports,

    |estimate - truth| <= sqrt( (V + start) ln( (V + start) / (start miss^2) ) )

``start`` is fixed before the first report: it makes the interval narrowest at a planned number of reports. The noise is
a martingale whatever people hold, so the truth is their count among those who have answered so far. ``V`` is the
plug-in; checked from 100 reports on (``tests/data/test_anytime.py``).
"""

import math
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fldp.data.comparison import Comparison
from fldp.errors import ParameterError
from fldp.numerics.bounded_laws import Bounded, bent
from fldp.numerics.types import Floats
from fldp.support.validation import fraction, integer

if TYPE_CHECKING:
    from fldp.data.estimate import Estimate, Total
    from fldp.oracles.base.frequency_oracle import FrequencyOracle

PLANNED, MIN_SUPPORTS = 100, 10  # reports for each of a survey's minimum; supports of a value that nobody holds
MINIMUM = 100  # reports, of a survey that says no other
MAX_PLANNED = 2**53
_USUAL = 0.05  # the miss that p-values are best at, divided by the number of values


@cache
def best_ratio(miss: float) -> float:
    """Return how many times ``start`` the variance is where an interval of this miss is narrowest.

    >>> [round(best_ratio(miss), 2) for miss in (0.05, 5e-4, 4.9e-5)]
    [8.21, 18.15, 23.03]
    """
    low, high = 1e-6, 1e6
    for _ in range(200):
        x = math.sqrt(low * high)
        rising = (1 + x) / x / (1 + x) - (math.log1p(x) - 2 * math.log(miss)) / x**2 > 0
        low, high = (low, x) if rising else (x, high)
    return high


def reach(variances: Floats | float, start: Floats | float, miss: Floats | float, jump: Floats | float = 0.0) -> Floats:
    """Return half the width of the interval, in the unit of the root of the variances; ``jump`` is of one report."""
    return bent(*parts(variances, start, miss), jump)


def parts(
    variances: Floats | float, start: Floats | float, miss: Floats | float
) -> tuple[Floats | float, Floats | float]:
    """Return how many errors the interval reaches, and the error that is meant: that of the variances and ``start``."""
    whole = np.asarray(variances, np.float64) + start
    return np.sqrt(np.log(whole / start) - 2 * np.log(miss)), np.sqrt(whole)


def multiplier(share: float, miss: float) -> float:
    """Return half the width in standard errors, after ``share`` of the planned number of reports.

    >>> [round(multiplier(share, 0.05), 2) for share in (0.1, 1, 10, 100)]
    [3.82, 3.04, 3.25, 3.57]
    """
    return math.prod(factors(share, miss))


def factors(share: float, miss: float) -> tuple[float, float]:
    """Return the two factors of the multiplier: ``z``, and by how much ``start`` makes the standard error larger.

    Where one report moves an estimate by much, the tail depends on ``z`` alone (``numerics.count_laws.bent``).
    """
    ratio = share * best_ratio(miss)
    return math.sqrt(math.log1p(ratio) - 2 * math.log(miss)), math.sqrt(1 + 1 / ratio)


def planned_reports(oracle: "FrequencyOracle", minimum: int = MINIMUM) -> int:
    """Return the number of reports to plan with, from what a survey fixes: 100 times its minimum.

    At least as many as support a value that nobody holds ten times: before, its law is far from normal.
    """
    return enough(oracle, PLANNED * minimum)


def enough(oracle: "FrequencyOracle", planned: int) -> int:
    """Return the planned number of reports, or as many as it takes for a rare value to be near its normal law."""
    least = oracle.estimator.least_spread
    return planned if least is None else max(planned, math.ceil(MIN_SUPPORTS / least))


def start_of(estimate: "Estimate", planned: int) -> Floats | float:
    """Return the variance of the count of a value that nobody holds, after the planned reports."""
    return estimate._variance_after(enough(estimate.oracle, integer(1, MAX_PLANNED)("Estimate", "anytime", planned)))


def check_unbiased(estimate: "Estimate") -> None:
    """Refuse an estimate that has no intervals for many looks."""
    if estimate.biased:
        raise ParameterError(
            f"Estimate: anytime is for unbiased estimates; {estimate.method} is biased, and its intervals are for one "
            "look: ask for them without anytime, or take estimate.original"
        )


def anytime_interval(estimate: "Estimate", level: float, planned: int, *, simultaneous: bool) -> Floats:
    """Return intervals of the counts that hold at every look, one row of two ends per value."""
    check_unbiased(estimate)
    return np.stack(anytime_ends(estimate, estimate.stderr**2, level, planned, simultaneous=simultaneous), axis=1)


def anytime_ends(
    estimate: "Estimate", variances: Floats, level: float, planned: int, *, simultaneous: bool
) -> tuple[Floats, Floats]:
    """Return both ends of the intervals of the counts, where these are their variances.

    Where a law is known by its variance, one report, or one collision, may move an estimate by much: then ends are as
    for one look, with the ``z`` of the sequence.
    """
    miss = (1 - fraction("Estimate", "level", level)) / (len(estimate.counts) if simultaneous else 1)
    start = start_of(estimate, planned) / best_ratio(miss)
    z, error = np.broadcast_arrays(*parts(variances, start, miss))
    low, high = estimate.counts - z * error, estimate.counts + z * error
    for law in estimate._laws:
        if isinstance(law, Bounded):
            at = law.values
            low[at], high[at] = law.ends(z[at], estimate.counts[at], error[at])
    return low, high


def reach_of_sum(total: "Total", level: float, planned: int) -> float:
    """Return half the width of an interval of a sum that holds at every look."""
    if total.original is not None or total.estimate is None:
        raise ParameterError("Total: anytime is for sums of unbiased estimates, as Estimate.sum gives them")
    miss = 1 - fraction("Total", "level", level)
    start = total.values * start_of(total.estimate, planned) / best_ratio(miss)
    return float(reach(total.stderr**2, start, miss))


@dataclass(frozen=True, eq=False)
class AnytimeSide:
    """One side of a comparison: variances of counts, the planned variance of a rare value, the number of people.

    ``jump`` is the most that one report adds to a count, where few reports speak of it.
    """

    variances: Floats
    start: Floats | float
    n: int
    jump: Floats | float = 0.0

    def half(self, miss: Floats | float, best: float) -> Floats:
        """Return half the width of intervals of shares, narrowest for a miss of ``best``."""
        return reach(self.variances, self.start / best_ratio(best), miss, self.jump) / self.n


@dataclass(frozen=True, eq=False)
class AnytimeComparison(Comparison):
    """A comparison that may be looked at while reports come in.

    The sequences of both sides, each with half of the miss, are added: with unequal numbers of people, the difference
    of two shares is no martingale. P-values are for every look, too, and sharpest at a level of 95 % for all values.
    """

    sides: tuple[AnytimeSide, ...] = ()
    planned: int = 0

    @property
    def p_values(self) -> Floats:
        """How often chance alone would ever give a difference as large, for each value by itself."""
        best = _USUAL / len(self.difference) / 2
        low, high = np.full(len(self.difference), math.log(1e-300)), np.zeros(len(self.difference))
        for _ in range(60):
            middle = (low + high) / 2
            beyond = np.abs(self.difference) > self._half(np.exp(middle) / 2, best)
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        return np.where(np.abs(self.difference) > self._half(np.full(len(low), 0.5), best), np.exp(high), 1.0)

    def _half(self, misses: Floats | float, best: float) -> Floats:
        return np.asarray(np.sum([side.half(misses, best) for side in self.sides], axis=0))

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Floats:
        """Return intervals of the differences that hold at every look, one row of two ends per value."""
        miss = (1 - fraction("Comparison", "level", level)) / (len(self.difference) if simultaneous else 1) / 2
        half = self._half(miss, miss)
        low = np.maximum(self.difference - half, np.minimum(self.difference, -1))
        high = np.minimum(self.difference + half, np.maximum(self.difference, 1))
        return np.stack([low, high], axis=1)


def compared_anytime(change: Comparison, estimates: "tuple[Estimate, Estimate]", planned: int) -> AnytimeComparison:
    """Return a comparison of two estimates with intervals and tests that hold at every look."""
    for estimate in estimates:
        check_unbiased(estimate)
    sides = tuple(_side(estimate, change.people, planned) for estimate in estimates)
    same = {field.name: getattr(change, field.name) for field in fields(Comparison)}
    return AnytimeComparison(**same, sides=sides, planned=enough(estimates[0].oracle, planned))


def _side(estimate: "Estimate", people: str, planned: int) -> AnytimeSide:
    variances = estimate._share_variances(people) * estimate.n**2
    return AnytimeSide(variances, start_of(estimate, planned), estimate.n, estimate._jumps)
