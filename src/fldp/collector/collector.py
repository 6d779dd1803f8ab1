"""Collector: what all routes share. The store, the writer, the folder, threads for work, and what is known by heart."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from fldp.collector.clock import Clock, day, system, text
from fldp.collector.folding import Folder
from fldp.collector.metrics import Metrics
from fldp.collector.problem import Problem, busy, not_found
from fldp.collector.segments import packed
from fldp.collector.settings import Settings
from fldp.collector.store import Entry, Outcome, Store, Submission, Verdict
from fldp.collector.writer import BusyError, Writer
from fldp.oracles import RR
from fldp.survey import Survey

P = ParamSpec("P")
R = TypeVar("R")

_REMEMBERED = 64  # surveys that are kept ready; one with a million labels takes about 100 MB


@dataclass(frozen=True)
class Published:
    """A survey as it is stored, and as it is used."""

    entry: Entry
    survey: Survey

    @classmethod
    def read(cls, entry: Entry) -> "Published":
        """Make a survey from what is stored."""
        return cls(entry, Survey.from_dict(json.loads(entry.specification)))

    def state(self, now: str) -> str:
        """Return whether reports are taken: ``open``, ``closed``, or ``scheduled`` to open."""
        opens, closes = self.survey.collect["opens"], self.survey.collect["closes"]
        if self.entry.closed is not None or (closes and now >= closes):
            return "closed"
        return "scheduled" if opens and now < opens else "open"


class Budget:
    """A number of bytes that may be held at the same time; only the event loop touches it."""

    def __init__(self, most: int) -> None:
        self.most, self.used = most, 0

    def take(self, amount: int) -> None:
        """Take some, or say that there is no more."""
        if self.used + amount > self.most:
            raise busy("the collector holds as many bytes as it may, try again")
        self.used += amount

    def give(self, amount: int) -> None:
        """Give some back."""
        self.used -= amount


class Collector:
    """A running collector, apart from HTTP."""

    def __init__(self, settings: Settings, store: Store, clock: Clock = system) -> None:
        self.settings, self.store, self.clock = settings, store, clock
        self.metrics = Metrics()
        self.buffered = Budget(settings.max_buffered)
        self.in_flight = 0
        self.stopping = False
        self._known: OrderedDict[str, Published] = OrderedDict()
        self._changes = 0
        self._rates: dict[str, tuple[float, float]] = {}
        self._quick = ThreadPoolExecutor(4, "fldp-quick")
        self._heavy = ThreadPoolExecutor(settings.threads, "fldp-heavy")
        self._answers = ThreadPoolExecutor(settings.threads, "fldp-answers")
        self._writer = Writer(self._commit, most_waiting=settings.max_waiting)
        self._folder = Folder(store, self._survey, settings.fold_seconds)
        self._heavy.submit(_warm)

    def stop(self) -> None:
        """End all threads and close the store; whoever still waits to be counted has had no answer."""
        self._writer.stop()
        self._folder.stop()
        self._quick.shutdown()
        self._heavy.shutdown()
        self._answers.shutdown()
        self.store.close()

    @property
    def now(self) -> str:
        """The time, as text."""
        return text(self.clock())

    @property
    def today(self) -> str:
        """The UTC day."""
        return day(self.clock())

    async def quick(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do what takes a moment, off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._quick, lambda: function(*args, **kwargs))

    async def heavy(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do what computes, off the event loop; only so many at the same time."""
        return await asyncio.get_running_loop().run_in_executor(self._heavy, lambda: function(*args, **kwargs))

    async def answer(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do what may take seconds, such as an estimate of a million values; reports need not wait for it."""
        return await asyncio.get_running_loop().run_in_executor(self._answers, lambda: function(*args, **kwargs))

    # ----------------------------------------------------------------------------------------------- surveys

    async def published(self, version: str) -> Published:
        """Return a survey by its version."""
        known = self._known.get(version)
        if known is None:
            moment = self._changes
            entry = await self.quick(self.store.find, version)
            if entry is None:
                raise not_found("version")
            known = await self.heavy(Published.read, entry)
            if moment == self._changes:  # nothing was closed or deleted meanwhile
                self._known[version] = known
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(version)
        return known

    def forget(self) -> None:
        """Look everything up anew: a survey was closed or deleted."""
        self._changes += 1
        self._known.clear()
        self._rates.clear()

    def _survey(self, number: int) -> Survey | None:
        entry = self.store.find_number(number)
        if entry is None:
            return None
        known = self._known.get(entry.version)
        return known.survey if known is not None else Published.read(entry).survey

    # ----------------------------------------------------------------------------------------------- reports

    def check_rate(self, version: str) -> None:
        """Refuse a request beyond the rate; a second's worth may come at once."""
        rate = self.settings.rate
        if not rate:
            return
        now = time.monotonic()
        left, before = self._rates.get(version, (max(1.0, rate), now))
        left = min(max(1.0, rate), left + (now - before) * rate)
        self._rates[version] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            wait = max(1, round((1 - left) / rate))
            raise Problem(429, "rate", "too many requests with reports, try again later", {"Retry-After": str(wait)})

    async def count(self, submission: Submission) -> int:
        """Have a submission committed; return the answer to it."""
        try:
            outcome = await self._writer.write(submission)
        except BusyError as error:
            raise busy(str(error)) from None
        if outcome.verdict in _REFUSED:
            raise Problem(*_REFUSED[outcome.verdict])
        return outcome.accepted

    def _commit(self, submissions: Sequence[Submission]) -> list[Outcome]:
        outcomes = self.store.commit(submissions, self.today)
        accepted = sum(outcome.accepted for outcome in outcomes if outcome.verdict is Verdict.ACCEPTED)
        self.metrics.count("fldp_commits_total")
        self.metrics.count("fldp_submissions_total", len(submissions))
        self.metrics.count("fldp_reports_total", accepted)
        return outcomes

    def gauges(self) -> dict[str, float]:
        """Return what is the case now, for the metrics."""
        return {
            "fldp_in_flight": self.in_flight,
            "fldp_waiting": len(self._writer),
            "fldp_buffered_bytes": self.buffered.used,
            "fldp_folded_reports": self._folder.folded,
            "fldp_pending_reports": sum(count for _, _, count in self.store.pending()),
            "fldp_store_bytes": self.store.size(),
        }


def _warm() -> None:
    """Load the compiled kernels, so that the first batch need not wait for them."""
    packed([RR(epsilon=1.0).privatize([0, 1])])


_REFUSED: dict[Verdict, tuple[int, str | None, str]] = {
    Verdict.CONFLICT: (409, "conflict", "this Idempotency-Key was used with another body"),
    Verdict.CLOSED: (403, "closed", "the survey takes no reports now"),
    Verdict.SPENT: (403, "ticket-spent", "this ticket was spent on another answer"),
    Verdict.GONE: (404, None, "there is no such version"),
}
