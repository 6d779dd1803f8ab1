"""StringOracle: oracles over strings, whose domain nobody can list; Listed: such an oracle among candidates.

Inside, a string is its fingerprint (``fldp.data.fingerprints``), so kernels, laws and vectors work on integers as
everywhere. Counts are estimated for candidates, never for all strings. Everything else that needs a list of values
(attacks, the privacy card, simulation, verification) takes ``oracle.among(candidates)``, which is a
``FrequencyOracle`` over the numbers of the candidates.
"""

import dataclasses
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.data.fingerprints import FINGERPRINTS, MAX_CANDIDATES, Fingerprints, as_candidates, fingerprints
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Reports, Tally
from fldp.data.values import Values
from fldp.errors import DomainError, ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Law, Oracle
from fldp.oracles.base.profile import Profile
from fldp.randomness.stream import Words
from fldp.support.validation import fail, integer, one_of, positive

_MAX_OUTCOMES = 1 << 17


class Fit(NamedTuple):
    """Estimated counts of candidates, and the context that their variances and covariances depend on.

    ``context`` is passed to ``variance`` and ``covariance_of_sum`` as keywords, and stored in the estimate.
    """

    counts: Floats
    context: Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class StringOracle(Oracle):
    """An oracle over strings: it estimates the counts of candidates, which whoever asks for the estimate names.

    In addition to what every ``Oracle`` declares, about fingerprints, it has ``fit``, ``variance``,
    ``covariance_of_sum``, ``likelihoods`` and ``profile``.
    """

    @abstractmethod
    def fit(self, tally: Tally, marks: Fingerprints, **options: Any) -> Fit:
        """Return the estimated counts of the strings with these fingerprints, and the context of their variances."""

    @abstractmethod
    def variance(self, n: int, count: Any, **context: Any) -> Any:
        """Return the variances of the estimated counts of candidates, given the counts of all of them.

        ``context`` comes from a fit, or is the ``marks`` of the candidates alone; then nobody is assumed to hold
        anything else. Of a single count, return the largest variance, whatever the others hold.
        """

    @abstractmethod
    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **context: Any) -> float:
        """Return the sum of the covariances of all ordered pairs of members."""

    @abstractmethod
    def likelihoods(self, data: Array, marks: Fingerprints) -> Floats:
        """Return the likelihood of each report (row) under every fingerprint (column), up to a factor for each row."""

    @abstractmethod
    def profile(self, mark: int, other: int) -> Profile:
        """Return the privacy loss distribution of a fingerprint against another in closed form."""

    # ----------------------------------------------------------------------------------------------------------

    @property
    def values_end(self) -> int:
        return FINGERPRINTS

    def as_values(self, values: Any) -> Values:
        return fingerprints(self.title, values)

    def estimate(
        self,
        tally: Tally | Reports,
        *,
        candidates: Iterable[str | bytes] | None = None,
        method: str = "linear",
        **options: Any,
    ) -> Estimate:
        """Estimate how many users hold each candidate, with standard errors.

        >>> import fldp
        >>> oracle = fldp.CMS(epsilon=4.0, hashes=16, width=64)
        >>> reports = oracle.privatize(["https://a.example"] * 900 + ["https://b.example"] * 100)
        >>> oracle.estimate(reports, candidates=["https://a.example", "https://c.example"])
        <estimate of 2 values from 1000 reports of CMS(epsilon=4.0, hashes=16, width=64).among(2 candidates)>
        """
        one_of(*self.methods)(self.title, "method", method)
        if candidates is None:
            raise DomainError(f"{self.title}: an estimate needs candidates, the strings to be counted")
        counted = self.as_tally(tally)
        self.check_options(options)
        listed = self.among(candidates)
        counts, context = self.fit(counted, listed.marks, **options)
        stderr = np.sqrt(listed.estimator.variances(counts, (counted.n,), **context))
        return Estimate(listed, counts, stderr, counted.n, options, labels=listed.candidates, context=context)

    def among(self, candidates: Iterable[str | bytes]) -> "Listed":
        """Return this oracle over the numbers of candidates, for everything that needs a list of values.

        >>> import fldp
        >>> oracle = fldp.CMS(epsilon=1.0, hashes=4, width=4).among(["a", "b", "c"])
        >>> oracle, oracle.domain_size, fldp.verify(oracle).holds
        (CMS(epsilon=1.0, hashes=4, width=4).among(3 candidates), 3, True)
        """
        return Listed(self.epsilon, base=self, candidates=as_candidates(self.title, candidates))

    def resized(self, domain_size: int) -> "Listed":
        """Return this oracle among a few strings, no two of which have the same law, for the verifier."""
        marks: dict[str, int] = {}
        for text in map(str, range(8 * domain_size)):
            mark = int(fingerprints(self.title, text)[0])
            if len(marks) < domain_size and all(self.profile(other, mark).ratio > 1 for other in marks.values()):
                marks[text] = mark
        return self.among(list(marks))

    def check_enumerable(self, mark: int = 0) -> None:
        """Raise if the value is no fingerprint, or the law too large to enumerate."""
        integer(0, FINGERPRINTS - 1)(self.title, "value", mark)
        if self.outcomes > _MAX_OUTCOMES:
            raise ParameterError(
                f"{self.title}: the law has 2^{self.outcomes.bit_length() - 1} outcomes, too many to enumerate; "
                "take smaller reports"
            )


