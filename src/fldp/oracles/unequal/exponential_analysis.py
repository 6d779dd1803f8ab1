"""The analysis of Exponential."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import Analysis, Promise, analyses
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.base.treatment import DISTANCES
from fldp.oracles.unequal.exponential import Exponential
from fldp.randomness.coins import BITS


@analyses(Exponential)
class ExponentialAnalysis(Analysis[Exponential]):
    """A report of a symbol adds its row of the inverse channel."""

    @property
    def promise(self) -> Promise:
        return "CLDP", self.oracle.alpha, self.oracle.distance, self.oracle.domain_size

    server_work = "O(n + d^2)"

    @property
    def unprotected(self) -> str:
        near, far = f"{self.oracle.alpha:.3g}", f"{self.oracle.epsilon:g}"
        return (
            f"Answers that are far apart are protected less than neighbours: neighbours by epsilon {near}, "
            f"the farthest by epsilon {far}. Others can guess roughly where your answer lies."
        )

    @property
    def outcomes(self) -> int:
        return self.oracle.domain_size

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        pairs = zip(self.oracle._shares[value], self.oracle._shares[other], strict=True)
        bands = (Band(1, Fraction(share, 2**BITS), Fraction(other_share, 2**BITS)) for share, other_share in pairs)
        return Profile.of(bands, self.oracle.domain_size)

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return all values: every pair is of its own kind."""
        return list(range(start, stop))

    def overlaps(self) -> dict[Fraction, Fraction]:
        return {Fraction(1): Fraction(1)}

    def likelihoods(self, data: Array) -> Floats:
        return np.asarray(self.oracle._channel.T[data])

    def law(self, value: int, public: Public = None) -> Law:
        del public
        self.check_enumerable(value)
        return {symbol: Fraction(share, 2**BITS) for symbol, share in enumerate(self.oracle._shares[value])}

    def resized(self, domain_size: int) -> "Exponential":
        """Return the oracle on fewer values with the same alpha."""
        size = min(domain_size, self.oracle.domain_size)
        return replace(
            self.oracle, domain_size=size, epsilon=self.oracle.alpha * DISTANCES[self.oracle.distance].most(size)
        )

    def thresholds(self) -> Iterator[tuple[int, int]]:
        for value in (0, self.oracle.domain_size // 2):
            yield value, self.oracle._shares[value][0]

    def fakes(self, targets: Targets) -> Symbols:
        return Symbols(self.oracle._inverse @ times(targets, self.oracle.domain_size), self.oracle.report_format.dtype)
