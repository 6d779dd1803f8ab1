"""Notion: a definition of privacy, as demands on the laws of every two values and on every report."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction

from fldp.oracles.base.profile import Profile
from fldp.randomness.coins import exp_lower
from fldp.support.exact_numbers import exact
from fldp.support.validation import fail, positive

Pair = tuple[int, int]
MAX_EPSILON = 64.0  # beyond it nothing is protected, and 64-bit coins cannot realise it


@dataclass(frozen=True)
class Demand:
    """What a notion demands of the privacy loss distribution of a pair; a bound that is None is not demanded.

    ``epsilon`` bounds the ratio over shared reports, ``eta`` is the least share of them, by count and by mass, and
    ``delta`` the most that may exceed e^epsilon.
    """

    epsilon: float
    eta: Fraction | None = None
    delta: Fraction | None = None

    def refusal(self, profile: Profile) -> str | None:
        """Return the reason why a profile breaks the demand, or None.

        >>> half = Fraction(1, 2)
        >>> from fldp.oracles.base.profile import Band
        >>> Demand(1.0, eta=Fraction(1)).refusal(Profile.of([Band(1, half, half), Band(1, half, Fraction(0))], 1))
        'they share 1/2 of their reports, 0.5 by probability, where 1 is promised'
        """
        bound = exp_lower(self.epsilon)
        if self.delta is not None and profile.excess(bound) > self.delta:
            return f"delta at epsilon {self.epsilon:g} is {float(profile.excess(bound)):g}, above {float(self.delta):g}"
        if self.eta is None:
            return None
        if min(profile.overlap, profile.shared_mass) < self.eta:
            shared = f"{shown(profile.overlap)} of their reports, {float(profile.shared_mass):g} by probability"
            return f"they share {shared}, where {shown(self.eta)} is promised"
        if profile.ratio > bound:
            return f"a report is {_large(profile.ratio)} times as likely, above e^{self.epsilon:g}"
        return None


def _large(ratio: Fraction) -> str:
    return f"{float(ratio):.6g}" if ratio < 10**300 else "more than 10^300"


def shown(share: Fraction) -> str:
    """Format a share as a fraction if that is short, else as a decimal."""
    return str(share) if share.denominator < 10_000 else f"{float(share):g}"


class Notion(ABC):
    """A definition of privacy: a demand for every ordered pair of values, and which reports are allowed.

    >>> from fldp.privacy.notions import LDP
    >>> LDP(1.0).demand(0, 1)
    Demand(epsilon=1.0, eta=Fraction(1, 1), delta=None)
    """

    @abstractmethod
    def demand(self, value: int, other: int) -> Demand | None:
        """Return the demand on a pair, or None if there is none."""

    @abstractmethod
    def ranges(self, domain_size: int) -> Iterable[tuple[int, int]]:
        """Return ranges of values, as start and end, that partition the domain.

        All pairs within a range have the same demand, and so have all pairs between two ranges.
        """

    def refusal(self, left: Collection[int], domain_size: int) -> str | None:
        """Return why a report that leaves exactly these values possible is forbidden, or None.

        It is for notions that are not about pairs of values alone.
        """
        del left, domain_size
        return None

    @property
    def looks_at_reports(self) -> bool:
        """Whether ``refusal`` can find anything wrong."""
        return type(self).refusal is not Notion.refusal

    def check_domain(self, domain_size: int) -> None:
        """Raise ``ParameterError`` if the notion does not fit a domain of this size."""
        del domain_size

    def name_of(self, value: int) -> str:
        """Return the name of a value in messages."""
        return str(value)


class Uniform(Notion):
    """A notion that demands the same of every pair."""

    def ranges(self, domain_size: int) -> Iterable[tuple[int, int]]:
        return [(0, domain_size)]


def bounded_epsilon(owner: str, value: object, name: str = "epsilon") -> float:
    """Accept a positive epsilon of at most 64."""
    epsilon = positive(owner, name, value)
    if epsilon > MAX_EPSILON:
        raise fail(owner, name, f"at most {MAX_EPSILON:g}", value)
    return epsilon


def exact_share(owner: str, name: str, value: object) -> Fraction:
    """Accept a number from 0 to 1, without rounding."""
    try:
        share = exact(value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise fail(owner, name, "a number from 0 to 1", value) from None
    if not 0 <= share <= 1:
        raise fail(owner, name, "a number from 0 to 1", value)
    return share
