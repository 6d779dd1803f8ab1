"""The analysis of Single."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.strategy import Generator, Strategy, Targets
from fldp.oracles.plain.single_value import Single


@dataclass(frozen=True, eq=False)
class Nothing(Strategy):
    """With one value, every report is the same and adds 1."""

    targets: Targets

    def best(self) -> float:
        return float(len(self.targets))

    def craft(self, count: int, generator: Generator) -> Array:
        return self.blind(count, generator)

    def blind_mean(self) -> float:
        return self.best()

    def blind(self, count: int, generator: Generator) -> NDArray[np.uint8]:
        del generator
        return np.empty((count, 0), np.uint8)


@analyses(Single)
class SingleAnalysis(Analysis[Single]):
    """A report is empty."""

    def fakes(self, targets: Targets) -> Nothing:
        return Nothing(targets)
