"""Collector: what all routes share. The store, the writer, the folder, threads for work, and what is known by heart."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import ParamSpec, TypeVar

from fldp.collector import warming
from fldp.collector.clock import Clock, day, system, text
from fldp.collector.folding import Folder
from fldp.collector.lake_writer import LakeWriter
from fldp.collector.metrics import Metrics
from fldp.collector.problem import Problem, busy, not_found
from fldp.collector.readiness import Readiness
from fldp.collector.searching import Searches
from fldp.collector.settings import Settings
from fldp.collector.store import Entry, Outcome, Store, StoreError, Submission, Verdict
from fldp.collector.writer import BusyError, Writer
from fldp.errors import FldpError
from fldp.reports import Reports
from fldp.survey import Survey

P = ParamSpec("P")
R = TypeVar("R")

_REMEMBERED, _REMEMBERED_TEXT = 64, 1 << 25  # surveys that are kept ready, and how long they are together as text


@dataclass(frozen=True)
class Published:
    """A survey as it is stored, and as it is used."""

    entry: Entry
    survey: Survey
    _shown: dict[str, bytes] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def read(cls, entry: Entry) -> "Published":
        """Make a survey from what is stored."""
        try:
            return cls(entry, Survey.from_dict(json.loads(entry.specification)))
        except (FldpError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise StoreError(f"store: the specification of version {entry.version} cannot be read") from None

    def shown(self, state: str) -> bytes:
        """Return what everybody may see of it, as JSON. All who read it share these bytes, however slowly they do."""
        if state not in self._shown:
            head = f'{{"version":"{self.entry.version}","state":"{state}","survey":'
            self._shown.clear()
            self._shown[state] = (head + self.entry.specification + "}").encode()
        return self._shown[state]

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


class Slot:
    """A request's place among those that are worked on. It is left while the client is waited for."""

    def __init__(self, collector: "Collector") -> None:
        self._collector, self._held = collector, False

    def take(self) -> None:
        """Take the place, or say that there is none."""
        if self._collector.in_flight >= self._collector.settings.max_in_flight:
            raise busy("too many requests at the same time, try again")
        self._collector.in_flight += 1
        self._held = True

    def leave(self) -> None:
        """Leave the place if it is held."""
        self._collector.in_flight -= self._held
        self._held = False


