"""Patience: how long a client is waited for while it sends a body, or takes an answer.

Everybody gets ``GRACE`` seconds. Who takes longer needs a slot, of which there are ``max_slow``, so that those who
are slow on purpose never take what the others need.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fldp.collector.collector import Collector

GRACE = 1.0


@asynccontextmanager
async def patience(collector: Collector, most: float) -> AsyncIterator[Callable[[], None]]:
    """Wait ``idle_seconds``, and again so long each time that what this yields is called, but never more than ``most``.

    ``TimeoutError`` ends the block when the client is too slow.
    """
    loop, idle, slow = asyncio.get_running_loop(), collector.settings.idle_seconds, collector.slow
    end, held, refused = loop.time() + most, False, False

    def overdue() -> None:
        nonlocal held, refused
        held, refused = slow.used < slow.most, slow.used >= slow.most
        if held:
            slow.take(1)
        elif not limit.expired():
            limit.reschedule(loop.time())

    def heard() -> None:
        if not refused and not limit.expired():
            limit.reschedule(min(end, loop.time() + idle))

    alarm = loop.call_later(GRACE, overdue)
    try:
        async with asyncio.timeout(min(most, idle)) as limit:
            yield heard
    finally:
        alarm.cancel()
        slow.give(held)
