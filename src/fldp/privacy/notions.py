"""Notions: what a promise of privacy demands of the laws of every two values."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from fldp.constraints import fail, positive
from fldp.errors import ParameterError
from fldp.oracle import FrequencyOracle
from fldp.oracles.grouped import Grouped, sizes
from fldp.privacy.laws import exact
from fldp.profile import Profile
from fldp.thresholds import exp_lower

Pair = tuple[int, int]
MOST_EPSILON = 64.0  # beyond it nothing is promised, and coins of 64 bits cannot keep it


@dataclass(frozen=True)
class Demand:
    """What is demanded of one value as another one sees it; every number that is left out is not demanded.

    ``epsilon`` bounds the ratio over shared reports, ``eta`` is the least share of them, by count and by mass, and
    ``delta`` the most that may exceed e^epsilon.
    """

    epsilon: float
    eta: Fraction | None = None
    delta: Fraction | None = None

    def refusal(self, profile: Profile) -> str | None:
        """Say what of it does not hold, or None.

        >>> half = Fraction(1, 2)
        >>> from fldp.profile import Band
        >>> Demand(1.0, eta=Fraction(1)).refusal(Profile.of([Band(1, half, half), Band(1, half, Fraction(0))], 1))
        'they share 1/2 of their reports, 0.5 by probability, where 1 is promised'
        """
        bound = exp_lower(self.epsilon)
        if self.delta is not None and profile.excess(bound) > self.delta:
            return f"delta at epsilon {self.epsilon:g} is {float(profile.excess(bound)):g}, above {float(self.delta):g}"
        if self.eta is None:
            return None
        if min(profile.overlap, profile.shared_mass) < self.eta:
            shared = f"{_shown(profile.overlap)} of their reports, {float(profile.shared_mass):g} by probability"
            return f"they share {shared}, where {_shown(self.eta)} is promised"
        if profile.ratio > bound:
            return f"a report is {_large(profile.ratio)} times as likely, above e^{self.epsilon:g}"
        return None


def _large(ratio: Fraction) -> str:
    return f"{float(ratio):.6g}" if ratio < 10**300 else "more than 10^300"


def _shown(share: Fraction) -> str:
    """Return a share as a fraction where that is short."""
    return str(share) if share.denominator < 10_000 else f"{float(share):g}"


class Notion(ABC):
    """A promise of privacy: for every ordered pair of values, what it demands of them.

    >>> LDP(1.0).demand(0, 1)
    Demand(epsilon=1.0, eta=Fraction(1, 1), delta=None)
    """

    @abstractmethod
    def demand(self, value: int, other: int) -> Demand | None:
        """Return what is demanded of a pair, or None where nothing is."""

    @abstractmethod
    def ranges(self, domain_size: int) -> Iterable[tuple[int, int]]:
        """Return the runs of values, each by its start and end, inside of which all pairs have one demand."""

    def check_domain(self, domain_size: int) -> None:
        """Refuse a domain that the notion does not fit: by default it fits all."""
        del domain_size


def bounded_epsilon(owner: str, value: Any) -> float:
    """Accept a positive epsilon of at most 64."""
    epsilon = positive(owner, "epsilon", value)
    if epsilon > MOST_EPSILON:
        raise fail(owner, "epsilon", f"at most {MOST_EPSILON:g}", value)
    return epsilon


def _share(owner: str, name: str, value: Any) -> Fraction:
    """Accept a number from 0 to 1, exactly as it is."""
    try:
        share = exact(value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise fail(owner, name, "a number from 0 to 1", value) from None
    if isinstance(value, bool) or not 0 <= share <= 1:
        raise fail(owner, name, "a number from 0 to 1", value)
    return share


class _Uniform(Notion):
    """A notion that demands the same of every pair."""

    def ranges(self, domain_size: int) -> Iterable[tuple[int, int]]:
        return [(0, domain_size)]


@dataclass(frozen=True)
class FLDP(_Uniform):
    """(epsilon, eta)-FLDP: any two values share at least ``eta`` of their reports, on which ``epsilon`` holds.

    The paper counts reports; here the share by probability has to be as large, too, since counting alone can be gamed.

    >>> import fldp
    >>> fldp.verify(fldp.FHR(epsilon=1.0, domain_size=7)).judge(FLDP(1.0, 0.5)).holds
    True
    """

    epsilon: float
    eta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", bounded_epsilon("FLDP", self.epsilon))
        object.__setattr__(self, "eta", _share("FLDP", "eta", self.eta))

    def demand(self, value: int, other: int) -> Demand:
        del value, other
        return Demand(self.epsilon, eta=self.eta)

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {_shown(self.eta)})-FLDP"


@dataclass(frozen=True)
class LDP(_Uniform):
    """epsilon-LDP: no report is more than e^epsilon times as likely under one value as under another.

    >>> import fldp
    >>> fldp.verify(fldp.FHR(epsilon=1.0, domain_size=7)).judge(LDP(1.0)).holds
    False
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", bounded_epsilon("LDP", self.epsilon))

    def demand(self, value: int, other: int) -> Demand:
        del value, other
        return Demand(self.epsilon, eta=Fraction(1))

    def __str__(self) -> str:
        return f"{self.epsilon:g}-LDP"


