"""The routes about surveys: create, list, show, close, delete, and tickets for them."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fldp.collector.http.access import permit
from fldp.collector.http.bodies import SURVEY_BYTES, body_of, json_of, media_type
from fldp.collector.http.query import methods_of, parameters
from fldp.collector.service import tokens
from fldp.collector.service.catalog import PublishedSurvey
from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import Problem, bad_parameter, not_found
from fldp.collector.storage.protocol import StoredSurvey, StoredToken
from fldp.support import canonical_json
from fldp.support.validation import counted, is_integer
from fldp.survey.survey import Survey, SurveyError

MAX_TICKETS = 100_000


async def create(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Publish a survey; the same one again changes nothing."""
    parameters(request)
    media_type(request, "application/json")
    async with body_of(collector, request, SURVEY_BYTES) as body:
        survey = await collector.heavy(_parsed, body, collector.settings.max_values)
    permit(token, survey.name)
    if await collector.quick(collector.store.listing, survey.version) is None:  # what was published before stays so
        await collector.heavy(_drafted, survey)
    specification = canonical_json.dumps(survey.canonical).decode()
    entry = StoredSurvey(0, survey.version, survey.name, specification, collector.now, None)
    stored, fresh = await collector.quick(collector.store.publish, entry)
    return JSONResponse(_facts(PublishedSurvey(stored, survey), collector.now), 201 if fresh else 200)


def _parsed(body: bytes, most: int) -> Survey:
    """Read a survey; one that is too large is refused before its oracle is made."""
    try:
        text = body.decode()
        size = _size(text)
        if size > most:
            raise _mistaken(1, f"the number of values must be at most {most}, got {size}")
        survey = Survey.parse(text, is_json=True)
    except UnicodeDecodeError:
        raise _mistaken(1, "the body must be UTF-8 text") from None
    except SurveyError as error:
        raise _mistaken(error.count, *map(str, error.mistakes)) from None
    if (survey.domain_size or 0) > most + 1:  # a search with as many prefixes has one value more
        raise _mistaken(1, f"the number of values must be at most {most}, got {survey.domain_size}")
    cells = 1
    for length in survey.oracle.tally_shape:
        cells *= length
    if cells > 4 * most:
        raise _mistaken(1, f"the tally must have at most {4 * most} numbers, got {cells}")
    return survey


def _drafted(survey: Survey) -> None:
    """Refuse a new survey that hides something from those who read it."""
    try:
        survey.check_draft()
    except SurveyError as error:
        raise _mistaken(error.count, *map(str, error.mistakes)) from None


def _size(text: str) -> int:
    try:
        fields = json.loads(text)
        found = fields.get("domain_size", 0)
        return found if isinstance(found, int) else 0
    except (ValueError, RecursionError, AttributeError):
        return 0


def _mistaken(count: int, *mistakes: str) -> Problem:
    return Problem(422, "survey", f"the survey has {counted(count, 'mistake')}", mistakes=[m[:500] for m in mistakes])


def _facts(published: PublishedSurvey, now: str) -> dict[str, Any]:
    entry = published.entry
    return {
        "name": entry.name,
        "version": entry.version,
        "created": entry.created,
        "closed": entry.closed,
        "state": published.state(now),
        "submit": published.survey.collect["submit"],
    }


async def index(collector: Collector, request: Request, token: StoredToken) -> Response:
    """List all versions of all surveys that the token is good for, the newest first."""
    parameters(request)
    rows = await collector.answers.compute(request, _rows, collector, token.survey)
    return JSONResponse(rows)


def _rows(collector: Collector, name: str | None) -> list[dict[str, Any]]:
    with collector.store.snapshot() as snapshot:
        entries = [entry for entry in snapshot.entries() if name in (None, entry.name)]
    counts = collector.store.counts()
    return [_row(collector.catalog.recall(entry), counts.get(entry.number, 0), collector.now) for entry in entries]


def _row(published: PublishedSurvey, n: int, now: str) -> dict[str, Any]:
    entry = published.entry
    return {
        "name": entry.name,
        "version": entry.version,
        "question": published.survey.question,
        "created": entry.created,
        "closed": entry.closed,
        "state": published.state(now),
        "decoders": list(published.survey.oracle.decoders),
        "methods": list(methods_of(published.survey.oracle)),
        "n": n,
    }


async def show(collector: Collector, request: Request, token: None) -> Response:
    """Show what a survey asks: its newest open version, else its newest, or the one that is named."""
    del token
    given = parameters(request, "version")
    now = collector.now
    listing, terms = await collector.catalog.shown(request.path_params["name"], now, given.get("version"))
    request.scope["fldp.origins"] = terms.origins
    body = await collector.catalog.document(listing, terms.state(listing.closed, now))
    return Response(body, media_type="application/json")


async def close(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Close a survey for good: all its versions, or one."""
    given = parameters(request, "version")
    permit(token, request.path_params["name"])
    found = await collector.catalog.listings(request.path_params["name"], given.get("version"))
    numbers = [listing.number for listing in found]
    await collector.quick(collector.store.close_surveys, numbers, collector.now)
    collector.forget()
    closed = await collector.current(found[0].version)
    return JSONResponse(_facts(closed, collector.now))


async def delete(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Delete a survey with its reports, tallies, keys and tickets: one version, or all."""
    given = parameters(request, "version", "all")
    permit(token, request.path_params["name"])
    if given.get("all", "true") != "true" or len(given) != 1:
        raise bad_parameter("give version=ID to delete one version, or all=true")
    numbers = await _to_delete(collector, request.path_params["name"], given.get("version"))
    try:
        await collector.delete(numbers)
    finally:
        collector.forget()  # also when it failed half-way: then nobody finds the survey any more
    return Response(status_code=204)


async def _to_delete(collector: Collector, name: str, version: str | None) -> list[int]:
    """Return the numbers of a survey's versions; those too whose deletion has begun, and is to be completed."""
    listed = await collector.quick(collector.store.listings, name)
    begun = [entry for entry in await collector.quick(collector.store.deletions) if entry.name == name]
    every = [(each.number, each.version) for each in listed] + [(each.number, each.version) for each in begun]
    numbers = [number for number, each in every if version in (None, each)]
    if not numbers:
        raise not_found("survey")
    return numbers


async def tickets(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Make single-use tickets; this is the only time that they are seen."""
    parameters(request)
    published = await collector.current(request.path_params["id"])
    permit(token, published.entry.name)
    fields = await json_of(collector, request)
    count = fields.get("count")
    if fields.keys() != {"count"} or not is_integer(count):
        raise Problem(422, "malformed", 'the body must be {"count": N}')
    if not 1 <= count <= MAX_TICKETS:
        raise Problem(422, "malformed", f"count must be an integer from 1 to {MAX_TICKETS}")
    made = await collector.heavy(tokens.create_tickets, collector.store, published.entry.number, count)
    if made is None:  # it was deleted since it was looked up
        raise not_found("version")
    return JSONResponse({"tickets": made}, 201)
