"""Replies: what the answers of a collector say, checked against what was asked. Nothing in them is taken on trust."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from fldp import wire
from fldp.client.address import presentable
from fldp.client.messages import Reply, clean, fields, parse, rows
from fldp.data.reports import Tally
from fldp.errors import CollectorError, FldpError, WireError
from fldp.oracles.base.oracle import Oracle
from fldp.survey.survey import Survey

STATES = ("open", "closed", "scheduled")


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


def published(reply: Reply, name: str, version: str | None) -> tuple[dict[str, Any], str, str]:
    """Return specification, claimed version and state of a survey, which must be the one that was asked for."""
    found = fields(parse(reply), version=str, survey=dict, state=str)
    if found["survey"].get("name") != name:
        raise CollectorError(f"the answer is not about survey {name}")
    if version is not None and found["version"] != version:
        raise CollectorError(f"the answer is not about version {version}")
    return found["survey"], found["version"], _state(found)


def _state(found: dict[str, Any]) -> str:
    if found["state"] not in STATES:
        raise CollectorError(f"the state of a survey must be one of {', '.join(STATES)}, got something else")
    return str(found["state"])


def verified(reply: Reply, name: str, version: str | None) -> Published:
    """Make the survey of an answer, and refuse one whose version is not what it claims."""
    fields, claimed, state = published(reply, name, version)
    try:
        survey = Survey.from_dict(fields)
    except FldpError as error:
        raise CollectorError(f"the answer is not a survey: {clean(error)}") from None
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


def listed(reply: Reply) -> list[dict[str, Any]]:
    """Return the rows of a list of surveys."""
    found = rows(parse(reply), name=str, version=str, state=str)
    for row in found:
        _state(row)
    return found


def days(reply: Reply) -> list[tuple[str, int | None]]:
    """Return days and how many reports they have; None of those below the minimum. A day may become a folder's name."""
    found = rows(parse(reply), day=str)
    for row in found:
        day, n = row["day"], row.get("n")
        if not _is_day(day) or not (n is None or (type(n) is int and n >= 0)):
            raise CollectorError("the answer is not one of a collector: it has a day that is none")
    return [(row["day"], row.get("n")) for row in found]


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def closed(reply: Reply, name: str, version: str | None) -> dict[str, Any]:
    """Return what was closed, which must be what was asked for."""
    found = fields(parse(reply), name=str, version=str, state=str)
    if (found["name"], found["state"]) != (name, "closed") or version not in (None, found["version"]):
        raise CollectorError(f"survey {name} must be closed now, got another answer")
    return found


def done(reply: Reply) -> None:
    """Check that something is gone; others than a collector answer 200 to everything."""
    if reply.status != 204:
        raise CollectorError(f"the answer is not one of a collector: status 204 is expected, got {reply.status}")


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
    if not all(_plain(str(found.get(name, ""))) for name in ("id", "scope", *known)):
        raise CollectorError("the answer is not one of a collector: a token has odd characters")
    return Token(str(found["id"]), found["scope"], **{name: found.get(name) for name in known})


def _plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and len(text) <= 512


def created_token(reply: Reply, scope: str, survey: str | None) -> Token:
    """Return a new token, which must be good for what was asked for and for nothing else."""
    made = token_of(fields(parse(reply), token=str))
    if (made.scope, made.survey) != (scope, survey) or not presentable(made.token or ""):
        raise CollectorError(f"the token must be one to {scope}, for survey {survey or 'any'}, got another one")
    return made


def tickets(reply: Reply, count: int) -> list[str]:
    """Return tickets, which must be as many as were asked for, and different."""
    found = fields(parse(reply), tickets=list)["tickets"]
    good = {ticket for ticket in found if isinstance(ticket, str) and presentable(ticket)}
    if not len(found) == len(good) == count:
        raise CollectorError(f"the answer must hold {count:,} tickets, got {len(good):,}")
    return list(found)


def estimated(reply: Reply) -> dict[str, Any]:
    """Return estimates, as far as they are ones."""
    found = fields(parse(reply), n=int, rows=list, level=(float, int))
    number = (float, int)
    if "rest" in found:
        fields(found["rest"], count=number, stderr=number)
    rows(found["rows"], value=int, label=str, **dict.fromkeys(("count", "stderr", "low", "high", "frequency"), number))
    return found


def tally_of(reply: Reply, version: str, oracle: Oracle | None) -> Tally:
    """Read a tally, which must be of the version that was asked for."""
    try:
        return wire.decode_tally(reply.body, oracle, version)
    except WireError as error:
        raise CollectorError(f"the answer is not the tally of version {version[:12]}: {error}") from None
