"""Fork safety: a process forks only while none of its threads has a file open.

SQLite's locks are copied into a forked process together with whoever held them, who is not there any more: a child that
opens a file would wait for ever. So the threads of telemetry open files one at a time, and a fork waits for them.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE = 0.5  # seconds that a fork waits; after that the child does without telemetry


class _Files:
    lock, forking = threading.RLock(), threading.local()


@contextmanager
def open_files(patience: float) -> Iterator[None]:
    """Open files in this block, while no other thread of this process does or forks it."""
    lock = _Files.lock
    if not lock.acquire(timeout=patience):
        raise TimeoutError("telemetry: another thread has its files open")
    try:
        yield
    finally:
        lock.release()


def before_fork() -> None:
    """Wait until no file is open."""
    _Files.forking.safe = _Files.lock.acquire(timeout=_PATIENCE)


def after_fork() -> None:
    """Let threads open files again."""
    if _Files.forking.safe:
        _Files.lock.release()


def in_child() -> bool:
    """Begin anew in a forked process; return whether no file was open, so that this process may open some."""
    _Files.lock = threading.RLock()
    return bool(_Files.forking.safe)
