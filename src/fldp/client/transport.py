"""Transports, blocking and asynchronous: the only place that touches the network."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from fldp.client.address import Address
from fldp.client.deadline import Sockets, Watch
from fldp.client.messages import Receiver, Reply, Request, UnreachableError, clean
from fldp.errors import CollectorError, FldpError
from fldp.support.optional_imports import load

if TYPE_CHECKING:
    import ssl

    import httpx

T = TypeVar("T")
_CONNECT_SECONDS = 10.0


def _trusting_nobody() -> "ssl.SSLContext":
    """Return a context without certificates: where there is no TLS, to load them takes longer than to ask."""
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass(frozen=True)
class TransportSettings:
    """Address, token, timeout and certificates of a transport."""

    address: Address
    token: str | None = field(repr=False)
    timeout: float
    tls: "ssl.SSLContext | None"

    def http_client(self, client: Callable[..., T], direct: Callable[..., object]) -> T:
        """Make either client of httpx. What it reads in the environment can be wrong, and a proxy have a password."""
        try:
            return client(**self._options(direct))
        except Exception as error:
            raise FldpError(
                f"{self.address}: cannot be connected to ({type(error).__name__}); check what the environment says "
                "of proxies and certificates (HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR)"
            ) from None

    def _options(self, direct: Callable[..., object]) -> dict[str, Any]:
        """Return what it is made with.

        No cookies: a collector could follow a person from one answer to the next. No compression, so that a small
        answer cannot become a large one. To this machine no proxy is used, since it would read along.
        """
        from http.cookiejar import CookieJar, DefaultCookiePolicy

        httpx = load("httpx", "client")
        options: dict[str, Any] = {"verify": self.tls or True}
        if self.address.loopback:
            plain = self.address.origin.startswith("http://")
            options = {"transport": direct(verify=self.tls or (_trusting_nobody() if plain else True))}
        return options | {
            "timeout": httpx.Timeout(self.timeout, connect=min(self.timeout, _CONNECT_SECONDS)),
            "headers": {"User-Agent": "fldp", "Accept-Encoding": "identity"},
            "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            "follow_redirects": False,
        }

    def arguments(self, request: Request) -> dict[str, object]:
        """Return what httpx is to ask."""
        secret = {"Authorization": f"Bearer {self.token}"} if self.token and request.token else {}
        return {
            "method": request.method,
            "url": f"{self.address}{request.path}",
            "params": dict(request.query) or None,
            "headers": {**request.headers, **secret},
            "content": request.body or None,
        }

    @contextmanager
    def failures(self, client: "httpx.Client | httpx.AsyncClient") -> Iterator[None]:
        """Turn errors of httpx into plain words, and whether the request may have arrived."""
        httpx = load("httpx", "client")
        if client.is_closed:
            raise CollectorError("the client is disconnected; make another one")
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError) as error:
            if distrust := _distrust(error):
                raise CollectorError(f"its certificate is not trusted: {distrust}") from None
            why = f"cannot be reached ({_reason(error)}); check the address, and that the collector runs"
            raise UnreachableError(why, sent=False) from None
        except httpx.TimeoutException:
            raise UnreachableError(f"gives no answer within {self.timeout:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise UnreachableError(f"the connection broke ({_reason(error)})") from None


def _distrust(error: BaseException | None) -> str:
    """Return what is wrong with the certificate, if that caused a failure to connect."""
    from ssl import SSLCertVerificationError

    while error is not None:
        if isinstance(error, SSLCertVerificationError):
            return clean(error.verify_message, 200)
        error = error.__cause__ or error.__context__
    return ""


def _reason(error: BaseException) -> str:
    return re.sub(r"^\[Errno -?[0-9]+\] ", "", str(error)) or type(error).__name__


class BlockingTransport:
    """A transport whose coroutines never yield control: everything in them blocks."""

    def __init__(self, settings: TransportSettings) -> None:
        httpx = load("httpx", "client")
        self._settings = settings
        self._http = settings.http_client(httpx.Client, httpx.HTTPTransport)
        self._sockets = Sockets()
        self._watch = Watch(self._sockets.cut)

    async def request(self, request: Request) -> Reply:
        receiver = Receiver(request)
        arguments = {**self._settings.arguments(request), "extensions": {"trace": self._sockets.trace}}
        with self._settings.failures(self._http), self._watch.over(receiver):
            with self._http.stream(**arguments) as response:
                receiver.begin(response.status_code, response.headers)
                for part in response.iter_raw():
                    receiver.add(part)
            return receiver.reply()

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    async def work(self, job: Callable[[], T]) -> T:
        return job()

    def disconnect(self) -> None:
        """Let go of all connections."""
        self._http.close()
        self._watch.end()


class AsyncTransport:
    """A transport whose coroutines wait without blocking."""

    def __init__(self, settings: TransportSettings) -> None:
        httpx = load("httpx", "client")
        self._settings = settings
        self._http = settings.http_client(httpx.AsyncClient, httpx.AsyncHTTPTransport)

    async def request(self, request: Request) -> Reply:
        receiver = Receiver(request)
        with self._settings.failures(self._http):
            try:
                return await self._received(request, receiver)
            except TimeoutError:
                raise UnreachableError(receiver.late) from None

    async def _received(self, request: Request, receiver: Receiver) -> Reply:
        import asyncio

        shift = asyncio.get_running_loop().time() - time.monotonic()
        async with asyncio.timeout_at(receiver.ends + shift) as limit:
            async with self._http.stream(**self._settings.arguments(request)) as response:
                receiver.begin(response.status_code, response.headers)
                async for part in response.aiter_raw():
                    receiver.add(part)
                    if not limit.expired():
                        limit.reschedule(receiver.ends + shift)
                return receiver.reply()

    async def pause(self, seconds: float) -> None:
        import asyncio

        await asyncio.sleep(seconds)

    async def work(self, job: Callable[[], T]) -> T:
        import asyncio

        return await asyncio.to_thread(job)

    async def disconnect(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()
