"""Numbered: the strategy for reports of a public number and a report that depends on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.strategy import Generator, Strategy, largest

Join = Callable[[int, Array], Array]


@dataclass(frozen=True, eq=False)
class Numbered(Strategy):
    """A strategy for each number: the best reports have the number of a best part, and are best within it.

    ``join`` makes reports of the oracle from a number and the reports of its part.
    """

    oracle: Oracle
    parts: Sequence[Strategy]
    join: Join

    def best(self) -> float:
        return max(part.best() for part in self.parts)

    def craft(self, count: int, generator: Generator) -> Array:
        best = largest(np.array([part.best() for part in self.parts]))
        return self._joined(generator.choice(best, count), lambda part, size: part.craft(size, generator))

    def blind_mean(self) -> float:
        return float(np.mean([part.blind_mean() for part in self.parts]))

    def blind(self, count: int, generator: Generator) -> Array:
        numbers = generator.integers(len(self.parts), size=count)
        return self._joined(numbers, lambda part, size: part.blind(size, generator))

    def _joined(self, numbers: NDArray[np.intp], draw: Callable[[Strategy, int], Array]) -> Array:
        reports = self.oracle.report_format.empty(len(numbers))
        for number in np.unique(numbers).tolist():
            places = np.flatnonzero(numbers == number)
            reports[places] = self.join(number, draw(self.parts[number], len(places)))
        return reports
