"""The relay's process: one port, until it is told to stop."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from granian.constants import HTTPModes, Interfaces, SSLProtocols
from granian.http import HTTP1Settings
from granian.server.embed import Server
from starlette.types import ASGIApp

from fldp.collector.server import (
    allow_connections,
    bindable,
    heed_signals,
    ignore_signals,
    listening,
    shown_host,
    stop_server,
)
from fldp.collector.server import exit_now as exit_now
from fldp.relay.app import Relay, RelaySettings, closing

MAX_CONNECTIONS = 10_000
_HEADER_MILLISECONDS, _HEADER_BYTES = 10_000, 16 << 10


@dataclass(frozen=True)
class Place:
    """Where a relay listens."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"{'https' if self.certificate else 'http'}://{shown_host(self.host)}:{self.port}"


def run(settings: RelaySettings, place: Place, say: Callable[[str], None]) -> None:
    """Relay until SIGTERM or SIGINT; requests that are held then are forwarded before it ends."""
    allow_connections(MAX_CONNECTIONS)
    place = Place(bindable(place.host, place.port), place.port, place.certificate, place.key)
    asyncio.run(_serve(settings, place, say))
    ignore_signals()


async def _serve(settings: RelaySettings, place: Place, say: Callable[[str], None]) -> None:
    async with closing(Relay(settings)) as relay:
        await serve(relay, place, lambda: say(f"relaying to {settings.to} on {place.url}"), settings.hold + 35)


async def serve(app: ASGIApp, place: Place, say: Callable[[], None], last_seconds: float) -> None:
    """Serve an application until SIGTERM or SIGINT, and say when it listens."""
    server, stopped = _server(app, place), asyncio.Event()
    heed_signals(asyncio.get_running_loop(), stopped)
    serving = asyncio.create_task(server.serve())
    await listening(place.host, place.port, serving)
    say()
    waiting = asyncio.create_task(stopped.wait())
    await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    stop_server(server)
    await asyncio.wait((serving,), timeout=last_seconds)


def _server(app: ASGIApp, place: Place) -> Server:
    return Server(
        app,
        address=place.host,
        port=place.port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        websockets=False,
        backlog=1024,
        backpressure=MAX_CONNECTIONS,
        http1_settings=HTTP1Settings(header_read_timeout=_HEADER_MILLISECONDS, max_buffer_size=_HEADER_BYTES),
        ssl_cert=place.certificate,
        ssl_key=place.key,
        ssl_protocol_min=SSLProtocols.tls12,
        log_enabled=False,
    )
