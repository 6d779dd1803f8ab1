"""Worker pools: threads for short work, for computing, and for deletions."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Stop = Callable[[], object]


class Workers:
    """The pools of one collector."""

    def __init__(self, threads: int) -> None:
        self._quick = ThreadPoolExecutor(4, "fldp-quick")
        self._heavy = ThreadPoolExecutor(threads, "fldp-heavy")
        self._deletions = ThreadPoolExecutor(1, "fldp-deletions")  # a deletion may take minutes: one at a time

    async def quick(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run what takes a moment, off the event loop."""
        return await _run(self._quick, partial(function, *args, **kwargs))

    async def heavy(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run what computes, off the event loop, on a bounded number of threads."""
        return await _run(self._heavy, partial(function, *args, **kwargs))

    async def delete(self, function: Callable[[Sequence[int]], None], numbers: Sequence[int]) -> None:
        """Run a deletion, after those that came before it."""
        await _run(self._deletions, partial(function, numbers))

    def submit(self, function: Callable[[], None]) -> None:
        """Compute something that nobody waits for."""
        self._heavy.submit(function)

    @property
    def stops(self) -> dict[str, Stop]:
        """What ends each pool, by its name."""
        pools = {"deletions": self._deletions, "heavy": self._heavy, "quick": self._quick}
        return {name: partial(pool.shutdown, cancel_futures=True) for name, pool in pools.items()}


async def _run(pool: Executor, function: Callable[[], R]) -> R:
    return await asyncio.get_running_loop().run_in_executor(pool, function)


def stop_all(stops: Mapping[str, Stop], seconds: float | None) -> list[str]:
    """Call functions that wait for threads, all at the same time; return those that have not returned in time."""
    threads = {name: threading.Thread(target=stop, daemon=True) for name, stop in stops.items()}
    for thread in threads.values():
        thread.start()
    deadline = None if seconds is None else time.monotonic() + seconds
    for thread in threads.values():
        thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
    return [name for name, thread in threads.items() if thread.is_alive()]
