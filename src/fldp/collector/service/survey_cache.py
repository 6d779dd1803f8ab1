"""The survey cache: published surveys by version, number and name, read from the store no more than a request needs.

A version never changes, so its specification, which may be megabytes long, is read once and kept while there is room.
What can change (a survey may be closed or deleted, perhaps through another collector) is looked up every time, without
the specification.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeVar

from fldp.collector.service import kernel_warmup
from fldp.collector.service.problems import no_survey, not_found
from fldp.collector.storage.protocol import CollectorStore, Listing, StoredSurvey
from fldp.interface.models import State
from fldp.survey.survey import Survey
from fldp.wire.single_reports import SingleReports

R = TypeVar("R")

MAX_SURVEYS, MAX_TEXT = 64, 1 << 25  # parsed surveys in memory, and characters of their specifications in total
MAX_SUMMARIES = 1024
MAX_SINGLE = 1024  # bytes of a batch that is read sooner than it could be handed to a thread


class RunOnThread(Protocol):
    """Runs a function on a thread."""

    def __call__(self, function: Callable[..., R], *args: object) -> Awaitable[R]:
        """Return its result."""


@dataclass(frozen=True)
class SurveySummary:
    """What lists and pages need of a version. It is small, unlike the labels."""

    number: int
    version: str
    name: str
    question: str
    created: str
    closed: str | None
    opens: str | None
    closes: str | None
    origins: tuple[str, ...]
    submit: str
    decoders: tuple[str, ...]
    methods: tuple[str, ...]
    issuer: str | None = None

    @classmethod
    def of(cls, entry: StoredSurvey, survey: Survey) -> "SurveySummary":
        """Summarize a survey."""
        collect, oracle = survey.collect, survey.oracle
        return cls(
            number=entry.number,
            version=entry.version,
            name=entry.name,
            question=survey.question,
            created=entry.created,
            closed=entry.closed,
            opens=collect["opens"],
            closes=collect["closes"],
            origins=tuple(collect["origins"]),
            submit=collect["submit"],
            decoders=tuple(oracle.estimator.decoders),
            methods=tuple(oracle.estimator.methods) if survey.needs_candidates else (),
            issuer=collect.get("issuer"),
        )

    def state(self, now: str) -> State:
        """Return whether reports are taken: ``open``, ``closed`` (by its owner, or by time), or ``scheduled``."""
        if self.closed is not None or (self.closes and now >= self.closes):
            return "closed"
        return "scheduled" if self.opens and now < self.opens else "open"

    def is_current(self, listing: Listing) -> bool:
        """Whether the store still holds this. A number is never used again.

        If another collector reopened a survey and closed it again, the time of the earlier closing is shown.
        """
        return self.number == listing.number and (self.closed is not None) == listing.closed


@dataclass(frozen=True)
class PublishedSurvey:
    """A stored survey, parsed."""

    entry: StoredSurvey
    survey: Survey
    _documents: dict[str, bytes] = field(default_factory=dict, compare=False, repr=False)

    def document(self, state: str) -> bytes:
        """Return what everybody may see, as JSON. All readers share these bytes, however slowly they read."""
        if state not in self._documents:
            self._documents.clear()
            self._documents[state] = document(self.entry, state)
        return self._documents[state]

    @cached_property
    def summary(self) -> SurveySummary:
        """What lists and pages need of it."""
        return SurveySummary.of(self.entry, self.survey)

    def state(self, now: str) -> State:
        """Return whether reports are taken: ``open``, ``closed``, or ``scheduled`` to open."""
        return self.summary.state(now)

    @cached_property
    def singles(self) -> SingleReports | None:
        """What reads single reports, where anybody may send them directly at any time and they are small; else None."""
        singles = SingleReports(self.survey.oracle, self.entry.version)
        is_open = self.survey.collect["submit"] == "open" and not self.survey.needs_relay and not self.entry.closed
        is_always = is_open and not (self.summary.opens or self.summary.closes)
        return singles if is_always and singles.size <= MAX_SINGLE else None


def document(entry: StoredSurvey, state: str) -> bytes:
    """Return what everybody may see of a survey, as JSON."""
    head = f'{{"version":"{entry.version}","state":"{state}","survey":'
    return (head + entry.specification + "}").encode()


class SurveyCache:
    """Surveys of one store. Only the event loop changes it; ``quick`` and ``heavy`` run functions on threads.

    Threads may call ``find`` and ``parsed``, which change nothing.
    """

    def __init__(self, store: CollectorStore, quick: RunOnThread, heavy: RunOnThread) -> None:
        self._store, self._quick, self._heavy = store, quick, heavy
        self._surveys: OrderedDict[str, PublishedSurvey] = OrderedDict()
        self._summaries: OrderedDict[str, SurveySummary] = OrderedDict()
        self._parsing: dict[str, asyncio.Future[Survey]] = {}

    async def get(self, version: str, *, fresh: bool = False) -> PublishedSurvey:
        """Return a survey by its version: as it is stored now if ``fresh``, else as this collector knows it.

        One that is not fresh may have been closed or deleted since. That is enough for what ends in a commit, which
        decides by what is stored. One that is known as closed is looked up: another collector may have reopened it.
        """
        known = self.known(version)
        if known is not None and known.entry.closed is None and not fresh:
            return known
        listing = await self._quick(self._store.listing, version)
        if listing is None:
            self._surveys.pop(version, None)
            raise not_found("version")
        return await self._read(listing)

    def known(self, version: str) -> PublishedSurvey | None:
        """Return a survey that is in memory, as this collector knows it: what ``get`` would return at once."""
        known = self._surveys.get(version)
        if known is not None:
            self._surveys.move_to_end(version)
        return known

    def find(self, number: int) -> PublishedSurvey | None:
        """Return a survey by its number as it is stored now; for threads."""
        entry = self._store.find_number(number)
        return None if entry is None else PublishedSurvey(entry, self.parsed(entry))

    def parsed(self, entry: StoredSurvey) -> Survey:
        """Return the survey of an entry, parsed unless it is in memory; for threads. It is not kept."""
        known = self._surveys.get(entry.version)
        return known.survey if known else entry.parse()

    def add(self, published: PublishedSurvey) -> None:
        """Keep a survey that was just parsed and published, once its kernels are compiled."""
        version = published.entry.version
        if version not in self._surveys and version not in self._parsing:
            self._share(version, self._warmed(published.survey), then_keep=published)

    def forget(self) -> None:
        """Look everything up anew: a survey was closed, reopened or deleted."""
        self._surveys.clear()
        self._summaries.clear()
        self._parsing.clear()  # whoever waits still gets what is being parsed, and nobody after them

    # ------------------------------------------------------------------------------------------------- summaries

    async def origins(self, version: str) -> tuple[str, ...]:
        """Return the web origins of a version, which may have been deleted since."""
        summary = self._summaries.get(version) or (await self.get(version)).summary
        return summary.origins

    async def listings(self, name: str, version: str | None = None) -> list[Listing]:
        """Return the versions of a survey, the newest first, or the one that is asked for."""
        listings = await self._quick(self._store.listings, name)
        wanted = [listing for listing in listings if version in (None, listing.version)]
        if not wanted:
            raise no_survey(name, version)
        return wanted

    async def shown(self, name: str, now: str, version: str | None = None) -> tuple[Listing, SurveySummary]:
        """Return the version that is shown: the newest open one, else the newest. Closed ones need not be read."""
        listings = await self.listings(name, version)
        for listing in listings:
            if not listing.closed:
                summary = await self._summary(listing)
                if summary.state(now) == "open":
                    return listing, summary
                if not summary.is_current(listing):  # closed since it was listed, and may have a successor
                    return await self.shown(name, now, version)
        return listings[0], await self._summary(listings[0])

    async def document(self, listing: Listing, state: str) -> bytes:
        """Return what everybody may see of a version. If it is not in memory its text is read, and not parsed."""
        known = self._surveys.get(listing.version)
        if known is None or known.entry.number != listing.number:
            entry = await self._entry(listing.version)
            return await self._heavy(document, entry, state)
        self._surveys.move_to_end(listing.version)
        return known.document(state)

    def summarize(self, listing: Listing) -> SurveySummary | None:
        """Return the summary of a listed version, read unless it is known; None if it is gone. For threads."""
        known = self._summaries.get(listing.version)
        if known is not None and known.is_current(listing):
            return known
        entry = self._store.find(listing.version)
        return None if entry is None else SurveySummary.of(entry, self.parsed(entry))

    def remember(self, summaries: Iterable[SurveySummary]) -> None:
        """Keep summaries, and drop those that were not asked for lately."""
        for summary in summaries:
            self._summaries[summary.version] = summary
            self._summaries.move_to_end(summary.version)
        while len(self._summaries) > MAX_SUMMARIES:
            self._summaries.popitem(last=False)

    # --------------------------------------------------------------------------------------------------- reading

    async def _summary(self, listing: Listing) -> SurveySummary:
        summary = self._summaries.get(listing.version)
        if summary is None or not summary.is_current(listing):
            return (await self._read(listing)).summary
        self._summaries.move_to_end(listing.version)
        return summary

    async def _read(self, listing: Listing) -> PublishedSurvey:
        """Return a listed survey, read from the store only if it is not known in the state that is listed."""
        known = self._surveys.get(listing.version)
        if known is None or not known.summary.is_current(listing):
            entry = await self._entry(listing.version)
            known = self._surveys.get(listing.version)  # it may have been parsed meanwhile
            known = PublishedSurvey(entry, known.survey if known else await self._parse(entry))
            self._keep(known)
        return known

    async def _entry(self, version: str) -> StoredSurvey:
        entry = await self._quick(self._store.find, version)
        if entry is None:  # deleted since it was listed
            self._surveys.pop(version, None)
            raise not_found("version")
        return entry

    async def _parse(self, entry: StoredSurvey) -> Survey:
        """Parse a specification; requests for the same one at the same time share the work."""
        parsing = self._parsing.get(entry.version) or self._share(entry.version, self._parsed_and_warmed(entry))
        return await asyncio.shield(parsing)  # the others still want it when the first one has gone

    def _share(
        self, version: str, work: Awaitable[Survey], then_keep: PublishedSurvey | None = None
    ) -> "asyncio.Future[Survey]":
        def end(done: "asyncio.Future[Survey]") -> None:
            is_good = not done.cancelled() and done.exception() is None  # asking marks the exception as seen
            if self._parsing.get(version) is done:  # else everything was forgotten meanwhile
                del self._parsing[version]
                if is_good and then_keep is not None:
                    self._keep(then_keep)

        parsing = self._parsing[version] = asyncio.ensure_future(work)
        parsing.add_done_callback(end)
        return parsing

    async def _parsed_and_warmed(self, entry: StoredSurvey) -> Survey:
        return await self._warmed(await self._heavy(entry.parse))

    async def _warmed(self, survey: Survey) -> Survey:
        await self._heavy(kernel_warmup.warm, survey.oracle)
        return survey

    def _keep(self, published: PublishedSurvey) -> None:
        """Keep a survey, and drop those not asked for lately. A parsed one takes about ten times its text."""
        version = published.entry.version
        self._surveys[version] = published
        self._surveys.move_to_end(version)
        self.remember([published.summary])
        lengths = [len(known.entry.specification) for known in self._surveys.values()]
        while len(lengths) > 1 and (len(lengths) > MAX_SURVEYS or sum(lengths) > MAX_TEXT):
            lengths.pop(0)
            self._surveys.popitem(last=False)
