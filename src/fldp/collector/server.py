"""The server: one process, one port, until it is told to stop."""

import asyncio
import fcntl
import os
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from granian.constants import HTTPModes, Interfaces, SSLProtocols
from granian.http import HTTP1Settings
from granian.server.embed import Server

from fldp.collector import auth, logs
from fldp.collector.app import create_app
from fldp.collector.clock import Clock, system
from fldp.collector.collector import Collector
from fldp.collector.settings import Settings
from fldp.collector.sqlite_file import FILE
from fldp.collector.store import StoreError
from fldp.collector.stores import serve_store

Say = Callable[[str], None]
Began = Callable[[str, str | None], None]  # told the address, and the admin token if one was made

_OTHER_FILES = 256  # that a collector has open beside its connections


def run(settings: Settings, say: Say, clock: Clock = system, *, began: Began = lambda _url, _secret: None) -> None:
    """Serve until SIGTERM or SIGINT; then take no more requests, finish those that came, and end."""
    logs.configure(settings.log)
    _allow_connections(settings.max_connections)
    settings = replace(settings, host=_bindable(settings.host, settings.port))
    with _alone(settings.data) if settings.database is None else nullcontext():
        store = serve_store(settings)
        secret = None if auth.has_admin(store, clock()) else auth.create_token(store, clock(), "admin")[0]
        collector = Collector(settings, store, clock)
        try:
            asyncio.run(_serve(collector, say, secret, began))
        finally:
            collector.stop()


def _allow_connections(count: int) -> None:
    """Have the system permit as many open files as the connections need; many systems begin with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + _OTHER_FILES
    if hard != resource.RLIM_INFINITY and hard < wanted:
        logs.log.warning("the system permits fewer connections", extra={"files": hard, "wanted": wanted})
        wanted = hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _serve(collector: Collector, say: Say, secret: str | None, began: Began) -> None:
    settings, server = collector.settings, _server(collector)
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    serving = loop.create_task(server.serve())
    await _listening(settings, serving)
    protocol = "https" if settings.tls_certificate else "http"
    url = f"{protocol}://{_shown(settings.host)}:{settings.port}"
    say(f"listening on {url}")
    if secret:
        say(f"admin token, shown this once: {secret}")
    began(url, secret)
    waiting = loop.create_task(stopped.wait())
    await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    collector.stopping = True
    logs.log.info("stopping")
    server.stop()  # type: ignore[no-untyped-call]
    await asyncio.wait((serving,), timeout=settings.stop_seconds)
    waiting.cancel()
    logs.log.info("stopped", extra={"dropped": collector.open})


def _server(collector: Collector) -> Server:
    """Return the HTTP server. It limits headers and connections; bodies are limited where they are read."""
    settings = collector.settings
    return Server(
        create_app(collector),
        address=settings.host,
        port=settings.port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        websockets=False,
        backlog=max(128, settings.max_connections),
        backpressure=settings.max_connections,
        http1_settings=HTTP1Settings(
            header_read_timeout=round(1000 * settings.header_seconds), max_buffer_size=settings.max_header
        ),
        ssl_cert=settings.tls_certificate,
        ssl_key=settings.tls_key,
        ssl_protocol_min=SSLProtocols.tls12,
        log_enabled=False,
    )


async def _listening(settings: Settings, serving: "asyncio.Task[None]") -> None:
    """Wait until the port answers, so that whoever reads the address can use it."""
    while not serving.done():
        try:
            _, writer = await asyncio.open_connection(settings.host, settings.port)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        writer.close()
        return
    reason = str(serving.exception()).partition("\n")[0]
    raise StoreError(f"serve: cannot listen on {settings.host} port {settings.port}: {reason}")


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _bindable(host: str, port: int) -> str:
    """Return the numeric address of a host, having seen that its port is free: before anything is made or printed."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "not a host"
        raise StoreError(f"serve: cannot listen on {host} port {port}: {reason}") from None
    return str(address[0])


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse to serve a database that another collector serves: each would not know what the other knows by heart."""
    path = folder / f"{FILE}.lock"
    try:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise StoreError(f"{folder / FILE}: is served by another collector") from None
    finally:
        os.close(handle)
