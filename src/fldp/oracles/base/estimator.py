"""Estimator: how to estimate counts from a tally, and how much the estimates vary, as a value that an oracle holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Evidence, Option
from fldp.data.reports import Tally
from fldp.numerics.bounded_laws import Bounded
from fldp.numerics.types import Counts, Floats
from fldp.support.validation import Constraint, fail, is_number

if TYPE_CHECKING:
    from fldp.data.estimate import Estimate
    from fldp.data.reports import Reports


class Options:
    """What all estimators have: the options of ``estimate``, each with its constraint, decoders and methods."""

    options: ClassVar[Mapping[str, Constraint]] = {}  # besides decoder and method
    decoders: ClassVar[tuple[str, ...]] = ()  # unbiased decoders of the same reports, the default first
    methods: ClassVar[tuple[str, ...]] = ("linear",)  # estimation methods; all but the first are biased

    @property
    def least_spread(self) -> float | None:
        """The least variance of the support that a report gives to a value nobody holds; None if it supports none."""
        return None

    def collisions(self, n: int, counts: Floats, **options: Option) -> tuple[bytes, Floats] | None:
        """Return the hash functions, and the variances that come from them: other tallies with these err alike."""
        del n, counts, options
        return None


@dataclass(frozen=True, eq=False)
class Estimator(Options):
    """Unbiased estimates of the counts of ``size`` values, with their exact variances.

    ``decode`` and ``variance`` are required; the rest suits estimates that are alike for all values and uncorrelated.
    """

    size: int

    is_uneven: ClassVar[bool] = False  # whether the noise of a sum depends on which other values people hold

    def decode(self, tally: Tally, **options: Option) -> Floats:
        """Return unbiased counts of all values."""
        raise NotImplementedError(f"{tally.oracle.title}: define estimator, or decode and variance")

    def variance(self, n: int, count: Counts, **options: Option) -> float | Floats:
        """Return the exact variance of the estimated count of a value that ``count`` of ``n`` users hold.

        Given an array of the counts of all values, return an array of their variances.
        """
        raise NotImplementedError("define estimator, or decode and variance")

    def mean_variance(self, n: int, **options: Option) -> float:
        """Return the mean variance over all values, if ``n`` users hold them equally often."""
        return float(self.variance(n, n / self.size, **options))

    def variances(self, counts: Floats, totals: tuple[int, ...], **options: Option) -> Floats:
        """Return the variances of the estimates of all values, given true or estimated counts, and exact totals."""
        return np.asarray(self.variance(totals[0], np.minimum(np.maximum(counts, 0), totals[0]), **options))

    @cached_property
    def least_variances(self) -> Floats:
        """Lower bounds for the reported variances, one per value."""
        return np.zeros(self.size)

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Option) -> float:
        """Return the sum of the covariances of all ordered pairs of members: 0 if estimates are uncorrelated."""
        del n, counts, members, options
        return 0.0

    def jump_of_sum(self, members: NDArray[np.bool_]) -> float:
        """Return how much a single report moves the sum of these estimates; 0 if no more is known than of each."""
        del members
        return 0.0

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64] | None:
        """Draw the state of a tally directly, given how many users hold each value; None if no sampler is known."""
        del counts, generator
        return None

    @cached_property
    def runs(self) -> tuple[slice, ...]:
        """Ranges of values whose total number of users a tally knows exactly: by default, the whole domain."""
        return (slice(0, self.size),)

    def context(self, tally: Tally) -> Mapping[str, Option]:
        """Return what else of a tally the variances depend on; ``variances`` gets it as keywords."""
        del tally
        return {}

    def evidence(self, tally: Tally, counts: Floats, **options: Option) -> tuple[Evidence, ...]:
        """Return the laws of estimated counts, for tests and intervals; without any, they are taken as normal.

        Then a test uses the larger of two errors: the stated one, and the error of a value that nobody holds.
        """
        variances = self.variances(np.zeros(self.size), self.totals(tally), **{**options, **self.context(tally)})
        return (Bounded.of(counts, np.sqrt(np.maximum(variances, self.least_variances))),)

    def totals(self, tally: Tally) -> tuple[int, ...]:
        """Return the exact number of users in each run."""
        return (tally.n,)

    def estimate_by(self, method: str, source: "Tally | Reports", options: Mapping[str, Option]) -> "Estimate":
        """Estimate by a method other than ``"linear"`` of ``methods``."""
        raise NotImplementedError(f"{source.oracle.title}: method {method!r} is listed in methods but not implemented")


def check_users(owner: str, n: object, count: object) -> None:
    """Refuse numbers that no users have: a negative ``n``, or counts outside ``[0, n]``.

    >>> check_users("GRR", 10, -1)
    Traceback (most recent call last):
    fldp.errors.ParameterError: GRR: count must be from 0 to n = 10, got -1
    """
    if not (is_number(n) and 0 <= n < np.inf):
        raise fail(owner, "n", "a number of users, at least 0", n)
    counts = np.asarray(count, np.float64)
    if not np.all((counts >= 0) & (counts <= n)):
        raise fail(owner, "count", f"from 0 to n = {n}", count)
