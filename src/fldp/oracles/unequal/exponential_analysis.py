"""The analysis of Exponential."""

from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.unequal.exponential import Exponential


@analyses(Exponential)
class ExponentialAnalysis(Analysis[Exponential]):
    """A report of a symbol adds its row of the inverse channel."""

    def fakes(self, targets: Targets) -> Symbols:
        return Symbols(self.oracle.inverse @ times(targets, self.oracle.domain_size), self.oracle.report_dtype)
