"""Replies of a collector, checked against the request: nothing in them is taken on trust."""

import json
import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Any

from fldp import wire
from fldp.client.address import presentable
from fldp.client.messages import Reply, clean
from fldp.client.requests import operation_of
from fldp.data.reports import Tally
from fldp.errors import CollectorError, FldpError, WireError
from fldp.oracles.base.oracle import Oracle
from fldp.passes.tokens import read_key
from fldp.support.canonical_json import Json
from fldp.support.optional_imports import load
from fldp.survey.survey import Survey

_VALUE = re.compile(" '.*'")  # what was sent, in an error of msgspec


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


def checked(reply: Reply, operation: str) -> Any:
    """Return the JSON of a reply, which must fit the operation's model; it may have fields that the model lacks.

    No value is shown: it could be a part of a secret.
    """
    model, msgspec = operation_of(operation).reply, load("msgspec", "client")
    try:
        answer = json.loads(reply.body)
    except (ValueError, RecursionError):
        raise CollectorError("the answer is not JSON", status=reply.status) from None
    try:
        msgspec.convert(answer, model)
    except (msgspec.ValidationError, UnicodeError) as error:
        why = _VALUE.sub("", clean(error)) if isinstance(error, msgspec.ValidationError) else "a text is no Unicode"
        raise CollectorError(f"the answer is not a collector's: {why}") from None
    return answer


def published(reply: Reply, name: str, version: str | None) -> tuple[dict[str, Json], str, str]:
    """Return specification, claimed version and state of a survey; it must be the requested one."""
    answer = checked(reply, "survey")
    if answer["survey"].get("name") != name:
        raise CollectorError(f"the answer is not about survey {name}")
    if version is not None and answer["version"] != version:
        raise CollectorError(f"the answer is not about version {version}")
    return answer["survey"], answer["version"], answer["state"]


def verified(reply: Reply, name: str, version: str | None) -> Published:
    """Build the survey of a reply, and refuse it if it does not have the version that the reply claims."""
    specification, claimed, state = published(reply, name, version)
    try:
        survey = Survey.from_dict(specification)
    except FldpError as error:
        raise CollectorError(f"the answer is not a survey: {clean(error)}") from None
    if survey.version != claimed:
        raise CollectorError(f"the collector claims a wrong version for survey {name}: its text gives {survey.version}")
    return Published(survey, state)


def created(reply: Reply, survey: Survey) -> dict[str, Json]:
    """Return the created survey's row, which must match the request."""
    survey_row: dict[str, Json] = checked(reply, "create_survey")
    if survey_row["version"] != survey.version:
        raise CollectorError(f"the collector published another version of survey {survey.name} than {survey.version}")
    return survey_row


def listed(reply: Reply) -> list[dict[str, Json]]:
    """Return the rows of a list of surveys."""
    rows: list[dict[str, Json]] = checked(reply, "surveys")
    return rows


def days(reply: Reply) -> list[tuple[str, int | None]]:
    """Return days and how many reports they have; None of those below the minimum. A day may become a folder's name."""
    return [(day, n) for day, n, _ in days_with_withdrawn(reply)]


def days_with_withdrawn(reply: Reply) -> list[tuple[str, int | None, int]]:
    """Return the same, and how many reports were withdrawn; an older collector says nothing of them."""
    return [(row["day"], row["n"], row.get("withdrawn", 0)) for row in checked(reply, "days")]


def closed(reply: Reply, name: str, version: str | None) -> dict[str, Json]:
    """Return the closed survey's row, which must match the request."""
    row: dict[str, Json] = checked(reply, "close_survey")
    if (row["name"], row["state"]) != (name, "closed") or version not in (None, row["version"]):
        raise CollectorError(f"the collector did not say that survey {name} is closed now")
    return row


