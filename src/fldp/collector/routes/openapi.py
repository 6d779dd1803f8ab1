"""The OpenAPI document: every route, what it takes, and every answer that it can give."""

from typing import Any

import fldp
from fldp.collector.routes.openapi_schemas import DAY, NAME, SCHEMAS, VERSION, reference
from fldp.data.projections import METHODS
from fldp.support.identifiers import IDEMPOTENCY_KEY

JSON, HTML, PROBLEM, BYTES = "application/json", "text/html", "application/problem+json", "application/octet-stream"
CSV, PARQUET = "text/csv", "application/vnd.apache.parquet"
_BINARY: dict[str, Any] = {}
_ALWAYS = (400, 503)  # a connection that ends within the request; too many requests
_WORDS = {
    200: "done",
    201: "created",
    204: "done",
    304: "not changed",
    400: "the request cannot be read",
    401: "a token is needed",
    403: "not allowed",
    404: "not there",
    408: "too slow",
    409: "not possible",
    413: "too large",
    415: "of another type",
    422: "not what it should be",
    429: "too many",
    503: "too much at the same time; try again after Retry-After seconds",
}


def _answer(status: int, content: dict[str, Any] | None = None) -> dict[str, Any]:
    if status >= 400 and content is None:
        content = {PROBLEM: {"schema": reference("Problem")}}
    made: dict[str, Any] = {"description": _WORDS[status], "headers": _headers(status)}
    return made | ({"content": content} if content else {})


