"""StringOracle: oracles over strings, whose domain nobody can list; Listed: such an oracle among candidates.

Inside, a string is its fingerprint (``fldp.data.fingerprints``), so kernels, laws and vectors work on integers as
everywhere. Counts are estimated for candidates, never for all strings. Everything else that needs a list of values
(attacks, the privacy card, simulation, verification) takes ``oracle.among(candidates)``, which is a
``FrequencyOracle`` over the numbers of the candidates.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Basis, Estimate, Option
from fldp.data.fingerprints import FINGERPRINTS, MAX_CANDIDATES, Fingerprints, as_candidates, fingerprints
from fldp.data.postprocess import BAYES, postprocess
from fldp.data.reports import Array, Reports, Tally
from fldp.data.values import Values
from fldp.errors import DomainError, ParameterError
from fldp.numerics.bounded_laws import Bounded
from fldp.numerics.types import Counts, Floats
from fldp.oracles.base.estimator import Estimator, Options, check_users
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle, check_options
from fldp.oracles.base.record_oracle import RecordOracle
from fldp.randomness.stream import Words
from fldp.support.canonical_json import Json
from fldp.support.validation import fail, integer, one_of, positive


class Fit(NamedTuple):
    """Estimated counts of candidates, and the context that their variances and covariances depend on.

    ``context`` is passed to ``variance`` and ``covariance_of_sum`` as keywords, and stored in the estimate.
    """

    counts: Floats
    context: Mapping[str, Option]


@dataclass(frozen=True, eq=False)
class StringEstimator(Options, ABC):
    """Estimates of the counts of candidates from a tally, and how much they vary."""

    is_uneven: ClassVar[bool] = False  # whether the noise of a sum depends on which other candidates people hold

    @abstractmethod
    def fit(self, tally: Tally, marks: Fingerprints, **options: Option) -> Fit:
        """Return the estimated counts of the strings with these fingerprints, and the context of their variances."""

    @abstractmethod
    def variance(self, n: int, count: Counts, **context: Option) -> float | Floats:
        """Return the variances of the estimated counts of candidates, given the counts of all of them.

        ``context`` comes from a fit, or is the ``marks`` of the candidates alone; then nobody is assumed to hold
        anything else. Of a single count, return the largest variance, whatever the others hold.
        """

    @abstractmethod
    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **context: Option) -> float:
        """Return the sum of the covariances of all ordered pairs of members."""

    def plausible(self, n: int, counts: Floats) -> Floats:
        """Return the counts at which variances are stated, of estimated ones: each cut to what is possible."""
        return np.clip(counts, 0, n)

    def evidence(self, n: int, counts: Floats, **context: Option) -> Bounded:
        """Return the law of estimated counts: by their variances, where nobody holds a candidate and as they are."""
        null = np.asarray(self.variance(n, np.zeros(len(counts)), **context), np.float64)
        return Bounded.of(counts, np.sqrt(np.maximum(null, 0.0)))

    def select(self, method: str, tally: Tally, listed: "Listed") -> tuple[Sequence[str], dict[str, Option]]:
        """Return the candidates that a method other than ``"linear"`` keeps, and the options to fit them with."""
        del listed
        raise NotImplementedError(f"{tally.oracle.title}: method {method!r} is listed in methods but not implemented")


@dataclass(frozen=True, repr=False)
class StringOracle(Oracle):
    """An oracle over strings: it estimates the counts of candidates, which whoever asks for the estimate names.

    It declares what every ``Oracle`` declares, about fingerprints, and an ``estimator``.
    """

    @property
    def estimator(self) -> StringEstimator:
        """How a tally becomes counts of candidates, and how much these vary."""
        raise NotImplementedError(
            f"{self.title}: define estimator, a StringEstimator with fit, variance and covariance_of_sum"
        )

    # ----------------------------------------------------------------------------------------------------------

    @property
    def _values_end(self) -> int:
        return FINGERPRINTS

    def _as_values(self, values: object) -> Values:
        return fingerprints(self.title, values)

    def estimate(
        self,
        tally: Tally | Reports,
        *,
        candidates: Iterable[str | bytes] | None = None,
        method: str = "linear",
        **options: Option,
    ) -> Estimate:
        """Estimate how many users hold each candidate, with standard errors.

        >>> import fldp
        >>> oracle = fldp.CMS(epsilon=4.0, hashes=16, width=64)
        >>> reports = oracle.privatize(["https://a.example"] * 900 + ["https://b.example"] * 100)
        >>> oracle.estimate(reports, candidates=["https://a.example", "https://c.example"])
        <estimate of 2 values from 1000 reports of CMS(epsilon=4.0, hashes=16, width=64).among(2 candidates)>
        """
        one_of(*self.estimator.methods, BAYES)(self.title, "method", method)
        if method == BAYES:
            return postprocess(self.estimate(tally, candidates=candidates, method="linear", **options), BAYES)
        if candidates is None:
            raise DomainError(f"{self.title}: an estimate needs candidates, the strings to be counted")
        counted, listed = self._as_tally(tally), self.among(candidates)
        check_options(self, options)
        if method != "linear":
            kept, more = self.estimator.select(method, counted, listed)
            listed, options = self.among(kept), options | more
        counts, context = self.estimator.fit(counted, listed.marks, **options)
        stderr = np.sqrt(listed.estimator.variances(counts, (counted.n,), **context))
        law = self.estimator.evidence(counted.n, counts, **context)
        basis = Basis(options, context=context, find_evidence=partial(tuple, (law,)))
        return Estimate(listed, counts, stderr, counted.n, labels=listed.candidates, basis=basis)

    def variance(self, n: int, count: Counts, **context: Option) -> float | Floats:
        """Return the variances of the estimated counts of candidates, as its estimator says."""
        check_users(self.title, n, count)
        return self.estimator.variance(n, count, **context)

    def among(self, candidates: Iterable[str | bytes]) -> "Listed":
        """Return this oracle over the numbers of candidates, for everything that needs a list of values.

        >>> import fldp
        >>> oracle = fldp.CMS(epsilon=1.0, hashes=4, width=4).among(["a", "b", "c"])
        >>> oracle, oracle.domain_size, fldp.verify(oracle).holds
        (CMS(epsilon=1.0, hashes=4, width=4).among(3 candidates), 3, True)
        """
        return Listed(self.epsilon, base=self, candidates=as_candidates(self.title, candidates))


def listed(who: str, oracle: Oracle, candidates: Sequence[str] | None = None) -> FrequencyOracle:
    """Return an oracle over listed values; one over strings among candidates, one over records among a few of them.

    Without candidates, raise ``ParameterError``.

    >>> import fldp
    >>> listed("card", fldp.CMS(epsilon=1.0))
    Traceback (most recent call last):
    fldp.errors.ParameterError: card: CMS is for strings, so name candidates: oracle.among([...]), or --candidates FILE
    """
    if isinstance(oracle, FrequencyOracle):
        return oracle
    if isinstance(oracle, RecordOracle):
        return oracle.among(oracle._sample_records())
    if isinstance(oracle, StringOracle) and candidates:
        return oracle.among(candidates)
    rule = "name candidates: oracle.among([...]), or --candidates FILE"
    raise ParameterError(f"{who}: {oracle.title} is for strings, so {rule}")


def _of_strings(owner: str, name: str, value: object) -> StringOracle:
    if not isinstance(value, StringOracle):
        raise fail(owner, name, "an oracle over strings", value)
    return value


def _listed(owner: str, name: str, value: object) -> tuple[str, ...]:
    del name
    return as_candidates(owner, value)


@dataclass(frozen=True, eq=False)
class AmongCandidates(Estimator):
    """Estimates of the counts of candidates, as of values. People may hold other strings, so no total is known."""

    strings: StringEstimator
    marks: Fingerprints

    runs = ()

    @property
    def is_uneven(self) -> bool:  # type: ignore[override]
        """As of the strings."""
        return self.strings.is_uneven

    def decode(self, tally: Tally, **options: Option) -> Floats:
        return self.strings.fit(tally, self.marks, **options).counts

    def variance(self, n: int, count: Counts, **options: Option) -> float | Floats:
        return self.strings.variance(n, count, **{"marks": self.marks, **options})

    def variances(self, counts: Floats, totals: tuple[int, ...], **options: Option) -> Floats:
        return np.asarray(self.variance(totals[0], self.strings.plausible(totals[0], counts), **options))

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Option) -> float:
        return self.strings.covariance_of_sum(n, counts, members, **{"marks": self.marks, **options})

    def collisions(self, n: int, counts: Floats, **options: Option) -> tuple[bytes, Floats] | None:
        return self.strings.collisions(n, counts, **{"marks": self.marks, **options})


@dataclass(frozen=True, repr=False)
class Listed(FrequencyOracle):
    """A string oracle among candidates: value ``v`` is candidate number ``v``. It is not offered by name.

    On the wire it is the string oracle itself.
    """

    domain_size: int = 0  # set to the number of candidates
    base: StringOracle = field(kw_only=True)
    candidates: tuple[str, ...] = field(kw_only=True)

    params = {  # noqa: RUF012
        "epsilon": positive,
        "domain_size": integer(0, MAX_CANDIDATES),
        "base": _of_strings,
        "candidates": _listed,
    }

    def _settle_parameters(self) -> None:
        if self.base.epsilon != self.epsilon:
            object.__setattr__(self, "base", dataclasses.replace(self.base, epsilon=self.epsilon))
        object.__setattr__(self, "domain_size", len(self.candidates))

    @cached_property
    def marks(self) -> Fingerprints:
        """The fingerprints of the candidates."""
        return fingerprints(self.title, self.candidates)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The identifier of the string oracle."""
        return self.base.name

    @property
    def title(self) -> str:
        return self.base.title

    @property
    def parameters(self) -> dict[str, Json]:
        return self.base.parameters

    def __repr__(self) -> str:
        return f"{self.base!r}.among({self.domain_size} candidates)"

    @property
    def eta(self) -> Fraction:
        return self.base.eta

    @property
    def _mechanism(self) -> StringOracle:
        return self.base

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        self.base.perturb(self.marks[values], words, out)

    @cached_property
    def estimator(self) -> AmongCandidates:
        return AmongCandidates(self.domain_size, self.base.estimator, self.marks)

    def estimate(self, tally: Tally | Reports, *, method: str = "linear", **options: Option) -> Estimate:
        counted = self._as_tally(tally)
        strings = Tally(self.base, counted.state, counted.n)
        return self.base.estimate(strings, candidates=self.candidates, method=method, **options)
