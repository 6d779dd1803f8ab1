"""The analysis of SUE and OUE."""

from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.bit_strategy import BitStrategy
from fldp.oracles.base.strategy import Targets, supports_worth
from fldp.oracles.base.support_counts_analysis import PureAnalysis
from fldp.oracles.plain.unary import UnaryOracle


@analyses(UnaryOracle)
class UnaryAnalysis(PureAnalysis[UnaryOracle]):
    """A bit for each value."""

    def fakes(self, targets: Targets) -> BitStrategy:
        return BitStrategy(*supports_worth(self.oracle, targets), *self.oracle.chances[:2])
