"""The analysis of FHR."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.strategy import Generator, Strategy, Targets
from fldp.oracles.flexible.fhr import FHR
from fldp.oracles.flexible.walsh_oracle_analysis import WalshAnalysis, signs_of, spanned


@dataclass(frozen=True, eq=False)
class HadamardRowStrategy(Strategy):
    """A first position with +1 for all targets, such as 0, and a mask that is odd for as many as possible."""

    oracle: FHR
    targets: Targets

    @property
    def _signs(self) -> NDArray[np.int64]:
        return signs_of(self.oracle.walsh_order, self.oracle.value_items[self.targets])

    def best(self) -> float:
        """Where the mask is odd, the other position is one of -1."""
        least, w = int(self._signs.min()), self.oracle.noise.weight
        gap = float(2 * (2 * self.oracle.coin.p - 1))
        return float(w * (len(self.targets) - least) / gap - (1 - w) * least)

    def craft(self, count: int, generator: Generator) -> Array:
        signs, data = self._signs, np.empty(count, self.oracle.report_dtype)
        data["plus"] = generator.choice(np.flatnonzero(signs == len(self.targets)), count)
        data["minus"] = data["plus"] ^ generator.choice(np.flatnonzero(signs == signs.min()), count)
        return data

    def blind_mean(self) -> float:
        return float((1 - self.oracle.noise.weight) * len(self.targets) / (self.oracle.walsh_order - 1))

    def blind(self, count: int, generator: Generator) -> Array:
        data = np.empty(count, self.oracle.report_dtype)
        data["plus"] = generator.integers(self.oracle.walsh_order, size=count)
        data["minus"] = data["plus"] ^ generator.integers(1, self.oracle.walsh_order, size=count)
        return data


@analyses(FHR)
class FHRAnalysis(WalshAnalysis[FHR]):
    """Two positions of opposite sign."""

    def fakes(self, targets: Targets) -> HadamardRowStrategy:
        return HadamardRowStrategy(self.oracle, targets)

    def identified(self) -> list[float] | None:
        """A mask ``w`` is uniform over the odd masks.

        If all items but 0 are in use, the first report gives one such mask, and the others add their differences from
        it: uniform over the even masks, a space of one bit less. If the items are exactly those with the top bit, the
        lower bits of ``w`` are uniform and determine the top bit.
        """
        known, oracle = super().identified(), self.oracle
        if known is not None or type(oracle) is not FHR:
            return known
        rows, bits = oracle.rows, oracle.rows.bits - 1
        if oracle.domain_size == rows.rows - 1:
            return spanned(bits, 1, idle=1)
        return spanned(bits, 1) if oracle.domain_size == rows.first == rows.rows // 2 else None
