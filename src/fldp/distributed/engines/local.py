"""The local engine: all cores, as threads. Decoding, checking and counting do not hold the interpreter's lock."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add

from fldp.distributed.lake.layout import Piece
from fldp.distributed.lake.partial_tally import Part
from fldp.distributed.lake.scan import Job, Sum

Progress = Callable[[int], None]


def run(pieces: Sequence[Piece], job: Job, progress: Progress, *, workers: int | None = None) -> Part:
    """Tally pieces: each thread takes the next one and adds it to a state of its own, the states are added up."""
    count = min(workers or cores(), len(pieces))
    queue = _Queue(pieces)
    with ThreadPoolExecutor(count, thread_name_prefix="fldp-tally") as pool:
        try:
            parts = list(pool.map(lambda _: _drained(queue, job, progress), range(count)))
        finally:
            queue.stop()  # after an interruption, the others end with their piece
    return reduce(add, parts)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _drained(queue: "_Queue", job: Job, progress: Progress) -> Part:
    total = Sum(job)
    try:
        for piece in queue:
            if not total.add(piece):
                queue.stop()
            progress(piece.bytes)
    except BaseException:
        queue.stop()
        raise
    return total.part


class _Queue:
    """Hands each piece to one thread, until somebody says stop."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces, self._lock, self._stopped = iter(pieces), threading.Lock(), False

    def stop(self) -> None:
        self._stopped = True

    def __iter__(self) -> Iterator[Piece]:
        while not self._stopped:
            with self._lock:
                piece = next(self._pieces, None)
            if piece is None:
                return
            yield piece
