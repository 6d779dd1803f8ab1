"""FrequencyOracle: oracles over a domain of listed values. Logic lives here, data in Reports and Tally."""

import copy
import dataclasses
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fldp.data.estimate import Estimate
from fldp.data.reports import Array, Reports, Tally
from fldp.data.values import Values, as_values
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.estimator import Estimator
from fldp.oracles.base.moved_members import Adapted, nearest
from fldp.oracles.base.oracle import Law as Law
from fldp.oracles.base.oracle import Oracle
from fldp.support.validation import Constraint, integer, one_of, positive

if TYPE_CHECKING:
    from fldp.oracles.base.profile import Profile

_MAX_OUTCOMES = 1 << 20
MAX_VALUES = 2**31 - 1
_STATISTICS = tuple(name for name in vars(Estimator) if not name.startswith("_"))


@dataclass(frozen=True, repr=False)
class FrequencyOracle(Oracle):
    """An oracle over the values ``0 <= value < domain_size``, which estimates the counts of all of them.

    In addition to what every ``Oracle`` declares, it has an ``estimator``, or defines some of the estimator's methods
    itself, at least ``decode`` and ``variance``.
    """

    domain_size: int

    params: ClassVar[Mapping[str, Constraint]] = {"epsilon": positive, "domain_size": integer(2, MAX_VALUES)}

    @Adapted
    def estimator(self) -> Estimator:
        """How tallies become estimates, and how much these vary; by default, as the class itself says."""
        return _with_own_methods(self)

    # ----------------------------------------------------------------------------------------------------------

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "estimator" not in vars(cls) and vars(cls).keys() & set(_STATISTICS):
            Adapted.give(cls, "estimator", _with_own_methods)

    # Where a class overrides one of these two, its estimator calls the overriding one, which finds this by ``super()``.
    # So this asks the estimator's class.

    def decode(self, tally: Tally, **options: Any) -> Floats:
        """Return unbiased counts of all values."""
        return type(self.estimator).decode(self.estimator, tally, **options)

    def variance(self, n: int, count: Any, **options: Any) -> Any:
        """Return the exact variance of the estimated count of a value that ``count`` of ``n`` users hold.

        Given an array of the counts of all values, return an array of their variances.
        """
        return type(self.estimator).variance(self.estimator, n, count, **options)

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
        counted = self.as_tally(tally)
        self.check_options(options)
        counts, totals = self.decode(counted, **options), self.totals(counted)
        variances = self.estimator.variances(counts, totals, **options)
        stderr = np.sqrt(np.maximum(variances, self.estimator.least_variances))
        return Estimate(self, counts, stderr, counted.n, options, totals=totals)

    def _estimate_by(self, method: str, source: Tally | Reports, options: dict[str, Any]) -> Estimate:
        """Estimate by a method other than ``"linear"``; an oracle that names more ``methods`` overrides this."""
        raise NotImplementedError(f"{self.title}: method {method!r} is listed in methods but not implemented")

    @property
    def runs(self) -> tuple[slice, ...]:
        """Ranges of values whose total number of users a tally knows exactly: by default, the whole domain."""
        return (slice(0, self.domain_size),)

    def totals(self, tally: Tally) -> tuple[int, ...]:
        """Return the exact number of users in each run."""
        return (tally.n,)

    def profile(self, value: int = 0, other: int = 1) -> "Profile | None":
        """Return the privacy loss distribution of a value against another in closed form; None if there is none.

        It serves domains on which the law is too large to enumerate.
        """
        del value, other
        return None

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return a few values of a range whose pairs, among each other and with other ranges, are of every kind."""
        return list(range(start, min(start + 2, stop)))

    def overlaps(self) -> dict[Fraction, Fraction] | None:
        """Return the shared probability mass of two values, and the share of pairs that have it; None if unknown."""
        profile = self.profile()
        return {profile.shared_mass: Fraction(1)} if profile else None

    def leaves(self) -> Iterable[Collection[int]] | None:
        """Return the sets of values that a report can leave possible; None if there is no closed form."""
        return [range(self.domain_size)] if self.anonymity == self.domain_size else None

    def resized(self, domain_size: int) -> "FrequencyOracle":
        """Return the same oracle on a smaller domain, with exposure allowed, for the verifier."""
        permission = {"allow_exposure": True} if "allow_exposure" in self.params else {}
        return dataclasses.replace(self, domain_size=min(domain_size, self.domain_size), **permission)

    def likelihoods(self, data: Array) -> Floats:
        """Return the likelihood of each report (row) under every value (column), up to a factor for each row.

        Exactly 0 where a value cannot produce the report. This default enumerates the law, so it is for small domains;
        an oracle with a formula overrides it.

        >>> import fldp
        >>> oracle = fldp.RR(epsilon=1.0)
        >>> oracle.likelihoods(oracle.report_format.report(1)[None]).round(3)
        array([[0.368, 1.   ]])
        """
        likelihoods, known, laws = np.empty((len(data), self.domain_size)), object(), list[Law]()
        for row, report in zip(likelihoods, data, strict=True):
            public, outcome = self.report_format.outcome(report)
            if public != known:
                known, laws = public, [self.law(value, public) for value in range(self.domain_size)]
            row[:] = [law.get(outcome, 0) for law in laws]
        return likelihoods

    def check_enumerable(self, value: int = 0) -> None:
        """Raise if the value is outside the domain, or the law too large to enumerate."""
        as_values(self.title, value, self.domain_size)
        if self.outcomes * self.domain_size > _MAX_OUTCOMES:
            raise ParameterError(
                f"{self.title}: the law on domain_size={self.domain_size} is too large to enumerate "
                f"(2^{self.outcomes.bit_length() - 1} outcomes for each value); take a smaller domain"
            )


def _with_own_methods(oracle: FrequencyOracle) -> Estimator:
    """Return the inherited estimator with the methods that the class of the oracle overrides."""
    made = copy.copy(nearest(oracle, "estimator") or Estimator(oracle.domain_size))
    cls = type(oracle)
    own = (name for name in _STATISTICS if getattr(cls, name, None) is not getattr(FrequencyOracle, name, None))
    vars(made).update({name: getattr(oracle, name) for name in own})
    return made
