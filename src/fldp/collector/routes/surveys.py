"""/v1/surveys: create, list, show, close, reopen and delete surveys, and make tickets for them."""

import json

from starlette.responses import Response

from fldp.collector.http.access import permit
from fldp.collector.http.bodies import SURVEY_BYTES, body_of, media_type
from fldp.collector.http.calls import Call, reply, requested_version
from fldp.collector.service import tokens
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.collector import Collector
from fldp.collector.service.pass_issuer import objection
from fldp.collector.service.problems import Problem, bad_parameter, no_survey, not_found
from fldp.collector.service.survey_cache import PublishedSurvey, SurveySummary
from fldp.collector.storage.protocol import StoredSurvey
from fldp.interface.models import (
    DeleteQuery,
    Query,
    SurveyRow,
    SurveyState,
    TicketOrder,
    Tickets,
    VersionQuery,
    VersionRow,
)
from fldp.interface.operations import JSON
from fldp.support.validation import counted
from fldp.survey.survey import Survey, SurveyError


async def create_survey(call: Call[Query, None]) -> Response:
    """Publish a survey; the same one again changes nothing."""
    collector = call.collector
    media_type(call.request, JSON)
    async with body_of(collector, call.request, SURVEY_BYTES) as body:
        survey = await collector.heavy(_parsed, body, collector.settings.max_values)
    call.audit.survey, call.audit.version = survey.name, survey.version
    permit(call.token, survey.name)
    if await collector.quick(collector.store.listing, survey.version) is None:  # what was published before stays so
        await collector.heavy(_drafted, survey)
        if wrong := await collector.quick(objection, collector.store, survey, collector.now):
            raise _mistaken(1, wrong)
    entry = await collector.heavy(StoredSurvey.new, survey, collector.now)
    stored, is_new = await collector.quick(collector.store.publish, entry)
    published = PublishedSurvey(stored, survey)
    collector.surveys.add(published)
    return reply(_state(published.summary, collector.now), 201 if is_new else 200)


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


def _state(summary: SurveySummary, now: str) -> SurveyState:
    return SurveyState(
        name=summary.name,
        version=summary.version,
        created=summary.created,
        closed=summary.closed,
        state=summary.state(now),
        submit=summary.submit,
    )


async def surveys(call: Call[Query, None]) -> Response:
    """List all versions of all surveys that the token is valid for, the newest first."""
    collector = call.collector
    summaries, counts, withdrawn = await call.compute(_listed, call.token.survey if call.token else None)
    collector.surveys.remember(summaries)
    now = collector.now
    return reply([_row(each, counts.get(each.number, 0), withdrawn.get(each.number, 0), now) for each in summaries])


async def versions(call: Call[Query, None]) -> Response:
    """List all versions that a survey ever had, the newest first: so anybody can see that all are shown the same."""
    name = call.request.path_params["name"]
    rows = await call.collector.quick(call.collector.store.versions, name)
    if not rows:
        raise no_survey(name)
    return reply([VersionRow(**each._asdict()) for each in rows])


def _listed(collector: Collector, name: str | None) -> tuple[list[SurveySummary], dict[int, int], dict[int, int]]:
    """Summarize the surveys of a name, or all. Only the specifications of new or newly closed ones are read."""
    summaries = []
    for listing in collector.store.listings(name):
        checkpoint()
        if summary := collector.surveys.summarize(listing):  # else it was deleted since it was listed
            summaries.append(summary)
    return summaries, collector.store.counts(), collector.store.withdrawn_counts()


def _row(summary: SurveySummary, n: int, withdrawn: int, now: str) -> SurveyRow:
    return SurveyRow(
        name=summary.name,
        version=summary.version,
        question=summary.question,
        created=summary.created,
        closed=summary.closed,
        state=summary.state(now),
        decoders=list(summary.decoders),
        methods=list(summary.methods),
        n=n,
        withdrawn=withdrawn,
    )


async def survey(call: Call[VersionQuery, None]) -> Response:
    """Show what a survey asks: its newest open version, else its newest, or the one that is named."""
    known, now = call.collector.surveys, call.collector.now
    listing, summary = await known.shown(call.request.path_params["name"], now, call.query.version)
    call.request.state.origins = summary.origins
    return Response(await known.document(listing, summary.state(now)), media_type=JSON)


async def close_survey(call: Call[VersionQuery, None]) -> Response:
    """Close a survey: all its versions, or one."""
    collector, name = call.collector, call.request.path_params["name"]
    call.audit.version = call.query.version
    permit(call.token, name)
    listings = await collector.surveys.listings(name, call.query.version)
    numbers = [listing.number for listing in listings]
    await collector.quick(collector.store.close_surveys, numbers, collector.now)
    collector.forget()
    closed = await collector.surveys.get(listings[0].version, fresh=True)
    return reply(_state(closed.summary, collector.now))


async def reopen_survey(call: Call[VersionQuery, None]) -> Response:
    """Open a survey again that was closed: its newest version, or the one that is named. An open one stays as it is."""
    collector, name = call.collector, call.request.path_params["name"]
    call.audit.version = call.query.version
    permit(call.token, name)
    listing = (await collector.surveys.listings(name, call.query.version))[0]
    _require_reopenable(await collector.surveys.get(listing.version, fresh=True), collector.now)
    await collector.quick(collector.store.reopen_survey, listing.number)
    collector.forget()
    opened = await collector.surveys.get(listing.version, fresh=True)
    return reply(_state(opened.summary, collector.now))


def _require_reopenable(published: PublishedSurvey, now: str) -> None:
    """Refuse what would not be open then, and what others have gone on from."""
    closes = published.summary.closes
    if closes and now >= closes:
        rule = f"it closed at {closes}, which is part of its version: publish it with a later date, as a new version"
        raise Problem(409, "final", rule)
    if published.survey.search is not None:
        raise Problem(409, "final", "a round of a search stays closed: publish the search again, under another name")


async def delete_survey(call: Call[DeleteQuery, None]) -> Response:
    """Delete a survey with its reports, tallies, keys and tickets: one version, or all."""
    collector, name, query = call.collector, call.request.path_params["name"], call.query
    call.audit.version = query.version
    permit(call.token, name)
    if (query.version is None) == (query.all is None):
        raise bad_parameter("give version=ID to delete one version, or all=true")
    numbers = await _to_delete(collector, name, query.version)
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
        raise no_survey(name, version)
    return numbers


async def create_tickets(call: Call[Query, TicketOrder]) -> Response:
    """Create single-use tickets. Only their hashes are stored, so this answer is the only one that shows them."""
    published, collector = await requested_version(call), call.collector
    number, count = published.entry.number, call.body.count
    secrets = await collector.heavy(tokens.create_tickets, collector.store, number, count)
    if secrets is None:  # it was deleted since it was looked up
        raise not_found("version")
    call.audit.count = count
    return reply(Tickets(tickets=secrets), 201)
