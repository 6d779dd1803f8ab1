"""The OpenAPI document of a collector, written from its operations and models."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

import fldp
from fldp.interface.models import ProblemReply
from fldp.interface.operations import BYTES, JSON, OPERATIONS, PARQUET, PROBLEM, Operation
from fldp.oblivious.ohttp import KEYS_TYPE, REPLY_TYPE

_HEADERS = ("X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "Cache-Control")
_OWN_HEADERS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",), 304: ("ETag",)}
_TEXT: dict[str, Any] = {"type": "string"}
_BINARY: dict[str, Any] = {}
_BINARY_TYPES = (BYTES, PARQUET, KEYS_TYPE, REPLY_TYPE)
_NULL = {"type": "null"}
_LINK = re.compile(r" \(\[.*?\]\(.*?\)\)")  # to other documents, of the table in Markdown
Schema = dict[str, Any]


def document(operations: Sequence[Operation] = OPERATIONS) -> Schema:
    """Return the document."""
    types = {part for operation in operations for part in (operation.body, operation.reply) if _has_model(part)}
    ordered = [ProblemReply, *sorted(types, key=str)]
    listed, components = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(ordered, listed, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "fldp collector",
            "version": fldp.__version__,
            "description": "Takes reports under local differential privacy, counts each once, shows estimates.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": {name: _closed(schema) for name, schema in components.items()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _has_model(part: Any) -> bool:
    return part is not None and not isinstance(part, str)


def _closed(schema: Schema) -> Schema:
    """Say that a collector sends no other fields than these; the parameters of an oracle differ by oracle."""
    open_ended = schema.get("title") == "OracleChoice"
    return schema if open_ended or "properties" not in schema else schema | {"additionalProperties": False}


def _operation(operation: Operation, schemas: dict[Any, Schema]) -> Schema:
    described: Schema = {
        "operationId": operation.name,
        "summary": _LINK.sub("", operation.summary),
        **_access(operation.access),
    }
    if parameters := _parameters(operation):
        described["parameters"] = parameters
    if operation.body is not None:
        kind, schema = (operation.body, _BINARY) if isinstance(operation.body, str) else (JSON, schemas[operation.body])
        described["requestBody"] = {"required": True, "content": {kind: {"schema": schema}}}
    return described | {"responses": _responses(operation, schemas)}


def _access(access: str) -> Schema:
    token: dict[str, list[str]] = {"token": []}
    match access:
        case "public":
            return {"security": [], "x-scope": "public"}
        case "sender" | "local":
            return {"security": [token, {}], "x-scope": "send" if access == "sender" else "read"}
    return {"security": [token], "x-scope": access}


def _parameters(operation: Operation) -> list[Schema]:
    fields = msgspec.structs.fields(operation.query) if operation.query else ()
    headers = {**operation.headers, **({"If-None-Match": str | None} if operation.tagged else {})}
    return [
        *(_parameter(name, "path", kind) for name, kind in operation.parameters.items()),
        *(_parameter(each.encode_name, "query", each.type | None) for each in fields),
        *(_parameter(name, "header", kind) for name, kind in headers.items()),
    ]


def _parameter(name: str, where: str, kind: Any) -> Schema:
    """Describe a parameter. One that may be None may be left out; nobody writes null into an address."""
    schema = msgspec.json.schema(kind)
    options = schema.get("anyOf", [schema])
    types = [each for each in options if each != _NULL]
    schema = types[0] if len(types) == 1 else {"anyOf": types}
    about = {"description": schema.pop("description")} if "description" in schema else {}
    return {"name": name, "in": where, "required": types == options, "schema": schema, **about}


def _responses(operation: Operation, schemas: dict[Any, Schema]) -> Schema:
    content = {JSON: {"schema": schemas[operation.reply]}} if operation.reply is not None else {}
    content |= {kind: {"schema": _BINARY if kind in _BINARY_TYPES else _TEXT} for kind in operation.media}
    good = {str(status): _response(status, content, tagged=operation.tagged) for status in operation.statuses}
    good |= {"304": _response(304, {})} if operation.tagged else {}
    problem = {PROBLEM: {"schema": schemas[ProblemReply]}}
    return good | {str(status): _response(status, problem) for status in operation.statuses_of_refusals}


def _response(status: int, content: Schema, *, tagged: bool = False) -> Schema:
    names = (*_HEADERS, *_OWN_HEADERS.get(status, ()), *(("ETag",) if tagged else ()))
    headers = {name: {"required": True, "schema": _TEXT} for name in names}
    return {"description": HTTPStatus(status).phrase, "headers": headers} | ({"content": content} if content else {})
