"""The analysis of oracles that count supports."""

from fractions import Fraction
from typing import TypeVar

from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.support_counts import PureOracle

P_co = TypeVar("P_co", bound=PureOracle, covariant=True)


@analyses(PureOracle)
class PureAnalysis(Analysis[P_co]):
    """Supports with one p and one q."""

    def chances(self) -> tuple[Fraction, Fraction]:
        return self.oracle.p, self.oracle.q