@dataclass(frozen=True)
class ApproximateLDP(_Uniform):
    """(epsilon, delta)-LDP: every set of reports is at most e^epsilon times as likely, plus ``delta``.

    >>> import fldp
    >>> fldp.verify(fldp.FHR(epsilon=1.0, domain_size=7)).judge(ApproximateLDP(1.0, 0.5)).holds
    True
    """

    epsilon: float
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", bounded_epsilon("ApproximateLDP", self.epsilon))
        object.__setattr__(self, "delta", _share("ApproximateLDP", "delta", self.delta))

    def demand(self, value: int, other: int) -> Demand:
        del value, other
        return Demand(self.epsilon, delta=self.delta)

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {float(self.delta):g})-LDP"


@dataclass(frozen=True)
class GroupedLDP(Notion):
    """epsilon-LDP inside each group, nothing between groups: weak. The groups are runs of values of these sizes.

    >>> import fldp
    >>> oracle = fldp.Grouped(epsilon=1.0, base="grr", groups=[3, 2])
    >>> fldp.verify(oracle).judge(GroupedLDP(1.0, [3, 2])).holds, fldp.verify(oracle).judge(LDP(1.0)).holds
    (True, False)
    """

    epsilon: float
    groups: tuple[int, ...]
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", bounded_epsilon("GroupedLDP", self.epsilon))
        object.__setattr__(self, "groups", sizes("GroupedLDP", "groups", self.groups))
        object.__setattr__(self, "_starts", tuple(accumulate(self.groups)))

    def _group(self, value: int) -> int:
        return sum(value >= start for start in self._starts)

    def demand(self, value: int, other: int) -> Demand | None:
        return Demand(self.epsilon, eta=Fraction(1)) if self._group(value) == self._group(other) else None

    def ranges(self, domain_size: int) -> Iterable[tuple[int, int]]:
        del domain_size
        return pairwise((0, *self._starts))

    def check_domain(self, domain_size: int) -> None:
        if sum(self.groups) != domain_size:
            raise fail("GroupedLDP", "groups", f"of {domain_size} values in all", list(self.groups))

    def __str__(self) -> str:
        return f"{self.epsilon:g}-LDP inside {len(self.groups)} groups, nothing between them (weak)"


def declared(oracle: FrequencyOracle) -> Notion:
    """Return what an oracle promises.

    >>> import fldp
    >>> print(declared(fldp.FHR(epsilon=1.0, domain_size=7)), declared(fldp.OUE(epsilon=1.0, domain_size=7)))
    (1, 1/2)-FLDP 1-LDP
    """
    if isinstance(oracle, Grouped):
        return GroupedLDP(oracle.epsilon, oracle.groups)
    return LDP(oracle.epsilon) if oracle.eta == 1 else FLDP(oracle.epsilon, oracle.eta)


NOTIONS: dict[str, type[Notion]] = {cls.__name__: cls for cls in (LDP, FLDP, ApproximateLDP, GroupedLDP)}


def parse(text: str) -> Notion:
    """Read a notion as it is written in Python; shares may be fractions.

    >>> parse("FLDP(1, 1/2)")
    FLDP(epsilon=1.0, eta=Fraction(1, 2))
    """
    rule = "such as LDP(1), FLDP(1, 1/2), ApproximateLDP(1, 1e-6) or GroupedLDP(1, [3, 2])"
    name, bracket, rest = text.strip().partition("(")
    if name not in NOTIONS or not bracket or not rest.endswith(")"):
        raise ParameterError(f"verify: a claim must be {rule}, got {text!r}")
    try:
        epsilon, *more = (part.strip() for part in rest[:-1].split(",", 1))
        return NOTIONS[name](float(epsilon), *map(_argument, more))  # type: ignore[call-arg]
    except (TypeError, ValueError, ZeroDivisionError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"verify: a claim must be {rule}, got {text!r}") from None


def _argument(text: str) -> Any:
    if text.startswith("["):
        return [int(size) for size in text.strip("[]").split(",")]
    return exact(text)
