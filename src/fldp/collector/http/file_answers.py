"""Answers streamed from a file."""

from collections.abc import AsyncIterator, Mapping
from typing import BinaryIO

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from fldp.collector.service.collector import Collector

PIECE = 1 << 18


class FileAnswer(StreamingResponse):
    """Sends a file and closes it.

    It does not listen whether the client hangs up, as Starlette would beside the sending: when Starlette is done it
    cancels that, and Granian's ``receive`` now and then hands on the cancellation as if it were the server's. The
    answer was then cut short, or was a bare 500.
    """

    def __init__(
        self, collector: Collector, file: BinaryIO, media_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(_pieces(collector, file), headers=headers, media_type=media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        await self.stream_response(send)


async def _pieces(collector: Collector, file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while piece := await collector.quick(file.read, PIECE):
            yield piece
