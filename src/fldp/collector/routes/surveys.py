"""/v1/surveys: create, list, show, close and delete surveys, and make tickets for them."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fldp.collector.http.access import permit, requested_version
from fldp.collector.http.bodies import SURVEY_BYTES, body_of, json_of, media_type
from fldp.collector.http.query import parameters
from fldp.collector.service import tokens
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import Problem, bad_parameter, not_found
from fldp.collector.service.survey_cache import PublishedSurvey, SurveySummary
from fldp.collector.storage.protocol import StoredSurvey, StoredToken
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
    entry = await collector.heavy(StoredSurvey.new, survey, collector.now)
    stored, is_new = await collector.quick(collector.store.publish, entry)
    published = PublishedSurvey(stored, survey)
    collector.surveys.add(published)
    return JSONResponse(_facts(published.summary, collector.now), 201 if is_new else 200)


def _parsed(body: bytes, most: int) -> Survey:
    """Parse a survey; one that is too large is refused before its oracle is built."""
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
    cells = survey.oracle.tally_format.cells
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
        size = fields.get("domain_size", 0)
        return size if isinstance(size, int) else 0
    except (ValueError, RecursionError, AttributeError):
        return 0


def _mistaken(count: int, *mistakes: str) -> Problem:
    return Problem(422, "survey", f"the survey has {counted(count, 'mistake')}", mistakes=[m[:500] for m in mistakes])


def _facts(summary: SurveySummary, now: str) -> dict[str, Any]:
    return {
        "name": summary.name,
        "version": summary.version,
        "created": summary.created,
        "closed": summary.closed,
        "state": summary.state(now),
        "submit": summary.submit,
    }


async def index(collector: Collector, request: Request, token: StoredToken) -> Response:
    """List all versions of all surveys that the token is good for, the newest first."""
    parameters(request)
    summaries, counts = await collector.answers.compute(request, _listed, collector, token.survey)
    collector.surveys.remember(summaries)
    now = collector.now
    return JSONResponse([_row(summary, counts.get(summary.number, 0), now) for summary in summaries])


def _listed(collector: Collector, name: str | None) -> tuple[list[SurveySummary], dict[int, int]]:
    """Summarize the surveys of a name, or all. Only the specifications of new or newly closed ones are read."""
    summaries = []
    for listing in collector.store.listings(name):
        checkpoint()
        if summary := collector.surveys.summarize(listing):  # else it was deleted since it was listed
            summaries.append(summary)
    return summaries, collector.store.counts()


def _row(summary: SurveySummary, n: int, now: str) -> dict[str, Any]:
    return {
        "name": summary.name,
        "version": summary.version,
        "question": summary.question,
        "created": summary.created,
        "closed": summary.closed,
        "state": summary.state(now),
        "decoders": list(summary.decoders),
        "methods": list(summary.methods),
        "n": n,
    }


async def show(collector: Collector, request: Request, token: None) -> Response:
    """Show what a survey asks: its newest open version, else its newest, or the one that is named."""
    del token
    asked = parameters(request, "version")
    now = collector.now
    listing, summary = await collector.surveys.shown(request.path_params["name"], now, asked.get("version"))
    request.state.origins = summary.origins
    body = await collector.surveys.document(listing, summary.state(now))
    return Response(body, media_type="application/json")


async def close(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Close a survey for good: all its versions, or one."""
    asked = parameters(request, "version")
    permit(token, request.path_params["name"])
    listings = await collector.surveys.listings(request.path_params["name"], asked.get("version"))
    numbers = [listing.number for listing in listings]
    await collector.quick(collector.store.close_surveys, numbers, collector.now)
    collector.forget()
    closed = await collector.surveys.get(listings[0].version, fresh=True)
    return JSONResponse(_facts(closed.summary, collector.now))


async def delete(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Delete a survey with its reports, tallies, keys and tickets: one version, or all."""
    asked = parameters(request, "version", "all")
    permit(token, request.path_params["name"])
    if asked.get("all", "true") != "true" or len(asked) != 1:
        raise bad_parameter("give version=ID to delete one version, or all=true")
    numbers = await _to_delete(collector, request.path_params["name"], asked.get("version"))
    try:
        await collector.delete(numbers)
    finally:
        collector.forget()  # also when it failed half-way: then nobody finds the survey any more
    return Response(status_code=204)


async def _to_delete(collector: Collector, name: str, version: str | None) -> list[int]:
    """Return the numbers of a survey's versions, including those whose deletion was interrupted."""
    listed = await collector.quick(collector.store.listings, name)
    begun = [entry for entry in await collector.quick(collector.store.deletions) if entry.name == name]
    every = [(each.number, each.version) for each in listed] + [(each.number, each.version) for each in begun]
    numbers = [number for number, each in every if version in (None, each)]
    if not numbers:
        raise not_found("survey")
    return numbers


async def tickets(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Create single-use tickets. Only their hashes are stored, so this answer is the only one that shows them."""
    parameters(request)
    published = await requested_version(collector, request, token)
    fields = await json_of(collector, request)
    count = fields.get("count")
    if fields.keys() != {"count"} or not is_integer(count):
        raise Problem(422, "malformed", 'the body must be {"count": N}')
    if not 1 <= count <= MAX_TICKETS:
        raise Problem(422, "malformed", f"count must be an integer from 1 to {MAX_TICKETS}")
    secrets = await collector.heavy(tokens.create_tickets, collector.store, published.entry.number, count)
    if secrets is None:  # it was deleted since it was looked up
        raise not_found("version")
    return JSONResponse({"tickets": secrets}, 201)
