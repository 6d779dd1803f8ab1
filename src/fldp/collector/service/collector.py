"""Collector: what all routes share. The store, the writer, the folder, threads for work, and what is known by heart."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, ParamSpec, TypeVar

from fldp.collector.config.clock import Clock, day, system, text
from fldp.collector.config.settings import Settings
from fldp.collector.service import warming
from fldp.collector.service.answers import Answers
from fldp.collector.service.catalog import Catalog
from fldp.collector.service.catalog import PublishedSurvey as Published
from fldp.collector.service.folding import Folder
from fldp.collector.service.group_commit import BusyError, GroupCommitter
from fldp.collector.service.lake_writer import LakeWriter
from fldp.collector.service.metrics import Metrics
from fldp.collector.service.problems import Problem, busy
from fldp.collector.service.readiness import Readiness
from fldp.collector.service.search_rounds import Searches
from fldp.collector.storage.protocol import Admitted, CollectorStore, Submission, SubmissionResult
from fldp.data.reports import Reports
from fldp.survey.survey import Survey

P = ParamSpec("P")
R = TypeVar("R")


class Budget:
    """A number of bytes that may be held at the same time, perhaps as a part of another budget.

    Only the event loop touches it.
    """

    def __init__(self, most: int, whole: "Budget | None" = None) -> None:
        self.most, self.used, self._whole = most, 0, whole

    def take(self, amount: int) -> None:
        """Take some, or say that there is no more."""
        if self.used + amount > self.most:
            raise busy("the collector holds as many bytes as it may, try again")
        if self._whole:
            self._whole.take(amount)
        self.used += amount

    def give(self, amount: int) -> None:
        """Give some back."""
        self.used -= amount
        if self._whole:
            self._whole.give(amount)


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

    def __init__(self, settings: Settings, store: CollectorStore, clock: Clock = system) -> None:
        self.settings, self.store, self.clock = settings, store, clock
        self.metrics = Metrics()
        self.readiness = Readiness(store.probe)
        self.buffered = Budget(settings.max_buffered)
        self.candidates = Budget(settings.max_buffered // 4, self.buffered)  # the rest is for those who send reports
        self.slow = Budget(settings.max_slow)
        self.in_flight = 0
        self.requests: set[asyncio.Task[Any]] = set()
        self.stopping = False
        self._rates: dict[str, tuple[float, float]] = {}
        self._quick = ThreadPoolExecutor(4, "fldp-quick")
        self._heavy = ThreadPoolExecutor(settings.threads, "fldp-heavy")
        self._deletions = ThreadPoolExecutor(1, "fldp-deletions")
        self.answers = Answers(settings.threads, settings.max_answers, self.metrics)
        self.catalog = Catalog(store, self.quick, self.heavy)
        self._writer = GroupCommitter(self._commit, most_waiting=settings.max_waiting)
        searches = Searches(store, self._stated, lambda: self.now)
        self._folder = Folder(store, self._survey, settings.fold_seconds, searches.go_on)
        self._lake = LakeWriter(store, settings.lake, clock) if settings.lake else None
        self._heavy.submit(warming.start)

    def stop(self, seconds: float | None = None) -> list[str]:
        """End all threads and close the store; whoever still waits to be counted has had no answer.

        After some seconds it returns without those that have not ended, and tells which: a thread that computes, or
        waits for a database, cannot be interrupted. The store is then left to the end of the process.
        """
        ends: dict[str, Callable[[], object]] = {
            "writer": self._writer.stop,
            "folder": self._folder.stop,
            "answers": self.answers.stop,
            "lake": self._lake.stop if self._lake else lambda: None,
            "deletions": partial(self._deletions.shutdown, cancel_futures=True),
            "heavy": partial(self._heavy.shutdown, cancel_futures=True),
            "quick": partial(self._quick.shutdown, cancel_futures=True),
        }
        unfinished = _ended(ends, seconds)
        if not unfinished:
            self.store.close()
        return unfinished

    @property
    def open(self) -> int:
        """How many requests have begun and not ended, waited for or worked on."""
        return len(self.requests)

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

    async def delete(self, numbers: Sequence[int]) -> None:
        """Delete surveys, which may take minutes; one deletion at a time."""
        await asyncio.get_running_loop().run_in_executor(self._deletions, self.store.delete_surveys, numbers)

    # ----------------------------------------------------------------------------------------------- surveys

    async def published(self, version: str) -> Published:
        """Return a survey by its version, as it is known here; it may have been closed or deleted since."""
        return await self.catalog.published(version)

    async def current(self, version: str) -> Published:
        """Return a survey by its version, as it is stored now, whoever changed it."""
        return await self.catalog.current(version)

    def forget(self) -> None:
        """Look everything up anew: a survey was closed or deleted."""
        self.catalog.forget()
        self._rates.clear()

    def _survey(self, number: int) -> Survey | None:
        entry = self.store.find_number(number)
        return None if entry is None else self.catalog.recall(entry).survey

    def _stated(self, number: int) -> tuple[Survey, str, str] | None:
        """Return a survey, its state, and when it was published, as it is stored now."""
        entry = self.store.find_number(number)
        found = None if entry is None else self.catalog.recall(entry)
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
        if outcome.verdict is Admitted.GONE:  # or another collector has deleted the survey, and published it anew
            found = await self.current(version)
            closed = isinstance(submission.content, Reports) and found.state(self.now) != "open"
            outcome = await self._counted(replace(submission, survey=found.entry.number, closed=closed))
        if outcome.verdict is Admitted.HELD:
            raise busy("another collector is writing the same, try again")
        if outcome.verdict in _REFUSED:
            raise Problem(*_REFUSED[outcome.verdict])
        return outcome.accepted

    async def _counted(self, submission: Submission) -> SubmissionResult:
        size = submission.size  # reports take more as arrays than they did as bytes
        self.buffered.take(size)
        try:
            return await self._writer.write(submission)
        except BusyError as error:
            raise busy(str(error)) from None
        finally:
            self.buffered.give(size)

    def _commit(self, submissions: Sequence[Submission]) -> list[SubmissionResult]:
        outcomes = self.store.commit(submissions, self.today)
        accepted = sum(outcome.accepted for outcome in outcomes if outcome.verdict is Admitted.ACCEPTED)
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
            "fldp_answers_pending": self.answers.pending,
            "fldp_slow_clients": self.slow.used,
            "fldp_waiting": len(self._writer),
            "fldp_buffered_bytes": self.buffered.used,
            "fldp_folded_reports": self._folder.folded,
            "fldp_fold_failures": self._folder.failures,
            **({"fldp_lake_failures": self._lake.failures} if self._lake else {}),
            "fldp_pending_reports": sum(count for _, _, count in self.store.pending()),
            "fldp_store_bytes": self.store.size(),
        }


def _ended(ends: Mapping[str, Callable[[], object]], seconds: float | None) -> list[str]:
    """Call functions that wait for threads, all at the same time; return those that have not returned in time."""
    waiting = {name: threading.Thread(target=end, daemon=True) for name, end in ends.items()}
    for thread in waiting.values():
        thread.start()
    deadline = None if seconds is None else time.monotonic() + seconds
    for thread in waiting.values():
        thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
    return [name for name, thread in waiting.items() if thread.is_alive()]


_REFUSED: dict[Admitted, tuple[int, str | None, str]] = {
    Admitted.CONFLICT: (409, "conflict", "this Idempotency-Key was used with another body"),
    Admitted.CLOSED: (403, "closed", "the survey takes no reports now"),
    Admitted.SPENT: (403, "ticket-spent", "this ticket was spent on another answer"),
    Admitted.GONE: (404, None, "there is no such version"),
}
