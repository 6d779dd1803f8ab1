"""Candidates: the strings that an estimate is asked for, in a body, since they are too many for an address."""

import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, BinaryIO

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

import fldp
from fldp import wire
from fldp.collector.http.access import permit
from fldp.collector.http.bodies import SURVEY_BYTES, body_of, media_type
from fldp.collector.http.query import FORMATS, Query, days_of, parameters
from fldp.collector.routes import estimates as candidates
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.catalog import PublishedSurvey
from fldp.collector.service.collector import Collector
from fldp.collector.service.lake_writer import write_reports
from fldp.collector.service.problems import Problem, not_found
from fldp.collector.service.scratch import closing_on_error, making_room, scratch_file
from fldp.collector.storage.protocol import Days, Snapshot, StoredToken
from fldp.collector.storage.window import DayWindow
from fldp.data.estimate import Estimate
from fldp.data.fingerprints import as_candidates
from fldp.data.postprocess import postprocess
from fldp.data.reports import Tally
from fldp.errors import DomainError
from fldp.oracles.base.string_oracle import StringOracle
from fldp.presentation import tables
from fldp.support.optional_imports import load
from fldp.survey.survey import Survey


def of_labels(published: PublishedSurvey) -> None:
    """Refuse to estimate all strings: nobody can list them."""
    if isinstance(published.survey.oracle, StringOracle):
        raise _problem("the answers of this survey are strings: POST the candidates that are to be counted")


@asynccontextmanager
async def candidates_in(collector: Collector, request: Request, published: PublishedSurvey) -> AsyncIterator[bytes]:
    """Read a body with candidates; it is held until the estimate is made."""
    if not isinstance(published.survey.oracle, StringOracle):
        raise _problem("the answers of this survey are listed: GET the estimates of all of them")
    media_type(request, "application/json")
    async with body_of(collector, request, SURVEY_BYTES, collector.candidates) as body:
        yield body


def parsed(body: bytes | None, most: int) -> dict[str, Any]:
    """Return the option of an estimate that a body is; none where there is no body.

    >>> parsed(b'{"candidates": ["firefox", "chrome"]}', 10)
    {'candidates': ('firefox', 'chrome')}
    """
    if body is None:
        return {}
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise _problem("the body must be JSON") from None
    found = fields["candidates"] if isinstance(fields, dict) and fields.keys() == {"candidates"} else None
    if not isinstance(found, list):
        raise _problem('the body must be {"candidates": [...]}')
    if len(found) > most:
        raise _problem(f"there must be at most {most} candidates")
    try:
        return {"candidates": as_candidates("estimates", found)}
    except DomainError as error:
        raise _problem(str(error)) from None


def estimated(survey: Survey, tally: Tally, options: dict[str, Any]) -> Estimate:
    """Estimate from a tally; where the candidates are too many, or too much alike, say so."""
    try:
        return survey.estimate(tally, **options)
    except DomainError as error:
        raise _problem(str(error)) from None


def _problem(detail: str) -> Problem:
    return Problem(422, "candidates", detail)


_PIECE = 1 << 18
Made = tuple[str, bytes | BinaryIO]  # the entity tag, and what it is the tag of
_ENVELOPE = {"Cache-Control": "private, no-cache", "Vary": "Accept"}


