"""Memoization: what people draw once and store, and the reports that are drawn from it anew each time."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Protocol

from fldp.data.formats import Array
from fldp.data.reports import Reports
from fldp.errors import MergeError
from fldp.randomness.stream import Stream

if TYPE_CHECKING:
    from fldp.oracles.base.oracle import Oracle


class Kept(Protocol):
    """What people store, a row each. It is never sent."""

    @property
    def oracle(self) -> "Oracle": ...
    @property
    def data(self) -> Array: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Memoization(ABC):
    """The two stages of an oracle, the first of which people draw once and store.

    If it ``follows``, what is stored depends on no value, and reports follow a value that changes. Else it is the
    permanent response to one value. ``steady_epsilon`` is the epsilon of all reports together of a value that does not
    change: of each of the ``answers`` that are stored. ``change_visible`` is the probability that a change of value can
    be seen at all, which no epsilon covers.
    """

    steady_epsilon: float
    answers: int
    change_visible: Fraction

    follows: ClassVar[bool]

    @property
    def lasting_epsilon(self) -> float:
        """The epsilon of all reports together that are drawn from what one person stores."""
        return self.answers * self.steady_epsilon

    @abstractmethod
    def keep(self, people: object, /, *, rng: int | Stream | None = None) -> Kept:
        """Draw what people store: given their values, or if it ``follows``, their number."""

    @abstractmethod
    def respond(self, kept: Kept, values: object = None, *, rng: int | Stream | None = None) -> Reports:
        """Draw a report of each person from what is stored, anew each time; if it ``follows``, of these values."""


def check_kept(oracle: "Oracle", kept: Kept) -> None:
    """Raise ``MergeError`` if what is stored is of another oracle."""
    if kept.oracle != oracle:
        raise MergeError(f"{oracle.title}: what is kept must be of {oracle!r}, got {kept.oracle!r}")


def following(oracle: "Oracle") -> Memoization | None:
    """Return the memoization of an oracle whose reports follow a value that changes; None of any other.

    >>> import fldp
    >>> following(fldp.LWR(0.5, 9, 1.0)).answers, following(fldp.GRR(0.5, 9))
    (2, None)
    """
    memoization = oracle.memoization
    return memoization if memoization is not None and memoization.follows else None


def lasting_epsilon(oracle: "Oracle") -> float:
    """Return the epsilon of all reports of one stored answer together: the epsilon of one report, if it is repeated."""
    return oracle.epsilon if oracle.memoization is None else oracle.memoization.lasting_epsilon


def steady_epsilon(oracle: "Oracle") -> float:
    """Return the epsilon of all reports together of a person whose value does not change.

    >>> import fldp
    >>> steady_epsilon(fldp.LWR(0.5, 9, 1.0)), lasting_epsilon(fldp.LWR(0.5, 9, 1.0)), steady_epsilon(fldp.GRR(0.5, 9))
    (1.0, 2.0, 0.5)
    """
    return oracle.epsilon if oracle.memoization is None else oracle.memoization.steady_epsilon
