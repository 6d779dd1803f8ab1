"""Ledger: all answers of a person, and whether one more keeps to the person's limits. Pure data, no files."""

from dataclasses import dataclass

from fldp.oracles.base.frequency_oracle import MAX_VALUES
from fldp.participant.limits import Limits, Spent
from fldp.support.validation import fail, is_integer


@dataclass(frozen=True)
class Charge:
    """One answer in the ledger: to whom, on what, at which cost, over which labels, on which day. Never the answer.

    ``labels`` identifies the set of labels and ``size`` is their number, the most that there can be where they are
    strings; ``day`` is in UTC. ``name`` is the survey's name, empty in ledgers that were written without it.
    """

    origin: str
    topic: str
    version: str
    cost: Spent
    labels: str
    size: int
    day: str
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("origin", "topic", "version", "labels", "day", "name"):
            if not isinstance(getattr(self, name), str):
                raise fail("Charge", name, "text", getattr(self, name))
        if not is_integer(self.size):
            raise fail("Charge", "size", "an integer", self.size)


@dataclass(frozen=True)
class Refusals:
    """How often surveys of one origin were refused, and the day of the last time, in UTC.

    >>> Refusals("https://a.example", 3, "2026-11-01")
    Refusals(origin='https://a.example', count=3, day='2026-11-01')
    """

    origin: str
    count: int
    day: str

    def __post_init__(self) -> None:
        for name in ("origin", "day"):
            if not isinstance(getattr(self, name), str):
                raise fail("Refusals", name, "text", getattr(self, name))
        if not is_integer(self.count) or self.count < 0:
            raise fail("Refusals", "count", "an integer of at least 0", self.count)


@dataclass(frozen=True)
class Ledger:
    """All answers of a person, in their order.

    >>> from fractions import Fraction
    >>> cost = Spent(Fraction(1), Fraction(1, 2), 1)
    >>> ledger = Ledger((Charge("https://a.example", "browser", "0" * 64, cost, "f0", 5, "2026-11-01"),))
    >>> print(ledger.spent(origin="https://a.example"))
    epsilon 1, eta 1/2, 1 answer
    >>> again = Charge("https://a.example", "browser", "1" * 64, cost, "f1", 2, "2026-11-02")
    >>> ledger.refusals(again, Limits())
    ('answers on topic browser to https://a.example must have an eta of at least 1/2 together, got 1/4',)
    """

    charges: tuple[Charge, ...] = ()

    def select(self, *, origin: str | None = None, topic: str | None = None) -> tuple[Charge, ...]:
        """Return the answers to an origin, on a topic, or both."""
        return tuple(c for c in self.charges if origin in (None, c.origin) and topic in (None, c.topic))

    def related(self, charge: Charge) -> tuple[Charge, ...]:
        """Return the answers to the same origin that share the survey's name or its topic.

        The server chooses the topic, and the program often chooses the name. A topic that is not given is the name, so
        either is compared with both: renaming one of them makes no new survey.
        """
        own = {charge.name, charge.topic} - {""}
        return tuple(c for c in self.select(origin=charge.origin) if own & {c.name, c.topic})

    def knows(self, charge: Charge) -> bool:
        """Whether that version was answered to that origin before."""
        return any(entry.version == charge.version for entry in self.select(origin=charge.origin))

    def spent(self, *, origin: str | None = None, topic: str | None = None) -> Spent:
        """Return the privacy loss of those answers together."""
        return Spent.together(charge.cost for charge in self.select(origin=origin, topic=topic))

    def refusals(self, charge: Charge, limits: Limits) -> tuple[str, ...]:
        """Return why one more answer would break the limits; nothing if it would not."""
        scopes = (
            (f"answers on topic {charge.topic} to {charge.origin}", limits.topic, (charge.origin, charge.topic)),
            (f"answers to {charge.origin}", limits.origin, (charge.origin, None)),
            ("all answers", limits.total, (None, None)),
        )
        return tuple(
            f"{name} must have {breach}"
            for name, limit, (origin, topic) in scopes
            for breach in limit.breaches(self.spent(origin=origin, topic=topic) + charge.cost)
        )

    def notices(self, charge: Charge, limits: Limits) -> tuple[str, ...]:
        """Return what the person must know before answering: few labels, or others than the last time."""
        notices = []
        if charge.size < limits.min_labels:
            notices.append(f"it has {charge.size} labels, fewer than {limits.min_labels}")
        before = self.related(charge)
        if before and before[-1].labels != charge.labels:
            last = before[-1]
            notices.append(f"its labels have changed since {last.day}: {_many(last)} then, {_many(charge)} now")
        return tuple(notices)


def _many(charge: Charge) -> str:
    """Return how many labels there were, in words; strings count as more than any list has."""
    return "any text" if charge.size == MAX_VALUES else str(charge.size)
