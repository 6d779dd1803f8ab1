"""The analysis of Single."""
# ruff: noqa: ARG002 (with one value, no argument matters)

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
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

    outcomes = 1
    server_work = "O(n)"

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        return Profile.of([Band(1, Fraction(1), Fraction(1))], 1)

    def likelihoods(self, data: Array) -> Floats:
        return np.ones((len(data), 1))

    def law(self, value: int, public: Public = None) -> Law:
        return {0: Fraction(1)}

    def fakes(self, targets: Targets) -> Nothing:
        return Nothing(targets)
