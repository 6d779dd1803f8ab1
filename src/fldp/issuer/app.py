"""The issuer's application: a signature for a ticket. It sees who asks and when, and never the pass."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from fldp.collector.config.proxies import Network, sender
from fldp.collector.service.problems import Problem, busy, not_found, too_slow, unavailable
from fldp.errors import FldpError
from fldp.issuer.tickets import Spending, TicketFile
from fldp.passes.issuing import PrivateKey
from fldp.passes.signer import Signer, SignerError
from fldp.passes.tokens import REPLY_TYPE, REQUEST_BYTES, REQUEST_TYPE, PassError, PassTerms
from fldp.relay.rates import Rates
from fldp.support.identifiers import VERSION

_MAX_WAITING, _BODY_SECONDS = 200, 20.0
_CORS = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After"}
_PREFLIGHT = _CORS | {
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": "content-type, fldp-ticket",
    "Access-Control-Max-Age": "86400",
}
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_TICKET = {"WWW-Authenticate": "Fldp-Ticket"}


@dataclass(frozen=True)
class IssuerSettings:
    """What an issuer signs with, for which tickets, and how many requests of one address a second."""

    key: PrivateKey
    tickets: TicketFile
    rate: float = 1.0
    trusted_proxies: Sequence[Network] = ()


class Issuer:
    """The ASGI application. Its key belongs to one version of a survey, so it need not know which."""

    def __init__(self, settings: IssuerSettings) -> None:
        self._settings, self._rates, self._waiting = settings, Rates(settings.rate), 0
        self._terms, self._signer = PassTerms(settings.key.public, b""), Signer()
        self._thread = ThreadPoolExecutor(1, "fldp-signer")
        routes = [
            Route("/v1/versions/{id}/passes", self._issue, methods=["POST"]),
            Route("/healthz", self._healthy, methods=["GET"]),
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
        except Problem as problem:
            await _complete(problem.response())(scope, receive, send)
        except HTTPException as error:
            await _complete(Problem(error.status_code, None, error.detail).response())(scope, receive, send)

    def stop(self) -> None:
        """End the process that signs."""
        self._thread.shutdown(cancel_futures=True)
        self._signer.close()

    async def _healthy(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"}, headers=_HEADERS)

    async def _issue(self, request: Request) -> Response:
        if not VERSION.matches(request.path_params["id"]):
            raise not_found("version")
        if not self._rates.take(sender(request.scope, self._settings.trusted_proxies), time.monotonic()):
            raise Problem(429, "rate", "too many requests from this address", {"Retry-After": "1"})
        if request.headers.get("content-type") != REQUEST_TYPE:
            raise Problem(415, "media-type", f"the body must be {REQUEST_TYPE}")
        if self._waiting >= _MAX_WAITING:
            raise busy("too many passes are asked for at the same time, try again")
        self._waiting += 1
        try:
            ticket, body = request.headers.get("fldp-ticket", ""), await _read(request)
            signature = await asyncio.get_running_loop().run_in_executor(self._thread, self._signed, ticket, body)
        finally:
            self._waiting -= 1
        return _complete(Response(signature, media_type=REPLY_TYPE))

    def _signed(self, ticket: str, body: bytes) -> bytes:
        """Spend the ticket, and sign: in this order, so that no crash gives two passes for it."""
        try:
            blinded = self._terms.blinded(body)
        except PassError as error:
            raise Problem(422, "malformed", str(error)) from None
        try:
            spending = self._settings.tickets.spend(ticket, body)
            if spending is Spending.GOOD:
                return self._signer.sign(self._settings.key, blinded)
        except SignerError as error:
            raise busy(str(error)) from None
        except FldpError as error:
            raise unavailable(str(error)) from None
        if spending is Spending.UNKNOWN:
            raise Problem(401, "ticket", "the header Fldp-Ticket must be a ticket of this issuer", _TICKET)
        raise Problem(403, "ticket-spent", "this ticket was spent on another pass")


def _complete(response: Response) -> Response:
    response.headers.update(_HEADERS | _CORS)
    return response


async def _read(request: Request) -> bytes:
    """Read a body that is small and comes soon."""
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > 4 * REQUEST_BYTES:
                    raise Problem(413, "too-large", f"the body must have {REQUEST_BYTES} bytes")
    except TimeoutError:
        raise too_slow() from None
    except ClientDisconnect:
        raise Problem(400, None, "the connection ended within the body") from None
    return bytes(body)
