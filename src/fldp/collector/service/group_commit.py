"""Group commit: requests that wait at the same time share one transaction."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
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
    The thread takes what has gathered by itself, so no commit waits for the event loop, and hands over all answers of a
    commit at once. If a commit fails, all of its submissions fail and nothing of them is counted. At most
    ``most_waiting`` wait. One event loop at a time puts submissions.

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
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.alive = True
        self._thread = threading.Thread(target=self._run, name="fldp-writer", daemon=True)
        self._thread.start()

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
            raise BusyError("collector: too many reports are waiting to be written, try again")
        loop = self._loop
        if loop is None or loop.is_closed():  # asking which one runs takes a system call in Python 3.11
            loop = self._loop = asyncio.get_running_loop()
        future: asyncio.Future[SubmissionResult] = loop.create_future()
        self._queue.append((submission, future))
        if len(self._queue) == 1:
            loop.call_soon(self._wake.put, None)  # not before all that has come with it is here, too
        return future

    def stop(self) -> None:
        """End after the commit that is being done; whoever still waits is told."""
        self.alive = False
        self._wake.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while self.alive:
                self._wake.get()
                while self._queue and self.alive:
                    self._write(self._next())
        finally:
            self.alive = False
            _answer(list(self._queue), BusyError("collector: the writer has ended"))
            self._queue.clear()

    def _next(self) -> list[Waiting[S]]:
        taken: list[Waiting[S]] = []
        size = 0
        while self._queue and len(taken) < MAX_TOGETHER and size < MAX_BYTES:
            taken.append(self._queue.popleft())
            size += taken[-1][0].size
        return taken

    def _write(self, batch: list[Waiting[S]]) -> None:
        """Commit and answer. Whatever fails, every waiter gets a result or an error, and the next batch is served."""
        try:
            _answer(batch, self._commit([submission for submission, _ in batch]))
        except Exception as error:
            _answer(batch, error)
        except BaseException as error:
            _answer(batch, StoreError(f"collector: {type(error).__name__}"))


def _answer(batch: list[Waiting[S]], outcomes: list[SubmissionResult] | Exception) -> None:
    """Let the newest request's event loop answer the whole batch. Nobody waits on a loop that has ended."""
    if batch:
        with suppress(RuntimeError):
            batch[-1][1].get_loop().call_soon_threadsafe(_settle, batch, outcomes)


def _settle(batch: list[Waiting[S]], outcomes: list[SubmissionResult] | Exception) -> None:
    if isinstance(outcomes, Exception):
        _fail(batch, outcomes)
        return
    for (_, future), outcome in zip(batch, outcomes, strict=False):
        if not future.done():  # else nobody waits for it any more
            future.set_result(outcome)
    if len(outcomes) != len(batch):
        _fail(batch, ValueError(f"collector: {len(batch)} submissions have {len(outcomes)} results"))


def _fail(batch: list[Waiting[S]], error: Exception) -> None:
    for _, future in batch:
        if not future.done():
            future.set_exception(error)
