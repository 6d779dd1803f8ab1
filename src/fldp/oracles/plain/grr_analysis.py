"""The analysis of GRR and RR."""

from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.claims import NAMED
from fldp.oracles.base.strategy import Targets, supports_worth
from fldp.oracles.base.support_counts_analysis import PureAnalysis
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.plain.grr import GRR


@analyses(GRR)
class GRRAnalysis(PureAnalysis[GRR]):
    """A report supports the value that it names."""

    def blind(self) -> tuple[str, ...]:
        return (NAMED,)

    def fakes(self, targets: Targets) -> Symbols:
        weights, constant = supports_worth(self.oracle, targets)
        return Symbols(weights + constant, self.oracle.report_format.dtype)
