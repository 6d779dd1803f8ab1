"""Middleware around all routes: limits, headers, origins, errors in one shape, a line in the log."""

import asyncio
import time
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from fldp.collector.config.proxies import scheme, sender
from fldp.collector.http import audit
from fldp.collector.http.bodies import patience
from fldp.collector.http.cors import allowed, preflight
from fldp.collector.service.answers import AbandonedError
from fldp.collector.service.collector import Collector
from fldp.collector.service.load import Slot
from fldp.collector.service.logs import log
from fldp.collector.service.problems import Problem, busy, unavailable
from fldp.collector.storage.protocol import StoreError
from fldp.errors import FldpError

HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "server": "fldp",
}
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
HUNG_UP = 499  # what the log and the metrics say of a client that did not wait; nothing is sent
_PIECE = 1 << 18
_UNLIMITED = ("/healthz", "/readyz", "/metrics")
_METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH")


class Gate:
    """The ASGI application."""

    def __init__(self, router: Router, collector: Collector) -> None:
        self.router, self.collector = router, collector

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever it is."""
        if scope["type"] != "http":
            return
        scope["app"] = self  # the router then raises what is not found, and this answers it
        passage = _Passage(self.collector, scope, send)
        scope["state"] = {"slot": passage.slot, "origins": (), "route": "other"}  # request.state of the routes
        task = asyncio.current_task()
        assert task is not None
        self.collector.requests.add(task)
        try:
            await self._pass(passage, scope, receive)
        except asyncio.CancelledError:
            if passage.status or not self.collector.stopping:
                raise
            # Whether a report was counted is not known here, so this must not look like a mistake: send it again.
            await passage.refuse(busy("the collector is stopping, try again"), receive)
        finally:
            self.collector.requests.discard(task)
            passage.slot.leave()
            passage.record()

    async def _pass(self, passage: "_Passage", scope: Scope, receive: Receive) -> None:
        try:
            if scope["path"] not in _UNLIMITED:
                passage.slot.take()
            if scope["method"] == "OPTIONS" and (answer := await preflight(self.collector, scope)):
                await answer(scope, receive, passage.send)
                return
            await self.router(scope, receive, passage.send)
        except AbandonedError:
            passage.status = passage.status or HUNG_UP
        except Exception as error:
            if not passage.status:
                await passage.refuse(error, receive)
            elif not isinstance(error, ClientDisconnect | OSError):
                log.error("an answer was cut short", exc_info=error)


class _Passage:
    """One request on its way through the middleware."""

    def __init__(self, collector: Collector, scope: Scope, send: Send) -> None:
        self._collector, self._scope, self._send = collector, scope, send
        self._start = time.perf_counter()
        self.slot = Slot(collector.load)
        self.status = 0

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send a part of the answer, with the headers that all answers have."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            sent = message.get("headers", [])
            own = {name for name, _ in sent}  # a page has a policy of its own
            raw = message["headers"] = [*sent, *(pair for pair in _RAW_HEADERS if pair[0] not in own)]
            headers = MutableHeaders(raw=raw)
            headers.setdefault("Cache-Control", "no-store")
            headers.update(allowed(self._scope))
            if scheme(self._scope, self._collector.settings.trusted_proxies) == "https":
                headers["Strict-Transport-Security"] = "max-age=31536000"
            self.slot.leave()  # the work is done, and nobody else waits for this client
        if message.get("more_body") or len(message.get("body", b"")) > _PIECE:
            await self._send_slowly(message)
        else:
            await self._send(message)

    async def _send_slowly(self, message: MutableMapping[str, Any]) -> None:
        """Send a large part in pieces, so that a slow client holds a copy of one piece at most."""
        body, more = memoryview(message["body"]), message.get("more_body", False)
        for start in range(0, len(body), _PIECE):
            piece = bytes(body[start : start + _PIECE])
            async with patience(self._collector, self._collector.settings.idle_seconds):
                await self._send({**message, "body": piece, "more_body": more or start + _PIECE < len(body)})

    async def refuse(self, error: Exception, receive: Receive) -> None:
        """Answer with what went wrong."""
        response = _problem(error).response()
        await response(self._scope, receive, self.send)

    def record(self) -> None:
        """Count and log the request by the path of its route, never by its address."""
        seconds = time.perf_counter() - self._start
        route = self._scope["state"]["route"]
        method = self._scope["method"] if self._scope["method"] in _METHODS else "other"
        self._collector.metrics.request(route, method, self.status, seconds)
        fields = {"route": route, "method": method, "status": self.status, "milliseconds": round(1000 * seconds, 1)}
        if self._collector.settings.log_senders:
            fields["peer"] = str(sender(self._scope, self._collector.settings.trusted_proxies) or "unknown")
            fields["agent"] = Headers(scope=self._scope).get("user-agent", "")[:200]
        log.info("request", extra=fields)
        audit.write(self._scope, self.status)


def _problem(error: Exception) -> Problem:
    """Return the problem that an exception is answered with."""
    match error:
        case Problem():
            return error
        case HTTPException():
            return Problem(error.status_code, None, error.detail, error.headers)
        case StoreError():
            log.error("the store failed", extra={"error": str(error)})
            return unavailable("the store does not answer, try again")
        case MemoryError():
            log.error("out of memory", exc_info=error)
            return busy("the collector has no memory left, try again")
        case FldpError():
            return Problem(422, "malformed", str(error))
        case ClientDisconnect():
            return Problem(400, "malformed", "the connection ended within the body")
    log.error("a mistake of the collector", exc_info=error)
    return Problem(500, None, "the collector made a mistake; its log says more")
