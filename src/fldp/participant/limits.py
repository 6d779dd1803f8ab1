"""Limits: the privacy loss of answers together, and how much of it their owner allows.

Independent answers of one person compose: together they are (sum of epsilon, product of eta)-FLDP. That holds across
surveys, versions and oracles, so these two numbers are all that matters about an answer.

All arithmetic is rational, nothing is rounded. An epsilon counts as the decimal number that its survey writes: 0.1 is
1/10, and ten of them are 1. The double that an oracle computes with lies within one part in 2^53 of it.

Limits last, unless their owner gives one for each month. Then surveys that are repeated weekly or monthly are charged
to the limits of their month, and nothing else is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fldp.support.exact_numbers import decimal, number_text, share_text
from fldp.support.validation import MAX_LISTED, counted, fail, integer, number, positive

if TYPE_CHECKING:  # this file is part of the light ledger, which loads no NumPy
    from fldp.oracles.base.oracle import Oracle

_MAX_ANSWERS = 10**6


def _share(owner: str, name: str, value: float | Fraction) -> Fraction:
    """Accept a number from 0 to 1, as a fraction."""
    number(0, 1)(owner, name, value)
    return decimal(value)


def _amount(owner: str, name: str, value: float | Fraction) -> Fraction:
    """Accept a positive number, as a fraction."""
    positive(owner, name, value)
    return decimal(value)


@dataclass(frozen=True)
class Renewing:
    """The part of a privacy loss that was charged by the month: its epsilon, in how many months, and in this one.

    >>> print(Renewing(Fraction(7), 7, Fraction(1)))
    epsilon 7 in 7 months, 1 this month
    """

    epsilon: Fraction
    months: int
    this_month: Fraction

    def __str__(self) -> str:
        now = "nothing" if not self.this_month else number_text(self.this_month)
        return f"epsilon {number_text(self.epsilon)} in {counted(self.months, 'month')}, {now} this month"


@dataclass(frozen=True)
class Spent:
    """The privacy loss of independent answers together. ``a + b`` composes: epsilons add up, etas multiply.

    ``renewing`` says how much of it was charged by the month, where a ledger knows. It is spent like the rest: the
    limits renew, and what was given away stays given away.

    >>> one = Spent(epsilon=Fraction(1), eta=Fraction(1, 2), answers=1)
    >>> print(one + one)
    epsilon 2, eta 1/4, 2 answers
    >>> print(Spent())
    epsilon 0, eta 1, 0 answers
    """

    epsilon: Fraction = Fraction(0)
    eta: Fraction = Fraction(1)
    answers: int = 0
    renewing: Renewing | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", integer(0, 2 * _MAX_ANSWERS)("Spent", "answers", self.answers))
        object.__setattr__(self, "eta", _share("Spent", "eta", self.eta))
        if self.answers or self.epsilon != 0:
            object.__setattr__(self, "epsilon", _amount("Spent", "epsilon", self.epsilon))

    @classmethod
    def on(cls, oracle: "Oracle", *, lasting: bool = False) -> "Spent":
        """Return the privacy loss of one answer: of one report, or of all reports of a permanent response.

        >>> import fldp
        >>> print(Spent.on(fldp.FHR(epsilon=0.1, domain_size=100)))
        epsilon 0.1, eta 1/2, 1 answer
        """
        from fldp.oracles.base.memoization import lasting_epsilon

        return cls(decimal(lasting_epsilon(oracle) if lasting else oracle.epsilon), oracle.eta, 1)

    @classmethod
    def together(cls, costs: "Iterable[Spent]") -> "Spent":
        """Compose any number of costs.

        >>> Spent.together([]) == Spent()
        True
        """
        epsilon, eta, answers = Fraction(0), Fraction(1), 0
        for cost in costs:
            epsilon, eta, answers = epsilon + cost.epsilon, eta * cost.eta, answers + cost.answers
        return cls(epsilon, eta, answers)

    def __add__(self, other: object) -> "Spent":
        return Spent.together((self, other)) if isinstance(other, Spent) else NotImplemented

    def __str__(self) -> str:
        answers = counted(self.answers, "answer")
        together = f"epsilon {number_text(self.epsilon)}, eta {share_text(self.eta)}, {answers}"
        return together if self.renewing is None else f"{together} ({self.renewing})"


@dataclass(frozen=True)
class Limit:
    """How much answers may give away together: the person's word, not the server's.

    ``max_answers`` bounds what a server can make a device store, with many questions of a minute epsilon.

    >>> limit = Limit(max_epsilon=1.0, min_eta=0.5)
    >>> list(limit.breaches(Spent(Fraction(1), Fraction(1, 2), 1)))
    []
    >>> list(limit.breaches(Spent(Fraction(11, 10), Fraction(1, 4), 2)))
    ['an epsilon of at most 1 together, got 1.1', 'an eta of at least 1/2 together, got 1/4']
    """

    max_epsilon: float | Fraction
    min_eta: float | Fraction
    max_answers: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_epsilon", _amount("Limit", "max_epsilon", self.max_epsilon))
        object.__setattr__(self, "min_eta", _share("Limit", "min_eta", self.min_eta))
        object.__setattr__(self, "max_answers", integer(1, _MAX_ANSWERS)("Limit", "max_answers", self.max_answers))

    def breaches(self, spent: Spent) -> Iterator[str]:
        """Yield the parts of the limit that would be exceeded."""
        if spent.epsilon > self.max_epsilon:
            yield f"an epsilon of at most {number_text(self.max_epsilon)} together, got {number_text(spent.epsilon)}"
        if spent.eta < self.min_eta:
            yield f"an eta of at least {share_text(decimal(self.min_eta))} together, got {share_text(spent.eta)}"
        if spent.answers > self.max_answers:
            yield f"a number of at most {self.max_answers}, got {spent.answers}"


@dataclass(frozen=True)
class Limits:
    """The person's limits: on one topic of one origin, on one origin, on everybody together; and on single surveys.

    A server can rename its topic, so the limit of its origin counts all topics; a party can have many origins, so
    ``total`` counts all origins. By default each limit is twice the one before. ``min_anonymity`` is the least number
    of values that a report may leave possible; a survey of fewer than ``min_labels`` labels is shown to the person
    first.

    These do not expire. With a limit for each ``month``, which no survey can ask for, surveys that are repeated weekly
    or monthly are charged to their month instead: to ``month`` for one origin, ``month_total`` for all of them, and
    ``year`` for one origin in any twelve months. They must be plain LDP: the etas of many months
    would multiply to nearly 0.

    >>> Limits().topic
    Limit(max_epsilon=Fraction(2, 1), min_eta=Fraction(1, 2), max_answers=100)
    >>> Limits(topic=Limit(max_epsilon=1.0, min_eta=1)).origin.max_epsilon
    Fraction(4, 1)
    >>> Limits.renewing().month, Limits().month
    (Limit(max_epsilon=Fraction(2, 1), min_eta=Fraction(1, 1), max_answers=100), None)
    """

    topic: Limit = Limit(2, Fraction(1, 2))
    origin: Limit = Limit(4, Fraction(1, 4))
    total: Limit = Limit(8, Fraction(1, 16), 1000)
    min_anonymity: int = 2
    min_labels: int = 3
    month: Limit | None = None
    month_total: Limit = Limit(4, 1, 1000)
    year: Limit = Limit(12, 1, 1000)

    def __post_init__(self) -> None:
        for name in ("topic", "origin", "total", "month", "month_total", "year"):
            limit = getattr(self, name)
            if not isinstance(limit, Limit) and (name, limit) != ("month", None):
                raise fail("Limits", name, "a Limit", limit)
            if isinstance(limit, Limit) and limit.min_eta != 1 and name in ("month", "month_total", "year"):
                raise fail("Limits", name, "a Limit with min_eta = 1: by the month, all is plain LDP", limit.min_eta)
        for name in ("min_anonymity", "min_labels"):
            integer(1, MAX_LISTED)("Limits", name, getattr(self, name))

    @classmethod
    def renewing(cls) -> "Limits":
        """Return the usual limits with the usual one for each month: for programs that report week by week or so."""
        return cls(month=Limit(2, 1))
