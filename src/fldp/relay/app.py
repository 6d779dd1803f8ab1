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
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fldp.client.address import Address
from fldp.collector.config.proxies import Network
from fldp.oblivious import ohttp
from fldp.relay.open_app import OpenApp, complete, read_body
from fldp.relay.pages import page_routes
from fldp.support.identifiers import SURVEY_NAME

KEYS_SECONDS = 3600.0  # the collector's keys are fetched at most so often, and served to everybody alike
MAX_VERSIONS_BYTES = 1 << 20
STALE_SECONDS = 60.0  # or so often, where the collector refuses requests: its keys may have changed
_TIMEOUT = httpx.Timeout(30.0, connect=10.0)  # of each step
_WHOLE_SECONDS = 60.0  # of a whole answer: one that comes byte by byte would hold a place for hours
_PASSED_ON = ("content-type", "retry-after")
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


class Relay(OpenApp):
    """The ASGI application."""

    title = "The relay refuses this"

    def __init__(self, settings: RelaySettings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings, self._held = settings, 0
        self._keys, self._keys_last = _Fetched(), KEYS_SECONDS
        self._fetching: asyncio.Task[Response] | None = None
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
            *(page_routes(settings.to, settings.issuer) if settings.pages else ()),
        ]
        super().__init__(routes, "content-type", settings.rate, settings.trusted_proxies)

    async def aclose(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()

    async def _forward(self, request: Request) -> Response:
        if request.headers.get("content-type") != ohttp.REQUEST_TYPE:
            raise HTTPException(415, f"the body must be {ohttp.REQUEST_TYPE}")
        self.limit_rate(request)
        with self._holding():
            body = await read_body(request, ohttp.MAX_REQUEST_BYTES)
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
        if time.monotonic() - self._keys.at <= self._keys_last:
            return complete(Response(self._keys.data, media_type=ohttp.KEYS_TYPE))
        # Everybody who asks meanwhile shares one attempt: in a queue, each would wait for its own to fail.
        if self._fetching is None or self._fetching.done():
            self._fetching = asyncio.create_task(self._fetch_keys())
            self._fetching.add_done_callback(_look_at)
        return await asyncio.shield(self._fetching)

    async def _fetch_keys(self) -> Response:
        answer = await self._asked("GET", "/v1/ohttp/keys", ohttp.MAX_KEYS_BYTES)
        if answer.status_code != 200:
            return answer
        self._keys, self._keys_last = _Fetched(bytes(answer.body), time.monotonic()), KEYS_SECONDS
        return complete(Response(self._keys.data, media_type=ohttp.KEYS_TYPE))

    async def _mirror(self, request: Request) -> Response:
        """Return the collector's list of a survey's versions, byte for byte, so that somebody else sees it, too."""
        name = request.path_params["name"]
        if not SURVEY_NAME.matches(name):
            raise HTTPException(404, "there is no such survey")
        self.limit_rate(request)
        with self._holding():
            return await self._asked("GET", f"/v1/surveys/{name}/versions", MAX_VERSIONS_BYTES)

    async def _asked(self, method: str, path: str, most: int, body: bytes | None = None) -> Response:
        """Ask the collector; nothing of the client's request goes along but its body."""
        headers = {} if body is None else {"Content-Type": ohttp.REQUEST_TYPE}
        try:
            async with (
                asyncio.timeout(_WHOLE_SECONDS),
                self._http.stream(method, f"{self._settings.to}{path}", content=body, headers=headers) as answer,
            ):
                data = await _bounded(answer.aiter_raw(), most)
        except (httpx.HTTPError, OSError):  # TimeoutError is an OSError
            raise HTTPException(502, "the collector cannot be reached from the relay") from None
        if 300 <= answer.status_code < 400:
            raise HTTPException(502, "the collector answers with a redirect, which is not followed; correct --to")
        kept = {name: answer.headers[name] for name in _PASSED_ON if name in answer.headers}
        return complete(Response(data, answer.status_code, kept))


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


def _look_at(done: "asyncio.Task[Response]") -> None:
    """Look at an error for which nobody waits any more: asyncio would log it with its traceback."""
    if not done.cancelled():
        done.exception()


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
