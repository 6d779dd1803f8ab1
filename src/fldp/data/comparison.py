"""Comparison of two estimates: differences of shares, intervals and tests that hold for all values at once.

The normal approximation alone fails for few people. Four classical corrections mend it, and vanish as numbers grow:
a continuity correction of half a person on each side (Yates); where the law of a count is known, the error that the
difference would have without any change, at the share of both sides together (a score test); Student's t with the
degrees of freedom of Welch and Satterthwaite for all other variances; and, where people are a sample, a sampling
variance at the centre of Wilson's interval instead of the estimated share, which may be 0 by chance. Where fewer
than four reports have noise, one of them decides, and intervals have Bernstein's form.
``tests/data/test_comparison.py`` and ``tests/data/test_promises.py`` check what they achieve.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fldp.data.dataframes import Columns, FramedAtLevel
from fldp.numerics.bounded_laws import bent, unbent
from fldp.numerics.types import Floats
from fldp.support.display import Displayed
from fldp.support.validation import fraction

RESPONDENTS, POPULATION = "respondents", "population"


def z_score(level: float) -> float:
    """Return how many standard errors a two-sided normal interval of this level reaches to each side.

    >>> round(z_score(0.95), 4)
    1.96
    """
    return NormalDist().inv_cdf(0.5 + fraction("Estimate", "level", level) / 2)


def holm(p_values: Floats) -> Floats:
    """Return the p-values adjusted by Holm: all below ``a`` are refuted with family-wise error at most ``a``.

    >>> holm(np.array([0.01, 0.5, 0.02])).tolist()
    [0.03, 0.5, 0.04]
    """
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def sampling_variance(counts: Floats, n: int) -> Floats:
    """Return the variance of the shares of ``n`` people drawn at random, at the centre of Wilson's interval.

    The 95 % interval holds for all values at once.
    """
    added = z_score(1 - 0.05 / max(len(counts), 1)) ** 2
    shares = (np.clip(counts, 0, n) + added / 2) / (n + added)
    return np.asarray(shares * (1 - shares) / n)


@dataclass(frozen=True, eq=False)
class Comparison(FramedAtLevel, Displayed):
    """The change of every value's share from one estimate to another.

    ``significant`` decides by Holm's procedure; ``interval(simultaneous=True)`` is Bonferroni's. Both use the same
    statistic, so a value whose simultaneous interval excludes 0 is always significant. Holm is the sharper of the two:
    it may name a value whose interval just includes 0. ``print`` shows the table of ``fldp compare``; the columns of
    ``to_pandas`` have intervals that hold for all values at once, and p-values adjusted by Holm.

    >>> Comparison(np.array([0.0, 0.05]), np.array([0.01, 0.01])).significant(0.99)
    array([False,  True])
    """

    difference: Floats
    stderr: Floats
    degrees: Floats | float = math.inf  # of freedom, by Welch and Satterthwaite, of variances without a known law
    continuity: float = 0.0  # half a person on each side, as a share
    shares: tuple[Floats, Floats] | None = None  # before and after, and of how many people
    n: tuple[int, int] | None = None
    people: str = RESPONDENTS
    labels: Sequence[str] | None = None
    jump: Floats | float = 0.0  # the most that one report adds to a share, where few reports speak of it
    slope: Floats | float = 0.0  # by how much the variance grows for each unit on the way to no change

    @property
    def z(self) -> Floats:
        """The differences in units of their standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.difference == 0, 0.0, self.difference / self.stderr)

    @property
    def p_values(self) -> Floats:
        """How often chance alone would give a difference as large, for each value by itself."""
        beyond = np.maximum(np.abs(self.difference) - self.continuity, 0)
        t = unbent(beyond, self.stderr, self.jump, self.slope)
        # Wallace's normal approximation of Student's t, good to a percent from five degrees of freedom on.
        degrees, factor = self._wallace
        z = factor * np.sqrt(degrees * np.log1p(t**2 / degrees))
        return np.array([math.erfc(each / math.sqrt(2)) for each in z])

    @property
    def _wallace(self) -> tuple[Floats, Floats]:
        """The degrees of freedom, no more than matter, and the factor of Wallace's approximation."""
        degrees = np.clip(self.degrees, 1, 1e9)
        return degrees, (8 * degrees + 1) / (8 * degrees + 3)

    @property
    def adjusted_p_values(self) -> Floats:
        """The p-values adjusted by Holm for the number of values."""
        return holm(self.p_values)

    def significant(self, level: float = 0.95) -> NDArray[np.bool_]:
        """Return which values changed; with at least this probability, none is named that did not (Holm)."""
        return self.adjusted_p_values <= 1 - fraction("Comparison", "level", level)

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Floats:
        """Return confidence intervals of the differences, one row of two ends per value.

        Each covers its own true difference with about this probability; with ``simultaneous`` all of them do at once
        (Bonferroni).
        """
        miss = 1 - fraction("Comparison", "level", level)
        z = z_score(1 - miss / len(self.difference) if simultaneous else level)
        degrees, factor = self._wallace
        t = np.sqrt(degrees * np.expm1((z / factor) ** 2 / degrees))  # the approximation of p_values, solved for t
        nearer = bent(t, self.stderr, self.jump, self.slope) + self.continuity  # to no change, and away from it
        further = bent(t, self.stderr, self.jump, np.maximum(-np.asarray(self.slope), 0.0)) + self.continuity
        below, above = np.where(self.difference > 0, (nearer, further), (further, nearer))
        low = np.maximum(self.difference - below, np.minimum(self.difference, -1))  # no share changes by more than all
        high = np.minimum(self.difference + above, np.maximum(self.difference, 1))
        return np.stack([low, high], axis=1)

    def _columns(self, level: float) -> Columns:
        low, high = self.interval(level, simultaneous=True).T
        shares = {} if self.shares is None else dict(zip(("share", "other_share"), self.shares, strict=True))
        return {
            "value": np.arange(len(self.difference)),
            **({} if self.labels is None else {"label": list(self.labels)}),
            **shares,
            "difference": self.difference,
            "stderr": self.stderr,
            "low": low,
            "high": high,
            "p_value": self.adjusted_p_values,
            "changed": self.significant(level),
        }

    def __repr__(self) -> str:
        return f"<comparison of {len(self.difference)} values, of which {int(self.significant().sum())} changed>"


class Side(NamedTuple):
    """One side of a comparison: shares, their variances, and how many people report.

    ``noise`` is the part of the variances that has a known law, and what it would be without any change, at the shares
    of both sides together. ``jump`` is the most that one report adds to a share, where few reports speak of it.
    """

    shares: Floats
    variances: Floats
    people: int
    noise: tuple[Floats | float, Floats | float] = (0.0, 0.0)
    jump: Floats | float = 0.0


def compared(before: Side, after: Side) -> Comparison:
    """Compare the shares of two sides."""
    sides, difference = (before, after), after.shares - before.shares
    total = before.variances + after.variances
    spread = sum(np.maximum(side.variances - side.noise[0], 0) ** 2 / max(side.people - 1, 1) for side in sides)
    growth = np.maximum(sum(side.noise[1] - side.noise[0] for side in sides), -total)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = np.where((total > 0) & (spread > 0), total**2 / spread, np.inf)
        slope = np.where(difference == 0, 0.0, growth / np.abs(difference))
    people = (before.people, after.people)
    continuity = 0.5 / people[0] + 0.5 / people[1]
    shares, jump = (before.shares, after.shares), np.maximum(before.jump, after.jump)
    return Comparison(difference, np.sqrt(total), degrees, continuity, shares, people, jump=jump, slope=slope)
