"""Calls: every route of a collector, as the request it takes; and what its answers are."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from fldp import canonical, wire
from fldp.client.exchange import TICKET
from fldp.client.messages import Reply, Request, fields, parse
from fldp.constraints import fail
from fldp.errors import CollectorError, FldpError, WireError
from fldp.oracle import FrequencyOracle
from fldp.reports import Tally
from fldp.survey import Survey

MOST_TALLY = 8 * wire.MOST_CELLS + (1 << 16)
_VERSION = re.compile("[0-9a-f]{64}", re.ASCII)
_WORD = re.compile("[A-Za-z0-9_-]{1,64}", re.ASCII)
_JSON = {"Content-Type": "application/json"}
_BYTES = {"Content-Type": "application/octet-stream"}
Day = date | str


@dataclass(frozen=True)
class Published:
    """A survey as a collector publishes it, and whether it is ``open``; its version was computed anew."""

    survey: Survey
    state: str

    @property
    def version(self) -> str:
        """The survey's version."""
        return self.survey.version


@dataclass(frozen=True)
class Token:
    """A token of a collector. The text of it is known once, when it is made, and is not shown by ``repr``."""

    id: str
    scope: str
    survey: str | None = None
    created: str | None = None
    expires: str | None = None
    revoked: str | None = None
    token: str | None = field(default=None, repr=False)


def version_of(survey: Survey | str) -> str:
    """Return the version of a survey, or check one.

    >>> version_of("ab" * 32)[:4]
    'abab'
    """
    version = survey.version if isinstance(survey, Survey) else survey
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise fail("Client", "a survey's version", "64 hexadecimal digits, or a Survey", survey)
    return version


def named(name: str, rest: str = "") -> str:
    """Return the path of a survey."""
    return f"/v1/surveys/{_word('the name of a survey', name)}{rest}"


def of_token(token_id: str) -> str:
    """Return the path of a token."""
    return f"/v1/tokens/{_word('the id of a token', token_id)}"


def _word(what: str, text: str) -> str:
    """Let nothing into a path that could mean another one."""
    if not isinstance(text, str) or not _WORD.fullmatch(text):
        raise fail("Client", what, "1 to 64 letters, digits, - and _", text)
    return text


def of_version(survey: Survey | str, what: str) -> str:
    """Return the path of something that belongs to a version."""
    return f"/v1/versions/{version_of(survey)}/{what}"


def query(**given: Any) -> dict[str, str]:
    """Return what was given as the texts of a query; ``since`` and ``until`` are the first and the last day.

    >>> query(top=5, since=date(2026, 11, 3), post=None, all=True)
    {'top': '5', 'from': '2026-11-03', 'all': 'true'}
    """
    names = {"since": "from", "until": "to"}
    texts = {names.get(name, name): _text(value) for name, value in given.items() if value is not None}
    return {name: text for name, text in texts.items() if text}


def _text(value: Any) -> str:
    return "true" if value is True else "" if value is False else str(value)


def post_json(path: str, thing: Any, *, repeatable: bool) -> Request:
    """Return the request that posts JSON."""
    return Request("POST", path, headers=_JSON, body=canonical.dumps(thing), repeatable=repeatable)


def post_bytes(path: str, body: bytes, key: str, **rest: Any) -> Request:
    """Return the request that posts bytes under a key, so that it can be repeated."""
    headers = {**_BYTES, "Idempotency-Key": key, **rest.pop("headers", {})}
    return Request("POST", path, headers=headers, body=body, **rest)


def ticketed(ticket: str | None) -> Mapping[str, str]:
    """Return the header of a ticket."""
    return {} if ticket is None else {TICKET: ticket}


def published(reply: Reply, name: str, version: str | None) -> tuple[dict[str, Any], str, str]:
    """Return specification, claimed version and state of a survey, which must be the one that was asked for."""
    found = fields(parse(reply), version=str, survey=dict, state=str)
    if found["survey"].get("name") != name:
        raise CollectorError(f"the answer is not about survey {name}")
    if version is not None and found["version"] != version:
        raise CollectorError(f"the answer is not about version {version}")
    return found["survey"], found["version"], found["state"]


def verified(reply: Reply, name: str, version: str | None) -> Published:
    """Make the survey of an answer, and refuse one whose version is not what it claims."""
    fields, claimed, state = published(reply, name, version)
    try:
        survey = Survey.from_dict(fields)
    except FldpError as error:
        raise CollectorError(f"the answer is not a survey: {error}") from None
    if survey.version != claimed:
        raise CollectorError(
            f"the version of survey {name} must be {survey.version}, got one that is claimed and wrong"
        )
    return Published(survey, state)


def created(reply: Reply, survey: Survey) -> dict[str, Any]:
    """Return what was created, which must be what was asked for."""
    found = fields(parse(reply), name=str, version=str)
    if found["version"] != survey.version:
        raise CollectorError(f"the version of survey {survey.name} must be {survey.version}, got another one")
    return found


def submit(specification: dict[str, Any]) -> str:
    """Return how a survey takes reports: ``open``, with a ``token`` or with a ``ticket``."""
    collect = specification.get("collect")
    return str(collect.get("submit", "open")) if isinstance(collect, dict) else "open"


def accepted(reply: Reply, count: int) -> int:
    """Return how many reports were accepted, which must be all."""
    found: int = fields(parse(reply), accepted=int)["accepted"]
    if found != count:
        raise CollectorError(f"accepted must be {count}, got {found}")
    return found


def token_of(thing: Any) -> Token:
    """Read a token."""
    text, known = (str, type(None)), ("survey", "created", "expires", "revoked", "token")
    found = fields(thing, id=(str, int), scope=str, **dict.fromkeys(known, text))
    return Token(str(found["id"]), found["scope"], **{name: found.get(name) for name in known})


def tally_of(reply: Reply, version: str, oracle: FrequencyOracle | None) -> Tally:
    """Read a tally, which must be of the version that was asked for."""
    try:
        return wire.decode_tally(reply.body, oracle, version)
    except WireError as error:
        raise CollectorError(f"the answer is not the tally of version {version[:12]}: {error}") from None