def listed(who: str, oracle: Oracle, candidates: Sequence[str] | None = None) -> FrequencyOracle:
    """Return an oracle over listed values, one over strings among candidates; without any, raise ``ParameterError``.

    >>> import fldp
    >>> listed("card", fldp.CMS(epsilon=1.0))
    Traceback (most recent call last):
    fldp.errors.ParameterError: card: CMS is for strings, so name candidates: oracle.among([...]), or --candidates FILE
    """
    if isinstance(oracle, FrequencyOracle):
        return oracle
    if isinstance(oracle, StringOracle) and candidates:
        return oracle.among(candidates)
    rule = "name candidates: oracle.among([...]), or --candidates FILE"
    raise ParameterError(f"{who}: {oracle.title} is for strings, so {rule}")


def _of_strings(owner: str, name: str, value: Any) -> StringOracle:
    if not isinstance(value, StringOracle):
        raise fail(owner, name, "an oracle over strings", value)
    return value


def _listed(owner: str, name: str, value: Any) -> tuple[str, ...]:
    del name
    return as_candidates(owner, value)


@dataclass(frozen=True, repr=False)
class Listed(FrequencyOracle):
    """A string oracle among candidates: value ``v`` is candidate number ``v``. It is not offered by name.

    People may hold other strings, so no total is known exactly. On the wire it is the string oracle itself.
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
    def parameters(self) -> dict[str, Any]:
        return self.base.parameters

    def __repr__(self) -> str:
        return f"{self.base!r}.among({self.domain_size} candidates)"

    @property
    def eta(self) -> Fraction:
        return self.base.eta

    @property
    def lasting_epsilon(self) -> float:
        return self.base.lasting_epsilon

    @property
    def report_format(self) -> ReportFormat:
        return self.base.report_format

    @property
    def tally_format(self) -> TallyFormat:
        return self.base.tally_format

    @property
    def words(self) -> int:
        return self.base.words

    @property
    def server_work(self) -> str:
        return self.base.server_work

    @property
    def outcomes(self) -> int:
        return self.base.outcomes

    @property
    def runs(self) -> tuple[slice, ...]:
        return ()

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        self.base.perturb(self.marks[values], words, out)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        self.base.count(data, state)

    def decode(self, tally: Tally, **options: Any) -> Floats:
        return self.base.fit(tally, self.marks, **options).counts

    def estimate(self, tally: Tally | Reports, **options: Any) -> Estimate:
        counted = self.as_tally(tally)
        return self.base.estimate(Tally(self.base, counted.state, counted.n), candidates=self.candidates, **options)

    def variance(self, n: int, count: Any, **options: Any) -> Any:
        return self.base.variance(n, count, **{"marks": self.marks, **options})

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Any) -> float:
        return self.base.covariance_of_sum(n, counts, members, **{"marks": self.marks, **options})

    def likelihoods(self, data: Array) -> Floats:
        return self.base.likelihoods(data, self.marks)

    def law(self, value: int, public: Any = None) -> Law:
        self.check_enumerable(value)
        return self.base.law(int(self.marks[value]), public)

    def publics(self) -> Iterable[Any]:
        return self.base.publics()

    @property
    def publics_are_all(self) -> bool:
        return self.base.publics_are_all

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        return self.base.profile(int(self.marks[value]), int(self.marks[other]))

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return a few more than two values, since every pair collides in other places."""
        return list(range(start, min(start + 8, stop)))

    def resized(self, domain_size: int) -> "Listed":
        return self.base.among(self.candidates[:domain_size])
