"""Strategies for reports of one symbol: RR, GRR, URR, Exponential, HR, PGR; and for the empty report of Single."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.projective_geometry import hyperplane_sums
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles import GRR, HR, PGR, URR, Exponential
from fldp.oracles.plain.single_value import Single
from fldp.privacy.poisoning.strategy import Generator, Strategy, Targets, largest, strategy, supports_worth, times


@dataclass(frozen=True, eq=False)
class Symbols(Strategy):
    """Every symbol has a worth; the best symbols have the largest."""

    worth: Floats
    dtype: Any

    def best(self) -> float:
        return float(self.worth.max())

    def craft(self, count: int, generator: Generator) -> Array:
        return generator.choice(largest(self.worth), count).astype(self.dtype)

    def blind_mean(self) -> float:
        return float(self.worth.mean())

    def blind(self, count: int, generator: Generator) -> Array:
        return generator.integers(len(self.worth), size=count).astype(self.dtype)


@strategy.register(GRR)
@strategy.register(URR)
def _(oracle: GRR | URR, targets: Targets) -> Symbols:
    """A report supports the value that it names."""
    weights, constant = supports_worth(oracle, targets)
    return Symbols(weights + constant, oracle.report_format.dtype)


@strategy.register(Exponential)
def _(oracle: Exponential, targets: Targets) -> Symbols:
    """A report of a symbol adds its row of the inverse channel."""
    return Symbols(oracle.inverse @ times(targets, oracle.domain_size), oracle.report_format.dtype)


@strategy.register(HR)
def _(oracle: HR, targets: Targets) -> Symbols:
    """A symbol counts +1 for half of the values of its block, and -1 for the other half."""
    lines = oracle.to_rows(times(targets, oracle.domain_size))
    agreeing = walsh_hadamard(lines).reshape(-1)
    return Symbols(agreeing / float(oracle.coin.p - oracle.coin.q), oracle.report_format.dtype)


@strategy.register(PGR)
def _(oracle: PGR, targets: Targets) -> Symbols:
    """A point supports the values that are opposite to it."""
    supported = hyperplane_sums(times(targets, oracle.space.size), oracle.space)
    worth = (supported - len(targets) * float(oracle.q)) / float(oracle.p - oracle.q)
    return Symbols(worth, oracle.report_format.dtype)


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


@strategy.register(Single)
def _(oracle: Single, targets: Targets) -> Nothing:
    del oracle
    return Nothing(targets)
