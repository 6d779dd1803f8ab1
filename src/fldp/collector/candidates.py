"""Candidates: the strings that an estimate is asked for, in a body, since they are too many for an address."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request

from fldp.collector.body import SURVEY_BYTES, body_of, media_type
from fldp.collector.collector import Collector, Published
from fldp.collector.problem import Problem
from fldp.errors import DomainError
from fldp.estimate import Estimate
from fldp.reports import Tally
from fldp.string_oracle import StringOracle
from fldp.strings import as_candidates
from fldp.survey import Survey


def of_labels(published: Published) -> None:
    """Refuse to estimate all strings: nobody can list them."""
    if isinstance(published.survey.oracle, StringOracle):
        raise _problem("the answers of this survey are strings: POST the candidates that are to be counted")


@asynccontextmanager
async def candidates_in(collector: Collector, request: Request, published: Published) -> AsyncIterator[bytes]:
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
