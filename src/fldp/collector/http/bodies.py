"""Request bodies, read with limits on their size, their time, and all of them together."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from fldp.collector.service.collector import Collector
from fldp.collector.service.load import Budget, Slot
from fldp.collector.service.problems import Problem
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
    """Read a body while it comes fast enough. Pieces are joined as they come: they may be tiny, and many."""
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
    """Return the problem with a body that came too slowly or broke off."""
    match error:
        case TimeoutError():
            return Problem(408, "slow", "the body came too slowly", {"Connection": "close"})
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


GRACE = 1.0
_LATE = 0.25  # seconds


class _Alarm:
    """Calls a function when it is due. If the loop itself was late, it first sees what has come meanwhile."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._loop, self._action = asyncio.get_running_loop(), action
        self._handle: asyncio.TimerHandle | None = None

    def set(self, due: float, *, last: bool = False) -> None:
        self.cancel()
        self._handle = self._loop.call_at(due, self._ring, due, last)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()

    def _ring(self, due: float, last: bool) -> None:
        # Timers run before what has arrived is read, so a loop that was held up would blame the client for it.
        if self._loop.time() - due > _LATE and not last:
            self.set(self._loop.time() + GRACE, last=True)
        else:
            self._action()


@asynccontextmanager
async def patience(collector: Collector, most: float) -> AsyncIterator[Callable[[], None]]:
    """Wait ``idle_seconds``, and again so long each time that what this yields is called, but never more than ``most``.

    ``TimeoutError`` ends the block when the client is too slow.
    """
    loop, idle, slow = asyncio.get_running_loop(), collector.settings.idle_seconds, collector.load.slow
    start = loop.time()
    end, held, refused = start + most, False, False

    def expire() -> None:
        if not limit.expired():
            limit.reschedule(loop.time())

    def overdue() -> None:
        nonlocal held, refused
        held, refused = slow.used < slow.most, slow.used >= slow.most
        if held:
            slow.take(1)
        else:
            expire()

    def heard() -> None:
        now = loop.time()
        if now >= end:  # not to be put off again by the delay of a late loop
            expire()
        elif not refused:
            expiry.set(min(end, now + idle))

    grace, expiry = _Alarm(overdue), _Alarm(expire)
    try:
        async with asyncio.timeout(None) as limit:
            grace.set(start + GRACE)
            expiry.set(start + min(most, idle))
            yield heard
    finally:
        grace.cancel()
        expiry.cancel()
        slow.give(held)
