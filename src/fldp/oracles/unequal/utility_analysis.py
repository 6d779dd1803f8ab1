"""The analysis of oracles that protect some values alone."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from fldp.data.reports import Tally
from fldp.oracles.base.analysis import Analysis, Promise
from fldp.oracles.base.claims import NAMED, CellClaim, Claim
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.support_counts_analysis import supports_by_kind, two_of_each_kind
from fldp.oracles.unequal.urappor import URAPPOR
from fldp.oracles.unequal.urr import URR
from fldp.oracles.unequal.utility import OTHER

T_co = TypeVar("T_co", bound=URR | URAPPOR, covariant=True)


class UtilityAnalysis(Analysis[T_co]):
    """A report names at most one non-sensitive value, and only if its sender holds it."""

    @property
    def promise(self) -> Promise:
        return "ULDP", self.oracle.epsilon, self.oracle.sensitive

    @property
    def plain_values(self) -> Sequence[int] | None:
        return self.oracle.sensitive if len(self.oracle.sensitive) > 1 else None

    @property
    def unprotected(self) -> str:
        most, named = 100 * float(self.oracle._revealed), len(self.oracle.sensitive)
        return (
            f"Only {named:,} of the {self.oracle.domain_size:,} answers {'is' if named == 1 else 'are'} sensitive. Any "
            f"other answer is named for certain by {most:.3g} % of its reports."
        )

    def leaves(self) -> Iterable[Collection[int]]:
        """Yield all values, then each non-sensitive value alone."""
        yield range(self.oracle.domain_size)
        for value in np.flatnonzero(self.oracle._places.kind_of == OTHER).tolist():
            yield (value,)

    def overlaps(self) -> dict[Fraction, Fraction]:
        share = Fraction(len(self.oracle.sensitive), self.oracle.domain_size)
        return {Fraction(1): share, 1 - self.oracle._revealed: 1 - share}

    def resized(self, domain_size: int) -> FrequencyOracle:
        """Return the oracle on fewer values, half of them sensitive where there are enough of both kinds."""
        few = min(len(self.oracle.sensitive), max(1, domain_size // 2))
        others = min(self.oracle.domain_size - len(self.oracle.sensitive), max(1, domain_size - few))
        if few + others == self.oracle.domain_size:
            return self.oracle
        return replace(self.oracle, domain_size=few + others, sensitive=tuple(range(few)))

    def sample_values(self, start: int, stop: int) -> list[int]:
        return two_of_each_kind(self.oracle.estimator, start, stop)

    def thresholds(self) -> Iterator[tuple[int, int]]:
        yield int(np.flatnonzero(self.oracle._places.kind_of)[0]), int(self.oracle._revealed * 2**64)

    def blind(self) -> tuple[str, ...]:
        return (NAMED,)

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        yield supports_by_kind(self.oracle.estimator, tally)
        named = np.array([tally.state[self.oracle._places.kind_of == OTHER].sum()])
        claim = "no more reports name a value that is not sensitive than if nobody held a sensitive one"
        yield CellClaim("names", claim, named, tally.n, 0.0, float(self.oracle._revealed), lambda _: "in all")
