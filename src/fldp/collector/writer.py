"""Writer: requests that wait at the same time share one commit."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress

from fldp.collector.store import Outcome, StoreError, Submission

Commit = Callable[[Sequence[Submission]], list[Outcome]]
Waiting = tuple[Submission, "Future[Outcome]"]

MOST_TOGETHER, MOST_BYTES = 1024, 1 << 26


class BusyError(StoreError):
    """Too much waits to be written already."""


class Writer:
    """A thread that takes all submissions that wait, commits them in one transaction, and only then answers them.

    If the transaction fails, all of them fail and nothing is counted. At most ``most_waiting`` wait.

    >>> import fldp
    >>> from fldp.collector.store import Verdict
    >>> reports = fldp.RR(epsilon=1.0).privatize([1])
    >>> writer = Writer(lambda batch: [Outcome(Verdict.ACCEPTED, 1) for _ in batch], most_waiting=10)
    >>> future = writer.submit(Submission(1, b"key", b"body", reports))
    >>> future.result().accepted
    1
    >>> writer.stop()
    """

    def __init__(self, commit: Commit, *, most_waiting: int) -> None:
        self._commit, self._most = commit, most_waiting
        self._queue: deque[Waiting] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="fldp-writer", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def alive(self) -> bool:
        """Whether submissions are written."""
        return self._thread.is_alive()

    def submit(self, submission: Submission) -> "Future[Outcome]":
        """Queue a submission; its result is there after the commit."""
        future: Future[Outcome] = Future()
        with self._changed:
            if self._stopping or len(self._queue) >= self._most:
                raise BusyError("collector: too much waits to be written, try again")
            self._queue.append((submission, future))
            self._changed.notify()
        return future

    def stop(self) -> None:
        """Write what waits, then end."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            while batch := self._next():
                self._answer(batch)
        finally:  # only a mistake leaves something here; it must be told, and nothing more be taken
            with self._changed:
                self._stopping = True
                left = list(self._queue)
                self._queue.clear()
            _fail(left, BusyError("collector: the writer has ended"))

    def _answer(self, batch: list[Waiting]) -> None:
        try:
            live = [(submission, future) for submission, future in batch if future.set_running_or_notify_cancel()]
            if live:
                self._write(live)
        except BaseException as error:  # nobody may wait for ever, and the next must be served
            _fail(batch, error)

    def _next(self) -> list[Waiting]:
        """Wait for submissions and take them, or return nothing at the end."""
        with self._changed:
            while not self._queue and not self._stopping:
                self._changed.wait()
            taken: list[Waiting] = []
            size = 0
            while self._queue and len(taken) < MOST_TOGETHER and size < MOST_BYTES:
                taken.append(self._queue.popleft())
                size += taken[-1][0].size
            return taken

    def _write(self, batch: list[Waiting]) -> None:
        outcomes = self._commit([submission for submission, _ in batch])
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            future.set_result(outcome)


def _fail(batch: list[Waiting], error: BaseException) -> None:
    for _, future in batch:
        with suppress(InvalidStateError):  # it was answered before, or nobody waits for it
            future.set_exception(error)
