"""Calls: every route of a collector, as the request it takes."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from fldp import wire
from fldp.client.messages import Request
from fldp.client.retry import KEY, TICKET
from fldp.data.fingerprints import as_candidates
from fldp.support import canonical_json
from fldp.support.identifiers import SURVEY_NAME, TOKEN_ID, VERSION
from fldp.survey.survey import Survey

MAX_TALLY = 8 * wire.MAX_CELLS + (1 << 16)
_JSON = {"Content-Type": "application/json"}
_BYTES = {"Content-Type": "application/octet-stream"}
Day = date | str


def version_of(survey: Survey | str) -> str:
    """Return the version of a survey, or check one.

    >>> version_of("ab" * 32)[:4]
    'abab'
    """
    version = survey.version if isinstance(survey, Survey) else survey
    return VERSION("Client", "a survey's version", version)


def named(name: str, rest: str = "") -> str:
    """Return the path of a survey."""
    return f"/v1/surveys/{SURVEY_NAME('Client', 'the name of a survey', name)}{rest}"


def of_token(token_id: str) -> str:
    """Return the path of a token."""
    return f"/v1/tokens/{TOKEN_ID('Client', 'the id of a token', token_id)}"


def of_version(survey: Survey | str, what: str) -> str:
    """Return the path of something that belongs to a version."""
    return f"/v1/versions/{version_of(survey)}/{what}"


def query(**given: Any) -> dict[str, str]:
    """Return what was given as the texts of a query; ``since`` and ``until`` are the first and the last day.

    >>> query(top=5, since=date(2026, 11, 3), post=None, all=True)
    {'top': '5', 'from': '2026-11-03', 'all': 'true'}
    """
    names = {"since": "from", "until": "to"}
    return {
        names.get(name, name): "true" if value is True else str(value)
        for name, value in given.items()
        if value is not None and value is not False
    }


def estimates(
    form: str,
    *,
    top: int | None = None,
    level: float | None = None,
    decoder: str | None = None,
    post: str | None = None,
    method: str | None = None,
    since: Day | None = None,
    until: Day | None = None,
) -> dict[str, str]:
    """Return the query for estimates."""
    how = {"decoder": decoder, "post": post, "method": method}
    return query(top=top, level=level, **how, since=since, until=until, format=form)


def estimating(survey: Survey | str, form: str, candidates: Iterable[str] | None = None, **asked: Any) -> Request:
    """Return the request for estimates: of all labels, or of candidates where the answers are strings.

    >>> estimating("ab" * 32, "json", ["firefox"], top=3).body
    b'{"candidates":["firefox"]}'
    """
    path, wanted = of_version(survey, "estimates"), estimates(form, **asked)
    if candidates is None:
        return Request("GET", path, wanted)
    return replace(post_json(path, {"candidates": as_candidates("Client", candidates)}, repeatable=True), query=wanted)


def post_json(path: str, thing: Any, *, repeatable: bool) -> Request:
    """Return the request that posts JSON."""
    return Request("POST", path, headers=_JSON, body=canonical_json.dumps(thing), repeatable=repeatable)


def post_bytes(path: str, body: bytes, key: str, **rest: Any) -> Request:
    """Return the request that posts bytes under a key, so that it can be repeated."""
    headers = {**_BYTES, KEY: key, **rest.pop("headers", {})}
    return Request("POST", path, headers=headers, body=body, **rest)


def ticketed(ticket: str | None) -> Mapping[str, str]:
    """Return the header of a ticket."""
    return {} if ticket is None else {TICKET: ticket}
