"""The analysis of IDUE."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.bit_strategy import BitStrategy, set_bits
from fldp.oracles.base.claims import Claim, Scores
from fldp.oracles.base.strategy import Targets, supports_worth
from fldp.oracles.base.support_counts_analysis import UnevenAnalysis, independent_pairs, sum_of
from fldp.oracles.unequal.idue import IDUE


@analyses(IDUE)
class IDUEAnalysis(UnevenAnalysis[IDUE]):
    """A bit for each value, with chances by its budget."""

    def thresholds(self) -> Iterator[tuple[int, int]]:
        for value in self.sample_values(0, self.oracle.domain_size):
            yield value, self.oracle.coins.true[self.oracle.kind_of[value]]

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        yield from super().honest_tally(tally)
        yield sum_of(self.oracle, tally)

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        supported = partial(set_bits, self.oracle.domain_size, values)
        return independent_pairs(self.oracle, tally, data, values, supported)

    def fakes(self, targets: Targets) -> BitStrategy:
        """Values with small budgets have large weights."""
        return BitStrategy(*supports_worth(self.oracle, targets), *self.oracle.chances[:2])
