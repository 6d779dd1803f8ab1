"""Symbols: the strategy for reports of one symbol."""

from dataclasses import dataclass

from numpy.typing import DTypeLike

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.oracles.base.strategy import Generator, Strategy, largest


@dataclass(frozen=True, eq=False)
class Symbols(Strategy):
    """Every symbol has a worth; the best symbols have the largest."""

    worth: Floats
    dtype: DTypeLike

    def best(self) -> float:
        return float(self.worth.max())

    def craft(self, count: int, generator: Generator) -> Array:
        return generator.choice(largest(self.worth), count).astype(self.dtype)

    def blind_mean(self) -> float:
        return float(self.worth.mean())

    def blind(self, count: int, generator: Generator) -> Array:
        return generator.integers(len(self.worth), size=count).astype(self.dtype)
