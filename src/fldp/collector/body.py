"""Bodies: read with a limit on their size, on the time they take, and on all of them together."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import ClientDisconnect, Request

from fldp.collector.collector import Collector
from fldp.collector.problem import Problem

JSON_BYTES, SURVEY_BYTES = 1 << 16, 1 << 24
_KEY = re.compile(r"[A-Za-z0-9_-]{22,128}")


@asynccontextmanager
async def body_of(collector: Collector, request: Request, most: int) -> AsyncIterator[bytes]:
    """Read a body; its bytes are accounted for until the block ends."""
    _check_claims(request, most)
    pieces: list[bytes] = []
    held = 0
    try:
        async for piece in _pieces(collector, request):
            held += len(piece)
            if held > most:
                held -= len(piece)
                raise _too_large(most)
            try:
                collector.buffered.take(len(piece))
            except Problem:
                held -= len(piece)
                raise
            pieces.append(piece)
        yield b"".join(pieces)
    finally:
        collector.buffered.give(held)


def _check_claims(request: Request, most: int) -> None:
    """Refuse at once what says of itself that it is too large; what it does not say is counted as it comes."""
    length = request.headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and int(length[:20]) > most:
        raise _too_large(most)
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", ""):
        raise Problem(415, "encoding", "the body must not be compressed")


def _too_large(most: int) -> Problem:
    return Problem(413, "too-large", f"the body must have at most {most} bytes")


async def _pieces(collector: Collector, request: Request) -> AsyncIterator[bytes]:
    """Yield a body as it comes, while it comes fast enough."""
    stream = request.stream()
    loop = asyncio.get_running_loop()
    end = loop.time() + collector.settings.body_seconds
    while True:
        patience = min(collector.settings.idle_seconds, end - loop.time())
        try:
            piece = await asyncio.wait_for(anext(stream), max(0.0, patience))
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise Problem(408, "slow", "the body came too slowly", {"Connection": "close"}) from None
        except ClientDisconnect:
            raise Problem(400, "malformed", "the connection ended within the body") from None
        if piece:
            yield piece


def media_type(request: Request, wanted: str) -> None:
    """Refuse a body that says it is something else."""
    given = request.headers.get("content-type", wanted).partition(";")[0].strip().lower()
    if given != wanted:
        raise Problem(415, "media-type", f"the body must be {wanted}")


async def json_of(collector: Collector, request: Request) -> dict[str, Any]:
    """Read a small JSON object."""
    media_type(request, "application/json")
    async with body_of(collector, request, JSON_BYTES) as body:
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise Problem(422, "malformed", "the body must be JSON") from None
    if not isinstance(found, dict):
        raise Problem(422, "malformed", "the body must be a JSON object")
    return found


def idempotency_key(request: Request) -> bytes:
    """Return the key of a request."""
    key = request.headers.get("idempotency-key", "")
    if not _KEY.fullmatch(key):
        rule = "22 to 128 characters of A-Z, a-z, 0-9, - and _, chosen at random"
        raise Problem(400, "key", f"the header Idempotency-Key must be {rule}")
    return key.encode()
