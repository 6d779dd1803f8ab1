"""An application of a few routes that pages of any site may ask: what relay and issuer have in common."""

import asyncio
import time
from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from fldp.collector.config.proxies import Network, sender
from fldp.collector.service.problems import Problem, too_slow
from fldp.relay.rates import Rates

HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Retry-After",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_BODY_SECONDS = 20.0


class OpenApp:
    """The ASGI application. It limits requests by address, and keeps nothing else of one."""

    title: str | None = None  # of what it refuses, unless the status says enough

    def __init__(
        self, routes: Sequence[Route], headers: str, rate: float, trusted_proxies: Sequence[Network] = ()
    ) -> None:
        self._rates, self._trusted_proxies = Rates(rate), trusted_proxies
        self._router = Router([*routes, Route("/healthz", _healthy, methods=["GET"])], redirect_slashes=False)
        self._preflight = HEADERS | {
            "Access-Control-Allow-Methods": "GET, POST",
            "Access-Control-Allow-Headers": headers,
            "Access-Control-Max-Age": "86400",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever it is."""
        if scope["type"] != "http":
            return
        scope["app"] = self  # the router then raises what is not found, and this answers it
        try:
            if scope["method"] == "OPTIONS":
                await Response(None, 204, self._preflight)(scope, receive, send)
                return
            await self._router(scope, receive, send)
        except (Problem, HTTPException) as error:
            await self._refused(error)(scope, receive, send)

    def _refused(self, error: Problem | HTTPException) -> Response:
        if isinstance(error, HTTPException):
            error = Problem(error.status_code, None, error.detail, error.headers)
        error.fields |= {} if self.title is None else {"title": self.title}
        return complete(error.response())

    def limit_rate(self, request: Request) -> None:
        """Refuse an address that asks too often."""
        if not self._rates.take(sender(request.scope, self._trusted_proxies), time.monotonic()):
            raise Problem(429, "rate", "too many requests from this address", {"Retry-After": "1"})


async def _healthy(_request: Request) -> Response:
    return complete(JSONResponse({"status": "ok"}))


def complete(response: Response) -> Response:
    """Return a response with the headers that all have."""
    response.headers.update(HEADERS)
    return response


async def read_body(request: Request, most: int) -> bytes:
    """Read a body that is small and comes soon."""
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise Problem(413, "too-large", f"the body must have at most {most} bytes")
    except TimeoutError:
        raise too_slow() from None
    except ClientDisconnect:
        raise Problem(400, None, "the connection ended within the body") from None
    return bytes(body)
