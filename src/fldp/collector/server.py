"""The server: one process on one port, from start to orderly stop."""

import asyncio
import fcntl
import gc
import logging
import math
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType

from granian.constants import HTTPModes, Interfaces, SSLProtocols
from granian.http import HTTP1Settings
from granian.server.embed import Server

from fldp.collector.app import create_app
from fldp.collector.config.clock import Clock, system
from fldp.collector.config.settings import Settings
from fldp.collector.service import kernel_warmup, logs, tokens
from fldp.collector.service.collector import Collector
from fldp.collector.storage.open_store import serve_store
from fldp.collector.storage.protocol import CollectorStore, StoreError
from fldp.collector.storage.sqlite.file import FILE

Say = Callable[[str], None]
Began = Callable[[str, str | None], None]  # told the address, and the admin token if one was made
_SHOWN = "admin token, shown this once: {}"
_WRITTEN = "the admin token is in {}"
_MISSING = "there is no admin token: 'fldp token create admin {}' makes one, also while the collector runs"

_GARBAGE = 10_000, 20, 20  # new objects until the youngest are looked at, and how often until older ones are
_MAX_RESERVE = 2.0  # seconds
READ_BYTES = 1 << 16  # at once from a connection: each piece of a body costs a turn of the event loop
_OTHER_FILES = 256  # that a collector has open beside its connections


def run(settings: Settings, say: Say, clock: Clock = system, *, began: Began | None = None) -> list[str]:
    """Serve until SIGTERM or SIGINT; then take no more requests, finish those that came, and end.

    Where there is no admin token, one is made for ``began``, for ``admin_token_file`` or for a terminal, and none for
    a standard output that may be a log.

    Return within ``stop_seconds`` of the signal. Threads that have not ended by then are named in what it returns. A
    process that serves ends by ``exit_now``.
    """
    logs.configure(settings.log, settings.audit, settings.log_every)
    allow_connections(settings.max_connections)
    settings = replace(settings, host=bindable(settings.host, settings.port))
    with _alone(settings.data) if settings.database is None else nullcontext():
        store = serve_store(settings)
        with _closing_on_error(store):
            secret, line = _first_token(settings, store, clock, shown=began is not None or sys.stdout.isatty())
        collector = Collector(settings, store, clock)
        stopping = _Stopping(settings.stop_seconds)
        try:
            with asyncio.Runner(loop_factory=loop_factory()) as runner:
                runner.run(_serve(collector, stopping, lambda url: _announce(url, secret, line, say, began)))
        finally:
            unfinished = collector.stop(stopping.left)
        ignore_signals()
        logs.log.info("stopped", extra={"dropped": stopping.dropped, "unfinished": unfinished})
    return unfinished


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the event loop: uvloop's where it is installed, else Python's own."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _first_token(
    settings: Settings, store: CollectorStore, clock: Clock, *, shown: bool
) -> tuple[str | None, str | None]:
    """Make an admin token where there is none and somebody will see it; return it, and the line to say about it."""
    if tokens.has_admin(store, clock()):
        return None, None
    if settings.admin_token_file is not None:
        with tokens.secret_file(settings.admin_token_file) as keep:
            secret = tokens.create_token(store, clock(), "admin")[0]
            keep(secret)
        return secret, _WRITTEN.format(settings.admin_token_file)
    if not shown:
        return None, _MISSING.format(f"--data {settings.data}" if settings.database is None else "--database URL")
    secret = tokens.create_token(store, clock(), "admin")[0]
    return secret, _SHOWN.format(secret)


def _announce(url: str, secret: str | None, line: str | None, say: Say, began: Began | None) -> None:
    """Say where the collector listens, and what there is to say about its admin token."""
    say(f"listening on {url}")
    if line is not None:
        say(line)
    if began is not None:
        began(url, secret)


@contextmanager
def _closing_on_error(store: CollectorStore) -> Iterator[None]:
    try:
        yield
    except BaseException:
        store.close()
        raise


def exit_now() -> None:
    """End the process with 0, whatever its threads do. All that was acknowledged is on the disk.

    Python would wait for threads that hang, and the HTTP server's own threads abort the process if they call into an
    interpreter that is being taken down.
    """
    sys.stdout.flush()
    logging.shutdown()
    os._exit(0)


