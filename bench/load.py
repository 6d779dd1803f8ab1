"""Load: many connections that stay open, on each one request after the other, and how long each answer took."""

import asyncio
import resource
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from statistics import quantiles
from time import perf_counter

END = b"\r\n\r\n"


@dataclass
class Load:
    """What came of a load: seconds from the first request to the last answer, and the seconds of each."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    refused: int = 0

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.times) / self.seconds

    def percentile(self, percent: int) -> float:
        """The seconds within which so many per cent were answered."""
        return quantiles(self.times, n=100, method="inclusive")[percent - 1]


def requests(path: str, body: bytes, run: str) -> Iterator[bytes]:
    """Yield the same request again and again, each time with a key of its own, so that each is new."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\n"
    head += f"Content-Length: {len(body)}\r\nIdempotency-Key: "
    for number in count():
        yield b"%b%b-%024d%b%b" % (head.encode(), run.encode(), number, END, body)


class Connection(asyncio.Protocol):
    """One connection: sends the next request when the answer to the last has come."""

    def __init__(self, source: Iterator[bytes], load: Load, stop_at: float, ended: "asyncio.Future[None]") -> None:
        self._source, self._load, self._stop_at, self._ended = source, load, stop_at, ended
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._next()

    def _next(self) -> None:
        self._start = perf_counter()
        if self._start < self._stop_at:
            self._transport.write(next(self._source))
        else:
            self._transport.close()
            self._ended.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, rest = self._buffer.partition(END)
        if separator and len(rest) >= _length(head):
            self._load.times.append(perf_counter() - self._start)
            self._load.refused += not head.startswith(b"HTTP/1.1 200")
            self._buffer = b""
            self._next()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._ended.done():
            self._ended.set_exception(error or ConnectionError("the server ended a connection"))


def _length(head: bytes) -> int:
    name = b"content-length: "
    start = head.lower().index(name) + len(name)
    return int(head[start:].partition(b"\r\n")[0])


async def _run(port: int, source: Iterator[bytes], connections: int, seconds: float) -> Load:
    loop = asyncio.get_running_loop()
    load, start = Load(), perf_counter()
    ends = [loop.create_future() for _ in range(connections)]
    for ended in ends:
        await loop.create_connection(
            lambda ended=ended: Connection(source, load, start + seconds, ended), "127.0.0.1", port
        )
    await asyncio.gather(*ends)
    load.seconds = perf_counter() - start
    return load


def send(port: int, source: Iterator[bytes], *, connections: int, seconds: float) -> Load:
    """Send for some seconds, then wait for the last answers."""
    return asyncio.run(_run(port, source, connections, seconds))


def own_seconds() -> float:
    """The processor's time that this process has used: what a load itself costs."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
