"""The analysis of URR."""

from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.strategy import Targets, supports_worth
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.unequal.urr import URR
from fldp.oracles.unequal.utility_analysis import UtilityAnalysis


@analyses(URR)
class URRAnalysis(UtilityAnalysis[URR]):
    """A report supports the value that it names."""

    def fakes(self, targets: Targets) -> Symbols:
        weights, constant = supports_worth(self.oracle, targets)
        return Symbols(weights + constant, self.oracle.report_format.dtype)
