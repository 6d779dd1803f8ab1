"""The analysis of IDUE."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import Promise, analyses
from fldp.oracles.base.bit_strategy import BitStrategy, set_bits
from fldp.oracles.base.claims import Claim, Scores
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Targets, supports_worth
from fldp.oracles.base.support_counts import Chances
from fldp.oracles.base.support_counts_analysis import UnevenAnalysis, independent_pairs, sum_of
from fldp.oracles.unequal.idue import IDUE


@analyses(IDUE)
class IDUEAnalysis(UnevenAnalysis[IDUE]):
    """A bit for each value, with chances by its budget."""

    @property
    def promise(self) -> Promise:
        return "IDLDP", self.oracle.epsilon, self.oracle.budgets

    server_work = "O(n d)"

    @property
    def unprotected(self) -> str:
        few = len(self.oracle.budgets)
        return (
            f"Answers are not protected alike: {few:,} of {self.oracle.domain_size:,} by a budget of their own, from "
            f"{self.oracle._levels[0]:g}, and any two others by epsilon {self.oracle.epsilon:g}."
        )

    @property
    def outcomes(self) -> int:
        return 1 << self.oracle.domain_size

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """Bands by the bits of the two values; all other bits have the same law under both."""
        own, others = (self.oracle.estimator.kinds[self.oracle._kind_of[each]] for each in (value, other))
        return _two_bits(own, others, self.oracle.domain_size - 2)

    def likelihoods(self, data: Array) -> Floats:
        """Up to a common factor, a value is likely or not by its own bit alone."""
        bits = np.unpackbits(data, axis=1, count=self.oracle.domain_size, bitorder="little")
        ones = np.array([float(p / q) for p, q in self.oracle.estimator.kinds])[self.oracle._kind_of]
        zeros = np.array([float((1 - p) / (1 - q)) for p, q in self.oracle.estimator.kinds])[self.oracle._kind_of]
        return np.where(bits, ones, zeros)

    def law(self, value: int, public: Public = None) -> Law:
        del public
        self.check_enumerable(value)
        kinds = self.oracle.estimator.kinds
        chances = [kinds[kind][k != value] for k, kind in enumerate(self.oracle._kind_of.tolist())]
        return dict(enumerate(_products(chances)))

    def resized(self, domain_size: int) -> "IDUE":
        """Return the oracle on the first values that have budgets, and one without, as many as fit."""
        if domain_size >= self.oracle.domain_size:
            return self.oracle
        values = [value for value, _ in self.oracle.budgets][: max(1, domain_size - 2)]
        few = tuple((place, dict(self.oracle.budgets)[value]) for place, value in enumerate(values))
        return replace(self.oracle, domain_size=max(domain_size, len(values) + 1), budgets=few)

    def thresholds(self) -> Iterator[tuple[int, int]]:
        for value in self.sample_values(0, self.oracle.domain_size):
            yield value, self.oracle.coins.true[self.oracle._kind_of[value]]

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        yield from super().honest_tally(tally)
        yield sum_of(self.oracle.estimator, tally)

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        supported = partial(set_bits, self.oracle.domain_size, values)
        return independent_pairs(self.oracle.estimator, tally, data, values, supported)

    def fakes(self, targets: Targets) -> BitStrategy:
        """Values with small budgets have large weights."""
        return BitStrategy(*supports_worth(self.oracle, targets), *self.oracle.estimator.chances[:2])


@lru_cache(maxsize=4096)
def _two_bits(own: Chances, others: Chances, rest: int) -> Profile:
    """Return the profile of two values by their own bits, with ``rest`` other bits."""
    (p, q), (r, s) = own, others
    bands = (
        Band(1 << rest, (p if a else 1 - p) * (s if b else 1 - s), (q if a else 1 - q) * (r if b else 1 - r))
        for a, b in product((0, 1), repeat=2)
    )
    return Profile.of(bands, 4 << rest)


def _products(chances: list[Fraction]) -> Iterator[Fraction]:
    """Yield the probability of every row of independent bits, in the order of the rows as numbers."""
    products = [Fraction(1)]
    for chance in chances:
        products = [share * (1 - chance) for share in products] + [share * chance for share in products]
    yield from products