async def estimates(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Estimate how many participants hold each label."""
    published = await asked(collector, request, token)
    query = Query.of(request, published.survey.oracle)
    candidates.of_labels(published)
    tag = await collector.quick(_tag, collector, published, query.days, repr(query))
    if _matches(request, tag):
        return _unchanged(tag)
    made = await collector.answers.compute(request, _estimated, collector, published, query)
    return _answer(collector, made, FORMATS[query.format])


async def estimates_among(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Estimate how many participants hold each of some strings."""
    published = await asked(collector, request, token)
    query = Query.of(request, published.survey.oracle)
    async with candidates.candidates_in(collector, request, published) as body:
        _, content = await collector.answers.compute(request, _estimated, collector, published, query, body)
    return _answer(collector, ("", content), FORMATS[query.format])


async def tally(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Return the tally itself, as bytes."""
    published = await asked(collector, request, token)
    days = days_of(request)
    tag = await collector.quick(_tag, collector, published, days, "tally")
    if _matches(request, tag):
        return _unchanged(tag)
    made = await collector.answers.compute(request, _encoded, collector, published, days)
    return _answer(collector, made, "application/octet-stream")


async def days(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Return the days that have reports, with their numbers; of days below the minimum, none."""
    published = await asked(collector, request, token)
    parameters(request)
    return JSONResponse(await collector.quick(_days, collector, published))


def _days(collector: Collector, published: PublishedSurvey) -> list[dict[str, Any]]:
    minimum = published.survey.collect["minimum"]
    with moment(collector, published) as snapshot:
        found = snapshot.days(published.entry.number)
    return [{"day": day, "n": n if n >= minimum else None} for day, n in found if n]


async def export(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Return the raw reports of a window as Parquet."""
    published = await asked(collector, request, token)
    days = days_of(request)
    if published.survey.collect["retention"] != "raw":
        raise Problem(409, "not-raw", "this survey keeps no reports, only their tally")
    file = await collector.answers.compute(request, _exported, collector, published, days)
    return StreamingResponse(_streamed(collector, file), media_type=FORMATS["parquet"])


async def asked(collector: Collector, request: Request, token: StoredToken) -> PublishedSurvey:
    """Return the version that is asked about, if the token is good for it."""
    published = await collector.current(request.path_params["id"])
    permit(token, published.entry.name)
    return published


@contextmanager
def moment(collector: Collector, published: PublishedSurvey) -> Iterator[Snapshot]:
    """Open a view of the store in which the survey still is: of one that is being deleted, no pieces are shown."""
    with collector.store.snapshot() as snapshot:
        if not snapshot.has(published.entry.number):
            raise not_found("version")
        yield snapshot


def _tag(collector: Collector, published: PublishedSurvey, days: Days, asked: str) -> str:
    with moment(collector, published) as snapshot:
        return _tag_of(snapshot, published, days, asked)


def _tag_of(snapshot: Snapshot, published: PublishedSurvey, days: Days, asked: str) -> str:
    """Return the entity tag. Reports are only ever added, so their number tells whether the tally has changed."""
    n = DayWindow(published.entry.number, days).count(snapshot)
    enough(n, published)
    state = (fldp.__version__, published.entry.number, published.entry.version, days, n, asked)
    return f'"{hashlib.sha256(json.dumps(state).encode()).hexdigest()[:32]}"'


def enough(n: int, published: PublishedSurvey) -> None:
    """Refuse to show anything of fewer reports than the survey says."""
    minimum = published.survey.collect["minimum"]
    if n < minimum:
        raise Problem(403, "too-few", f"nothing is shown of fewer than {minimum} reports", minimum=minimum)


def _matches(request: Request, tag: str) -> bool:
    given = request.headers.get("if-none-match", "")
    return given.strip() == "*" or tag in (part.strip().removeprefix("W/") for part in given.split(","))


def _unchanged(tag: str) -> Response:
    return Response(status_code=304, headers={"ETag": tag, **_ENVELOPE})


def _tallied(collector: Collector, published: PublishedSurvey, days: Days, asked: str) -> tuple[str, Tally]:
    """Return a tally and the tag that belongs to exactly this one."""
    with moment(collector, published) as snapshot:
        tag = _tag_of(snapshot, published, days, asked)
        checkpoint()
        return tag, DayWindow(published.entry.number, days).tally(snapshot, published.survey.oracle)


def _estimated(collector: Collector, published: PublishedSurvey, query: Query, body: bytes | None = None) -> Made:
    """Do all of it in one go: between two steps, a tally would wait in memory for a thread."""
    options = query.options | candidates.parsed(body, collector.settings.max_values)
    tag, found = _tallied(collector, published, query.days, repr(query))
    checkpoint()
    estimate = candidates.estimated(published.survey, found, options)
    checkpoint()
    return tag, _kept(collector, _rendered(estimate, query))


def _encoded(collector: Collector, published: PublishedSurvey, days: Days) -> Made:
    tag, found = _tallied(collector, published, days, "tally")
    return tag, _kept(collector, wire.encode_tally(found, published.entry.version))


def _kept(collector: Collector, content: bytes) -> bytes | BinaryIO:
    """Put a large answer into a file without a name, since it may be read slowly."""
    if len(content) <= _PIECE:
        return content
    with making_room():
        file = scratch_file(collector.settings.scratch)
        with closing_on_error(file):
            file.write(content)
            file.flush()
    return file


def _answer(collector: Collector, made: Made, media_type: str) -> Response:
    tag, content = made
    headers = {"ETag": tag, **_ENVELOPE} if tag else {}
    if isinstance(content, bytes):
        return Response(content, headers=headers, media_type=media_type)
    headers["Content-Length"] = str(content.tell())
    content.seek(0)
    return StreamingResponse(_streamed(collector, content), headers=headers, media_type=media_type)


def _rendered(made: Estimate, query: Query) -> bytes:
    if query.post:
        made = postprocess(made, query.post)
    if query.format == "parquet":
        return _parquet(made, query)
    text = tables.as_csv if query.format == "csv" else tables.as_json
    return text(made, query.level, query.top).encode()


def _parquet(made: Estimate, query: Query) -> bytes:
    arrow, writer = load("pyarrow", "parquet"), load("pyarrow.parquet", "parquet")
    rows = made.table(query.level) if query.top is None else made.top(query.top, query.level)
    columns: dict[str, Any] = {"value": rows["value"], "label": [tables.label(made, int(v)) for v in rows["value"]]}
    columns |= {name: rows[name] for name in (rows.dtype.names or ())[1:]}
    sink = arrow.BufferOutputStream()
    writer.write_table(arrow.table(columns), sink)
    return bytes(sink.getvalue())


def _exported(collector: Collector, published: PublishedSurvey, days: Days) -> BinaryIO:
    """Write reports into a file without a name: the database must not wait for a slow reader."""
    with making_room():
        file = scratch_file(collector.settings.scratch)
        with closing_on_error(file), moment(collector, published) as snapshot:
            enough(snapshot.count_reports(published.entry.number, days), published)
            with making_room():  # the store would take it for its own mistake
                write_reports(file, snapshot, published.entry, published.survey, days, checkpoint)
                file.seek(0)
    return file


async def _streamed(collector: Collector, file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while piece := await collector.quick(file.read, _PIECE):
            yield piece
