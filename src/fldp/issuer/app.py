"""The issuer's application: a signature for a ticket. It sees who asks and when, and never the pass."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fldp.collector.config.proxies import Network
from fldp.collector.service.problems import Problem, busy, not_found, unavailable
from fldp.errors import FldpError
from fldp.issuer.tickets import Spending, TicketFile
from fldp.passes.issuing import PrivateKey
from fldp.passes.signer import Signer, SignerError
from fldp.passes.tokens import REPLY_TYPE, REQUEST_BYTES, REQUEST_TYPE, PassError, PassTerms
from fldp.relay.open_app import OpenApp, complete, read_body
from fldp.support.identifiers import VERSION

_MAX_WAITING = 200
_TICKET = {"WWW-Authenticate": "Fldp-Ticket"}


@dataclass(frozen=True)
class IssuerSettings:
    """What an issuer signs with, for which tickets, and how many requests of one address a second."""

    key: PrivateKey
    tickets: TicketFile
    rate: float = 1.0
    trusted_proxies: Sequence[Network] = ()


class Issuer(OpenApp):
    """The ASGI application. Its key belongs to one version of a survey, so it need not know which."""

    def __init__(self, settings: IssuerSettings) -> None:
        routes = [Route("/v1/versions/{id}/passes", self._issue, methods=["POST"])]
        super().__init__(routes, "content-type, fldp-ticket", settings.rate, settings.trusted_proxies)
        self._settings, self._waiting = settings, 0
        self._terms, self._signer = PassTerms(settings.key.public, b""), Signer()
        self._thread = ThreadPoolExecutor(1, "fldp-signer")

    def stop(self) -> None:
        """End the process that signs."""
        self._thread.shutdown(cancel_futures=True)
        self._signer.close()

    async def _issue(self, request: Request) -> Response:
        if not VERSION.matches(request.path_params["id"]):
            raise not_found("version")
        self.limit_rate(request)
        if request.headers.get("content-type") != REQUEST_TYPE:
            raise Problem(415, "media-type", f"the body must be {REQUEST_TYPE}")
        ticket, body = request.headers.get("fldp-ticket", ""), await read_body(request, 4 * REQUEST_BYTES)
        if self._waiting >= _MAX_WAITING:
            raise busy("too many passes are being requested, try again")
        self._waiting += 1
        try:
            signature = await asyncio.get_running_loop().run_in_executor(self._thread, self._signed, ticket, body)
        finally:
            self._waiting -= 1
        return complete(Response(signature, media_type=REPLY_TYPE))

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
