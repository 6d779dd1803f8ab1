"""Connection: HTTP on a socket, so that it is known what was sent and what was answered, and nothing is sent twice."""

import asyncio
import json
from dataclasses import dataclass

PATIENCE = 60  # seconds; longer than anything that a collector lets a request wait

GIVEN_UP = f"requests without an answer for {PATIENCE} s"

LOST = (OSError, asyncio.IncompleteReadError)


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes

    @property
    def accepted(self):
        """What it acknowledges, or None."""
        return json.loads(self.body).get("accepted") if self.status == 200 else None

    @property
    def withdrawn(self):
        """What it says was taken back, or None."""
        return json.loads(self.body).get("withdrawn") if self.status == 200 else None


class Connection:
    """One connection, made when it is needed; ``port`` is asked each time, because a server may come back elsewhere."""

    def __init__(self, port):
        self._port, self._streams = port, None

    async def ask(self, head, body=b"", written=lambda: None):
        """Return the answer, or raise one of ``LOST``; ``written`` is called when something was sent."""
        try:
            async with asyncio.timeout(PATIENCE):
                reader, writer = await self._open()
                written()
                writer.write(head + b"Host: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
                return await self._read(reader)
        except BaseException:
            self.close()
            raise

    async def _open(self):
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port())
        return self._streams

    async def _read(self, reader):
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status, length = int(head.split(b" ", 2)[1]), int(_field(head, b"content-length") or 0)  # none with 204
        body = await reader.readexactly(length)
        if _field(head, b"connection") == b"close":
            self.close()
        return Answer(status, body)

    def close(self):
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def _field(head, name):
    _, separator, rest = head.partition(b"\r\n" + name + b":")
    return rest.partition(b"\r\n")[0].strip() if separator else b""
