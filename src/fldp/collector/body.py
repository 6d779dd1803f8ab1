"""Bodies: read with a limit on their size, on the time they take, and on all of them together."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import ClientDisconnect, Request

from fldp.collector.collector import Budget, Collector, Slot
from fldp.collector.patience import patience
from fldp.collector.problem import Problem

JSON_BYTES, SURVEY_BYTES = 1 << 16, 1 << 24
_MAX_DIGITS = 18  # of a length
_KEY = re.compile(r"[A-Za-z0-9_-]{22,128}")


@asynccontextmanager
async def body_of(
    collector: Collector, request: Request, most: int, budget: Budget | None = None
) -> AsyncIterator[bytes]:
    """Read a body; its bytes are accounted for until the block ends."""
    length, budget = _claimed(request, most), budget or collector.buffered
    slot: Slot = request.scope["fldp.slot"]
    slot.leave()
    body = await _read(collector, request, most, length, budget)
    try:
        slot.take()
        yield body
    finally:
        budget.give(len(body))


def _claimed(request: Request, most: int) -> int | None:
    """Return the length that a body says it has; refuse at once one that says it is too large, or compressed."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", ""):
        raise Problem(415, "encoding", "the body must not be compressed")
    length = request.headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        return None
    digits = length.lstrip("0") or "0"  # int() raises for thousands of digits, leading zeros among them
    if len(digits) > _MAX_DIGITS or int(digits) > most:
        raise _too_large(most)
    return int(digits)


def _too_large(most: int) -> Problem:
    return Problem(413, "too-large", f"the body must have at most {most} bytes")


async def _read(collector: Collector, request: Request, most: int, length: int | None, budget: Budget) -> bytes:
    """Read a body as it comes, while it comes fast enough. Pieces are not kept as such: they may be tiny, and many."""
    body = bytearray()
    try:
        async with patience(collector, collector.settings.body_seconds) as heard:
            async for piece in request.stream():
                if len(body) + len(piece) > most:
                    raise _too_large(most)
                budget.take(len(piece))
                body += piece
                if len(body) == length:
                    break
                heard()
        return bytes(body)
    except BaseException as error:
        budget.give(len(body))
        raise _broken(error) from None


def _broken(error: BaseException) -> BaseException:
    """Return what to answer when a body did not come as it should."""
    match error:
        case TimeoutError():
            return Problem(408, "slow", "the body came too slowly", {"Connection": "close"})
        case ClientDisconnect():
            return Problem(400, "malformed", "the connection ended within the body")
    return error


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
