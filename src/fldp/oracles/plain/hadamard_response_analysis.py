"""The analysis of HR."""

from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.plain.hadamard_response import HR


@analyses(HR)
class HRAnalysis(Analysis[HR]):
    """A symbol counts +1 for half of the values of its block, and -1 for the other half."""

    def fakes(self, targets: Targets) -> Symbols:
        oracle = self.oracle
        agreeing = walsh_hadamard(oracle.to_rows(times(targets, oracle.domain_size))).reshape(-1)
        return Symbols(agreeing / float(oracle.coin.p - oracle.coin.q), oracle.report_dtype)
