"""Ledger: all answers of a person, and whether one more keeps to the person's limits. Pure data, no files, no NumPy.

Most answers are charged to limits that last. Where the person has limits that renew, an answer to a survey that is
repeated weekly or monthly is charged to the month of its epoch, and counts in no other limit.

A ledger that was cleared knows nothing of what was given away before. So nothing is charged to the month in which a
ledger began: months have the same borders for everybody, and what was spent before lies in that month or earlier ones.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from fldp.participant import epochs
from fldp.participant.epochs import YEAR, last_month_of, month_of, month_text
from fldp.participant.limits import Limits, Renewing, Spent
from fldp.support.exact_numbers import share_text
from fldp.support.validation import MAX_LISTED, fail, flag, is_integer


@dataclass(frozen=True)
class Charge:
    """One answer in the ledger: to whom, on what, at which cost, over which labels, on which day. Never the answer.

    ``labels`` identifies the set of labels and ``size`` is their number, the most that there can be where they are
    strings; ``day`` is in UTC. ``name`` is the survey's name, empty in ledgers that were written without it.

    ``epoch`` is the week or the month of the answer, where a survey is repeated by those. ``renews`` says that it was
    charged to the limits of that month; else it is charged to those that last.
    """

    origin: str
    topic: str
    version: str
    cost: Spent
    labels: str
    size: int
    day: str
    name: str = ""
    epoch: str = ""
    renews: bool = False

    def __post_init__(self) -> None:
        for name in ("origin", "topic", "version", "labels", "day", "name", "epoch"):
            if not isinstance(getattr(self, name), str):
                raise fail("Charge", name, "text", getattr(self, name))
        if not is_integer(self.size):
            raise fail("Charge", "size", "an integer", self.size)
        if self.epoch:
            month_of(self.epoch)
        if flag("Charge", "renews", self.renews) and not self.epoch:
            raise fail("Charge", "renews", "false without an epoch", self.renews)

    @cached_property
    def month(self) -> int:
        """The number of the month that its epoch counts in."""
        return month_of(self.epoch)


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
    """All answers of a person, in their order; ``born`` is the day on which the ledger began, where that is known.

    >>> cost = Spent(Fraction(1), Fraction(1, 2), 1)
    >>> ledger = Ledger((Charge("https://a.example", "browser", "0" * 64, cost, "f0", 5, "2026-11-01"),))
    >>> print(ledger.spent(origin="https://a.example"))
    epsilon 1, eta 1/2, 1 answer
    >>> again = Charge("https://a.example", "browser", "1" * 64, cost, "f1", 2, "2026-11-02")
    >>> ledger.refusals(again, Limits())
    ('answers on topic browser to https://a.example must have an eta of at least 1/2 together, got 1/4',)
    """

    charges: tuple[Charge, ...] = ()
    born: str = field(default="", compare=False, repr=False)

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

    def same(self, charge: Charge, *, kept: bool = False) -> Charge | None:
        """Return the charge of the same answer: to that version, of that origin, in that epoch.

        What is ``kept`` is charged once, in the epoch of the first answer: it is the same in all epochs.
        """
        known = (c for c in self.select(origin=charge.origin) if c.version == charge.version)
        return next((c for c in known if kept or c.epoch == charge.epoch), None)

    def spent(self, *, origin: str | None = None, topic: str | None = None, today: str | None = None) -> Spent:
        """Return the privacy loss of those answers together; ``today`` says which month is this one."""
        chosen = self.select(origin=origin, topic=topic)
        return replace(Spent.together(charge.cost for charge in chosen), renewing=_renewing(chosen, today))

    def refusals(self, charge: Charge, limits: Limits) -> tuple[str, ...]:
        """Return why one more answer would break the limits; nothing if it would not."""
        return tuple(self._by_month(charge, limits) if charge.renews else self._lasting(charge, limits))

    def _lasting(self, charge: Charge, limits: Limits) -> Iterator[str]:
        scopes = (
            (f"answers on topic {charge.topic} to {charge.origin}", limits.topic, (charge.origin, charge.topic)),
            (f"answers to {charge.origin}", limits.origin, (charge.origin, None)),
            ("all answers", limits.total, (None, None)),
        )
        for name, limit, (origin, topic) in scopes:
            before = (c for c in self.select(origin=origin, topic=topic) if not c.renews)
            yield from (f"{name} must have {breach}" for breach in limit.breaches(_together(*before, charge)))

    def _by_month(self, charge: Charge, limits: Limits) -> Iterator[str]:
        yield from self._too_young(charge)
        if charge.cost.eta != 1:
            rule = "answers that are charged by the month must have an eta of 1, since etas multiply to nothing"
            yield f"{rule}, got {share_text(charge.cost.eta)}"
            return
        if limits.month is None:
            yield "answers must not be charged by the month without a limit for each month"
            return
        every = [c for c in self.charges if c.renews]
        month, here = month_text(charge.month), [c for c in every if c.origin == charge.origin]
        for name, limit, before in (
            (f"answers to {charge.origin} in {month}", limits.month, here),
            (f"all answers in {month}", limits.month_total, every),
        ):
            spent = _together(*(c for c in before if c.month == charge.month), charge)
            yield from (f"{name} must have {breach}" for breach in limit.breaches(spent))
        yield from _in_a_year(charge, here, limits)

    def _too_young(self, charge: Charge) -> Iterator[str]:
        """Say that a ledger is too young: what was spent in this month before it began is not in it."""
        if not self.born:
            yield "nothing can be charged by the month in a store that does not say when its ledger began (born)"
        elif charge.month <= last_month_of(self.born):
            first = month_text(last_month_of(self.born) + 1)
            yield f"the ledger began on {self.born}: what is charged by the month begins with {first}"

    def notices(self, charge: Charge, limits: Limits) -> tuple[str, ...]:
        """Return what the person must know before answering: few labels, or other labels than last time."""
        notices = []
        if charge.size < limits.min_labels:
            notices.append(f"it has {charge.size} labels, fewer than {limits.min_labels}")
        before = self.related(charge)
        if before and before[-1].labels != charge.labels:
            last = before[-1]
            notices.append(f"its labels have changed since {last.day}: {_many(last)} then, {_many(charge)} now")
        return tuple(notices)


def _together(*charges: Charge) -> Spent:
    return Spent.together(charge.cost for charge in charges)


def _in_a_year(charge: Charge, before: Iterable[Charge], limits: Limits) -> Iterator[str]:
    """Say which twelve months around an answer would have too much; a clock may have been ahead, so also later ones."""
    near = [(c, c.month) for c in (*before, charge)]
    for start in range(charge.month - YEAR + 1, charge.month + 1):
        spent = _together(*(c for c, month in near if start <= month < start + YEAR))
        breaches = list(limits.year.breaches(spent))
        if breaches:
            year = f"from {month_text(start)} to {month_text(start + YEAR - 1)}"
            yield from (f"answers to {charge.origin} {year} must have {breach}" for breach in breaches)
            return


def _renewing(charges: Iterable[Charge], today: str | None) -> Renewing | None:
    """Return what was charged by the month, if anything was."""
    by_month: dict[int, Fraction] = {}
    for charge in charges:
        if charge.renews:
            by_month[charge.month] = by_month.get(charge.month, Fraction(0)) + charge.cost.epsilon
    if not by_month:
        return None
    now = by_month.get(month_of((today or epochs.today())[:7]), Fraction(0))
    return Renewing(sum(by_month.values(), Fraction(0)), len(by_month), now)


def _many(charge: Charge) -> str:
    """Return how many labels there were, in words; strings count as more than any list has."""
    return "any text" if charge.size == MAX_LISTED else str(charge.size)
