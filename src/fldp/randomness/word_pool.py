"""Single random words: a small pool for each thread, filled by the operating system, in plain Python.

A ``Stream`` is made for batches: its key, its cipher and its array cost more than one report does. Here a thread takes
words one at a time from a pool of 56. The pool is what one call of ``os.urandom`` returns: the kernel's ChaCha20 erases
its key after every call, so whoever reads this process's memory learns no words of earlier pools.

- A word is handed out once. A thread has a pool of its own, and which word is next is decided by a single step of an
  iterator, so a signal handler that draws between two steps of ours gets another word.
- A used word is overwritten with 0 in the pool. Python cannot overwrite its temporary numbers; it reuses their memory.
- After a fork the child starts with an empty pool.
"""

import os
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

_BYTES = 448  # with its header below 512 bytes, so the allocator gives the next copy the memory of the last one


class _Pools(threading.local):
    """For each thread the places that are left in its pool, and the pool."""

    current: tuple[Iterator[int], memoryview] = iter(()), memoryview(b"")


_pools = _Pools()


def _forget() -> None:
    """Drop all pools: the parent has the same words."""
    global _pools
    _pools = _Pools()


if hasattr(os, "register_at_fork"):  # where processes fork
    os.register_at_fork(after_in_child=_forget)


def word() -> int:
    """Return a random number below ``2^64``.

    >>> 0 <= word() < 2**64
    True
    """
    while True:
        places, words = _pools.current  # one read of both: a pool that was renewed meanwhile has places of its own
        for place in places:
            drawn: int = words[place]
            words[place] = 0
            return drawn
        _renew()


def _renew() -> None:
    words = memoryview(bytearray(os.urandom(_BYTES))).cast("Q")
    _pools.current = iter(range(len(words))), words


class WordSource(NamedTuple):
    """Where one report takes its randomness: ``word()`` is a number below ``2^64``, ``raw(n)`` are ``n`` bytes."""

    word: Callable[[], int]
    raw: Callable[[int], bytes]


SECURE = WordSource(word, os.urandom)
