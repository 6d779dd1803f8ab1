"""Candidates, and what was expected of all values: in a body, since they are too many for an address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import UNSET

from fldp.collector.http.bodies import SURVEY_BYTES, body_of, media_type
from fldp.collector.http.calls import Call
from fldp.collector.service.problems import Problem, mistaken
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.data.fingerprints import as_candidates
from fldp.data.postprocess import BAYES
from fldp.errors import DomainError
from fldp.interface.models import Candidates, EstimatesBody, EstimatesQuery
from fldp.interface.operations import JSON
from fldp.interface.reading import ModelError, from_json
from fldp.survey.survey import Survey

Wanted = tuple[tuple[str, ...] | None, list[float] | None]  # candidates, and what was expected


def require_labels(published: PublishedSurvey) -> None:
    """Refuse to estimate all strings: nobody can list them."""
    if published.survey.needs_candidates:
        raise _problem("the answers of this survey are strings: POST the candidates that are to be counted")


@asynccontextmanager
async def candidates_body(call: Call[object, None], published: PublishedSurvey) -> AsyncIterator[bytes]:
    """Read a body with candidates; its bytes are accounted for until the estimate is made."""
    if not published.survey.needs_candidates and not _takes_prior(call.query, published.survey):
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
    return _checked(candidates, max_candidates)


def parse_wanted(body: bytes | None, survey: Survey, post: str | None, max_candidates: int) -> Wanted:
    """Return the candidates in a body and the prior, as far as a survey needs and takes them."""
    if body is None:
        return None, None
    try:
        wanted = from_json(EstimatesBody, body)
    except ModelError as error:
        raise mistaken(error.mistakes, "candidates" if survey.needs_candidates else "malformed") from None
    if (wanted.candidates is UNSET) == survey.needs_candidates:
        raise _problem("candidates is missing" if survey.needs_candidates else "candidates are for surveys of strings")
    candidates = None if wanted.candidates is UNSET else _checked(wanted.candidates, max_candidates)
    if wanted.prior is UNSET:
        if candidates is None:
            detail = "prior is missing: give one number for each value, or GET the estimates without one"
            raise Problem(422, "malformed", detail)
        return candidates, None
    if post != BAYES:
        raise _bad_prior("left out, unless post is bayes")
    size = survey.domain_size if candidates is None else len(candidates)
    if len(wanted.prior) != size or not any(wanted.prior):
        raise _bad_prior(f"{size} numbers in the order of the values, not all of them 0, got {len(wanted.prior)}")
    return candidates, wanted.prior


def _takes_prior(query: object, survey: Survey) -> bool:
    """Whether public knowledge can be mixed in: into the shares of listed values, by empirical Bayes."""
    listed = survey.number is None and not survey.questions
    return listed and isinstance(query, EstimatesQuery) and query.post == BAYES


def _bad_prior(rule: str) -> Problem:
    return Problem(422, "malformed", f"prior must be {rule}")


def _checked(candidates: list[str], max_candidates: int) -> tuple[str, ...]:
    if len(candidates) > max_candidates:
        raise _problem(f"there must be at most {max_candidates} candidates")
    try:
        return as_candidates("estimates", candidates)
    except DomainError as error:
        raise _problem(str(error)) from None


def _problem(detail: str) -> Problem:
    return Problem(422, "candidates", detail)
