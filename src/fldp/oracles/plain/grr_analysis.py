"""The analysis of GRR and RR."""

import numpy as np

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.blanket import Blanket, two_levels_of
from fldp.oracles.base.claims import NAMED
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.pair_noise import PairNoise
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import weighed_supports
from fldp.oracles.base.support_counts_analysis import PureAnalysis
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.plain.grr import GRR, RR


@analyses(GRR, RR)
class GRRAnalysis(PureAnalysis[GRR | RR]):
    """A report supports the value that it names."""

    server_work = "O(n + d)"

    @property
    def outcomes(self) -> int:
        return self.oracle.domain_size

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        del value, other
        p, q, rest = self.oracle.estimator.p, self.oracle.estimator.q, self.oracle.domain_size - 2
        return Profile.of([Band(1, p, q), Band(1, q, p), Band(rest, rest * q, rest * q)], self.oracle.domain_size)

    def blanket(self) -> Blanket:
        p, q = self.chances()
        return two_levels_of(p / q, p, q)

    def likelihoods(self, data: Array) -> Floats:
        return np.where(
            data[:, None] == np.arange(self.oracle.domain_size),
            1.0,
            float(self.oracle.estimator.q / self.oracle.estimator.p),
        )

    def law(self, value: int, public: Public = None) -> Law:
        del public
        self.check_enumerable(value)
        return {
            symbol: self.oracle.estimator.p if symbol == value else self.oracle.estimator.q
            for symbol in range(self.oracle.domain_size)
        }

    def pair_noise(self) -> PairNoise:
        """A report names one value, never two."""
        p, q = self.chances()
        parts = p * (1 - p), q * (1 - q), -p * q, -q * q
        return PairNoise(*(float(part / (p - q) ** 2) for part in parts))

    def blind(self) -> tuple[str, ...]:
        return (NAMED,)

    def fakes_weighing(self, weights: Floats) -> Symbols:
        worth, constant = weighed_supports(self.oracle, weights)
        return Symbols(worth + constant, self.oracle.report_format.dtype)
