"""POST .../reports and .../merge: reports, and tallies of other collectors, are counted once, and taken out again."""

import io
from functools import partial
from typing import Any

import numpy as np
from starlette.responses import Response

from fldp import wire
from fldp.collector.http.access import answered, sender
from fldp.collector.http.bodies import body_of, idempotency_key, media_type
from fldp.collector.http.calls import Call, reply, requested_version
from fldp.collector.service.problems import Problem, bad_parameter
from fldp.collector.service.survey_cache import MAX_SINGLE, PublishedSurvey
from fldp.collector.storage.protocol import Submission, Withdrawal, request_hashes
from fldp.collector.storage.segments import is_smaller_as_tally
from fldp.data.reports import MAX_COUNT, Reports, Tally
from fldp.errors import WireError
from fldp.interface.models import Accepted, MergeQuery, Query, WithdrawalQuery, Withdrawn
from fldp.interface.operations import BYTES
from fldp.oracles.base.ticket_words import fits
from fldp.survey.survey import Survey

_MAX_MERGED = MAX_COUNT // 1000  # reports of a merged tally, and its numbers: a thousand such tallies can be added


async def send_reports(call: Call[Query, None]) -> Response:
    """Count a batch of reports, once."""
    collector, request = call.collector, call.request
    published = await answered(collector, request)
    ticket = await sender(collector, request, published)
    key = _checked_key(call, published)
    async with body_of(collector, request, collector.settings.max_body) as body:
        most = 1 if ticket else collector.settings.max_reports
        work = partial(_read, published, key, body, most)
        hashes, content = work() if len(body) <= MAX_SINGLE else await collector.heavy(work)
        if isinstance(content, Reports):
            _check_ticketed(published.survey, content, ticket, request.headers.get("fldp-ticket", ""))
        submission = Submission(
            published.entry.number,
            *hashes,
            content,
            tallied=isinstance(content, Tally),
            ticket=ticket,
            closed=published.state(collector.now) != "open",
            secret=key,
            is_pass=published.survey.pass_terms is not None,
        )
        accepted = await collector.count(submission, published.entry.version)
    return reply(Accepted(accepted=accepted))


def _checked_key(call: Call[Query, None], published: PublishedSurvey) -> bytes:
    key = idempotency_key(call.request)
    media_type(call.request, BYTES)
    call.collector.load.rate.check(published.entry.version)
    return key


async def withdraw_reports(call: Call[WithdrawalQuery, None]) -> Response:
    """Take out what a batch had counted, whether or not it was counted yet."""
    collector, request = call.collector, call.request
    published = await answered(collector, request)
    needs_ticket = published.survey.collect["submit"] in ("ticket", "pass")
    shows = not needs_ticket or "fldp-ticket" in request.headers  # for a key that is known it need not be shown
    ticket = await sender(collector, request, published) if shows else None
    key = _checked_key(call, published)
    async with body_of(collector, request, collector.settings.max_body) as body:
        work = partial(_read, published, key, body, collector.settings.max_reports)
        hashes, content = work() if len(body) <= MAX_SINGLE else await collector.heavy(work)
        withdrawal = Withdrawal(
            published.entry.number,
            *hashes,
            content,
            tallied=isinstance(content, Tally),
            ticket=ticket,
            day=_day_said(call, published),
            secret=key,
            is_pass=published.survey.pass_terms is not None,
            needs_ticket=needs_ticket,
        )
        withdrawn = await collector.withdraw(withdrawal, published.entry.version)
    return reply(Withdrawn(withdrawn=withdrawn))


def _day_said(call: Call[WithdrawalQuery, None], published: PublishedSurvey) -> str | None:
    """Return the day that a request names. Where no reports are kept, none shows that they were of that day."""
    day, keeps = call.query.day, published.survey.collect["retention"] == "raw"
    return day.isoformat() if day is not None and keeps else None


