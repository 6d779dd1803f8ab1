"""FrequencyOracle: the one abstraction. Parameters and nothing else; logic here, data in Reports and Tally."""

import dataclasses
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.data.reports import Array, Reports, Tally
from fldp.data.values import Values, as_values
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.oracle import Law as Law
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.oracle import symbol_dtype as symbol_dtype
from fldp.support.validation import Constraint, integer, one_of, positive

if TYPE_CHECKING:
    from fldp.oracles.base.profile import Profile

_MAX_OUTCOMES = 1 << 20
MAX_VALUES = 2**31 - 1


@dataclass(frozen=True, repr=False)
class FrequencyOracle(Oracle):
    """An oracle over values that can be listed, ``0 <= value < domain_size``: it estimates the counts of all.

    Beside what every ``Oracle`` declares, it has ``decode`` and ``variance``.
    """

    domain_size: int

    params: ClassVar[Mapping[str, Constraint]] = {"epsilon": positive, "domain_size": integer(2, MAX_VALUES)}

    @abstractmethod
    def decode(self, tally: Tally, **options: Any) -> Floats:
        """Return unbiased counts of all values."""

    @abstractmethod
    def variance(self, n: int, count: Any, **options: Any) -> Any:
        """Return the exact variance of the estimated count of a value that ``count`` of ``n`` users hold.

        Given the counts of all values at once, it returns all their variances.
        """

    # ----------------------------------------------------------------------------------------------------------

    @property
    def values_end(self) -> int:
        return self.domain_size

    def as_values(self, values: Any) -> Values:
        return as_values(self.title, values, self.domain_size)

    def estimate(self, tally: Tally | Reports, *, method: str = "linear", **options: Any) -> Estimate:
        """Estimate how many users hold each value, unbiased, with standard errors.

        Oracles with several ``decoders`` take ``decoder=``, those with several ``methods`` take ``method=``. All
        methods but ``"linear"`` are biased and keep the unbiased estimate in ``original``; ``"em"`` needs the reports.

        >>> import fldp
        >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
        >>> oracle.estimate(fldp.Tally(oracle, [50, 30, 20], 100))
        <estimate of 3 values from 100 reports of GRR(epsilon=1.0, domain_size=3)>
        """
        one_of(*self.methods)(self.title, "method", method)
        if method != "linear":
            return self._estimate_by(method, tally, options)
        found = self.settled(tally)
        self.check_options(options)
        counts, totals = self.decode(found, **options), self.totals(found)
        stderr = np.sqrt(np.maximum(self.variances(counts, totals, **options), self.least_variances))
        return Estimate(self, counts, stderr, found.n, options, totals=totals)

    def _estimate_by(self, method: str, source: Tally | Reports, options: dict[str, Any]) -> Estimate:
        """Estimate by a method other than the linear one; an oracle that names more ``methods`` has this."""
        raise NotImplementedError(f"{self.title}: method {method!r} is named in methods and not implemented")

    @property
    def runs(self) -> tuple[slice, ...]:
        """The runs of values of which a tally knows exactly how many users hold any: that of all values."""
        return (slice(0, self.domain_size),)

    def totals(self, tally: Tally) -> tuple[int, ...]:
        """Return how many users hold any value of each run."""
        return (tally.n,)

    def mean_variance(self, n: int, **options: Any) -> float:
        """Return the mean of the variances of all values, where ``n`` users hold all of them equally often."""
        return float(self.variance(n, n / self.domain_size, **options))

    def variances(self, counts: Floats, totals: tuple[int, ...], **options: Any) -> Floats:
        """Return the variances of the estimates of all values, given counts, or estimates of them, and exact totals."""
        return np.asarray(self.variance(totals[0], np.clip(counts, 0, totals[0]), **options))

    @property
    def least_variances(self) -> Floats:
        """What is taken for the variances of estimates where those of the estimated counts are smaller."""
        return np.zeros(self.domain_size)

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Any) -> float:
        """Return what the covariances add to the variance of a sum of estimates: 0 where there are none."""
        del n, counts, members, options
        return 0.0

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64] | None:
        """Draw the state of a tally from its joint law, given how many users hold each value; None if not known."""
        del counts, generator
        return None

    def profile(self, value: int = 0, other: int = 1) -> "Profile | None":
        """Return how the reports of a value look under another one, in closed form; None if there is none.

        It is for domains on which the law is too large to enumerate.
        """
        del value, other
        return None

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return a few values of a range that make pairs of every kind, among each other and with other ranges."""
        return list(range(start, min(start + 2, stop)))

    def overlaps(self) -> dict[Fraction, Fraction] | None:
        """Return how often two different values share how much of their reports; None if there is no closed form."""
        profile = self.profile()
        return {profile.shared_mass: Fraction(1)} if profile else None

    def leaves(self) -> Iterable[Collection[int]] | None:
        """Return the sets of values that a report can leave possible, in closed form; None if there is none."""
        return [range(self.domain_size)] if self.anonymity == self.domain_size else None

    def resized(self, domain_size: int) -> "FrequencyOracle":
        """Return the same oracle on fewer values, exposure allowed: for the verifier."""
        permission = {"allow_exposure": True} if "allow_exposure" in self.params else {}
        return dataclasses.replace(self, domain_size=min(domain_size, self.domain_size), **permission)

    def likelihoods(self, data: Array) -> Floats:
        """Return how likely each report is under every value, a row for each report, up to a factor for each row.

        Exactly 0 where a value cannot produce the report. This one asks the law, so it is for small domains; an oracle
        with a formula has its own.

        >>> import fldp
        >>> oracle = fldp.RR(epsilon=1.0)
        >>> oracle.likelihoods(oracle.report(1)[None]).round(3)
        array([[0.368, 1.   ]])
        """
        made, known, laws = np.empty((len(data), self.domain_size)), object(), list[Law]()
        for row, report in zip(made, data, strict=True):
            public, outcome = self.outcome(report)
            if public != known:
                known, laws = public, [self.law(value, public) for value in range(self.domain_size)]
            row[:] = [law.get(outcome, 0) for law in laws]
        return made

    def check_enumerable(self, value: int = 0) -> None:
        """Refuse to enumerate a law that is too large, or that of something that is not a value."""
        as_values(self.title, value, self.domain_size)
        if self.outcomes * self.domain_size > _MAX_OUTCOMES:
            raise ParameterError(
                f"{self.title}: a law is enumerated for small domains only, domain_size must be smaller than "
                f"{self.domain_size} (2^{self.outcomes.bit_length() - 1} outcomes a value)"
            )
