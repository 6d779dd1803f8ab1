"""The relay's application: it forwards what it cannot read, after a random while, and hands out the collector's keys.

It knows addresses and the collector knows reports; it passes no address on, keeps none beyond its own limit of rates,
and writes neither addresses nor sizes into a log.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from fldp.client.address import Address
from fldp.collector.config.proxies import Network, sender
from fldp.oblivious import ohttp
from fldp.relay.pages import page_routes
from fldp.relay.rates import Rates
from fldp.support.identifiers import SURVEY_NAME

KEYS_SECONDS = 3600.0  # the collector's keys are fetched at most so often, and served to everybody alike
MAX_VERSIONS_BYTES = 1 << 20
STALE_SECONDS = 60.0  # or so often, where the collector refuses requests: its keys may have changed
_TIMEOUT = httpx.Timeout(30.0, connect=10.0)
_BODY_SECONDS = 20.0
_PASSED_ON = ("content-type", "retry-after")
_CORS = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After"}
_PREFLIGHT = _CORS | {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "content-type",
    "Access-Control-Max-Age": "86400",
}
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_chance = random.SystemRandom()


@dataclass(frozen=True)
class RelaySettings:
    """What a relay does: for which collector, how long it holds requests, how many it takes, whether it has pages."""

    to: Address
    hold: float = 5.0
    rate: float = 1.0
    max_held: int = 10_000
    pages: bool = False
    issuer: str | None = None  # of passes, whom the page may ask
    trusted_proxies: Sequence[Network] = ()


class Relay:
    """The ASGI application."""

    def __init__(self, settings: RelaySettings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings, self._rates, self._held = settings, Rates(settings.rate), 0
        self._keys, self._keys_last, self._lock = _Fetched(), KEYS_SECONDS, asyncio.Lock()
        # One pool for all clients, so that connections tell the collector nothing about who is who.
        self._http = httpx.AsyncClient(
            transport=transport,
            timeout=_TIMEOUT,
            headers={"User-Agent": "fldp-relay", "Accept-Encoding": "identity"},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # a collector could mark connections by them
            follow_redirects=False,
        )
        routes = [
            Route("/", self._forward, methods=["POST", "OPTIONS"]),
            Route("/keys", self._hand_out, methods=["GET", "OPTIONS"]),
            Route("/surveys/{name}", self._mirror, methods=["GET", "OPTIONS"]),
            Route("/healthz", self._healthy, methods=["GET"]),
            *(page_routes(settings.to, settings.issuer) if settings.pages else ()),
        ]
        self._router = Router(routes, redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever it is."""
        if scope["type"] != "http":
            return
        scope["app"] = self  # the router then raises what is not found, and this answers it
        try:
            if scope["method"] == "OPTIONS":
                await Response(None, 204, _PREFLIGHT)(scope, receive, send)
                return
            await self._router(scope, receive, send)
        except HTTPException as error:
            await _refused(error.status_code, error.detail, error.headers)(scope, receive, send)

    async def aclose(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()

    async def _healthy(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"}, headers=_HEADERS)

    async def _forward(self, request: Request) -> Response:
        if request.headers.get("content-type") != ohttp.REQUEST_TYPE:
            raise HTTPException(415, f"the body must be {ohttp.REQUEST_TYPE}")
        address = sender(request.scope, self._settings.trusted_proxies)
        if not self._rates.take(address, time.monotonic()):
            raise HTTPException(429, "too many requests from this address", {"Retry-After": "1"})
        with self._holding():
            body = await _read(request)
            await asyncio.sleep(_chance.uniform(0, self._settings.hold))
            answer = await self._asked("POST", "/v1/ohttp", ohttp.MAX_REPLY_BYTES, body)
        if answer.status_code == 400:  # what it cannot decrypt: noise, or for a key that it has no more
            self._keys_last = STALE_SECONDS
        return answer

    def _holding(self) -> "_Held":
        if self._held >= self._settings.max_held:
            raise HTTPException(503, "the relay holds too many requests, try again", {"Retry-After": "5"})
        return _Held(self)

    async def _hand_out(self, _request: Request) -> Response:
        """Return the keys, the same bytes to everybody: a key for one person would tell who that is."""
        async with self._lock:
            if time.monotonic() - self._keys.at > self._keys_last:
                answer = await self._asked("GET", "/v1/ohttp/keys", ohttp.MAX_KEYS_BYTES)
                if answer.status_code != 200:
                    return answer
                self._keys, self._keys_last = _Fetched(bytes(answer.body), time.monotonic()), KEYS_SECONDS
        return Response(self._keys.data, media_type=ohttp.KEYS_TYPE, headers=_HEADERS | _CORS)

    async def _mirror(self, request: Request) -> Response:
        """Return the collector's list of a survey's versions, byte for byte, so that somebody else sees it, too."""
        name = request.path_params["name"]
        if not SURVEY_NAME.matches(name):
            raise HTTPException(404, "there is no such survey")
        if not self._rates.take(sender(request.scope, self._settings.trusted_proxies), time.monotonic()):
            raise HTTPException(429, "too many requests from this address", {"Retry-After": "1"})
        with self._holding():
            return await self._asked("GET", f"/v1/surveys/{name}/versions", MAX_VERSIONS_BYTES)

    async def _asked(self, method: str, path: str, most: int, body: bytes | None = None) -> Response:
        """Ask the collector; nothing of the client's request goes along but its body."""
        headers = {} if body is None else {"Content-Type": ohttp.REQUEST_TYPE}
        try:
            async with self._http.stream(method, f"{self._settings.to}{path}", content=body, headers=headers) as answer:
                data = await _bounded(answer.aiter_raw(), most)
        except (httpx.HTTPError, OSError):
            raise HTTPException(502, "the collector cannot be reached from the relay") from None
        kept = {name: answer.headers[name] for name in _PASSED_ON if name in answer.headers}
        return Response(data, answer.status_code, _HEADERS | _CORS | kept)


@dataclass(frozen=True)
class _Fetched:
    data: bytes = b""
    at: float = float("-inf")


class _Held:
    """Counts a request while it is held."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    def __enter__(self) -> None:
        self._relay._held += 1

    def __exit__(self, *error: object) -> None:
        self._relay._held -= 1


def _refused(status: int, detail: str, headers: object = None) -> Response:
    fields = {"type": "about:blank", "title": "The relay refuses this", "status": status, "detail": detail}
    more = dict(headers) if isinstance(headers, dict) else {}
    return JSONResponse(fields, status, _HEADERS | _CORS | more, media_type="application/problem+json")


async def _read(request: Request) -> bytes:
    """Read a body that is small and comes soon."""
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > ohttp.MAX_REQUEST_BYTES:
                    raise HTTPException(413, f"the body must have at most {ohttp.MAX_REQUEST_BYTES} bytes")
    except TimeoutError:
        raise HTTPException(408, "the body came too slowly", {"Connection": "close"}) from None
    except ClientDisconnect:
        raise HTTPException(400, "the connection ended within the body") from None
    return bytes(body)


async def _bounded(pieces: AsyncIterator[bytes], most: int) -> bytes:
    data = bytearray()
    async for piece in pieces:
        data += piece
        if len(data) > most:
            raise HTTPException(502, "the collector's answer is too large")
    return bytes(data)


@asynccontextmanager
async def closing(relay: Relay) -> AsyncIterator[Relay]:
    """Let go of the relay's connections at the end."""
    try:
        yield relay
    finally:
        await relay.aclose()