class Collector:
    """A running collector, apart from HTTP."""

    def __init__(self, settings: Settings, store: Store, clock: Clock = system) -> None:
        self.settings, self.store, self.clock = settings, store, clock
        self.metrics = Metrics()
        self.readiness = Readiness(store.probe)
        self.buffered = Budget(settings.max_buffered)
        self.slow = Budget(settings.max_slow)
        self.in_flight = self.open = 0
        self.stopping = False
        self._known: OrderedDict[str, Published] = OrderedDict()
        self._rates: dict[str, tuple[float, float]] = {}
        self._quick = ThreadPoolExecutor(4, "fldp-quick")
        self._heavy = ThreadPoolExecutor(settings.threads, "fldp-heavy")
        self._answers = ThreadPoolExecutor(settings.threads, "fldp-answers")
        self._writer = Writer(self._commit, most_waiting=settings.max_waiting)
        searches = Searches(store, self._stated, lambda: self.now)
        self._folder = Folder(store, self._survey, settings.fold_seconds, searches.go_on)
        self._lake = LakeWriter(store, settings.lake, clock) if settings.lake else None
        self._heavy.submit(warming.start)

    def stop(self) -> None:
        """End all threads and close the store; whoever still waits to be counted has had no answer."""
        self._writer.stop()
        self._folder.stop()
        if self._lake:
            self._lake.stop()
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
        """Return a survey by its version, as it is known here; it may have been closed or deleted since.

        That is enough for what ends in a commit, which decides by what is stored.
        """
        known = self._known.get(version)
        if known is None:
            return await self.current(version)
        self._known.move_to_end(version)
        return known

    async def current(self, version: str) -> Published:
        """Return a survey by its version, as it is stored now, whoever changed it."""
        entry = await self.quick(self.store.find, version)
        if entry is None:
            self._known.pop(version, None)
            raise not_found("version")
        return await self.read(entry)

    async def read(self, entry: Entry) -> Published:
        """Return a survey as it was just found in the store, read only if it is new here."""
        known = self._known.get(entry.version)
        if known is None or known.entry != entry:
            known = await self.heavy(self.recall, entry)
            await self.heavy(warming.warm, known.survey.oracle)
            self._known[entry.version] = known
            self._make_room()
        return known

    def recall(self, entry: Entry) -> Published:
        """Return a survey that was just found in the store; make it unless it is known. It is not remembered."""
        known = self._known.get(entry.version)
        return known if known is not None and known.entry == entry else Published.read(entry)

    def _make_room(self) -> None:
        """Forget what was not asked for lately. A survey takes ten times its text or so, so that is counted too."""
        lengths = [len(known.entry.specification) for known in self._known.values()]
        while len(lengths) > 1 and (len(lengths) > _REMEMBERED or sum(lengths) > _REMEMBERED_TEXT):
            lengths.pop(0)
            self._known.popitem(last=False)

    def forget(self) -> None:
        """Look everything up anew: a survey was closed or deleted."""
        self._known.clear()
        self._rates.clear()

    def _survey(self, number: int) -> Survey | None:
        entry = self.store.find_number(number)
        if entry is None:
            return None
        known = self._known.get(entry.version)
        return known.survey if known is not None else Published.read(entry).survey

    def _stated(self, number: int) -> tuple[Survey, str, str] | None:
        """Return a survey, its state, and when it was published, as it is stored now."""
        entry = self.store.find_number(number)
        found = None if entry is None else self.recall(entry)
        return None if found is None else (found.survey, found.state(self.now), found.entry.created)

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

    async def count(self, submission: Submission, version: str) -> int:
        """Have a submission committed; return the answer to it."""
        outcome = await self._counted(submission)
        if outcome.verdict is Verdict.GONE:  # or another collector has deleted the survey, and published it anew
            found = await self.current(version)
            closed = isinstance(submission.content, Reports) and found.state(self.now) != "open"
            outcome = await self._counted(replace(submission, survey=found.entry.number, closed=closed))
        if outcome.verdict is Verdict.HELD:
            raise busy("another collector is writing the same, try again")
        if outcome.verdict in _REFUSED:
            raise Problem(*_REFUSED[outcome.verdict])
        return outcome.accepted

    async def _counted(self, submission: Submission) -> Outcome:
        size = submission.size  # reports take more as arrays than they did as bytes
        self.buffered.take(size)
        try:
            return await self._writer.write(submission)
        except BusyError as error:
            raise busy(str(error)) from None
        finally:
            self.buffered.give(size)

    def _commit(self, submissions: Sequence[Submission]) -> list[Outcome]:
        outcomes = self.store.commit(submissions, self.today)
        accepted = sum(outcome.accepted for outcome in outcomes if outcome.verdict is Verdict.ACCEPTED)
        if accepted:
            self.readiness.written()
        self.metrics.count("fldp_commits_total")
        self.metrics.count("fldp_submissions_total", len(submissions))
        self.metrics.count("fldp_reports_total", accepted)
        return outcomes

    @property
    def alive(self) -> bool:
        """Whether reports are written and folded."""
        return self._writer.alive and self._folder.alive

    def gauges(self) -> dict[str, float]:
        """Return what is the case now, for the metrics."""
        return {
            "fldp_in_flight": self.in_flight,
            "fldp_open_requests": self.open,
            "fldp_slow_clients": self.slow.used,
            "fldp_waiting": len(self._writer),
            "fldp_buffered_bytes": self.buffered.used,
            "fldp_folded_reports": self._folder.folded,
            "fldp_fold_failures": self._folder.failures,
            **({"fldp_lake_failures": self._lake.failures} if self._lake else {}),
            "fldp_pending_reports": sum(count for _, _, count in self.store.pending()),
            "fldp_store_bytes": self.store.size(),
        }


_REFUSED: dict[Verdict, tuple[int, str | None, str]] = {
    Verdict.CONFLICT: (409, "conflict", "this Idempotency-Key was used with another body"),
    Verdict.CLOSED: (403, "closed", "the survey takes no reports now"),
    Verdict.SPENT: (403, "ticket-spent", "this ticket was spent on another answer"),
    Verdict.GONE: (404, None, "there is no such version"),
}
