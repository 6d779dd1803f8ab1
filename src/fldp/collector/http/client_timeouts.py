"""Time limits for slow clients: how long the collector waits for one to send, or to read."""

import asyncio
from collections.abc import Callable
from types import TracebackType

from fldp.collector.service.collector import Collector

GRACE = 1.0
_LATE = 0.25  # seconds


class ClientTimeout:
    """Waits ``idle_seconds``, and as long again whenever the function that it gives is called, up to ``most``.

    ``TimeoutError`` ends the block when the client is too slow. Nearly all that clients send has arrived long before a
    first alarm is due, so until ``GRACE`` is over there is only that one alarm.
    """

    __slots__ = (
        "_cancelling",
        "_due",
        "_end",
        "_expiry",
        "_grace",
        "_idle",
        "_is_expired",
        "_is_held",
        "_is_refused",
        "_loop",
        "_most",
        "_slow",
        "_task",
    )

    def __init__(self, collector: Collector, most: float) -> None:
        self._slow, self._idle, self._most = collector.load.slow, collector.settings.idle_seconds, most
        self._expiry: asyncio.TimerHandle | None = None
        self._is_held = self._is_refused = self._is_expired = False

    async def __aenter__(self) -> Callable[[], None]:
        task = asyncio.current_task()
        assert task is not None
        self.begin(task)
        return self._heard

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.end() and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def begin(self, task: "asyncio.Task[object]", waited: float = 0.0) -> None:
        """Begin to wait for the client that a task serves, which has waited for some seconds already."""
        self._loop, self._task, self._cancelling = asyncio.get_running_loop(), task, task.cancelling()
        start = self._loop.time() - waited
        self._end, self._due = start + self._most, start + min(self._most, self._idle)
        self._set_grace(max(start + GRACE, self._loop.time()))
        if self._due <= start + 2 * GRACE:
            self._set_expiry(self._due)

    def end(self) -> bool:
        """Wait no longer; return whether the task was cancelled by this alone, and not by somebody else as well."""
        self._grace.cancel()
        if self._expiry is not None:
            self._expiry.cancel()
        if self._is_held:
            self._slow.give(1)
        return self._is_expired and self._task.uncancel() <= self._cancelling

    def _heard(self) -> None:
        now = self._loop.time()
        if now >= self._end:  # not to be put off again by the delay of a late loop
            self._expire()
        elif not self._is_refused:
            self._due = min(self._end, now + self._idle)
            if self._expiry is not None:
                self._set_expiry(self._due)

    def _set_grace(self, due: float, *, is_last: bool = False) -> None:
        self._grace = self._loop.call_at(due, self._overdue, due, is_last)

    def _set_expiry(self, due: float, *, is_last: bool = False) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        self._expiry = self._loop.call_at(due, self._expired, due, is_last)

    def _overdue(self, due: float, is_last: bool) -> None:
        if self._expiry is None:
            self._set_expiry(self._due)
        if self._is_late(due) and not is_last:
            self._set_grace(self._loop.time() + GRACE, is_last=True)
        elif self._slow.used < self._slow.most:
            self._is_held = True
            self._slow.take(1)
        else:
            self._is_refused = True
            self._expire()

    def _expired(self, due: float, is_last: bool) -> None:
        if self._is_late(due) and not is_last:
            self._set_expiry(self._loop.time() + GRACE, is_last=True)
        else:
            self._expire()

    def _is_late(self, due: float) -> bool:
        """Whether the loop itself was late; then it first sees what has come meanwhile.

        Timers run before what has arrived is read, so a loop that was held up would blame the client for it.
        """
        return self._loop.time() - due > _LATE

    def _expire(self) -> None:
        if not self._is_expired:
            self._is_expired = True
            self._task.cancel()
