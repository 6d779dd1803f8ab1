"""Readiness: whether the store can be written, known by having tried."""

import asyncio
import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress

MAX_SECONDS = 1.8  # for a try
_FRESH_SECONDS = 1.0  # for which a finding stays valid


class Readiness:
    """Tries to write when it is asked, unless somebody has just written. Only the event loop asks.

    One try runs at a time however many ask, and a second lies between two of them, so that asking causes no work.

    >>> readiness = Readiness(lambda: None)
    >>> asyncio.run(readiness.is_ready())
    True
    """

    def __init__(self, probe: Callable[[], None]) -> None:
        self._probe = probe
        self._written = self._began = -math.inf
        self._try: asyncio.Future[bool] | None = None

    def written(self) -> None:
        """Note that something was written."""
        self._written = time.monotonic()

    async def is_ready(self) -> bool:
        """Return whether something was written, or could be, within a second."""
        now = time.monotonic()
        if now - self._written < _FRESH_SECONDS:
            return True
        if self._try is None or (self._try.done() and now - self._began >= _FRESH_SECONDS):
            self._try, self._began = self._start(asyncio.get_running_loop()), now
        done, _ = await asyncio.wait((self._try,), timeout=max(0.0, self._began + MAX_SECONDS - now))
        return any(each.result() for each in done)

    def _start(self, loop: asyncio.AbstractEventLoop) -> "asyncio.Future[bool]":
        """Try on a thread that ends with the process: a store that hangs must not keep the collector from stopping."""
        result: asyncio.Future[bool] = loop.create_future()

        def run() -> None:
            is_written = self._writes()
            with suppress(RuntimeError):  # the loop has ended, and nobody asks any more
                loop.call_soon_threadsafe(result.set_result, is_written)

        threading.Thread(target=run, name="fldp-probe", daemon=True).start()
        return result

    def _writes(self) -> bool:
        try:
            self._probe()
        except Exception:  # whatever it is, nothing was written
            return False
        self.written()
        return True
