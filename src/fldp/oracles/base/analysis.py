"""Analysis: the questions that verifiers, attackers, auditors, planners and integrity tests ask about an oracle.

A class of oracles may have a *companion*, a subclass of ``Analysis`` that answers for it. Subclasses share it unless
they have their own. Without any, the companion of its class of estimators answers.

>>> import fldp
>>> analysis(fldp.RR(epsilon=1.0)).server_work, analysis(fldp.CMS(epsilon=1.0)).domain_size
('O(n + d)', None)
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fldp.data.fingerprints import FINGERPRINTS, Fingerprints, fingerprints
from fldp.data.reports import Array, Tally
from fldp.data.values import Values, as_values
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.blanket import Blanket
from fldp.oracles.base.claims import Claim, Scores
from fldp.oracles.base.frequency_oracle import FrequencyOracle, domain_size_of
from fldp.oracles.base.leaks_and_parts import ParityLeak, ReportPart
from fldp.oracles.base.moved_members import with_own_answers
from fldp.oracles.base.oracle import Law, Oracle, Public
from fldp.oracles.base.pair_noise import PairNoise
from fldp.oracles.base.profile import Profile
from fldp.oracles.base.strategy import Strategy, TargetCells, Targets, times
from fldp.oracles.base.string_oracle import Listed, StringOracle, listed
from fldp.randomness.stream import Stream, Words
from fldp.support.validation import integer, show

AnyOracle = TypeVar("AnyOracle", bound=Oracle)
O_co = TypeVar("O_co", bound=Oracle, covariant=True)
S_co = TypeVar("S_co", bound=StringOracle, covariant=True)
Companion = TypeVar("Companion", bound="type[Analysis[Oracle]]")

Promise = tuple[str, *tuple[object, ...]]  # the name of a notion, and its arguments
_MAX_OUTCOMES, _MAX_STRING_OUTCOMES = 1 << 20, 1 << 17


class Coin(Protocol):
    """A coin keeps a value for words below ``keep``."""

    @property
    def keep(self) -> int: ...


@dataclass(frozen=True)
class Analysis(Generic[O_co]):
    """The answers about one oracle, as far as they follow from its interface; a companion overrides the others."""

    oracle: O_co

    # ------------------------------------------------------------------------------------------------ its values

    @property
    def domain_size(self) -> int | None:
        """The number of values; None where they are strings."""
        return domain_size_of(self.oracle)

    @property
    def candidates(self) -> tuple[str, ...] | None:
        """The strings that the values stand for; None where values are numbers, or any string."""
        return None

    @property
    def sent(self) -> Oracle:
        """The oracle that batches name: for one among candidates, the oracle over strings."""
        return self.oracle

    @property
    def values_end(self) -> int:
        """The number of possible values: as integers they lie in ``[0, values_end)``."""
        return self.oracle._values_end

    def as_values(self, values: object) -> Values:
        """Coerce values to the integers that ``perturb`` takes: numbers of values, or fingerprints."""
        return self.oracle._as_values(values)

    @property
    def answers(self) -> tuple[int, ...] | None:
        """How many answers each question has, where values are records; None where they are not."""
        return None

    @property
    def explained(self) -> FrequencyOracle:
        """The oracle over listed values whose reports a privacy card explains."""
        return listed("card", self.oracle)

    @property
    def in_short(self) -> tuple[str, ...]:
        """Sentences that a privacy card puts first; none for most oracles."""
        return ()

    def among_held(self, counts: ArrayLike) -> tuple[FrequencyOracle, ArrayLike]:
        """Return the oracle over the simulated values, and how many people hold each of them."""
        return listed("simulate", self.oracle), counts

    @property
    def members(self) -> tuple[FrequencyOracle, ...]:
        """The oracles whose reports are inside this one's reports."""
        return ()

    @property
    def coin(self) -> Coin | None:
        """The coin for all values; None if there is no single one."""
        return getattr(self.oracle, "coin", None)

    @property
    def tallied(self) -> Oracle:
        """The oracle of a simulated tally."""
        return self.oracle

    def thresholds(self) -> Iterator[tuple[int, int]]:
        """Yield values that have thresholds of their own, each with one of them."""
        yield from ()

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return a few values of a range, such that their pairs, also with other ranges, are of every kind."""
        return list(range(start, min(start + 2, stop)))

    def resized(self, domain_size: int) -> FrequencyOracle:
        """Return the same oracle on a smaller domain, or among a few strings, with exposure allowed."""
        oracle = self._listed
        permission = {"allow_exposure": True} if "allow_exposure" in oracle.params else {}
        return replace(oracle, domain_size=min(domain_size, oracle.domain_size), **permission)

    @property
    def _listed(self) -> FrequencyOracle:
        return listed("analysis", self.oracle)

    # --------------------------------------------------------------------------------------------- what it promises

    @property
    def promise(self) -> Promise:
        """The privacy guarantee as data: the name of a notion of ``fldp.privacy`` and its parameters."""
        epsilon, eta = self.oracle.epsilon, self.oracle.eta
        return ("LDP", epsilon) if eta == 1 else ("FLDP", epsilon, eta)

    @property
    def plain_values(self) -> Sequence[int] | None:
        """The values among which plain epsilon-LDP holds, for audits; None where it holds among all, or nowhere."""
        return None

    @property
    def unprotected(self) -> str | None:
        """What is protected less than the rest, in plain language; None if all values are protected alike."""
        return None

    # --------------------------------------------------------------------------------------------------- its law

    @property
    def outcomes(self) -> int:
        """The number of different reports, given the public randomness."""
        raise self._unknown("outcomes")

    def law(self, value: int, public: Public = None) -> Law:
        """Return the exact output distribution of the code for a value: a probability for each outcome.

        The probabilities are rationals of the integer thresholds that the code compares with. Where a report carries
        public randomness (a hash seed), the law is conditional on ``public``. For small domains.
        """
        del value, public
        raise self._unknown("law")

    def _unknown(self, name: str) -> NotImplementedError:
        cls = type(self.oracle).__name__
        return NotImplementedError(
            f"{cls}: define {name} in its companion, a subclass of Analysis under @analyses({cls})"
        )

    def publics(self) -> Iterable[Public]:
        """Return draws of the public randomness to try; ``(None,)`` where there is none."""
        return (None,)

    @property
    def publics_are_all(self) -> bool:
        """Whether ``publics`` enumerates all public randomness, each draw as likely as ``public_shares`` says."""
        return list(self.publics()) == [None]

    def public_shares(self) -> list[Fraction]:
        """Return how likely each of ``publics`` is: all alike, unless a companion knows better."""
        count = len(list(self.publics()))
        return [Fraction(1, count)] * count

    def check_enumerable(self, value: int = 0) -> None:
        """Raise if the value is outside the domain, or the law too large to enumerate."""
        oracle, outcomes = self._listed, self.outcomes
        if type(value) is not int or not 0 <= value < oracle.domain_size:  # of thousands of laws, one after the other
            as_values(oracle.title, value, oracle.domain_size, secret=False)
        if outcomes * oracle.domain_size > _MAX_OUTCOMES:
            raise ParameterError(
                f"{oracle.title}: the law on domain_size={oracle.domain_size} is too large to enumerate "
                f"(2^{outcomes.bit_length() - 1} outcomes for each value); take a smaller domain"
            )

    def likelihoods(self, data: Array) -> Floats:
        """Return the likelihood of each report (row) under every value (column), up to a factor for each row.

        Exactly 0 where a value cannot produce the report. This default enumerates the law, so it is for small domains;
        a companion with a formula overrides it.

        >>> import fldp
        >>> oracle = fldp.RR(epsilon=1.0)
        >>> analysis(oracle).likelihoods(oracle.report_format.report(1)[None]).round(3)
        array([[0.368, 1.   ]])
        """
        size = self._listed.domain_size
        likelihoods, known, laws = np.empty((len(data), size)), object(), list[Law]()
        for row, report in zip(likelihoods, data, strict=True):
            public, outcome = self.oracle.report_format.outcome(report)
            if public != known:
                known, laws = public, [self.law(value, public) for value in range(size)]
            row[:] = [law.get(outcome, 0) for law in laws]
        return likelihoods

    @property
    def enumerates(self) -> bool:
        """Whether ``likelihoods`` enumerates the law, for want of a formula."""
        return type(self).likelihoods is Analysis.likelihoods

    def lasting_ratios(self) -> dict[str, tuple[Fraction, float]]:
        """Return the largest ratio of all reports of a person together, exactly, and the epsilon promised for it.

        Each is named by the histories that it is about; none where people keep nothing but their report.
        """
        return {}

    def kept(self, words: Words) -> bytes | None:
        """Return what is kept of the words of a report where that depends on no value, as bytes; else None."""
        del words
        return None

    def history(self, values: object, days: int, rng: Stream) -> Array | None:
        """Return one row of daily reports for each person with these values; None if the oracle keeps nothing."""
        del values, days, rng
        return None

    # ----------------------------------------------------------------------------------------- what it gives away

    def profile(self, value: int = 0, other: int = 1) -> Profile | None:
        """Return the privacy loss distribution of a value against another in closed form; None if there is none.

        It serves domains on which the law is too large to enumerate.
        """
        del value, other
        return None

    def blanket(self) -> Blanket | None:
        """Return the part of the law that no value changes, which hides people in a crowd; None if it is not stated."""
        return None

    def overlaps(self) -> dict[Fraction, Fraction] | None:
        """Return the shared probability mass of two values, and the share of pairs that have it; None if unknown."""
        profile = self.profile()
        return {profile.shared_mass: Fraction(1)} if profile else None

    def compared(self, whole: Oracle) -> dict[str, str]:
        """Return facts for a verification of another oracle among these values, in plain language."""
        del whole
        return {}

    def leaves(self) -> Iterable[Collection[int]] | None:
        """Return the sets of values that a report can leave possible; None if there is no closed form."""
        size = self._listed.domain_size
        return [range(size)] if self.oracle.anonymity == size else None

    def parities(self) -> ParityLeak | None:
        """Return the exact parities that reports reveal; None if they reveal none."""
        return None

    def identified(self) -> list[float] | None:
        """Return how likely 0, 1, ... reports leave a single value possible, exactly; None if that is not known."""
        return [0.0] if self.oracle.anonymity == self.domain_size else None

    # ------------------------------------------------------------------------------------------------- fake users

    def fakes(self, targets: Targets) -> Strategy | None:
        """Return what fakes that promote these values send, and what that is worth; None if it is not known."""
        return self.fakes_weighing(times(targets, self._listed.domain_size).astype(np.float64))

    def fakes_weighing(self, weights: Floats) -> Strategy | None:
        """Return the same for a sum of estimates in which each value has a weight; None if it is not known."""
        del weights
        return None

    def fakes_in(self, cells: TargetCells) -> Strategy | None:
        """Return the same for cells of a table, where values are records; None if it is not known."""
        del cells
        return None

    def fakes_among(self, marks: Fingerprints, targets: Targets) -> Strategy | None:
        """Return the same for an oracle over strings; targets are numbers of candidates, ``marks`` theirs."""
        del marks, targets
        return None

    def fake_mean(self, targets: Targets, tally: Tally, fakes: float) -> Floats | None:
        """Return what each of these fakes adds to every estimate, as a tally with them shows; None if it does not."""
        del targets, tally, fakes
        return None

    # ---------------------------------------------------------------------------------------------- honest reports

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        """Yield what holds of the tally of honest reports."""
        del tally
        yield from ()

    def honest_reports(self, data: Array) -> Iterator[Claim]:
        """Yield what holds of honest reports beyond their tally."""
        del data
        yield from ()

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        """Return the scores of the pairs of these values, from reports or a tally; None if there are none."""
        del tally, data, values
        return None

    @property
    def scores_pairs(self) -> bool:
        """Whether pairs of values have scores at all."""
        return type(self).pairs is not Analysis.pairs

    def blind(self) -> tuple[str, ...]:
        """Return what these claims cannot show, in plain language."""
        if type(self).honest_tally is not Analysis.honest_tally:
            return ()
        return (f"anything at all: nothing is known here about honest reports of {self.oracle.title}",)

    # -------------------------------------------------------------------------------------------------- its server

    def chances(self) -> tuple[Fraction, Fraction] | None:
        """Return how likely a report supports its own value, and another, if that is alike for all; else None."""
        return None

    def spread(self) -> float:
        """Return the variance of one share of one report at uniform shares, off the direction of their sum.

        From the integers of the coins, in plain arithmetic of one order: plans rest on it, and are alike everywhere.
        """
        noise = self.pair_noise()
        if noise is None:
            raise self._unknown("pair_noise or spread")
        return noise.spread(self._listed.domain_size)

    def pair_noise(self) -> PairNoise | None:
        """Return the noise of one report, where it treats all other values alike; else None."""
        return None

    def linear_covariance(self, weights: Floats, counts: Floats) -> Floats:
        """Return the covariance of ``weights @ estimates``, a row of weights each, where ``counts`` hold each value.

        It is over the chance of the reports alone, and exact.
        """
        noise = self.pair_noise()
        if noise is None:
            raise self._unknown("pair_noise or linear_covariance")
        return noise.covariance(weights, counts)

    def linear_variances(self, weights: Floats, counts: Floats) -> Floats:
        """Return the diagonal of ``linear_covariance``."""
        noise = self.pair_noise()
        if noise is not None:
            return noise.variances(weights, counts)
        return np.array([self.linear_variance(row, counts) for row in weights])

    def linear_variance(self, weights: Floats, counts: Floats) -> float:
        """Return the variance of ``weights @ estimates``."""
        return float(self.linear_covariance(weights[None], counts)[0, 0])

    def typical_jumps(self, weights: Floats, counts: Floats) -> Floats:
        """Return how much one report moves ``weights @ estimates``, a row of weights each: for Bernstein's form.

        The largest move, unless a companion knows how large those are that make the variance where ``counts`` are held.
        """
        del counts
        plans = ([self.fakes_weighing(side * row) for side in (1, -1)] for row in weights)
        up, down = np.array([[0.0 if plan is None else plan.best() for plan in both] for both in plans]).T
        return np.asarray(np.maximum(up - weights.min(axis=1), weights.max(axis=1) + down))

    def largest_square(self, weights: Floats) -> float:
        """Return the largest mean square of what a report adds to ``weights @ estimates``, over all senders."""
        noise = self.pair_noise()
        if noise is None:
            raise self._unknown("pair_noise or largest_square")
        return float((noise.each_variance(weights) + weights**2).max())

    @property
    def server_work(self) -> str:
        """How the work of tallying and estimating grows with ``n`` reports over ``d`` values."""
        return "not stated"

    def parts(self, tally: Tally, data: Array | None) -> Iterator[ReportPart]:
        """Yield the oracles that it is composed of, each with its share of a tally and of the reports."""
        del tally, data
        yield from ()


_COMPANIONS: dict[type, type[Analysis[Oracle]]] = {}
_EXAMPLE = "pass one such as fldp.GRR(epsilon=1.0, domain_size=5)"


def analyses(*classes: type) -> Callable[[Companion], Companion]:
    """Make the decorated class the companion of these classes of oracles.

    >>> from dataclasses import dataclass
    >>> from fldp.oracles.kit import Analysis, FrequencyOracle, analyses
    >>> class Mine(FrequencyOracle): pass
    >>> @analyses(Mine)
    ... class MineAnalysis(Analysis[Mine]):
    ...     server_work = "O(n)"
    """

    def register(companion: Companion) -> Companion:
        _COMPANIONS.update(dict.fromkeys(classes, companion))
        _companion.cache_clear()
        return companion

    return register


def analysis(oracle: AnyOracle) -> Analysis[AnyOracle]:
    """Return the analysis of an oracle: by the companion of its class, or of the nearest base class that has one."""
    if not isinstance(oracle, Oracle):
        remedy = "its attribute oracle is one" if isinstance(getattr(oracle, "oracle", None), Oracle) else _EXAMPLE
        raise ParameterError(f"{show(oracle)} is not an oracle; {remedy}")
    estimator: type = type(oracle.estimator)
    return _companion(type(oracle), estimator)(oracle)  # type: ignore[return-value]


@cache
def _companion(kind: type[Oracle], estimator: type) -> type[Analysis[Oracle]]:
    """Return the companion of a class of oracles, else of its class of estimators, else of the base class."""
    for cls in (*_own_classes(kind), *estimator.__mro__, *kind.__mro__):
        _load_beside(cls.__module__)
        if cls in _COMPANIONS:
            return _completed(_COMPANIONS[cls], kind, cls)
    return _completed(Analysis, kind, Oracle)


def _completed(companion: type[Analysis[Oracle]], kind: type[Oracle], registered: type) -> type[Analysis[Oracle]]:
    known = [name for name in vars(Analysis) if getattr(companion, name) is not getattr(Analysis, name)]
    return with_own_answers(companion, known, kind, registered)


def _own_classes(kind: type[Oracle]) -> Iterator[type]:
    """Yield the class and its bases, up to the classes that all oracles share."""
    return takewhile(lambda cls: cls not in (FrequencyOracle, StringOracle), kind.__mro__)


@cache
def _load_beside(module: str) -> None:
    """Import the companions of an oracle of this package, once they are asked for: a client needs none of them."""
    if module.startswith("fldp.oracles.") and find_spec(f"{module}_analysis"):
        import_module(f"{module}_analysis")


@analyses(StringOracle)
class StringAnalysis(Analysis[S_co]):
    """Values are fingerprints of strings."""

    def resized(self, domain_size: int) -> Listed:
        """Return this oracle among a few strings, no two of which have the same law."""
        marks: dict[str, int] = {}
        for text in map(str, range(8 * domain_size)):
            mark = int(fingerprints(self.oracle.title, text)[0])
            if len(marks) < domain_size and all(self._differ(mark, other) for other in marks.values()):
                marks[text] = mark
        return self.oracle.among(list(marks))

    def _differ(self, mark: int, other: int) -> bool:
        profile = self.profile(mark, other)
        return profile is None or profile.ratio > 1

    def check_enumerable(self, value: int = 0) -> None:
        """Raise if the value is no fingerprint, or the law too large to enumerate."""
        integer(0, FINGERPRINTS - 1)(self.oracle.title, "value", value)
        if self.outcomes > _MAX_STRING_OUTCOMES:
            raise ParameterError(
                f"{self.oracle.title}: the law has 2^{self.outcomes.bit_length() - 1} outcomes, too many to enumerate; "
                "take smaller reports"
            )

    def likelihoods_among(self, marks: Fingerprints, data: Array) -> Floats:
        """Return the likelihood of each report (row) under every fingerprint (column), up to a factor for each row."""
        del marks, data
        raise self._unknown("likelihoods_among")


@analyses(Listed)
class ListedAnalysis(Analysis[Listed]):
    """Candidates are values; the reports belong to the string oracle, whose companion answers."""

    @property
    def _strings(self) -> StringAnalysis[StringOracle]:
        strings = analysis(self.oracle.base)
        assert isinstance(strings, StringAnalysis)
        return strings

    def _mark(self, value: int) -> int:
        return int(self.oracle.marks[value])

    @property
    def candidates(self) -> tuple[str, ...]:
        return self.oracle.candidates

    @property
    def sent(self) -> StringOracle:
        return self.oracle.base

    @property
    def server_work(self) -> str:
        return self._strings.server_work

    @property
    def outcomes(self) -> int:
        return self._strings.outcomes

    def law(self, value: int, public: Public = None) -> Law:
        self.check_enumerable(value)
        return self._strings.law(self._mark(value), public)

    def publics(self) -> Iterable[Public]:
        return self._strings.publics()

    @property
    def publics_are_all(self) -> bool:
        return self._strings.publics_are_all

    def likelihoods(self, data: Array) -> Floats:
        return self._strings.likelihoods_among(self.oracle.marks, data)

    def lasting_ratios(self) -> dict[str, tuple[Fraction, float]]:
        return self._strings.lasting_ratios()

    def history(self, values: object, days: int, rng: Stream) -> Array | None:
        texts = [self.oracle.candidates[value] for value in self.as_values(values)]
        return self._strings.history(texts, days, rng)

    def profile(self, value: int = 0, other: int = 1) -> Profile | None:
        return self._strings.profile(self._mark(value), self._mark(other))

    def blanket(self) -> Blanket | None:
        return self._strings.blanket()

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return a few more than two values, since every pair collides in other places."""
        return list(range(start, min(start + 8, stop)))

    def resized(self, domain_size: int) -> Listed:
        return self.oracle.base.among(self.oracle.candidates[:domain_size])

    def fakes(self, targets: Targets) -> Strategy | None:
        return self._strings.fakes_among(self.oracle.marks, targets)
