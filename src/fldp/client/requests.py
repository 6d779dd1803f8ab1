"""Requests: build the request of each operation of the interface."""

import math
from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING

from fldp import wire
from fldp.client.messages import Request
from fldp.client.retry import KEY, TICKET
from fldp.data.fingerprints import as_candidates
from fldp.support.identifiers import SURVEY_NAME, TOKEN_ID, VERSION
from fldp.support.optional_imports import load
from fldp.support.validation import fail, is_number
from fldp.survey.survey import Survey

if TYPE_CHECKING:
    from fldp.interface.models import Query
    from fldp.interface.operations import Operation

MAX_TALLY = 8 * wire.MAX_CELLS + (1 << 16)
Day = date | str


def operation_of(name: str) -> "Operation":
    """Return an operation of the interface, by its name; msgspec is loaded with the first one."""
    load("msgspec", "client")
    from fldp.interface.operations import BY_NAME

    return BY_NAME[name]


def version_of(survey: Survey | str) -> str:
    """Return the version of a survey, or check one.

    >>> version_of("ab" * 32)[:4]
    'abab'
    """
    version = survey.version if isinstance(survey, Survey) else survey
    return VERSION("Client", "a survey's version", version)


def survey_name(name: str) -> str:
    """Check the name of a survey."""
    return SURVEY_NAME("Client", "the name of a survey", name)


def token_id(token: str) -> str:
    """Check the id of a token."""
    return TOKEN_ID("Client", "the id of a token", token)


def asking(
    name: str, where: str = "", /, *, body: bytes | Mapping[str, object] = b"", key: str | None = None, **query: object
) -> Request:
    """Return the request of an operation. ``where`` is what its path names: a survey, a version or a token.

    A body is bytes, or the fields of the operation's model. What values mean is for the collector to judge.

    >>> asking("close_survey", "browser", version=None).path
    '/v1/surveys/browser/close'
    >>> asking("estimates", "ab" * 32, since=date(2026, 11, 3), top=5).query
    {'from': '2026-11-03', 'top': '5'}
    """
    return _request(name, where, query, body, key)


def _request(
    name: str,
    where: str,
    query: Mapping[str, object],
    body: bytes | Mapping[str, object] = b"",
    key: str | None = None,
) -> Request:
    operation = operation_of(name)
    path = operation.path.format(**dict.fromkeys(operation.parameters, where))
    headers = {"Content-Type": _media_type(operation.body)} if operation.body else {}
    return Request(
        operation.method,
        path,
        _texts(operation.query, query) if query else {},
        headers | ({} if key is None else {KEY: key}),
        body if isinstance(body, bytes) else _encoded(operation, body),
        repeatable=operation.repeatable,
        token=operation.access != "public",
    )


def _media_type(body: type | str) -> str:
    return body if isinstance(body, str) else "application/json"


def _texts(model: "type[Query] | None", values: Mapping[str, object]) -> dict[str, str]:
    """Return what was given as the texts of a query, by the names in the address and in their order."""
    names = dict(zip(model.__struct_fields__, model.__struct_encode_fields__, strict=True)) if model else {}
    if unknown := values.keys() - names:
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}; what can be asked is: {', '.join(names)}")
    query = {names[name]: values[name] for name in names if name in values}
    return {
        name: "true" if value is True else str(value)
        for name, value in query.items()
        if value is not None and value is not False
    }


def _encoded(operation: "Operation", fields: Mapping[str, object]) -> bytes:
    assert isinstance(operation.body, type)
    encoded: bytes = load("msgspec", "client").json.encode(operation.body(**fields))
    return encoded


def estimating(
    survey: Survey | str,
    form: str,
    candidates: Iterable[str] | None = None,
    prior: Iterable[float] | None = None,
    **asked: object,
) -> Request:
    """Return the request for estimates: of all labels, or of candidates where the answers are strings.

    ``prior`` is what was expected of each of them. What is below 0, as unbiased estimates are, counts as 0.

    >>> estimating("ab" * 32, "json", ["firefox"], top=3).body
    b'{"candidates":["firefox"]}'
    """
    version, query = version_of(survey), {"format": form, **asked}
    if candidates is None and prior is None:
        return _request("estimates", version, query)
    fields: dict[str, object] = {} if candidates is None else {"candidates": list(as_candidates("Client", candidates))}
    if prior is not None:
        fields["prior"] = [max(0.0, _finite(number)) for number in prior]
    return _request("estimates_among", version, query, fields)


def _finite(number: float) -> float:
    if not is_number(number) or not math.isfinite(number):
        raise fail("Client", "prior", "finite numbers", number)
    return float(number)


def ticketed(ticket: str | None) -> Mapping[str, str]:
    """Return the header of a ticket."""
    return {} if ticket is None else {TICKET: ticket}
