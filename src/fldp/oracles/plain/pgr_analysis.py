"""The analysis of PGR."""

from fldp.numerics.projective_geometry import hyperplane_sums
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.base.support_counts_analysis import PureAnalysis
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.plain.pgr import PGR


@analyses(PGR)
class PGRAnalysis(PureAnalysis[PGR]):
    """A point supports the values that are opposite to it."""

    def fakes(self, targets: Targets) -> Symbols:
        oracle = self.oracle
        supported = hyperplane_sums(times(targets, oracle.space.size), oracle.space)
        worth = (supported - len(targets) * float(oracle.q)) / float(oracle.p - oracle.q)
        return Symbols(worth, oracle.report_dtype)