def reopened(reply: Reply, name: str, version: str | None) -> dict[str, Json]:
    """Return what was reopened, which must be what was asked for. One whose time has not come is scheduled."""
    row: dict[str, Json] = checked(reply, "reopen_survey")
    if row["name"] != name or row["state"] == "closed" or version not in (None, row["version"]):
        raise CollectorError(f"the collector did not say that survey {name} is open again")
    return row


def done(reply: Reply) -> None:
    """Check the status of a deletion: a server that is no collector may answer 200 to everything."""
    if reply.status != 204:
        raise CollectorError(f"the answer is not a collector's: status 204 is expected, got {reply.status}")


def submit(specification: Mapping[str, Json]) -> str:
    """Return how a survey takes reports: ``open``, with a ``token``, a ``ticket`` or a ``pass``."""
    collect = specification.get("collect")
    return str(collect.get("submit", "open")) if isinstance(collect, dict) else "open"


def needs_relay(specification: Mapping[str, Json]) -> bool:
    """Whether a survey takes reports through a relay only."""
    collect = specification.get("collect")
    return isinstance(collect, dict) and collect.get("oblivious") is True


def issuer(specification: Mapping[str, Json]) -> str | None:
    """Return the issuer of a survey's passes; None if it is the collector."""
    collect = specification.get("collect")
    named = collect.get("issuer") if isinstance(collect, dict) else None
    return named if isinstance(named, str) else None


def issuer_key(reply: Reply) -> str:
    """Return a new key that signs passes, which must be one."""
    text: str = checked(reply, "create_issuer")["issuer_key"]
    try:
        read_key(text)
    except WireError:
        raise CollectorError("the answer does not hold the key of an issuer") from None
    return text


def accepted(reply: Reply, count: int) -> int:
    """Return how many reports were accepted, which must be all."""
    number: int = checked(reply, "send_reports")["accepted"]
    if number != count:
        raise CollectorError(f"accepted must be {count}, got {number}")
    return number


def withdrawn(reply: Reply) -> int:
    """Return how many reports were taken out."""
    number: int = checked(reply, "withdraw_reports")["withdrawn"]
    return number


def versions(reply: Reply) -> list[dict[str, Json]]:
    """Return all versions that a survey ever had."""
    rows: list[dict[str, Json]] = checked(reply, "versions")
    return rows


def tokens(reply: Reply) -> list[Token]:
    """Return all tokens."""
    return list(map(_token, checked(reply, "tokens")))


def _token(row: dict[str, Json]) -> Token:
    known: dict[str, Any] = {field.name: row.get(field.name) for field in dataclass_fields(Token)}
    token = Token(**known)
    if not all(_plain(str(part)) for part in astuple(token)):
        raise CollectorError("the answer is not a collector's: a token has unexpected characters")
    return token


def _plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and len(text) <= 512


def created_token(reply: Reply, scope: str, survey: str | None) -> Token:
    """Return a new token, which must have exactly the requested scope and survey."""
    token = _token(checked(reply, "create_token"))
    if (token.scope, token.survey) != (scope, survey) or not presentable(token.token or ""):
        raise CollectorError(f"the collector made another token than one to {scope}, for survey {survey or 'any'}")
    return token


def tickets(reply: Reply, count: int) -> list[str]:
    """Return tickets, which must be as many as requested, and different."""
    texts: list[str] = checked(reply, "create_tickets")["tickets"]
    good = {ticket for ticket in texts if presentable(ticket)}
    if not len(texts) == len(good) == count:
        raise CollectorError(f"the answer must hold {count:,} tickets, got {len(good):,}")
    return texts


def estimated(reply: Reply) -> dict[str, Json]:
    """Return estimates, checked against the model."""
    answer: dict[str, Json] = checked(reply, "estimates")
    return answer


def tally_of(reply: Reply, version: str, oracle: Oracle | None) -> Tally:
    """Read a tally, which must be of the requested version."""
    try:
        return wire.decode_tally(reply.body, oracle, version)
    except WireError as error:
        raise CollectorError(f"the answer is not the tally of version {version[:12]}: {error}") from None
