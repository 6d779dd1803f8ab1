"""GET and POST .../estimates, and the tally, the days and the raw reports that they come from."""

import hashlib
import json
from dataclasses import dataclass
from datetime import date
from typing import BinaryIO, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

import fldp
from fldp import wire
from fldp.collector.http.calls import Call, reply, requested_version
from fldp.collector.http.candidates import candidates_body, parse_wanted, require_labels
from fldp.collector.http.file_answers import PIECE, FileAnswer
from fldp.collector.http.query import FORMATS, days_of, estimated_days, format_of
from fldp.collector.http.release_steps import require_whole, visible_days
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.collector import Collector
from fldp.collector.service.estimating import encoded_tables, estimate
from fldp.collector.service.lake_writer import write_reports
from fldp.collector.service.problems import Problem
from fldp.collector.service.scratch_files import closing_on_error, making_room, scratch_file
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.service.windows import require_minimum, snapshot_with
from fldp.collector.storage.protocol import Days, Snapshot
from fldp.collector.storage.window import DayWindow
from fldp.data.reports import Tally
from fldp.interface.models import DayCount, EstimatesQuery, Query, WindowQuery
from fldp.interface.operations import BYTES, PARQUET
from fldp.presentation.estimate_formats import encoded
from fldp.support.canonical_json import Json

_ENVELOPE = {"Cache-Control": "private, no-cache", "Vary": "Accept"}


class _Tagged(NamedTuple):
    """An entity tag, the content it belongs to, and how many reports of the window were withdrawn."""

    tag: str
    content: bytes | BinaryIO
    withdrawn: int


async def estimates(call: Call[EstimatesQuery, None]) -> Response:
    """Estimate how many participants hold each label."""
    published = await requested_version(call)
    request = await _Asked.of(call, published)
    require_labels(published)
    tag = await call.collector.quick(_tag, call.collector, published, request.days, repr(request))
    if _matches(call.request, tag):
        return _unchanged(tag)
    tagged = await call.compute(_estimated, published, request)
    return _answer(call.collector, tagged, FORMATS[request.form])


async def estimates_among(call: Call[EstimatesQuery, None]) -> Response:
    """Estimate how many participants hold each of some strings, or each label given what was expected."""
    published = await requested_version(call)
    request = await _Asked.of(call, published)
    async with candidates_body(call, published) as body:
        tagged = await call.compute(_estimated, published, request, body)
    return _answer(call.collector, tagged._replace(tag=""), FORMATS[request.form])


@dataclass(frozen=True)
class _Asked:
    """The estimates that a request asks for."""

    days: Days
    form: str
    query: EstimatesQuery

    @classmethod
    async def of(cls, call: Call[EstimatesQuery, None], published: PublishedSurvey) -> "_Asked":
        days = await visible_days(call, published, estimated_days(call.query, published.survey.oracle))
        return cls(days, format_of(call.request, call.query), call.query)


async def tally(call: Call[WindowQuery, None]) -> Response:
    """Return the tally itself, as bytes."""
    published = await requested_version(call)
    days = await visible_days(call, published, days_of(call.query))
    tag = await call.collector.quick(_tag, call.collector, published, days, "tally")
    if _matches(call.request, tag):
        return _unchanged(tag)
    tagged = await call.compute(_encoded, published, days)
    return _answer(call.collector, tagged, BYTES)


async def days(call: Call[Query, None]) -> Response:
    """Return the days with reports, how many there are (null below the minimum), and how many were withdrawn."""
    published = await requested_version(call)
    require_whole(call, published)
    return reply(await call.collector.quick(_days, call.collector, published))


def _days(collector: Collector, published: PublishedSurvey) -> list[DayCount]:
    minimum = published.survey.collect["minimum"]
    with snapshot_with(collector.store, published) as snapshot:
        counts = [
            (day, n, snapshot.withdrawn(published.entry.number, (day, day)))
            for day, n in snapshot.days(published.entry.number)
        ]
    return [
        DayCount(day=date.fromisoformat(day), n=n, withdrawn=withdrawn)
        if n >= minimum
        else DayCount(day=date.fromisoformat(day), n=None)
        for day, n, withdrawn in counts
        if n or withdrawn
    ]


async def export(call: Call[WindowQuery, None]) -> Response:
    """Return the raw reports of a window as Parquet."""
    published = await requested_version(call)
    require_whole(call, published)
    days = days_of(call.query)
    if published.survey.collect["retention"] != "raw":
        raise Problem(409, "not-raw", "this survey keeps no reports, only their tally")
    file = await call.compute(_exported, published, days)
    return FileAnswer(call.collector, file, PARQUET)


