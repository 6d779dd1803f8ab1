"""The transport through a relay: the relay sees who asks but not what, the collector what but not who."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar
from urllib.parse import urlencode

from fldp.client.messages import Reply, Request, redirect
from fldp.client.relay_keys import RelayKeys
from fldp.client.retry import Transport
from fldp.errors import CollectorError, ParameterError
from fldp.oblivious import ohttp
from fldp.oblivious.bhttp import BinaryReply, BinaryRequest, MessageError, pad
from fldp.oblivious.hpke import OpenError
from fldp.oblivious.relayed_requests import HEADERS, may_pass
from fldp.participant.participant import Participant

T = TypeVar("T")
_KEYS = Request("GET", "/keys", token=False, most=ohttp.MAX_KEYS_BYTES)


class RelayTransport:
    """Encrypts each request to the collector, and has another transport send it to the relay.

    The relay hands out the collector's keys, the same bytes to everybody: a key for one person alone would need
    relay and collector to collude. ``keys`` remembers them for a day; they are fetched again after it, and where the
    collector has changed them.
    """

    def __init__(self, below: "DisconnectableTransport", keys: RelayKeys) -> None:
        self._below, self.keys = below, keys
        self.pause, self.disconnect = below.pause, below.disconnect

    async def work(self, job: Callable[[], T]) -> T:
        return await self._below.work(job)

    @asynccontextmanager
    async def kept_by(self, person: Participant) -> AsyncIterator[None]:
        """Have a person's store remember the keys, too, while requests are made for that person."""
        await self.work(lambda: self.keys.join(person))
        try:
            yield
        finally:
            self.keys.leave(person)

    async def request(self, request: Request) -> Reply:
        if not may_pass(request.method, request.path):
            raise ParameterError(
                "Client: through a relay surveys are read and answered, nothing else; make a Client without relay="
            )
        known = self.keys.current
        reply = await self._ask(request, known)
        if known is not None and _names_no_key(reply):  # the collector has another key by now
            reply = await self._ask(request, None)
        if _names_no_key(reply):
            raise CollectorError(
                "the relay hands out keys that the collector does not have; try again in a minute, and if it stays so, "
                "ask who runs the relay",
                status=reply.status,
            )
        return reply

    async def _ask(self, request: Request, known: bytes | None) -> Reply:
        """Send a request once. An answer of the relay itself is returned unchanged, to be retried or shown."""
        handed = await self._below.request(_KEYS) if known is None else Reply(200, {}, known)
        if handed.status != 200:
            return _own(handed)
        body, exchange = ohttp.encapsulate(_config(handed.body), _message(request))
        if known is None:
            await self.work(lambda: self.keys.hand_out(handed.body))
        headers = {"Content-Type": ohttp.REQUEST_TYPE}
        reply = await self._below.request(
            Request("POST", "/", headers=headers, body=body, token=False, most=ohttp.MAX_REPLY_BYTES)
        )
        return _decrypted(exchange, reply.body) if reply.status == 200 else _own(reply)


def _own(reply: Reply) -> Reply:
    """Return an answer of the relay itself; a redirect means that the relay's address is wrong, not the collector's."""
    if 300 <= reply.status < 400:
        raise CollectorError(f"the relay {redirect(reply)}; give relay= by the address that it leads to")
    return reply


def _config(data: bytes) -> ohttp.KeyConfig:
    try:
        return ohttp.decode_keys(data)[0]
    except ohttp.KeysError as error:
        raise CollectorError(f"the relay hands out no keys: {error}") from None


def _message(request: Request) -> bytes:
    path = request.path + (f"?{urlencode(request.query)}" if request.query else "")
    headers = tuple(
        (name.lower().encode(), request.headers[name].encode()) for name in HEADERS if name in request.headers
    )
    try:
        return pad(BinaryRequest(request.method.encode(), path.encode(), headers, request.body).encode())
    except MessageError as error:
        raise ParameterError(f"Client: {error}") from None


def _decrypted(exchange: ohttp.ClientExchange, data: bytes) -> Reply:
    try:
        reply = BinaryReply.decode(exchange.decapsulate(data))
    except (OpenError, MessageError) as error:
        raise CollectorError(f"the answer that the relay brought is not the collector's: {error}") from None
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reply.headers}
    return Reply(reply.status, headers, reply.content)


def _names_no_key(reply: Reply) -> bool:
    try:
        return reply.status == 400 and str(json.loads(reply.body)["type"]).endswith("#ohttp-key")
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


class DisconnectableTransport(Transport, Protocol):
    """A transport that can close its connections, at once or when awaited."""

    def disconnect(self) -> Awaitable[None] | None:
        """Let go of all connections."""
