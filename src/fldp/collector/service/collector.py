"""Collector: what all routes share. The store, worker pools, the survey cache, limits, and the background threads."""

import asyncio
from collections.abc import Sequence
from typing import Any

from fldp.collector.config.clock import Clock, day, system, text
from fldp.collector.config.settings import Settings
from fldp.collector.service import kernel_warmup, process
from fldp.collector.service.answers import Answers
from fldp.collector.service.counting import Counting, SingleReport
from fldp.collector.service.folding import Folder
from fldp.collector.service.gateway_keys import GatewayKeys
from fldp.collector.service.lake_writer import CollectorLake, LakeWriter
from fldp.collector.service.load_limits import Load
from fldp.collector.service.metrics import Metrics, Series
from fldp.collector.service.pass_issuer import PassIssuer
from fldp.collector.service.readiness import Readiness
from fldp.collector.service.search_rounds import Searches
from fldp.collector.service.survey_cache import SurveyCache
from fldp.collector.service.workers import Stop, Workers, stop_all
from fldp.collector.storage.protocol import CollectorStore, PassOrder, Submission, SubmissionResult, Withdrawal
from fldp.survey.survey import Survey


def _metrics(settings: Settings) -> Metrics:
    if not settings.otel:
        return Metrics()
    from fldp.collector.service.open_telemetry import exporting

    return exporting()


class Collector:
    """A running collector, apart from HTTP."""

    def __init__(self, settings: Settings, store: CollectorStore, clock: Clock = system) -> None:
        self.settings, self.store, self.clock = settings, store, clock
        self.metrics, self.load, self.readiness = _metrics(settings), Load(settings), Readiness(store.probe)
        self.requests: set[asyncio.Task[Any]] = set()
        self.stopping = False
        self._workers = Workers(settings.threads)
        self.quick, self.heavy = self._workers.quick, self._workers.heavy
        self.answers = Answers(settings.threads, settings.max_answers, self.metrics)
        self.surveys = SurveyCache(store, self.quick, self.heavy)
        self._counting = Counting(store, clock, self.metrics, self.readiness.written, max_waiting=settings.max_waiting)
        searches = Searches(store, self.surveys.find, lambda: self.now)
        self._folder = Folder(store, self._survey, settings.fold_seconds, searches.go_on)
        self._lake = self._lake_writer() if settings.lake else None
        self.gateway_keys = GatewayKeys(store, lambda: self.now) if settings.ohttp else None
        self.pass_issuer = PassIssuer(store)
        self._workers.submit(kernel_warmup.start)

    def stop(self, seconds: float | None = None) -> list[str]:
        """End all threads and close the store; whoever still waits to be counted has had no answer.

        After some seconds it returns without the threads that have not ended, and names them: a thread that computes,
        or waits for a database, cannot be interrupted. The store is then left to the end of the process.
        """
        stops: dict[str, Stop] = {"signer": self.pass_issuer.stop}
        stops |= {"writer": self._counting.writer.stop, "folder": self._folder.stop, "answers": self.answers.stop}
        more: dict[str, Stop] = {"lake": self._lake.stop} if self._lake else {}
        more |= {"telemetry": self.metrics.close} if self.settings.otel else {}
        unfinished = stop_all({**stops, **more, **self._workers.stops}, seconds)
        if not unfinished:
            self.store.close()
        return unfinished

    def _lake_writer(self) -> LakeWriter:
        settings = self.settings
        assert settings.lake is not None
        lake = CollectorLake(self.store, settings.lake, self.surveys.parsed, settings.scratch)
        return LakeWriter(lake, self.clock)

    def _survey(self, number: int) -> Survey | None:
        published = self.surveys.find(number)
        return None if published is None else published.survey

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

    async def delete(self, numbers: Sequence[int]) -> None:
        """Delete surveys, which may take minutes; one deletion at a time."""
        await self._workers.delete(self.store.delete_surveys, numbers)

    def forget(self) -> None:
        """Look everything up anew: a survey was closed, reopened or deleted."""
        self.surveys.forget()
        self.load.rate.forget()

    async def count(self, submission: Submission, version: str) -> int:
        """Have a submission committed; return how many reports were accepted."""
        return await self._counting.count(submission, version, self.surveys, self.load.buffered)

    async def withdraw(self, withdrawal: Withdrawal, version: str) -> int:
        """Have a withdrawal committed; return how many reports were taken out, now or before."""
        return await self._counting.withdraw(withdrawal, version, self.surveys, self.load.buffered)

    async def order_pass(self, order: PassOrder, version: str) -> None:
        """Have a ticket spent on a pass; it is spent when this returns."""
        await self._counting.order_pass(order, version, self.surveys, self.load.buffered)

    def put_single(self, report: SingleReport) -> "asyncio.Future[SubmissionResult]":
        """Begin to commit a single report; where it is not counted, ``count`` says why."""
        return self._counting.put_single(report)

    @property
    def alive(self) -> bool:
        """Whether reports are written and folded."""
        return self._counting.writer.alive and self._folder.alive

    def present(self) -> list[Series]:
        """Return the present state, for the metrics."""
        values = {
            "fldp_in_flight": self.load.in_flight,
            "fldp_open_requests": self.open,
            "fldp_answers_pending": self.answers.pending,
            "fldp_slow_clients": self.load.slow.used,
            "fldp_waiting": len(self._counting.writer),
            "fldp_buffered_bytes": self.load.buffered.used,
            "fldp_folded_reports": self._folder.folded,
            "fldp_reports_folded_total": self._folder.folded,
            "fldp_fold_failures": self._folder.failures,
            "fldp_folding_failures_total": self._folder.failures,
            "fldp_lake_failures": self._lake.failures if self._lake else None,
            "fldp_lake_write_failures_total": self._lake.failures if self._lake else None,
            "fldp_pending_reports": sum(count for _, _, count in self.store.pending()),
            "fldp_store_bytes": self.store.size(),
        }
        return [*process.series(), *((name, {}, value) for name, value in values.items() if value is not None)]