def _tag(collector: Collector, published: PublishedSurvey, days: Days, asked: str) -> str:
    with snapshot_with(collector.store, published) as snapshot:
        return _tag_of(snapshot, published, days, asked)


def _tag_of(snapshot: Snapshot, published: PublishedSurvey, days: Days, asked: str) -> str:
    """Return the entity tag. What was sent and what was withdrawn only grows, so their numbers tell of any change."""
    window = DayWindow(published.entry.number, days)
    n, withdrawn = window.count(snapshot), window.withdrawn(snapshot)
    require_minimum(n, published)
    state = (fldp.__version__, published.entry.number, published.entry.version, days, n, withdrawn, asked)
    return f'"{hashlib.sha256(json.dumps(state).encode()).hexdigest()[:32]}"'


def _matches(request: Request, tag: str) -> bool:
    tags = request.headers.get("if-none-match", "")
    return tags.strip() == "*" or tag in (part.strip().removeprefix("W/") for part in tags.split(","))


def _unchanged(tag: str) -> Response:
    return Response(status_code=304, headers={"ETag": tag, **_ENVELOPE})


@dataclass(frozen=True)
class _Look:
    """A tally, the tag that belongs to exactly this one, and how many reports were withdrawn before."""

    tag: str
    tally: Tally
    withdrawn: int

    @classmethod
    def at(cls, collector: Collector, published: PublishedSurvey, days: Days, asked: str) -> "_Look":
        window = DayWindow(published.entry.number, days)
        with snapshot_with(collector.store, published) as snapshot:
            tag = _tag_of(snapshot, published, days, asked)
            checkpoint()
            return cls(tag, window.tally(snapshot, published.survey.oracle), window.withdrawn(snapshot))

    @property
    def facts(self) -> dict[str, Json]:
        """What estimates in JSON also say of the reports."""
        return {"withdrawn": self.withdrawn}

    def answer(self, collector: Collector, content: bytes) -> "_Tagged":
        """Return the content of an answer with its tag."""
        return _Tagged(self.tag, _spooled(collector, content), self.withdrawn)


def _estimated(collector: Collector, published: PublishedSurvey, asked: _Asked, body: bytes | None = None) -> _Tagged:
    """Tally, estimate and encode in one go: between steps, a tally would wait in memory for a thread."""
    survey, query = published.survey, asked.query
    candidates, prior = parse_wanted(body, survey, query.post, collector.settings.max_values)
    look = _Look.at(collector, published, asked.days, repr(asked))
    checkpoint()
    if survey.questions:
        return look.answer(collector, encoded_tables(survey, look.tally, query, asked.form, look.facts))
    counts = estimate(survey, look.tally, query, asked.days, candidates, prior)
    return look.answer(collector, encoded(counts, asked.form, query.level, query.top, look.facts))


def _encoded(collector: Collector, published: PublishedSurvey, days: Days) -> _Tagged:
    look = _Look.at(collector, published, days, "tally")
    return look.answer(collector, wire.encode_tally(look.tally, published.entry.version))


def _spooled(collector: Collector, content: bytes) -> bytes | BinaryIO:
    """Move a large answer to an unnamed file, since its client may read slowly."""
    if len(content) <= PIECE:
        return content
    with making_room():
        file = scratch_file(collector.settings.scratch)
        with closing_on_error(file):
            file.write(content)
            file.flush()
    return file


def _answer(collector: Collector, tagged: _Tagged, media_type: str) -> Response:
    tag, content, withdrawn = tagged
    headers = {"Fldp-Withdrawn": str(withdrawn), **({"ETag": tag, **_ENVELOPE} if tag else {})}
    if isinstance(content, bytes):
        return Response(content, headers=headers, media_type=media_type)
    headers["Content-Length"] = str(content.tell())
    content.seek(0)
    return FileAnswer(collector, content, media_type, headers)


def _exported(collector: Collector, published: PublishedSurvey, days: Days) -> BinaryIO:
    """Write reports to an unnamed file, so that no snapshot stays open for a slow reader."""
    with making_room():
        file = scratch_file(collector.settings.scratch)
        with closing_on_error(file), snapshot_with(collector.store, published) as snapshot:
            require_minimum(snapshot.count_reports(published.entry.number, days), published)
            with making_room():  # the store would take it for its own mistake
                write_reports(file, snapshot, published.entry, published.survey, days, checkpoint)
                file.seek(0)
    return file
