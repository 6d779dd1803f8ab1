"""The analysis of URR."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Targets, supports_worth
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.unequal.urr import URR
from fldp.oracles.unequal.utility import SENSITIVE
from fldp.oracles.unequal.utility_analysis import UtilityAnalysis


@analyses(URR)
class URRAnalysis(UtilityAnalysis[URR]):
    """A report supports the value that it names."""

    server_work = "O(n + d)"

    @property
    def outcomes(self) -> int:
        return self.oracle.domain_size

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        law, other_law = self.law_of(value), self.law_of(other)
        own = {value, other}
        rest = len(set(self.oracle.sensitive) - own)
        bands = [Band(1, law(symbol), other_law(symbol)) for symbol in own if law(symbol)]
        few = len(self.oracle.sensitive)
        return Profile.of(
            [*bands, Band(rest, rest * self.oracle.coin.q, rest * self.oracle.coin.q)],
            few + int(self.oracle._places.kind_of[other]),
        )

    def law_of(self, value: int) -> Callable[[int], Fraction]:
        """Return the probability of every symbol under a value, as a function."""
        hidden = set(self.oracle.sensitive)

        def chance(symbol: int) -> Fraction:
            return (self.oracle._revealed if symbol == value else Fraction(0)) + (
                self.oracle.coin.q if symbol in hidden else 0
            )

        return chance

    def likelihoods(self, data: Array) -> Floats:
        named, values = data[:, None] == np.arange(self.oracle.domain_size), self.oracle._places.kind_of[data][:, None]
        return np.where(named, 1.0, np.where(values == SENSITIVE, float(self.oracle.coin.q / self.oracle.coin.p), 0.0))

    def law(self, value: int, public: Public = None) -> Law:
        del public
        self.check_enumerable(value)
        return {symbol: self.law_of(value)(symbol) for symbol in sorted({*self.oracle.sensitive, value})}

    def fakes(self, targets: Targets) -> Symbols:
        weights, constant = supports_worth(self.oracle, targets)
        return Symbols(weights + constant, self.oracle.report_format.dtype)
