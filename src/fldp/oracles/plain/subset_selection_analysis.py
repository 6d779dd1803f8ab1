"""The analysis of SS."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.claims import Scores
from fldp.oracles.base.strategy import Generator, Strategy, Targets, supports_worth
from fldp.oracles.base.support_counts_analysis import PureAnalysis, supported_together
from fldp.oracles.plain.subset_selection import SS


@dataclass(frozen=True, eq=False)
class Subsets(Strategy):
    """Sets of a fixed size: the best contain the values of the largest weights."""

    weights: Floats
    constant: float
    size: int
    dtype: DTypeLike

    def best(self) -> float:
        return self.constant + float(np.sort(self.weights)[-self.size :].sum())

    def craft(self, count: int, generator: Generator) -> Array:
        rank = np.unique(self.weights, return_inverse=True)[1]
        return self._first(generator.random((count, len(rank))) - rank)

    def _first(self, order: Floats) -> Array:
        return np.sort(np.argsort(order, axis=1)[:, : self.size], axis=1).astype(self.dtype)

    def blind_mean(self) -> float:
        return self.constant + float(self.weights.mean()) * self.size

    def blind(self, count: int, generator: Generator) -> Array:
        return self._first(generator.random((count, len(self.weights))))


@analyses(SS)
class SSAnalysis(PureAnalysis[SS]):
    """A set of values."""

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        oracle = self.oracle
        if oracle.size < 2 or data is None:
            return None

        def supported(part: Array) -> NDArray[np.uint8]:
            supports = np.zeros((len(part), oracle.domain_size), np.uint8)
            np.put_along_axis(supports, part.astype(np.int64), 1, axis=1)
            return supports[:, values]

        own = float(oracle.p) * (oracle.size - 1) / (oracle.domain_size - 1)
        both = supported_together(oracle, data, values, supported)
        return _together(oracle, tally.n, both, values, (float(oracle.both_others()), own))

    def fakes(self, targets: Targets) -> Subsets:
        return Subsets(*supports_worth(self.oracle, targets), self.oracle.size, self.oracle.report_format.dtype)


def _together(oracle: SS, n: int, both: Floats, values: NDArray[np.int64], joint: tuple[float, float]) -> Scores:
    """Score the supports: 1 for both, minus terms that make the mean 0 for holders of one or neither of the two.

    ``both`` counts them, ``joint`` is how likely both are supported if neither is held, and if one is.
    """
    p, q, (neither, one) = float(oracle.p), float(oracle.q), joint
    slope = (one - neither) / (p - q)
    level = neither - 2 * slope * q
    alone = np.diag(both)
    scale = 1 - level - 2 * slope
    sums = (both - level * n - slope * (alone[:, None] + alone)) / scale
    scores = np.array([1.0, -level - slope, -level - slope, -level]) / [1, scale, scale, scale]
    laws = ((neither, q - neither, q - neither, 1 - 2 * q + neither), (one, p - one, q - one, 1 - p - q + one))
    variance = max(float(np.dot(law, scores**2)) for law in laws)
    return Scores(values, sums, np.full(sums.shape, variance), float(scores.max()))
