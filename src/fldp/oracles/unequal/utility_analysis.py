"""The analysis of oracles that protect some values alone."""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from fldp.data.reports import Tally
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.claims import NAMED, CellClaim, Claim
from fldp.oracles.base.support_counts_analysis import UnevenAnalysis
from fldp.oracles.unequal.utility import OTHER, UtilityOracle

T_co = TypeVar("T_co", bound=UtilityOracle, covariant=True)


@analyses(UtilityOracle)
class UtilityAnalysis(UnevenAnalysis[T_co]):
    """A report names at most one non-sensitive value, and only if its sender holds it."""

    def thresholds(self) -> Iterator[tuple[int, int]]:
        yield int(np.flatnonzero(self.oracle.kind_of)[0]), int(self.oracle.revealed * 2**64)

    def blind(self) -> tuple[str, ...]:
        return (NAMED,)

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        yield from super().honest_tally(tally)
        named = np.array([tally.state[self.oracle.kind_of == OTHER].sum()])
        claim = "no more reports name a value that is not sensitive than if nobody held a sensitive one"
        yield CellClaim("names", claim, named, tally.n, 0.0, float(self.oracle.revealed), lambda _: "in all")
