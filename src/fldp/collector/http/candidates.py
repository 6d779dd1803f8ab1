"""Candidates: the strings of which an estimate is asked, in a body, since they are too many for an address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fldp.collector.http.bodies import SURVEY_BYTES, body_of, media_type
from fldp.collector.http.calls import Call
from fldp.collector.service.problems import Problem, mistaken
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.data.fingerprints import as_candidates
from fldp.errors import DomainError
from fldp.interface.models import Candidates
from fldp.interface.operations import JSON
from fldp.interface.reading import ModelError, from_json


def require_labels(published: PublishedSurvey) -> None:
    """Refuse to estimate all strings: nobody can list them."""
    if published.survey.needs_candidates:
        raise _problem("the answers of this survey are strings: POST the candidates that are to be counted")


@asynccontextmanager
async def candidates_body(call: Call[object, None], published: PublishedSurvey) -> AsyncIterator[bytes]:
    """Read a body with candidates; its bytes are accounted for until the estimate is made."""
    if not published.survey.needs_candidates:
        raise _problem("the answers of this survey are listed: GET the estimates of all of them")
    media_type(call.request, JSON)
    async with body_of(call.collector, call.request, SURVEY_BYTES, call.collector.load.candidates) as body:
        yield body


def parse_candidates(body: bytes | None, max_candidates: int) -> tuple[str, ...] | None:
    """Return the candidates in a body; None where there is no body.

    >>> parse_candidates(b'{"candidates": ["firefox", "chrome"]}', 10)
    ('firefox', 'chrome')
    """
    if body is None:
        return None
    try:
        candidates = from_json(Candidates, body).candidates
    except ModelError as error:
        raise mistaken(error.mistakes, "candidates") from None
    if len(candidates) > max_candidates:
        raise _problem(f"there must be at most {max_candidates} candidates")
    try:
        return as_candidates("estimates", candidates)
    except DomainError as error:
        raise _problem(str(error)) from None


def _problem(detail: str) -> Problem:
    return Problem(422, "candidates", detail)