async def withdraw_merge(call: Call[MergeQuery, None]) -> Response:
    """Take out a tally of another collector that was counted."""
    collector, request = call.collector, call.request
    published = await requested_version(call)
    day = call.query.day.isoformat() if call.query.day else ""
    key = idempotency_key(request)
    media_type(request, BYTES)
    async with body_of(collector, request, collector.settings.max_body) as body:
        tally = await collector.heavy(_tally, published, body)
        hashes = await collector.heavy(request_hashes, b"merge " + day.encode(), key, body)
        withdrawal = Withdrawal(published.entry.number, *hashes, tally, secret=key)
        withdrawn = await collector.withdraw(withdrawal, published.entry.version)
        call.audit.count = withdrawn
    return reply(Withdrawn(withdrawn=withdrawn))


def _check_ticketed(survey: Survey, reports: Reports, ticket: bytes | None, secret: str) -> None:
    if ticket and not len(reports):
        raise Problem(422, "malformed", "a ticket is for one report, and the batch has none; it is not spent")
    check_derived(survey, reports, secret)


def check_derived(survey: Survey, reports: Reports, ticket: str) -> None:
    """Refuse a report whose public randomness does not follow from its ticket, where the survey requires it."""
    if survey.derives and not all(fits(survey.oracle, report, ticket, survey.version) for report in reports.data):
        raise Problem(422, "not-derived", "the masks or the seed of the report must derive from its ticket")


def _read(
    published: PublishedSurvey, key: bytes, body: bytes, most: int
) -> tuple[tuple[bytes, bytes], Reports | Tally]:
    return request_hashes(b"reports", key, body), _stored_form(published.survey, _decoded(published, body, most))


def _decoded(published: PublishedSurvey, body: bytes, most: int) -> Reports:
    """Decode and check a batch."""
    oracle = published.survey.oracle
    parts: list[Reports] = []
    try:
        reader = wire.Reader(io.BytesIO(body), oracle, published.entry.version)
        for part in reader:
            if reader.count > most:
                raise Problem(413, "too-large", f"a batch must have at most {most} reports")
            parts.append(part)
    except WireError as error:
        raise malformed(error) from None
    empty = Reports.trusted(oracle, oracle.report_format.empty(0))
    return parts[0] if len(parts) == 1 else Reports.concatenate([empty, *parts])


def _stored_form(survey: Survey, reports: Reports) -> Reports | Tally:
    """Return a batch as it is stored, which the commit sorts together with others, or its tally.

    A survey that keeps no reports needs their tally alone. Where that is smaller, they never reach the disk.
    """
    is_kept = survey.collect["retention"] == "raw" or survey.derives
    if len(reports) and not is_kept and is_smaller_as_tally(survey.oracle, len(reports)):
        return survey.oracle.tally(reports)
    return reports


def malformed(error: WireError) -> Problem:
    """Return the problem with bytes that cannot be decoded, and the index of the report if it is one."""
    more: dict[str, Any] = {} if error.index is None else {"index": error.index}
    return Problem(422, "malformed", str(error), **more)


async def merge(call: Call[MergeQuery, None]) -> Response:
    """Count a tally of another collector, once."""
    collector, request = call.collector, call.request
    published = await requested_version(call)
    day = call.query.day.isoformat() if call.query.day else ""
    if day > collector.today:
        raise bad_parameter("day must not be in the future")
    if day and day < collector.today and published.survey.release is not None:
        raise bad_parameter("day must be today: released results of earlier days must not change")
    key = idempotency_key(request)
    media_type(request, BYTES)
    async with body_of(collector, request, collector.settings.max_body) as body:
        tally = await collector.heavy(_tally, published, body)
        hashes = await collector.heavy(request_hashes, b"merge " + day.encode(), key, body)
        submission = Submission(published.entry.number, *hashes, tally, day=day or collector.today, secret=key)
        accepted = await collector.count(submission, published.entry.version)
        call.audit.count = accepted
    return reply(Accepted(accepted=accepted))


def _tally(published: PublishedSurvey, body: bytes) -> Tally:
    """Decode a tally of at least one report, whose numbers are small enough to be added to many others."""
    try:
        tally = wire.decode_tally(body, published.survey.oracle, published.entry.version)
    except WireError as error:
        raise malformed(error) from None
    if not tally.n >= 1 or max(tally.n, int(np.abs(tally.state).max(initial=0))) > _MAX_MERGED:
        raise Problem(422, "malformed", f"a tally must be of 1 to {_MAX_MERGED} reports, with numbers up to that")
    return tally
