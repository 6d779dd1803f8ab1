"""FrequencyOracle: oracles over a domain of listed values. Logic lives here, data in Reports and Tally."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Basis, Estimate, Evidence, Option
from fldp.data.postprocess import BAYES, postprocess
from fldp.data.reports import Reports, Tally
from fldp.data.values import Values, as_values
from fldp.numerics.types import Counts, Floats
from fldp.oracles.base.estimator import Estimator, Options, check_users
from fldp.oracles.base.moved_members import Adapted, nearest
from fldp.oracles.base.oracle import Law as Law
from fldp.oracles.base.oracle import Oracle, check_options
from fldp.responder.response import MAX_VALUES as MAX_VALUES
from fldp.support.validation import Constraint, integer, one_of, positive

_STATISTICS = tuple(name for name in {**vars(Options), **vars(Estimator)} if not name.startswith("_"))


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

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "estimator" not in vars(cls) and vars(cls).keys() & set(_STATISTICS):
            Adapted.give(cls, "estimator", _with_own_methods)

    @overload
    def variance(self, n: int, count: float, **options: Option) -> float: ...
    @overload
    def variance(self, n: int, count: Floats | NDArray[np.int64], **options: Option) -> Floats: ...
    def variance(self, n: int, count: Counts | NDArray[np.int64], **options: Option) -> float | Floats:
        """Return the exact variance of the estimated count of a value that ``count`` of ``n`` users hold.

        Given an array of the counts of all values, return an array of their variances.
        """
        check_users(self.title, n, count)
        # A class that overrides this has an estimator that calls the overriding method: hence the estimator's class.
        counts = np.asarray(count, np.float64) if isinstance(count, np.ndarray) else count
        return type(self.estimator).variance(self.estimator, n, counts, **options)

    @property
    def _values_end(self) -> int:
        return self.domain_size

    def _as_values(self, values: object) -> Values:
        return as_values(self.title, values, self.domain_size)

    def estimate(self, tally: Tally | Reports, *, method: str = "linear", **options: Option) -> Estimate:
        """Estimate how many users hold each value, unbiased, with standard errors.

        Where the estimator has several ``decoders``, ``decoder=`` chooses one. ``method="bayes"`` shrinks the estimates
        by empirical Bayes (``fldp.postprocess``); some estimators have more ``methods``. All but ``"linear"`` are
        biased and keep the unbiased estimate in ``original``; ``"em"`` needs the reports.

        >>> import fldp
        >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
        >>> oracle.estimate(fldp.Tally(oracle, [50, 30, 20], 100))
        <estimate of 3 values from 100 reports of GRR(epsilon=1.0, domain_size=3)>
        """
        if method != "linear":
            return self._estimate_by(method, tally, options)
        counted, estimator = self._as_tally(tally), self.estimator
        check_options(self, options)
        counts, totals = estimator.decode(counted, **options), estimator.totals(counted)
        context = estimator.context(counted)
        variances = estimator.variances(counts, totals, **{**options, **context})
        stderr = np.sqrt(np.maximum(variances, estimator.least_variances))
        basis = Basis(options, totals, context, find_evidence=partial(_evidence, self, counted, counts, options))
        return Estimate(self, counts, stderr, counted.n, basis=basis)

    def _estimate_by(self, method: str, tally: Tally | Reports, options: Mapping[str, Option]) -> Estimate:
        one_of(*self.estimator.methods, BAYES)(self.title, "method", method)
        if method == BAYES:
            return postprocess(self.estimate(tally, method="linear", **options), BAYES)
        return self.estimator.estimate_by(method, tally, options)


def _evidence(
    oracle: FrequencyOracle, tally: Tally, counts: Floats, options: Mapping[str, Option]
) -> tuple[Evidence, ...]:
    """Return the laws of counts; a function of the module, so that an estimate can be pickled before they are found."""
    return oracle.estimator.evidence(tally, counts, **options)


def domain_size_of(oracle: Oracle) -> int | None:
    """Return the number of values of an oracle; None where they are strings or records."""
    return oracle.domain_size if isinstance(oracle, FrequencyOracle) else None


def _with_own_methods(oracle: FrequencyOracle) -> Estimator:
    """Return the inherited estimator with the methods that the class of the oracle overrides."""
    estimator = copy.copy(nearest(oracle, "estimator") or Estimator(oracle.domain_size))
    cls = type(oracle)
    own = (name for name in _STATISTICS if getattr(cls, name, None) is not getattr(FrequencyOracle, name, None))
    vars(estimator).update({name: getattr(oracle, name) for name in own})
    return estimator
