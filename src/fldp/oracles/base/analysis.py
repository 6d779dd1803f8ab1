"""Analysis: what a verifier, an attacker, an auditor, a planner or a test of integrity asks about an oracle.

Each class of oracles may have a *companion*, a subclass of ``Analysis`` that answers for it; its subclasses share it,
unless they have one of their own. What no companion answers, the methods of the oracle do.

>>> import fldp
>>> analysis(fldp.RR(epsilon=1.0)).server_work, analysis(fldp.CMS(epsilon=1.0)).domain_size
('O(n + d)', None)
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.fingerprints import Fingerprints
from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.claims import Claim, Scores
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Law, Oracle
from fldp.oracles.base.profile import Profile
from fldp.oracles.base.revelations import ParityLeak, ReportPart
from fldp.oracles.base.strategy import Strategy, Targets
from fldp.oracles.base.string_oracle import Listed, StringOracle, listed

AnyOracle = TypeVar("AnyOracle", bound=Oracle)
O_co = TypeVar("O_co", bound=Oracle, covariant=True)
Companion = TypeVar("Companion", bound="type[Analysis[Oracle]]")


@dataclass(frozen=True)
class Analysis(Generic[O_co]):
    """The answers about one oracle; a companion overrides those that it knows better."""

    oracle: O_co

    @property
    def _listed(self) -> FrequencyOracle:
        return listed("analysis", self.oracle)

    # ------------------------------------------------------------------------------------------------ its values

    @property
    def domain_size(self) -> int | None:
        """The number of values; None where they are strings."""
        return getattr(self.oracle, "domain_size", None)

    @property
    def candidates(self) -> tuple[str, ...] | None:
        """The strings that the values stand for; None where values are numbers, or any string."""
        return None

    @property
    def sent(self) -> Oracle:
        """The oracle that is named beside the reports: of one among candidates, that over strings."""
        return self.oracle

    def thresholds(self) -> Iterator[tuple[int, int]]:
        """Yield values whose words are compared with thresholds of their own, each with one."""
        yield from ()

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return a few values of a range whose pairs, among each other and with other ranges, are of every kind."""
        return self._listed.sample_values(start, stop)

    def resized(self, domain_size: int) -> FrequencyOracle:
        """Return the same oracle on a smaller domain, or among a few strings, with exposure allowed."""
        assert isinstance(self.oracle, FrequencyOracle | StringOracle)
        return self.oracle.resized(domain_size)

    @property
    def plain_values(self) -> Sequence[int] | None:
        """The values among which plain epsilon-LDP holds, for audits; None where it holds among all, or nowhere."""
        return self.oracle.plain_values

    # --------------------------------------------------------------------------------------------------- its law

    @property
    def outcomes(self) -> int:
        """The number of different reports, given the public randomness."""
        return self.oracle.outcomes

    def law(self, value: int, public: object = None) -> Law:
        """Return the exact output distribution for a value, conditional on the public randomness."""
        return self.oracle.law(value, public)

    def publics(self) -> Iterable[object]:
        """Return draws of the public randomness to try; ``(None,)`` where there is none."""
        return self.oracle.publics()

    @property
    def publics_are_all(self) -> bool:
        """Whether ``publics`` enumerates all public randomness, each draw equally likely."""
        return self.oracle.publics_are_all

    def check_enumerable(self) -> None:
        """Raise ``ParameterError`` if the law is too large to enumerate."""
        self._listed.check_enumerable()

    def likelihoods(self, data: Array) -> Floats:
        """Return the likelihood of each report (row) under every value (column), up to a factor for each row."""
        return self._listed.likelihoods(data)

    @property
    def enumerates(self) -> bool:
        """Whether ``likelihoods`` enumerates the law, for want of a formula."""
        own = type(self).likelihoods is not Analysis.likelihoods
        return not own and type(self._listed).likelihoods is FrequencyOracle.likelihoods

    # ----------------------------------------------------------------------------------------- what it gives away

    def profile(self, value: int = 0, other: int = 1) -> Profile | None:
        """Return the privacy loss distribution of a value against another in closed form; None if there is none."""
        return self._listed.profile(value, other)

    def overlaps(self) -> dict[Fraction, Fraction] | None:
        """Return the shared probability mass of two values, and the share of pairs that have it; None if unknown."""
        return self._listed.overlaps()

    def leaves(self) -> Iterable[Collection[int]] | None:
        """Return the sets of values that a report can leave possible; None if there is no closed form."""
        return self._listed.leaves()

    @property
    def unprotected(self) -> str | None:
        """What is protected less than the rest, in plain language; None if all values are protected alike."""
        return self.oracle.unprotected

    def parities(self) -> ParityLeak | None:
        """Return the exact parities that reports reveal; None if they reveal none."""
        return None

    def identified(self) -> list[float] | None:
        """Return how likely 0, 1, ... reports leave a single value possible, exactly; None if that is not known."""
        return [0.0] if self.oracle.anonymity == self.domain_size else None

    # ------------------------------------------------------------------------------------------------- fake users

    def fakes(self, targets: Targets) -> Strategy | None:
        """Return what fakes that promote these values send, and what that is worth; None if it is not known."""
        del targets
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

    @property
    def server_work(self) -> str:
        """How the work of tallying and estimating grows with ``n`` reports over ``d`` values."""
        return self.oracle.server_work

    def parts(self, tally: Tally, data: Array | None) -> Iterator[ReportPart]:
        """Yield the oracles that it is composed of, each with its share of a tally and of the reports."""
        del tally, data
        yield from ()


_COMPANIONS: dict[type, type[Analysis[Oracle]]] = {}


def analyses(*classes: type) -> Callable[[Companion], Companion]:
    """Make the decorated class the companion of these classes of oracles.

    >>> from dataclasses import dataclass
    >>> from fldp.oracles.kit import Analysis, PureOracle, analyses
    >>> class Mine(PureOracle): pass
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
    return _companion(type(oracle))(oracle)  # type: ignore[return-value]


@cache
def _companion(kind: type[Oracle]) -> type[Analysis[Oracle]]:
    for cls in kind.__mro__:
        _load_beside(cls.__module__)
        if cls in _COMPANIONS:
            return _COMPANIONS[cls]
    return Analysis


@cache
def _load_beside(module: str) -> None:
    """Import the companions of an oracle of this package, once they are asked for: a client needs none of them."""
    if module.startswith("fldp.oracles.") and find_spec(f"{module}_analysis"):
        import_module(f"{module}_analysis")


@analyses(Listed)
class ListedAnalysis(Analysis[Listed]):
    """Candidates are values; the reports are those of the string oracle."""

    @property
    def candidates(self) -> tuple[str, ...]:
        return self.oracle.candidates

    @property
    def sent(self) -> StringOracle:
        return self.oracle.base

    def fakes(self, targets: Targets) -> Strategy | None:
        return analysis(self.oracle.base).fakes_among(self.oracle.marks, targets)
