"""Rounds of searches: one that has its reports is closed, and its successor published."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from fldp.collector.config.clock import parse_time, text
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.storage.protocol import CollectorStore, StoredSurvey
from fldp.collector.storage.window import DayWindow
from fldp.errors import FldpError
from fldp.search.rounds import Round, Search
from fldp.survey.survey import Survey

log = logging.getLogger("fldp.collector")

Find = Callable[[int], PublishedSurvey | None]


@dataclass(frozen=True)
class Rule:
    """When a round is over: at ``quota`` reports, or from ``due`` on at ``least``."""

    quota: int = 1
    least: int = 1
    due: str = "9999"

    @classmethod
    def of(cls, search: Search, minimum: int, created: str) -> "Rule":
        """Return the rule of a round that was published at a time. A round is a result, so the minimum holds for it."""
        started = parse_time(created) if search.hours else None
        due = text(started + timedelta(hours=search.hours or 0)) if started else "9999"
        return cls(max(search.quota, minimum), minimum, due)


class Searches:
    """Advances searches. Several collectors may do so at once: the store gives a round one successor at most.

    ``find`` returns a survey by its number, as it is stored now; ``now`` the time.
    """

    def __init__(self, store: CollectorStore, find: Find, now: Callable[[], str]) -> None:
        self._store, self._find, self._now = store, find, now
        self._settled: set[int] = set()  # numbers of what is no search, or will not go on; a number is never used again
        self._rules: dict[int, Rule] = {}

    def go_on(self) -> None:
        """Go on with every search whose round has its reports, or its time."""
        for number, count in self._store.counts().items():
            if number not in self._settled and self._is_ready(number, count):
                try:
                    self._look(number, count)
                except Exception as error:  # one that cannot go on must not keep the others waiting
                    expected = isinstance(error, FldpError)
                    log.error("a search failed", extra={"error": str(error)}, exc_info=None if expected else error)

    def _is_ready(self, number: int, count: int) -> bool:
        rule = self._rules.get(number, Rule())
        return count >= rule.quota or (count >= rule.least and self._now() >= rule.due)

    def _look(self, number: int, count: int) -> None:
        published = self._find(number)
        question = published.survey.search if published else None
        if published is None or published.state(self._now()) == "closed" or question is None or question.is_last:
            self._settled.add(number)
            self._rules.pop(number, None)
            return
        minimum = published.survey.collect["minimum"]
        self._rules[number] = Rule.of(question.search, minimum, published.entry.created)
        if self._is_ready(number, count):
            self._succeed(number, published.survey, question)

    def _succeed(self, number: int, survey: Survey, now: Round) -> None:
        """Compute the next round from a snapshot. Later reports are stored, but have no say in it."""
        with self._store.snapshot() as snapshot:
            tally = DayWindow(number).tally(snapshot, survey.oracle)
        following = now.next_round(tally)
        if not isinstance(following, Round):  # nothing stood out
            self._store.close_surveys([number], self._now())
            return
        if self._store.succeed(number, StoredSurvey.new(survey.at(following), self._now())):
            log.info("a search goes on", extra={"survey": survey.name, "round": following.number})
