"""The analysis of URAPPOR."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.bit_strategy import BitStrategy
from fldp.oracles.base.claims import Claim, Scores
from fldp.oracles.base.strategy import Generator, Strategy, Targets, supports_worth
from fldp.oracles.base.support_counts_analysis import independent_pairs, sum_of
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.unequal.urappor import URAPPOR
from fldp.oracles.unequal.utility import OTHER, SENSITIVE
from fldp.oracles.unequal.utility_analysis import UtilityAnalysis


@dataclass(frozen=True, eq=False)
class BitsAndName(Strategy):
    """Bits for some values, and the number of one of the others, or 0; the two are chosen independently."""

    bits: BitStrategy
    names: Symbols
    name_bytes: int

    def best(self) -> float:
        return self.bits.best() + self.names.best()

    def craft(self, count: int, generator: Generator) -> Array:
        return self._joined(self.bits.craft(count, generator), self.names.craft(count, generator))

    def blind_mean(self) -> float:
        return self.bits.blind_mean() + self.names.blind_mean()

    def blind(self, count: int, generator: Generator) -> Array:
        return self._joined(self.bits.blind(count, generator), self.names.blind(count, generator))

    def _joined(self, bits: Array, names: Array) -> Array:
        numbers = names[:, None] >> (8 * np.arange(self.name_bytes)) & 0xFF
        return np.hstack([bits, numbers.astype(np.uint8)])


@analyses(URAPPOR)
class URAPPORAnalysis(UtilityAnalysis[URAPPOR]):
    """A bit for each sensitive value, and perhaps the number of another one."""

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        yield from super().honest_tally(tally)
        yield sum_of(self.oracle, tally)

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        return independent_pairs(self.oracle, tally, data, values, lambda part: self.oracle.supported(part)[:, values])

    def fakes(self, targets: Targets) -> BitsAndName:
        oracle = self.oracle
        weights, constant = supports_worth(oracle, targets)
        hidden, others = oracle.kind_of == SENSITIVE, oracle.kind_of == OTHER
        true, noise, _ = oracle.chances
        bits = BitStrategy(weights[hidden], constant, true[hidden], noise[hidden])
        names = Symbols(np.append(0.0, weights[others]), np.int64)
        return BitsAndName(bits, names, oracle.report_format.shape[0] - -(-int(hidden.sum()) // 8))
