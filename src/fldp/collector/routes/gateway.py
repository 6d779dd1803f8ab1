"""POST /v1/ohttp: requests that a relay carries, decrypted and answered by this application without an address."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope

from fldp.collector.http.bodies import body_of, media_type
from fldp.collector.http.calls import Call
from fldp.collector.service.collector import Collector
from fldp.collector.service.gateway_keys import GatewayKeys
from fldp.collector.service.problems import Problem, not_found
from fldp.interface.models import Query
from fldp.oblivious import ohttp
from fldp.oblivious.bhttp import BinaryReply, BinaryRequest, MessageError, pad
from fldp.oblivious.hpke import OpenError
from fldp.oblivious.relayed_requests import HEADERS, may_pass

_KEY_PROBLEM = "https://iana.org/assignments/http-problem-types#ohttp-key"
_HEADERS = {name.lower().encode() for name in HEADERS}
_ANSWERED = {b"content-type", b"retry-after", b"www-authenticate"}


async def gateway_keys(call: Call[Query, None]) -> Response:
    """Return the public keys that requests may be encrypted to."""
    keys = _keys(call.collector)
    document = await call.collector.quick(lambda: keys.document)
    return Response(document, media_type=ohttp.KEYS_TYPE)


async def send_oblivious(call: Call[Query, None]) -> Response:
    """Decrypt a request, answer it, and encrypt the answer: it has status 200 outside, whatever it has inside."""
    collector, request = call.collector, call.request
    keys = _keys(collector)
    media_type(request, ohttp.REQUEST_TYPE)
    async with body_of(collector, request, ohttp.MAX_REQUEST_BYTES) as body:
        data, exchange = _decrypted(await collector.quick(keys.get), body)
        answer = exchange.encapsulate(_padded(await _answered(request, data)))
    return Response(answer, media_type=ohttp.REPLY_TYPE)


def _keys(collector: Collector) -> GatewayKeys:
    if collector.gateway_keys is None:
        raise not_found("gateway here; its operator can set ohttp = true")
    return collector.gateway_keys


def _decrypted(keys: list[ohttp.GatewayKey], body: bytes) -> tuple[bytes, ohttp.GatewayExchange]:
    try:
        return ohttp.decapsulate(keys, body)
    except OpenError as error:
        title = "The key is not one of this gateway"
        raise Problem(400, None, f"{error}; fetch the keys again", type=_KEY_PROBLEM, title=title) from None


def _padded(reply: BinaryReply) -> bytes:
    try:
        return pad(reply.encode())
    except MessageError:
        return pad(_refusal(Problem(413, "too-large", "the answer is too large for a relay; ask without one")).encode())


def _refusal(problem: Problem) -> BinaryReply:
    response = problem.response()
    return BinaryReply(problem.status, _lines(response.raw_headers), bytes(response.body))


async def _answered(request: Request, data: bytes) -> BinaryReply:
    """Have this application answer what was inside, unless no relay may carry it."""
    try:
        inner = BinaryRequest.decode(data)
    except MessageError as error:
        return _refusal(Problem(400, "malformed", str(error)))
    path, _, query = inner.path.partition(b"?")
    if not may_pass(inner.method.decode("latin-1"), path.decode("latin-1")):
        return _refusal(not_found("route for requests through a relay"))
    if any(name == b"expect" for name, _ in inner.headers):
        return _refusal(Problem(400, "malformed", "a request through a relay cannot have the header Expect"))
    request.state.slot.leave()  # the request inside takes one of its own
    return await _passed_on(request, _scope(request, inner, path, query), inner.content)


def _scope(request: Request, inner: BinaryRequest, path: bytes, query: bytes) -> Scope:
    """Return the scope of the request inside, without anything about the connection that carried it."""
    return {
        "type": "http",
        "asgi": request.scope["asgi"],
        "http_version": "1.1",
        "method": inner.method.decode("latin-1"),
        "scheme": request.scope["scheme"],
        "path": path.decode("latin-1"),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": [
            *((name, value) for name, value in inner.headers if name in _HEADERS),
            (b"content-length", b"%d" % len(inner.content)),
        ],
        "client": None,
        "server": request.scope.get("server"),
        "oblivious": True,
    }


async def _passed_on(request: Request, scope: Scope, content: bytes) -> BinaryReply:
    started: MutableMapping[str, Any] = {}
    body = bytearray()

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            started.update(message)
        else:
            body.extend(message.get("body", b""))

    # A task of its own, since the middleware keeps account of requests by their tasks.
    await asyncio.create_task(request.scope["app"](scope, _receiving(content, request.receive), send))
    return BinaryReply(started["status"], _lines(started["headers"]), bytes(body))


def _receiving(content: bytes, receive: Receive) -> Receive:
    """Give the content once; after that, only the end of the connection is left to hear of."""
    handed_over = False

    async def received() -> MutableMapping[str, Any]:
        nonlocal handed_over
        if handed_over:
            return await receive()
        handed_over = True
        return {"type": "http.request", "body": content, "more_body": False}

    return received


def _lines(headers: list[tuple[bytes, bytes]]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.lower(), value) for name, value in headers if name.lower() in _ANSWERED)
