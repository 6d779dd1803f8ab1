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


@asynccontextmanager
async def patience(collector: Collector, most: float) -> AsyncIterator[Callable[[], None]]:
    """Wait ``idle_seconds``, and again so long each time that what this yields is called, but never more than ``most``.

    ``TimeoutError`` ends the block when the client is too slow.
    """
    loop, idle, slow = asyncio.get_running_loop(), collector.settings.idle_seconds, collector.slow
    start = loop.time()
    end, due, held, refused = start + most, start + GRACE, False, False

    alarm: asyncio.TimerHandle

    def overdue() -> None:
        nonlocal held, refused, alarm, due
        if loop.time() - due > _LATE:  # the collector itself was late, and may not have seen yet what has come
            due = loop.time() + GRACE
            alarm = loop.call_at(due, overdue)
            return
        held, refused = slow.used < slow.most, slow.used >= slow.most
        if held:
            slow.take(1)
        elif not limit.expired():
            limit.reschedule(loop.time())

    def heard() -> None:
        if not refused and not limit.expired():
            limit.reschedule(min(end, loop.time() + idle))

    alarm = loop.call_at(due, overdue)
    try:
        async with asyncio.timeout(min(most, idle)) as limit:
            yield heard
    finally:
        alarm.cancel()
        slow.give(held)
