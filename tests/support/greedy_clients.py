"""A siege: clients that take what they can get and keep it, while an honest one goes on sending reports."""

import asyncio
import gzip
import resource
import socket
import threading
import time
from collections import Counter
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from support.collector_server import batch, key

CLOSED = "closed"
_GIGABYTE = 1 << 30


def allow_connections(count):
    """Have this process allowed as many open files as it needs."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count + 200, most), most))


def resident(process):
    """The bytes of memory that a process holds."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


class Siege:
    """All attacks on one survey of one collector. Each returns what became of its connections."""

    def __init__(self, server, survey):
        self.server, self.survey = server, survey
        self.path = f"/v1/versions/{survey.version}/reports"

    def head(self, *lines):
        return "\r\n".join([f"POST {self.path} HTTP/1.1", "Host: x", f"Idempotency-Key: {key()}", *lines, ""]).encode()

    @asynccontextmanager
    async def connected(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        try:
            with suppress(ConnectionError):
                yield reader, writer
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def answer(self, reader):
        """The status that comes, or that the connection was closed without one."""
        with suppress(ConnectionError):
            line = await reader.readline()
            if line:
                return int(line.split()[1])
        return CLOSED

    async def _drip(self, start, byte):
        """Send a byte a second until the server has enough."""
        async with self.connected() as (reader, writer):
            answer = asyncio.ensure_future(self.answer(reader))
            writer.write(start)
            while not answer.done():
                writer.write(byte)
                await writer.drain()
                await asyncio.wait([answer], timeout=1)
        return await answer

    async def drip_bodies(self, count):
        start = self.head("Content-Length: 100000", "")
        return Counter(await asyncio.gather(*(self._drip(start, b"x") for _ in range(count))))

    async def drip_headers(self, count):
        return Counter(await asyncio.gather(*(self._drip(self.head("X-Slow: "), b"y") for _ in range(count))))

    async def idle(self, count):
        return Counter(await asyncio.gather(*(self._drip(b"", b"") for _ in range(count))))

    async def _pour(self, start, piece, most=_GIGABYTE):
        """Send as fast as it is taken; return the answer, and how much was taken before it."""
        sent = 0
        async with self.connected() as (reader, writer):
            answer = asyncio.ensure_future(self.answer(reader))
            writer.write(start)
            while not answer.done() and sent < most:
                writer.write(piece)
                sent += len(piece)
                await writer.drain()
                await asyncio.sleep(0)
            await answer
        return await answer, sent

    async def gigabyte(self):
        return await self._pour(self.head(f"Content-Length: {_GIGABYTE}", ""), bytes(1 << 16))

    async def chunked_gigabyte(self):
        start = self.head("Transfer-Encoding: chunked", "")
        return await self._pour(start, b"10000\r\n" + bytes(1 << 16) + b"\r\n")

    async def bomb(self):
        packed = gzip.compress(bytes(100 << 20), 9, mtime=0)
        lines = "Content-Encoding: gzip", f"Content-Length: {len(packed)}", ""
        return await self._pour(self.head(*lines), packed, most=1)

    async def header_flood(self):
        return await self._pour(self.head("X-Start: 1"), b"X-More: and more\r\n" * 1000)


class Honest(threading.Thread):
    """Somebody who answers the survey again and again, each time on a new connection, on a thread of their own.

    So the attackers, who share an event loop, do not keep them from sending. A lost connection is what every client has
    to expect: the same is sent again with the same key, as documented.
    """

    def __init__(self, siege):
        super().__init__(daemon=True)
        self.siege, self.answers, self.longest = siege, Counter(), 0.0
        self.sent, self.ending = 0, threading.Event()

    def send(self):
        body, start = batch(self.siege.survey), time.monotonic()
        request = self.siege.head("Connection: close", f"Content-Length: {len(body)}", "") + body
        self.sent += 1
        while (status := self._ask(request)) == CLOSED:
            self.answers[CLOSED] += 1
        self.answers[status] += 1
        self.longest = max(self.longest, time.monotonic() - start)

    def _ask(self, request):
        with (
            suppress(ConnectionError),
            socket.create_connection(("127.0.0.1", self.siege.server.port), 120) as connection,
        ):
            connection.sendall(request)
            line = connection.makefile("rb").readline()
            if line:
                return int(line.split()[1])
        return CLOSED

    def run(self):
        self.send()
        while not self.ending.wait(0.05):
            self.send()


@contextmanager
def honest(siege):
    """An honest client that goes on for as long as the block does."""
    honest = Honest(siege)
    honest.send()
    honest.start()
    try:
        yield honest
    finally:
        honest.ending.set()
        honest.join()
