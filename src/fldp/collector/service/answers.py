"""Answers that may take seconds, such as estimates: computed on their own threads while the client waits.

They have places of their own, so that those who ask never take the places of those who send reports. An answer that
waits for a thread is dropped when its client hangs up; one that is being computed ends at its next checkpoint.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar

from starlette.requests import Request
from starlette.types import Receive

from fldp.collector.service.metrics import Metrics
from fldp.collector.service.problems import busy

P = ParamSpec("P")
R = TypeVar("R")

_thread = threading.local()


class AbandonedError(Exception):
    """The client has hung up, so nobody reads the answer."""


def checkpoint() -> None:
    """Stop here if nobody waits for the answer that this thread computes. Call it before each expensive step."""
    computation: _Computation[Any] | None = getattr(_thread, "computation", None)
    if computation is not None and computation.abandoned:
        raise AbandonedError


class _Computation(Generic[R]):
    """A function to be called on a thread, and whether a client still waits for its result."""

    def __init__(self, function: Callable[[], R]) -> None:
        self._function = function
        self.abandoned = False

    def __call__(self) -> R:
        _thread.computation = self
        try:
            return self._function()
        finally:
            _thread.computation = None


class Answers:
    """At most ``most`` answers that are computed or wait, on ``threads`` threads. Only the event loop touches it."""

    def __init__(self, threads: int, most: int, metrics: Metrics) -> None:
        self._most, self._metrics = most, metrics
        self._pool = ThreadPoolExecutor(threads, "fldp-answers")
        self._threads = asyncio.Semaphore(threads)
        self._running: set[asyncio.Future[Any]] = set()
        self.pending = 0

    async def compute(self, request: Request, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function on a thread, unless too many wait already, and while the client of the request waits."""
        if self.pending >= self._most:
            raise busy("too many answers are being computed, try again")
        request.state.slot.leave()  # from here on no report waits for it
        self.pending += 1
        computation = _Computation(partial(function, *args, **kwargs))
        answer, hung_up = asyncio.ensure_future(self._run(computation)), asyncio.ensure_future(_end(request.receive))
        try:
            await asyncio.wait((answer, hung_up), return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            self._metrics.count("fldp_answers_abandoned_total")
            raise AbandonedError
        finally:
            self.pending -= 1
            computation.abandoned = True
            answer.cancel()
            hung_up.cancel()

    async def _run(self, computation: _Computation[R]) -> R:
        """Wait for a thread. It is held until it is done, whether or not anybody waits for it that long."""
        await self._threads.acquire()
        self._metrics.count("fldp_answers_total")
        running = asyncio.get_running_loop().run_in_executor(self._pool, computation)
        self._running.add(running)
        running.add_done_callback(self._release)
        return await asyncio.shield(running)

    def _release(self, running: "asyncio.Future[Any]") -> None:
        self._running.discard(running)
        self._threads.release()
        if not running.cancelled():
            running.exception()  # of an answer that nobody waited for

    def cancel(self) -> None:
        """Forget what is being computed: the event loop ends. A thread cannot be interrupted, and goes on."""
        for running in tuple(self._running):
            running.cancel()

    def stop(self) -> None:
        """Wait until the threads have ended."""
        self._pool.shutdown(cancel_futures=True)


async def _end(receive: Receive) -> None:
    """Return when the client has hung up. What is left of its body is not kept."""
    while (await receive())["type"] != "http.disconnect":
        pass
