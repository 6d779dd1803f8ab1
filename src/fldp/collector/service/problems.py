"""Problems: errors in the one shape of RFC 9457."""

import json
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from fldp.support.canonical_json import Json
from fldp.support.identifiers import SURVEY_NAME
from fldp.support.validation import MistakeList

TITLES = {
    "busy": "Too much at the same time",
    "candidates": "These are not candidates that can be counted",
    "closed": "The survey takes no reports now",
    "conflict": "The key was used for another body",
    "encoding": "The body is encoded",
    "final": "The survey stays closed",
    "forbidden": "The token is not good for this",
    "key": "A good Idempotency-Key is needed",
    "malformed": "The body is not what it should be",
    "media-type": "The body is of another type",
    "not-raw": "The survey keeps no reports",
    "parameter": "A parameter is wrong",
    "not-derived": "The report does not belong to its ticket",
    "pass": "A pass is needed",
    "rate": "Too many requests",
    "relay-only": "Reports come through a relay",
    "slow": "The body came too slowly",
    "survey": "The survey has mistakes",
    "ticket": "A ticket is needed",
    "ticket-spent": "The ticket is spent",
    "too-few": "Too few reports to show anything",
    "release": "Results of this survey are released in steps",
    "too-large": "The body is too large",
    "undated": "The day of these reports is not known",
    "unauthorized": "A token is needed",
    "unavailable": "The database cannot be used now",
    "withdrawn": "The reports were withdrawn",
}


class Problem(Exception):  # noqa: N818 - it is a response, not a mistake of ours
    """A request that is refused: a status, a slug that names the kind, and one clear line.

    >>> Problem(413, "too-large", "the body must be smaller").fields["type"]
    'urn:fldp:too-large'
    """

    def __init__(
        self, status: int, slug: str | None, detail: str, headers: Mapping[str, str] | None = None, **more: Json
    ) -> None:
        super().__init__(detail)
        self.status, self.headers = status, dict(headers or {})
        self.fields: dict[str, Json] = {
            "type": f"urn:fldp:{slug}" if slug else "about:blank",
            "title": TITLES[slug] if slug else HTTPStatus(status).phrase,
            "status": status,
            "detail": detail,
            **more,
        }

    @property
    def is_busy(self) -> bool:
        """Whether there was too much to do at this time."""
        return self.fields["type"] == "urn:fldp:busy"

    def response(self) -> Response:
        """Return it as an answer."""
        body = json.dumps(self.fields, ensure_ascii=False).encode("utf-8", "replace")
        return Response(body, self.status, self.headers, media_type="application/problem+json")


def not_found(what: str) -> Problem:
    """Return the problem of something that is not there."""
    return Problem(404, None, f"there is no such {what}")


def no_survey(name: str, version: str | None = None) -> Problem:
    """Return the problem of a survey, or a version of it, that is not there; names that none can have are not echoed.

    >>> no_survey("commute").fields["detail"], no_survey("<b>").fields["detail"]
    ('there is no survey named commute', 'there is no such survey')
    """
    if not SURVEY_NAME.matches(name):
        return not_found("survey")
    return Problem(404, None, f"there is no survey named {name}{' with this version' if version else ''}")


def busy(detail: str) -> Problem:
    """Return the problem of having too much to do, which passes."""
    return Problem(503, "busy", detail, {"Retry-After": "1"})


def unavailable(detail: str) -> Problem:
    """Return the problem of a database that does not do what it is asked, which may pass."""
    return Problem(503, "unavailable", detail, {"Retry-After": "1"})


def too_slow() -> Problem:
    """Return the problem of a body that came too slowly."""
    return Problem(408, "slow", "the body came too slowly", {"Connection": "close"})


def bad_parameter(detail: str) -> Problem:
    """Return the problem of a parameter in the address."""
    return Problem(422, "parameter", detail)


def mistaken(mistakes: MistakeList, slug: str) -> Problem:
    """Return the problem of input with mistakes: all of them in its detail, and one by one."""
    return Problem(422, slug, "; ".join(mistakes.messages), mistakes=mistakes.messages)
