"""The analysis of IDUE."""

from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.bit_strategy import BitStrategy
from fldp.oracles.base.strategy import Targets, supports_worth
from fldp.oracles.unequal.idue import IDUE


@analyses(IDUE)
class IDUEAnalysis(Analysis[IDUE]):
    """A bit for each value, with chances by its budget."""

    def fakes(self, targets: Targets) -> BitStrategy:
        """Values with small budgets have large weights."""
        return BitStrategy(*supports_worth(self.oracle, targets), *self.oracle.chances[:2])
