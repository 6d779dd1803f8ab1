"""Linear decoding: estimates to which each report adds its worth, and whose variances follow from the channel."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Evidence, Option
from fldp.data.reports import Tally
from fldp.numerics.bounded_laws import Bounded
from fldp.numerics.types import Counts, Floats
from fldp.oracles.base.estimator import Estimator

COLUMNS = 256  # values at once, so that a large domain does not take the memory of all pairs several times


@dataclass(frozen=True, eq=False)
class LinearDecoding(Estimator):
    """Estimates that are sums over reports, with variances that are sums over the users, by the value of each."""

    is_uneven: ClassVar[bool] = True

    @property
    @abstractmethod
    def spreads(self) -> Floats:
        """The variance that a report of each value (row) adds to the estimate of each value (column)."""

    @abstractmethod
    def worths(self, weights: Floats) -> Floats:
        """Return what a report of each symbol adds to the sum of the estimates of all values with these weights."""

    @abstractmethod
    def expected(self, scores: Floats) -> Floats:
        """Return the mean score of a report of each value, given the score of each symbol."""

    @abstractmethod
    def expected_state(self, counts: Floats) -> Floats:
        """Return how often each symbol is expected, given how many users hold each value."""

    @cached_property
    def jumps(self) -> Floats:
        """The most that a report adds to the estimate of each value, or takes away."""
        every = np.eye(self.size)
        parts = (every[:, start : start + COLUMNS] for start in range(0, self.size, COLUMNS))
        return np.concatenate([np.abs(self.worths(part)).max(axis=0) for part in parts])

    def evidence(self, tally: Tally, counts: Floats, **options: Option) -> tuple[Evidence, ...]:
        """The law depends on who holds what else, so a value is judged by its variance and its largest jump."""
        del tally, options
        return (Bounded.of(counts, 0.0, 2 * self.jumps),)

    def jump_of_sum(self, members: NDArray[np.bool_]) -> float:
        return float(self.jumps[members].max())

    def linear_covariance(self, weights: Floats, counts: Floats) -> Floats:
        """Return the exact covariance of ``weights @ estimates``, a row of weights for each, given all counts."""
        worths = self.worths(weights.T)
        return np.asarray((worths.T * self.expected_state(counts)) @ worths - (weights * counts) @ weights.T)

    def linear_variances(self, weights: Floats, counts: Floats) -> Floats:
        """Return the diagonal of ``linear_covariance``."""
        return np.asarray(self.expected_state(counts) @ self.worths(weights.T) ** 2 - weights**2 @ counts)

    def typical_jumps(self, weights: Floats, counts: Floats) -> Floats:
        """Return the root of the fourth over the second moment of what a report adds to ``weights @ estimates``.

        That is how large the additions are that make the variance, and at most the largest one.
        """
        centred = weights - (weights.max(axis=1, keepdims=True) + weights.min(axis=1, keepdims=True)) / 2
        worths, own = self.worths(centred.T), centred.T
        second, third, fourth = (self.expected(worths**power) for power in (2, 3, 4))
        moments = counts @ (fourth - 4 * own * third + 6 * own**2 * second - 3 * own**4)  # the mean worth is ``own``
        variances = np.maximum(counts @ (second - own**2), 1e-300)
        return np.asarray(np.sqrt(np.maximum(moments, 0.0) / variances))

    def variance(self, n: int, count: Counts, **options: Option) -> float | Floats:
        """Of a single count, who holds the other values is unknown: return the largest variance that it can have."""
        del options
        counts = np.asarray(count, np.float64)
        if counts.shape == (self.size,):
            return counts @ self.spreads
        own = np.diag(self.spreads)
        other = np.where(np.eye(self.size, dtype=np.bool_), -np.inf, self.spreads).max(axis=0)
        largest: Floats = np.max(counts[..., None] * own + (n - counts[..., None]) * other, axis=-1)
        return largest

    def variances(self, counts: Floats, totals: tuple[int, ...], **options: Option) -> Floats:
        """Linear in the counts: unbiased counts give unbiased variances, clipped ones would sum to far more than n."""
        del totals, options
        return np.maximum(counts @ self.spreads, 0.0)

    def mean_variance(self, n: int, **options: Option) -> float:
        del options
        return float(n * self.spreads.mean())

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Option) -> float:
        """Variance of the sum minus the variances of its terms."""
        del n, options
        whole = self.linear_variances(members[None].astype(np.float64), counts)[0]
        return float(whole - (counts @ self.spreads)[members].sum())