def _headers(status: int) -> dict[str, Any]:
    names = ["X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "Cache-Control"]
    names += {401: ["WWW-Authenticate"], 429: ["Retry-After"], 503: ["Retry-After"], 304: ["ETag"]}.get(status, [])
    return {name: {"required": True, "schema": {"type": "string"}} for name in names}


def _json(name: str) -> dict[str, Any]:
    return {JSON: {"schema": reference(name)}}


def _operation(
    summary: str, answers: dict[int, dict[str, Any] | None], refusals: tuple[int, ...], **more: Any
) -> dict[str, Any]:
    """Describe an operation: what it gives when all is well, and the refusals that it has of its own."""
    good = {str(status): _answer(status, content) for status, content in answers.items()}
    bad = {str(status): _answer(status) for status in sorted({*refusals, *_ALWAYS})}
    return {"summary": summary, **more, "responses": good | bad}


def _body(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {kind: {"schema": schema}}}


def _query(name: str, schema: dict[str, Any], about: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": about}


def _path(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": schema}


_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "schema": IDEMPOTENCY_KEY.schema,
    "description": "chosen at random by the client, at least 128 bits; the same key and body are counted once",
}
_TICKET = {
    "name": "Fldp-Ticket",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "where the survey says submit = ticket",
}
_MATCH = {"name": "If-None-Match", "in": "header", "required": False, "schema": {"type": "string"}}
_WINDOW = [_query("from", DAY, "the first UTC day"), _query("to", DAY, "the last UTC day, included")]
_TOKEN: list[dict[str, list[str]]] = [{"token": []}]
_ID, _NAMED = _path("id", VERSION), _path("name", NAME)
_ADMIN, _READ = {"security": _TOKEN, "x-scope": "admin"}, {"security": _TOKEN, "x-scope": "read"}
_PUBLIC: dict[str, Any] = {"security": [], "x-scope": "public"}
_TAKES_BODY = (408, 413, 415, 422)
_TAGGED = {"headers": {"ETag": {"required": True, "schema": {"type": "string"}}}}


def _tagged(operation: dict[str, Any]) -> dict[str, Any]:
    answer = operation["responses"]["200"]
    answer["headers"] = {**answer["headers"], **_TAGGED["headers"]}
    return operation


_TOP = _query("top", {"type": "integer", "minimum": 1, "maximum": 2**31}, "only so many of the largest")
_LEVEL = _query("level", {"type": "number", "minimum": 0.01, "maximum": 0.999999}, "of the intervals; 0.95")
_DECODER = _query("decoder", {"type": "string"}, "where the oracle has several: its name")
_ESTIMATED = {**_json("Estimates"), CSV: {"schema": {"type": "string"}}, PARQUET: {"schema": _BINARY}}
_HOW = [
    _ID,
    _TOP,
    _LEVEL,
    _DECODER,
    _query("post", {"type": "string", "enum": list(METHODS)}, "post-processing, which is biased"),
    _query("method", {"type": "string"}, "where the answers are strings and the oracle has several: its name"),
    _query("format", {"type": "string", "enum": ["json", "csv", "parquet"]}, "else by Accept, else JSON"),
    *_WINDOW,
]
_WINDOWS = [
    _ID,
    *_WINDOW,
    _query("other_from", DAY, "the first UTC day of the other window"),
    _query("other_to", DAY, "the last UTC day of the other window, included"),
    _TOP,
    _LEVEL,
    _DECODER,
]
_ESTIMATES = _tagged(
    _operation(
        "Estimates with standard errors and intervals, of all values or the largest",
        {200: _ESTIMATED, 304: None},
        (401, 403, 404, 422),
        parameters=[*_HOW, _MATCH],
        **_READ,
    )
)


def _among(summary: str, answer: dict[str, Any], parameters: list[dict[str, Any]]) -> dict[str, Any]:
    """Describe an operation on the candidates of a survey whose answers are strings."""
    refusals, body = (401, 403, 404, *_TAKES_BODY), _body(JSON, reference("Candidates"))
    return _operation(summary, {200: answer}, refusals, parameters=parameters, requestBody=body, **_READ)


_TEXT: dict[str, Any] = {"schema": {"type": "string"}}
_PAGE = _operation(
    "The page on which a person answers a survey",
    {200: {HTML: _TEXT}, 404: {HTML: _TEXT}},
    (),
    parameters=[_NAMED],
    **_PUBLIC,
)
_DASHBOARD = _operation("The dashboard", {200: {HTML: _TEXT}}, (422,), **_PUBLIC)
_FILE = _tagged(
    _operation(
        "A file of the pages",
        {200: {"text/javascript": _TEXT, "text/css": _TEXT, "image/svg+xml": _TEXT}, 304: None},
        (404, 422),
        parameters=[_path("file", {"type": "string"}), _MATCH],
        **_PUBLIC,
    )
)
_TALLY = _tagged(
    _operation(
        "The tally, in the wire format of fldp",
        {200: {BYTES: {"schema": _BINARY}}, 304: None},
        (401, 403, 404, 422),
        parameters=[_ID, *_WINDOW, _MATCH],
        **_READ,
    )
)

PATHS: dict[str, dict[str, Any]] = {
    "/healthz": {"get": _operation("The process answers", {200: _json("Status")}, (), **_PUBLIC)},
    "/readyz": {"get": _operation("The store can be written", {200: _json("Status")}, (), **_PUBLIC)},
    "/metrics": {
        "get": _operation(
            "Counters for Prometheus; from the machine itself without a token, unless it is behind a proxy",
            {200: {"text/plain": {"schema": {"type": "string"}}}},
            (401, 403, 422),
            security=[{"token": []}, {}],
            **{"x-scope": "read"},
        )
    },
    "/openapi.json": {"get": _operation("This document", {200: {JSON: {"schema": {"type": "object"}}}}, (), **_PUBLIC)},
    "/v1/surveys": {
        "post": _operation(
            "Publish a survey; the same one again changes nothing",
            {200: _json("Published"), 201: _json("Published")},
            (401, 403, *_TAKES_BODY),
            requestBody=_body(JSON, reference("Survey")),
            **_ADMIN,
        ),
        "get": _operation("All versions of all surveys", {200: _json("Surveys")}, (401, 403, 422), **_READ),
    },
    "/v1/plan": {
        "post": _operation(
            "What every oracle would do for a survey, and which one to take; values differ in one way or in none",
            {200: _json("Plan")},
            (401, 403, *_TAKES_BODY),
            requestBody=_body(JSON, reference("Question")),
            **_ADMIN,
        )
    },
    "/v1/surveys/{name}": {
        "get": _operation(
            "What a survey asks: its newest open version, or another one",
            {200: _json("Shown")},
            (404, 422),
            parameters=[_NAMED, _query("version", VERSION, "another version")],
            **_PUBLIC,
        ),
        "delete": _operation(
            "Delete one version or all, with reports, tallies, keys and tickets",
            {204: None},
            (401, 403, 404, 422),
            parameters=[
                _NAMED,
                _query("version", VERSION, "the version to delete"),
                _query("all", {"type": "string", "enum": ["true"]}, "delete all versions"),
            ],
            **_ADMIN,
        ),
    },
    "/v1/surveys/{name}/close": {
        "post": _operation(
            "Close all versions for good, or one",
            {200: _json("Published")},
            (401, 403, 404, 422),
            parameters=[_NAMED, _query("version", VERSION, "the version to close")],
            **_ADMIN,
        )
    },
    "/v1/versions/{id}/reports": {
        "post": _operation(
            "Count a batch of reports, once. Public where the survey says submit = open",
            {200: _json("Accepted")},
            (401, 403, 404, 409, 429, *_TAKES_BODY),
            parameters=[_ID, _KEY, _TICKET],
            requestBody=_body(BYTES, _BINARY),
            security=[{"token": []}, {}],
            **{"x-scope": "send"},
        )
    },
    "/v1/versions/{id}/estimates": {
        "get": _ESTIMATES,
        "post": _among("Estimates of candidates, where the answers are strings", _ESTIMATED, _HOW),
    },
    "/v1/versions/{id}/tally": {"get": _TALLY},
    "/v1/versions/{id}/days": {
        "get": _operation(
            "The days that have reports, and how many; null below the survey's minimum",
            {200: _json("Days")},
            (401, 403, 404, 422),
            parameters=[_ID],
            **_READ,
        )
    },
    "/v1/versions/{id}/compare": {
        "get": _operation(
            "How the shares changed between two windows: intervals that hold at once, p-values adjusted by Holm",
            {200: _json("Contrast")},
            (401, 403, 404, 422),
            parameters=_WINDOWS,
            **_READ,
        ),
        "post": _among("The same of candidates, where the answers are strings", _json("Contrast"), _WINDOWS),
    },
    "/v1/versions/{id}/integrity": {
        "get": _operation(
            "Whether the reports look as honest ones do, whatever the data: tests with p-values",
            {200: _json("Integrity")},
            (401, 403, 404, 422),
            parameters=[_ID, *_WINDOW],
            **_READ,
        )
    },
    "/v1/versions/{id}/export": {
        "get": _operation(
            "The raw reports as Parquet, where the survey keeps them",
            {200: {PARQUET: {"schema": _BINARY}}},
            (401, 403, 404, 409, 422),
            parameters=[_ID, *_WINDOW],
            **_READ,
        )
    },
    "/v1/versions/{id}/merge": {
        "post": _operation(
            "Count a tally of another collector, once",
            {200: _json("Accepted")},
            (401, 403, 404, 409, *_TAKES_BODY),
            parameters=[_ID, _KEY, _query("day", DAY, "the UTC day to count it under; today")],
            requestBody=_body(BYTES, _BINARY),
            **_ADMIN,
        )
    },
    "/v1/versions/{id}/tickets": {
        "post": _operation(
            "Make single-use tickets",
            {201: _json("Tickets")},
            (401, 403, 404, *_TAKES_BODY),
            parameters=[_ID],
            requestBody=_body(JSON, reference("Wanted")),
            **_ADMIN,
        )
    },
    "/v1/tokens": {
        "get": _operation("All tokens, never the secrets", {200: _json("Tokens")}, (401, 403, 422), **_ADMIN),
        "post": _operation(
            "Make a token; it is shown this once",
            {201: _json("NewToken")},
            (401, 403, *_TAKES_BODY),
            requestBody=_body(JSON, reference("TokenWanted")),
            **_ADMIN,
        ),
    },
    "/v1/tokens/{id}": {
        "delete": _operation(
            "Revoke a token; twice is the same as once",
            {204: None},
            (401, 403, 404, 422),
            parameters=[_path("id", {"type": "string", "pattern": "^[0-9a-f]{16}$"})],
            **_ADMIN,
        )
    },
    "/": {"get": _DASHBOARD},
    "/s/{name}": {"get": _PAGE},
    "/static/{file}": {"get": _FILE},
}

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "fldp collector",
        "version": fldp.__version__,
        "description": "Takes reports under local differential privacy, counts each once, shows estimates.",
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    },
    "paths": PATHS,
    "components": {
        "schemas": SCHEMAS,
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    },
}
