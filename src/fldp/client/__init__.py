"""Clients of a collector, blocking and asynchronous; ``docs/client.md`` shows them.

``Client`` and ``AsyncClient`` have the same ``operations``. They differ in their ``transport``: how they send, wait and
read files. httpx is loaded with the first client.
"""

from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from fldp.client.address import Address, secret
from fldp.client.operations import Operations
from fldp.client.replies import Published, Token
from fldp.client.retry import Line, Patience, Transport
from fldp.client.transport import AsyncTransport, BlockingTransport, TransportSettings
from fldp.client.uploading import Sent, Upload, derived_key, upload
from fldp.errors import ParameterError
from fldp.support.validation import flag, integer, positive

if TYPE_CHECKING:
    import ssl

__all__ = ["AsyncClient", "Client", "Published", "Sent", "Token", "Upload", "derived_key", "upload"]

T = TypeVar("T")


def __dir__() -> list[str]:
    return [*__all__, "__doc__"]


class _Connected(Operations):
    """A client with its connection: what both kinds of clients share."""

    _transport: type[AsyncTransport] | type[BlockingTransport]

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 5,
        patience: float = 60.0,
        allow_insecure: bool = False,
        tls: "ssl.SSLContext | None" = None,
        relay: str | None = None,
    ) -> None:
        address = Address.of(url)
        self._allow_insecure = flag("Client", "allow_insecure", allow_insecure)
        token = secret("a token", token, address, allow_insecure)
        settings = TransportSettings(address, token, positive("Client", "timeout", timeout), tls)
        self._settings = settings
        often = Patience(integer(0, 1000)("Client", "retries", retries), positive("Client", "patience", patience))
        transport = self._transport(settings) if relay is None else self._relayed(relay, settings)
        self._line = Line(transport, address, often, token)

    def _relayed(self, relay: str, settings: TransportSettings) -> Transport:
        """Return the transport through a relay, which learns neither the collector's address nor a token."""
        if settings.token is not None:
            raise ParameterError("Client: relay and token cannot go together: a token tells the collector who asks")
        from fldp.client.relay import RelayTransport
        from fldp.client.relay_keys import RelayKeys

        address = Address.of(relay)
        if not (address.private or self._allow_insecure):
            raise ParameterError(
                f"Client: the relay must be reached by https, got {address.origin}, where others see that you answer"
            )
        self._relay = RelayTransport(
            self._transport(replace(settings, address=address)), RelayKeys(str(address), settings.address.origin)
        )
        return self._relay

    def _line_to(self, url: str) -> Line:
        """Return a connection to another server, without the token; it is released after use."""
        settings = replace(self._settings, address=Address.of(url), token=None)
        return Line(self._transport(settings), settings.address, self._line.patience)

    async def _released(self, line: Line) -> None:
        ended = line.transport.disconnect()  # type: ignore[attr-defined]
        if ended is not None:
            await ended

    @property
    def url(self) -> str:
        """The address of the collector."""
        return str(self._line.address)

    @property
    def has_new_keys(self) -> bool:
        """Whether the collector's keys, as the relay hands them out, were replaced within a day, which is rare.

        A key for one person alone would show who that is. Ask the collector's operator why, and others whether they
        have the same. Keys are compared over as many runs as a ``Participant`` has a file.
        """
        return self._relay is not None and self._relay.keys.have_changed

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


class Client(_Connected):
    """The client of a collector; a context manager.

    ``token`` is sent only where it is needed, never over plain http to another machine (unless ``allow_insecure``),
    never after a redirect, and is never shown. Certificates are checked, with ``tls`` if given. A request that fails
    temporarily is repeated up to ``retries`` times, each time after at most ``patience`` seconds. No answer within
    ``timeout`` seconds is such a failure. Every failure is a ``CollectorError`` of one line.

    With ``relay``, the address of a relay that somebody else runs (``fldp relay``), the collector does not learn who
    asks, and the relay does not learn what. Such a client can only read and answer surveys.

    >>> with Client("https://collector.example", token="fldp_read_secret") as client:
    ...     print(client)
    Client('https://collector.example')
    """

    _transport = BlockingTransport

    def _finish(self, operation: Coroutine[Any, Any, T]) -> T:
        """Run an operation to its end; a blocking transport never yields control on the way."""
        try:
            operation.send(None)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            operation.close()
        raise AssertionError("an operation of a blocking client has to wait, and nothing can wake it")

    def disconnect(self) -> None:
        """Close all connections, as the end of a ``with`` block does."""
        self._line.transport.disconnect()  # type: ignore[attr-defined]

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self.disconnect()


class AsyncClient(_Connected):
    """``Client`` for asynchronous programs. It reads files and asks people in a thread.

    >>> import asyncio
    >>> async def shown():
    ...     async with AsyncClient("http://127.0.0.1:8000") as client:
    ...         return repr(client)
    >>> asyncio.run(shown())
    "AsyncClient('http://127.0.0.1:8000')"
    """

    _transport = AsyncTransport

    def _finish(self, operation: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        return operation

    async def disconnect(self) -> None:
        """Close all connections, as the end of an ``async with`` block does."""
        await self._line.transport.disconnect()  # type: ignore[attr-defined]

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.disconnect()
