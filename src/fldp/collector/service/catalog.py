"""Catalog: published surveys by version and by name, read from the store no more than a request needs.

A version never changes, so its specification, which may be megabytes long, is read once and kept while there is room.
What can change (a survey may be closed or deleted, perhaps through another collector) is looked up every time, without
the specification.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeVar

from fldp.collector.service import warming
from fldp.collector.service.problems import not_found
from fldp.collector.storage.protocol import CollectorStore, Listing, StoredSurvey, StoreError
from fldp.errors import FldpError
from fldp.survey.survey import Survey

R = TypeVar("R")

MAX_SURVEYS, MAX_TEXT = 64, 1 << 25  # parsed surveys kept in memory, and characters of their specifications in total
MAX_TERMS = 1024


class RunOnThread(Protocol):
    """Runs a function on a thread."""

    def __call__(self, function: Callable[..., R], *args: object) -> Awaitable[R]:
        """Return its result."""


@dataclass(frozen=True)
class Terms:
    """What a version says about collecting. It is small and immutable, unlike the rest of what pages depend on."""

    opens: str | None
    closes: str | None
    origins: tuple[str, ...]

    @classmethod
    def of(cls, survey: Survey) -> "Terms":
        """Return the terms of a survey."""
        collect = survey.collect
        return cls(collect["opens"], collect["closes"], tuple(collect["origins"]))

    def state(self, closed: bool, now: str) -> str:
        """Return whether reports are taken: ``open``, ``closed`` (by its owner, or by time), or ``scheduled``."""
        if closed or (self.closes and now >= self.closes):
            return "closed"
        return "scheduled" if self.opens and now < self.opens else "open"


@dataclass(frozen=True)
class PublishedSurvey:
    """A survey as it is stored, and as it is used."""

    entry: StoredSurvey
    survey: Survey
    _shown: dict[str, bytes] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def read(cls, entry: StoredSurvey) -> "PublishedSurvey":
        """Make a survey from what is stored."""
        try:
            return cls(entry, Survey.from_dict(json.loads(entry.specification)))
        except (FldpError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise StoreError(f"store: the specification of version {entry.version} cannot be read") from None

    def shown(self, state: str) -> bytes:
        """Return what everybody may see of it, as JSON. All who read it share these bytes, however slowly they do."""
        if state not in self._shown:
            self._shown.clear()
            self._shown[state] = document(self.entry, state)
        return self._shown[state]

    @cached_property
    def terms(self) -> Terms:
        """What it says about collecting."""
        return Terms.of(self.survey)

    def state(self, now: str) -> str:
        """Return whether reports are taken: ``open``, ``closed``, or ``scheduled`` to open."""
        return self.terms.state(self.entry.closed is not None, now)

    def fits(self, listing: Listing) -> bool:
        """Tell whether this is what the store holds now. A number is never used again, and closing is for good."""
        return self.entry.number == listing.number and (self.entry.closed is not None) == listing.closed


def document(entry: StoredSurvey, state: str) -> bytes:
    """Return what everybody may see of a survey, as JSON."""
    head = f'{{"version":"{entry.version}","state":"{state}","survey":'
    return (head + entry.specification + "}").encode()


class Catalog:
    """Surveys of one store. Only the event loop changes it; ``quick`` and ``heavy`` run functions on threads."""

    def __init__(self, store: CollectorStore, quick: RunOnThread, heavy: RunOnThread) -> None:
        self._store, self._quick, self._heavy = store, quick, heavy
        self._known: OrderedDict[str, PublishedSurvey] = OrderedDict()
        self._terms: OrderedDict[str, Terms] = OrderedDict()
        self._parsing: dict[str, asyncio.Future[Survey]] = {}

    async def published(self, version: str) -> PublishedSurvey:
        """Return a survey as it is known here; it may have been closed or deleted since.

        That is enough for what ends in a commit, which decides by what is stored.
        """
        known = self._known.get(version)
        if known is None:
            return await self.current(version)
        self._known.move_to_end(version)
        return known

    async def current(self, version: str) -> PublishedSurvey:
        """Return a survey as it is stored now, whoever changed it."""
        listing = await self._quick(self._store.listing, version)
        if listing is None:
            self._known.pop(version, None)
            raise not_found("version")
        return await self._read(listing)

    async def terms(self, version: str) -> Terms:
        """Return the terms of a version, which may have been deleted since."""
        return self._terms.get(version) or (await self.published(version)).terms

    async def listings(self, name: str, version: str | None = None) -> list[Listing]:
        """Return the versions of a survey, the newest first, or the one that is asked for."""
        listed = await self._quick(self._store.listings, name)
        wanted = [listing for listing in listed if version in (None, listing.version)]
        if not wanted:
            raise not_found("survey")
        return wanted

    async def shown(self, name: str, now: str, version: str | None = None) -> tuple[Listing, Terms]:
        """Return the version that is shown: the newest open one, else the newest. Closed ones need not be read."""
        listed = await self.listings(name, version)
        for listing in listed:
            if not listing.closed:
                terms = await self._terms_of(listing)
                if terms.state(listing.closed, now) == "open":
                    return listing, terms
        return listed[0], await self._terms_of(listed[0])

    async def document(self, listing: Listing, state: str) -> bytes:
        """Return what everybody may see of a version. If it is not in memory its text is read, and not parsed."""
        known = self._known.get(listing.version)
        if known is None or known.entry.number != listing.number:
            entry = await self._entry(listing.version)
            return await self._heavy(document, entry, state)
        self._known.move_to_end(listing.version)
        return known.shown(state)

    def recall(self, entry: StoredSurvey) -> PublishedSurvey:
        """Return a survey that was just found in the store, parsed unless it is in memory. It is not kept."""
        known = self._known.get(entry.version)
        if known is None:
            return PublishedSurvey.read(entry)
        return known if known.entry == entry else PublishedSurvey(entry, known.survey)

    def forget(self) -> None:
        """Look everything up anew: a survey was closed or deleted."""
        self._known.clear()
        self._terms.clear()

    # --------------------------------------------------------------------------------------------------- reading

    async def _terms_of(self, listing: Listing) -> Terms:
        terms = self._terms.get(listing.version)
        if terms is None:
            return (await self._read(listing)).terms
        self._terms.move_to_end(listing.version)
        return terms

    async def _read(self, listing: Listing) -> PublishedSurvey:
        """Return a survey that is listed, read from the store only if it is not known as it is listed."""
        known = self._known.get(listing.version)
        if known is None or not known.fits(listing):
            entry = await self._entry(listing.version)
            known = PublishedSurvey(entry, known.survey if known else await self._parsed(entry))
            self._keep(known)
        return known

    async def _entry(self, version: str) -> StoredSurvey:
        entry = await self._quick(self._store.find, version)
        if entry is None:  # deleted since it was listed
            self._known.pop(version, None)
            raise not_found("version")
        return entry

    async def _parsed(self, entry: StoredSurvey) -> Survey:
        """Parse a specification; those who want the same one at the same time share the work."""
        parsing = self._parsing.get(entry.version)
        if parsing is None:
            parsing = asyncio.ensure_future(self._parse(entry))
            self._parsing[entry.version] = parsing
            parsing.add_done_callback(lambda done: self._end(entry.version, done))
        return await asyncio.shield(parsing)  # the others still want it when the first one has gone

    async def _parse(self, entry: StoredSurvey) -> Survey:
        survey = (await self._heavy(PublishedSurvey.read, entry)).survey
        await self._heavy(warming.warm, survey.oracle)
        return survey

    def _end(self, version: str, parsing: "asyncio.Future[Survey]") -> None:
        del self._parsing[version]
        if not parsing.cancelled():
            parsing.exception()  # whoever waited has seen it

    def _keep(self, published: PublishedSurvey) -> None:
        """Remember a survey, and drop what was not asked for lately. A parsed one takes about ten times its text."""
        version = published.entry.version
        self._known[version], self._terms[version] = published, published.terms
        self._known.move_to_end(version)
        while len(self._terms) > MAX_TERMS:
            self._terms.popitem(last=False)
        lengths = [len(known.entry.specification) for known in self._known.values()]
        while len(lengths) > 1 and (len(lengths) > MAX_SURVEYS or sum(lengths) > MAX_TEXT):
            lengths.pop(0)
            self._known.popitem(last=False)
