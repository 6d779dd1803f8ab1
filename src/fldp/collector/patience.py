"""Patience: how long a client is waited for while it sends a body, or takes an answer.

Everybody gets ``GRACE`` seconds. Who takes longer needs a slot, of which there are ``max_slow``, so that those who
are slow on purpose never take what the others need.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fldp.collector.collector import Collector

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
    loop, idle, slow = asyncio.get_running_loop(), collector.settings.idle_seconds, collector.slow
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
