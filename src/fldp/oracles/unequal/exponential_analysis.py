"""The analysis of Exponential."""

from collections.abc import Iterator

from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.unequal.exponential import Exponential


@analyses(Exponential)
class ExponentialAnalysis(Analysis[Exponential]):
    """A report of a symbol adds its row of the inverse channel."""

    def thresholds(self) -> Iterator[tuple[int, int]]:
        for value in (0, self.oracle.domain_size // 2):
            yield value, self.oracle.shares[value][0]

    def fakes(self, targets: Targets) -> Symbols:
        return Symbols(self.oracle.inverse @ times(targets, self.oracle.domain_size), self.oracle.report_format.dtype)
