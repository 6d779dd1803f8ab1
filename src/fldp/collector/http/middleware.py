"""Middleware around all routes: limits, headers, origins, errors in one shape, a line in the log."""

import asyncio
import time
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from fldp.collector.config.proxies import scheme, sender
from fldp.collector.http import audit
from fldp.collector.http.client_timeouts import ClientTimeout
from fldp.collector.http.cors import allowed, preflight
from fldp.collector.http.fast_path import ROUTE, Again, FastPath
from fldp.collector.http.headers import HEADERS as HEADERS
from fldp.collector.http.headers import completed, head_bytes
from fldp.collector.service import logs
from fldp.collector.service.answers import AbandonedError
from fldp.collector.service.collector import Collector
from fldp.collector.service.load_limits import Slot
from fldp.collector.service.logs import log
from fldp.collector.service.problems import Problem, busy, unavailable
from fldp.collector.storage.protocol import StoreError
from fldp.errors import FldpError

HUNG_UP = 499  # what the log and the metrics say of a client that did not wait; nothing is sent
_PIECE = 1 << 18
_UNLIMITED = ("/healthz", "/readyz", "/metrics")
_METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH")


class Gate:
    """The ASGI application."""

    def __init__(self, router: Router, collector: Collector) -> None:
        self.router, self.collector = router, collector
        self._fast_path = FastPath(collector)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever it is."""
        if scope["type"] != "http":
            return
        sent = self._fast_path.head(scope)
        again = Again(receive) if sent is None else await self._fast_path.count(sent, receive, send)
        if again is not None:
            scope["state"] = {"origins": sent.origins, "route": ROUTE} if sent else {"origins": (), "route": "other"}
            await self._go(again, scope, send)

    async def _go(self, again: Again, scope: Scope, send: Send) -> None:
        """Answer a request on the full path."""
        passage = _Passage(self.collector, scope, send)
        scope["state"].update(slot=passage.slot, waited=again.waited)  # request.state of the routes
        task = asyncio.current_task()
        assert task is not None
        self.collector.requests.add(task)
        try:
            await self._pass(passage, scope, again)
        except asyncio.CancelledError:
            if passage.status or not self.collector.stopping:
                raise
            # Whether a report was counted is not known here, so this must not look like a mistake: send it again.
            await passage.refuse(busy("the collector is stopping, try again"), again.receive)
        finally:
            self.collector.requests.discard(task)
            passage.slot.leave()
            passage.record()

    async def _pass(self, passage: "_Passage", scope: Scope, again: Again) -> None:
        try:
            if again.failure is not None:
                raise again.failure
            await self._answer(passage, scope, again.receive)
        except AbandonedError:
            passage.status = passage.status or HUNG_UP
        except Exception as error:
            if not passage.status:
                await passage.refuse(error, again.receive)
            elif not isinstance(error, ClientDisconnect | OSError):
                log.error("an answer was cut short", exc_info=error)

    async def _answer(self, passage: "_Passage", scope: Scope, receive: Receive) -> None:
        scope["app"] = self  # the router then raises what is not found, and this answers it
        if head_bytes(scope) > (most := self.collector.settings.max_header):
            raise Problem(431, None, f"the header of the request must have at most {most} bytes")
        if scope["path"] not in _UNLIMITED:
            passage.slot.take()
        if scope["method"] == "OPTIONS" and (answer := await preflight(self.collector, scope)):
            await answer(scope, receive, passage.send)
            return
        await self.router(scope, receive, passage.send)


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
            used = scheme(self._scope, self._collector.settings.trusted_proxies)
            message["headers"] = completed(message.get("headers", []), allowed(self._scope), used)
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
            async with ClientTimeout(self._collector, self._collector.settings.idle_seconds):
                await self._send({**message, "body": piece, "more_body": more or start + _PIECE < len(body)})

    async def refuse(self, error: Exception, receive: Receive) -> None:
        """Answer with what went wrong."""
        problem = _problem(error)
        if problem.is_busy and not self._collector.stopping:
            await self._collector.load.pause()
        await problem.response()(self._scope, receive, self.send)

    def record(self) -> None:
        """Count and log the request by the path of its route, never by its address."""
        seconds = time.perf_counter() - self._start
        route = self._scope["state"]["route"]
        method = self._scope["method"] if self._scope["method"] in _METHODS else "other"
        self._collector.metrics.request(route, method, self.status, seconds)
        logs.request(route, method, self.status, seconds, **self._sender())
        audit.write(self._scope, self.status)

    def _sender(self) -> dict[str, str]:
        """What says who asks, if that is to be logged."""
        settings = self._collector.settings
        if not settings.log_senders:
            return {}
        agent = Headers(scope=self._scope).get("user-agent", "")[:200]
        return {"peer": str(sender(self._scope, settings.trusted_proxies) or "unknown"), "agent": agent}


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
