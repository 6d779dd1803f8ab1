"""Headroom: how many surveys like one a person can answer, with the limits that people have by default.

Whoever writes a survey learns here, before anybody is asked, what devices would say.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from fldp.participant.epochs import MAX_EPOCHS, YEAR
from fldp.participant.limits import Limit, Limits, Spent
from fldp.support.exact_numbers import decimal, number_text, share_text
from fldp.support.validation import counted
from fldp.survey.survey import Survey


@dataclass(frozen=True)
class Headroom:
    """How many surveys like one a person can answer, ever: on its topic, at one collector, and everywhere.

    Versions of a survey are on one topic, so each change of a survey takes one of ``on_topic``. So does each period of
    one that draws anew each week or month (``period``), unless a program has limits by the month: with the usual ones,
    a person answers in ``in_a_month`` periods of a month at most, and in ``in_a_year`` of a year. ``warnings`` say why
    nobody can answer even the first, and what to do.
    """

    on_topic: int
    at_origin: int
    everywhere: int
    each: Spent
    warnings: tuple[str, ...] = ()
    period: str = ""
    in_a_month: int = 0
    in_a_year: int = 0

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        if self.warnings:
            return "nobody can answer this survey with the default limits of a device"
        if self.period:
            return self._in_periods
        at_origin, on_topic = _more(self.at_origin - 1, "survey"), _more(self.on_topic - 1, "version")
        cost = f"epsilon {number_text(self.each.epsilon)}, eta {share_text(self.each.eta)} each"
        return f"after this one, people can answer {at_origin} like it here, and {on_topic} of it ({cost})"

    @property
    def _in_periods(self) -> str:
        ever = f"people can answer it in {counted(self.on_topic, self.period)}, ever"
        cost = f"epsilon {number_text(self.each.epsilon)}, eta {share_text(self.each.eta)} each"
        month = "" if self.period == "month" else f"{counted(self.in_a_month, self.period)} of a month and "
        return f"{ever} ({cost}); with limits by the month, in {month}{counted(self.in_a_year, self.period)} of a year"


def headroom(survey: Survey, limits: Limits | None = None) -> Headroom:
    """Return how many surveys like this one a person with these limits can answer; without any, with the default ones.

    >>> plain = {"name": "tea", "question": "Tea?", "labels": ["no", "yes", "often"]}
    >>> room = headroom(Survey.from_dict({**plain, "oracle": {"name": "grr", "epsilon": 1.0}}))
    >>> room.on_topic, room.at_origin, room.everywhere, room.warnings
    (2, 4, 8, ())
    >>> room.sentence
    'after this one, people can answer 3 more surveys like it here, and 1 more version of it (epsilon 1, eta 1 each)'
    >>> weekly = {**plain, "oracle": {"name": "grr", "epsilon": 0.5}, "collect": {"repeat": "weekly"}}
    >>> for part in headroom(Survey.from_dict(weekly)).sentence.split("; "):
    ...     print(part)
    people can answer it in 4 weeks, ever (epsilon 0.5, eta 1 each)
    with limits by the month, in 4 weeks of a month and 24 weeks of a year
    >>> for warning in headroom(Survey.from_dict({**plain, "oracle": {"name": "grr", "epsilon": 4.0}})).warnings:
    ...     print(warning)
    an answer costs epsilon 4, and the default limit of a device for a topic is 2: set epsilon to 2 or less
    """
    allowed = limits or Limits()
    each = Spent.on(survey.oracle, lasting=survey.keeps)
    scopes = [allowed.topic, allowed.origin, allowed.total]
    topic, origin, total = (_answers(limit, each) for limit in scopes)
    at_origin = min(origin, total)
    warnings = tuple(_warnings(survey, each, allowed))
    return Headroom(min(topic, at_origin), at_origin, total, each, warnings, *_periods(survey, each))


def _periods(survey: Survey, each: Spent) -> tuple[str, int, int] | tuple[()]:
    """Return the period in which a survey draws anew, and how many the usual limits by the month allow."""
    if survey.keeps or survey.repeat not in MAX_EPOCHS:
        return ()
    limits = Limits.renewing()
    assert limits.month is not None
    month, year = MAX_EPOCHS[survey.repeat]
    in_a_month = min(month, _answers(limits.month, each))
    return survey.repeat.removesuffix("ly"), in_a_month, min(year, YEAR * in_a_month, _answers(limits.year, each))


def _answers(limit: Limit, each: Spent) -> int:
    """Return how many answers of this cost a limit allows together."""
    total = Spent()
    for answers in count():
        total += each
        if any(limit.breaches(total)):
            return answers
    raise AssertionError  # every limit ends, by its number of answers at the latest


def _warnings(survey: Survey, each: Spent, limits: Limits) -> Iterator[str]:
    parameter = "epsilon_permanent" if survey.keeps else "epsilon"
    for scope, limit in (("a topic", limits.topic), ("a collector", limits.origin), ("all together", limits.total)):
        usual = f"the default limit of a device for {scope} is"
        if each.epsilon > limit.max_epsilon:
            costs, most = f"an answer costs epsilon {number_text(each.epsilon)}", Fraction(limit.max_epsilon)
            good = most * decimal(getattr(survey.oracle, parameter)) / each.epsilon  # the cost is a multiple of it
            yield f"{costs}, and {usual} {number_text(most)}: set {parameter} to {number_text(good)} or less"
            break
        if each.eta < limit.min_eta:
            least = share_text(Fraction(limit.min_eta))
            yield f"an answer has eta {share_text(each.eta)}, and {usual} {least}: take an oracle of plain LDP"
            break
    least_left, left = limits.min_anonymity, survey.oracle.anonymity
    if left < least_left:
        only = f"a report can leave {left} value{'' if left == 1 else 's'} possible"
        yield f"{only}, and devices want {least_left}: take an oracle of plain LDP"


def _more(number: int, noun: str) -> str:
    return f"{number if number else 'no'} more {noun}{'' if number == 1 else 's'}"
