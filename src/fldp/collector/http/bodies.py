"""Request bodies, read with limits on their size, their time, and all of them together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from fldp.collector.http.client_timeouts import ClientTimeout
from fldp.collector.service.collector import Collector
from fldp.collector.service.load_limits import Budget, Slot
from fldp.collector.service.problems import Problem, too_slow
from fldp.support.identifiers import IDEMPOTENCY_KEY

JSON_BYTES, SURVEY_BYTES = 1 << 16, 1 << 24
_MAX_DIGITS = 18  # of a length


@asynccontextmanager
async def body_of(
    collector: Collector, request: Request, most: int, budget: Budget | None = None
) -> AsyncIterator[bytes]:
    """Read a body; its bytes are accounted for until the block ends."""
    length, budget = _claimed(request, most), budget or collector.load.buffered
    slot: Slot = request.state.slot
    slot.leave()
    body = await _read(collector, request, most, length, budget)
    try:
        slot.take()
        yield body
    finally:
        budget.give(len(body))


def _claimed(request: Request, most: int) -> int | None:
    """Return the declared length of a body; refuse a declared excess or compression at once."""
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
    """Read a body while it comes fast enough; its bytes are taken from the budget, and the caller gives them back."""
    body: bytes | bytearray = b""
    try:
        async with ClientTimeout(collector, collector.settings.body_seconds - request.state.waited) as heard:
            while True:
                message = await request.receive()
                if message["type"] != "http.request":
                    raise ClientDisconnect
                piece = message.get("body", b"")
                if len(body) + len(piece) > most:
                    raise _too_large(most)
                budget.take(len(piece))
                body = _joined(body, piece) if body else piece
                if len(body) == length or not message.get("more_body"):
                    return bytes(body)
                heard()
    except BaseException as error:
        budget.give(len(body))
        raise _broken(error) from None


def _joined(body: bytes | bytearray, piece: bytes) -> bytearray:
    """Join pieces as they come: they may be tiny, and many."""
    whole = body if isinstance(body, bytearray) else bytearray(body)
    whole += piece
    return whole


def _broken(error: BaseException) -> BaseException:
    """Return the problem with a body that came too slowly or broke off."""
    match error:
        case TimeoutError():
            return too_slow()
        case ClientDisconnect():
            return Problem(400, "malformed", "the connection ended within the body")
    return error


def media_type(request: Request, wanted: str) -> None:
    """Refuse a body of another media type."""
    sent = request.headers.get("content-type", wanted).partition(";")[0].strip().lower()
    if sent != wanted:
        raise Problem(415, "media-type", f"the body must be {wanted}")


def idempotency_key(request: Request) -> bytes:
    """Return the key of a request."""
    key = request.headers.get("idempotency-key", "")
    if not IDEMPOTENCY_KEY.matches(key):
        raise Problem(400, "key", f"the header Idempotency-Key must be {IDEMPOTENCY_KEY.rule}")
    return key.encode()
