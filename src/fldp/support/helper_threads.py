"""Helper threads stay and wait for the next call: to wake one takes half as long as to start one.

They are for work that is shared with the caller and over in less than a millisecond.
"""

import os
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from queue import SimpleQueue

Work = Callable[[], object]


class _Helpers:
    """The calls that helpers wait for, and how many helpers there are."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[Work] = SimpleQueue()
        self.started = 0
        self.starting = allocate_lock()

    def have(self, threads: int) -> int:
        """Start helpers until there are so many, or no more can start; return how many of them there are."""
        with self.starting:
            while self.started < threads:
                try:
                    start_new_thread(_serve, (self.calls,))
                except RuntimeError:  # the system has no more threads for this process
                    break
                self.started += 1
            return min(self.started, threads)


_helpers = _Helpers()


def _forget() -> None:
    """Begin without helpers: the threads of the parent do not exist here."""
    global _helpers
    _helpers = _Helpers()


if hasattr(os, "register_at_fork"):  # where processes fork
    os.register_at_fork(after_in_child=_forget)


def _serve(calls: SimpleQueue[Work]) -> None:
    while True:
        calls.get()()  # no name holds the work, and the arrays that it holds, until the next call


def call_in_helpers(work: Work, threads: int) -> None:
    """Have so many helper threads call ``work``, without waiting for them; it must not raise.

    Helpers that are busy, or that the system does not start, call it late or never.

    >>> done = SimpleQueue()
    >>> call_in_helpers(lambda: done.put("by a helper"), 1)
    >>> done.get()
    'by a helper'
    """
    helpers = _helpers
    for _ in range(helpers.have(threads)):
        helpers.calls.put(work)
