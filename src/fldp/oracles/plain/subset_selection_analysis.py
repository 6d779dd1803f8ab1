"""The analysis of SS."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.strategy import Generator, Strategy, Targets, supports_worth
from fldp.oracles.base.support_counts_analysis import PureAnalysis
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

    def fakes(self, targets: Targets) -> Subsets:
        return Subsets(*supports_worth(self.oracle, targets), self.oracle.size, self.oracle.report_dtype)