class _Stopping:
    """How long a stop may still take, and what was dropped for it."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._deadline = seconds, math.inf
        self.dropped = 0

    def begin(self) -> None:
        """Note that the collector was told to stop."""
        self._deadline = time.monotonic() + self._seconds

    @property
    def left(self) -> float:
        """The seconds that are left; all of them before it was told to stop."""
        return max(0.0, min(self._seconds, self._deadline - time.monotonic()))

    @property
    def reserve(self) -> float:
        """The seconds that are kept for telling clients that the collector stops, and for ending threads."""
        return min(_MAX_RESERVE, self._seconds / 4)


def allow_connections(count: int) -> None:
    """Raise the limit of open files to what the connections need; many systems begin with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + _OTHER_FILES
    if hard != resource.RLIM_INFINITY and hard < wanted:
        logs.log.warning("the system permits fewer connections", extra={"files": hard, "wanted": wanted})
        wanted = hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _serve(collector: Collector, stopping: _Stopping, announce: Say) -> None:
    settings, server = collector.settings, _server(collector)
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    heed_signals(loop, stopped)
    serving = loop.create_task(server.serve())
    await listening(settings.host, settings.port, serving)
    protocol = "https" if settings.tls_certificate else "http"
    announce(f"{protocol}://{shown_host(settings.host)}:{settings.port}")
    settling = loop.create_task(collector.heavy(_settle_memory))
    waiting = loop.create_task(stopped.wait())
    await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    settling.cancel()
    stopping.begin()
    collector.stopping = True
    logs.log.info("stopping", extra={"open": collector.open})
    stop_server(server)
    await _finish(collector, serving, stopping)


def _settle_memory() -> None:
    """Exempt all that is loaded from garbage collection, and collect new objects less often.

    By default it looks at all objects of compilers and libraries again and again, while all threads stand still.
    """
    kernel_warmup.start()
    gc.freeze()
    gc.set_threshold(*_GARBAGE)


def heed_signals(loop: asyncio.AbstractEventLoop, stopped: asyncio.Event) -> None:
    """Stop at SIGTERM or SIGINT. A second one changes nothing, even after the event loop has ended.

    ``loop.add_signal_handler`` would restore the default then, and the second signal would kill what ends in order.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(stopped.set)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def stop_server(server: Server) -> None:
    """Stop the HTTP server. It sets a future that the end of the event loop may have cancelled, which is no error."""

    def late(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        if not isinstance(context.get("exception"), asyncio.InvalidStateError):
            loop.default_exception_handler(context)

    asyncio.get_running_loop().set_exception_handler(late)
    server.stop()  # type: ignore[no-untyped-call]


def ignore_signals() -> None:
    """Let no late signal kill what has ended in order: Python restores default handlers as it exits, but not this."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


async def _finish(collector: Collector, serving: "asyncio.Task[None]", stopping: _Stopping) -> None:
    """Let requests end while there is time. Those that have not are told to come again, and waited for no longer."""
    await _ended(collector, serving, stopping.left - stopping.reserve)
    stopping.dropped = collector.open
    for request in tuple(collector.requests):
        request.cancel()
    await _ended(collector, serving, stopping.left - stopping.reserve / 2)
    collector.answers.cancel()


async def _ended(collector: Collector, serving: "asyncio.Task[None]", seconds: float) -> None:
    """Wait until no request is open and the server has ended; a request may outlive its connection."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while loop.time() < end:
        pending = {task for task in (*collector.requests, serving) if not task.done()}
        if not pending:
            return
        await asyncio.wait(pending, timeout=end - loop.time())


def _server(collector: Collector) -> Server:
    """Return the HTTP server. It limits headers and connections; bodies are limited where they are read."""
    settings = collector.settings
    buffer = max(READ_BYTES, settings.max_header)  # of a header, and of each piece of a body
    return Server(
        create_app(collector),
        address=settings.host,
        port=settings.port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        websockets=False,
        backlog=max(128, settings.max_connections),
        backpressure=settings.max_connections,
        http1_settings=HTTP1Settings(header_read_timeout=round(1000 * settings.header_seconds), max_buffer_size=buffer),
        ssl_cert=settings.tls_certificate,
        ssl_key=settings.tls_key,
        ssl_protocol_min=SSLProtocols.tls12,
        log_enabled=False,
    )


async def listening(host: str, port: int, serving: "asyncio.Task[None]") -> None:
    """Wait until the port answers, so that whoever reads the address can use it."""
    while not serving.done():
        try:
            _, writer = await asyncio.open_connection(host, port)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        writer.close()
        return
    reason = str(serving.exception()).partition("\n")[0]
    raise StoreError(f"serve: cannot listen on {host} port {port}: {reason}")


def shown_host(host: str) -> str:
    """Return a host as it stands in an address."""
    return f"[{host}]" if ":" in host else host


def bindable(host: str, port: int) -> str:
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
    """Lock the folder: two collectors on one SQLite file would not see what the other has in memory."""
    path = folder / f"{FILE}.lock"
    try:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened: {error.strerror}") from None
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreError(f"{folder / FILE}: is served by another collector") from None
    except OSError as error:
        raise StoreError(f"{folder}: this file system cannot lock files: {error.strerror}") from None
