"""Group commit: requests that wait at the same time share one transaction."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

from fldp.collector.storage.protocol import StoreError, SubmissionResult


class Sizeable(Protocol):
    """What takes some bytes in memory."""

    @property
    def size(self) -> int:
        """How many."""


S = TypeVar("S", bound=Sizeable)
Commit = Callable[[Sequence[S]], list[SubmissionResult]]
Waiting = tuple[S, "asyncio.Future[SubmissionResult]"]

MAX_TOGETHER, MAX_BYTES = 1024, 1 << 26


class BusyError(StoreError):
    """Too much waits to be written already."""


class GroupCommitter(Generic[S]):
    """Takes all submissions that wait, commits them in one transaction on a thread of its own, then answers them.

    While one commit runs, the next one gathers: so the event loop answers some and reads others while the disk works.
    If a commit fails, all of its submissions fail and nothing of them is counted. At most ``most_waiting`` wait. Only
    the event loop touches it.

    >>> import fldp
    >>> from fldp.collector.storage.protocol import Admitted, Submission
    >>> async def count() -> int:
    ...     admit = lambda batch: [SubmissionResult(Admitted.ACCEPTED, each.n) for each in batch]
    ...     writer = GroupCommitter(admit, most_waiting=10)
    ...     outcome = await writer.write(Submission(1, b"key", b"body", fldp.RR(epsilon=1.0).privatize([1, 0])))
    ...     writer.stop()
    ...     return outcome.accepted
    >>> asyncio.run(count())
    2
    """

    def __init__(self, commit: Commit[S], *, most_waiting: int) -> None:
        self._commit, self._most = commit, most_waiting
        self._queue: deque[Waiting[S]] = deque()
        self._thread = ThreadPoolExecutor(1, "fldp-writer")
        self._running: asyncio.Task[None] | None = None
        self.alive = True

    def __len__(self) -> int:
        return len(self._queue)

    async def write(self, submission: S) -> SubmissionResult:
        """Have a submission committed; it is on the disk when this returns.

        Whoever stops waiting does not take it back: it may be counted all the same.
        """
        return await self.put(submission)

    def put(self, submission: S) -> "asyncio.Future[SubmissionResult]":
        """Begin to write a submission; return what will have its result."""
        if not self.alive or len(self._queue) >= self._most:
            raise BusyError("collector: too much waits to be written, try again")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[SubmissionResult] = loop.create_future()
        self._queue.append((submission, future))
        if self._running is None:
            self._running = loop.create_task(self._run())
        return future

    def stop(self) -> None:
        """End after the commit that is being done."""
        self.alive = False
        self._thread.shutdown()

    async def _run(self) -> None:
        try:
            while self._queue:
                await self._write(self._next())
        finally:
            self._running = None

    def _next(self) -> list[Waiting[S]]:
        taken: list[Waiting[S]] = []
        size = 0
        while self._queue and len(taken) < MAX_TOGETHER and size < MAX_BYTES:
            taken.append(self._queue.popleft())
            size += taken[-1][0].size
        return taken

    async def _write(self, batch: list[Waiting[S]]) -> None:
        """Commit and answer. Whatever fails, every waiter gets a result or an error, and the next batch is served."""
        submissions = [submission for submission, _ in batch]
        try:
            outcomes = await asyncio.get_running_loop().run_in_executor(self._thread, self._commit, submissions)
            for (_, future), outcome in zip(batch, outcomes, strict=True):
                if not future.done():  # else nobody waits for it any more
                    future.set_result(outcome)
        except asyncio.CancelledError:
            _fail(batch, BusyError("collector: the writer has ended"))
            raise
        except BaseException as error:
            _fail(batch, error if isinstance(error, Exception) else StoreError(f"collector: {type(error).__name__}"))


def _fail(batch: list[Waiting[S]], error: Exception) -> None:
    for _, future in batch:
        if not future.done():
            future.set_exception(error)
