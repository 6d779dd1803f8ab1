"""Where a participant keeps its answers: in memory, in a file (``fldp.participant_file``), or where the caller likes.

A store has one method. ``exclusive()`` is a block in which nobody else, in no other thread or process, can read or
change anything. What was added in it is durable when the block ends, and gone if it ends with an exception.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NoReturn, Protocol, runtime_checkable

from fldp.errors import FldpError
from fldp.privacy.ledger import Charge, Ledger


class Book(Protocol):
    """A ledger and its answers, while nobody else can change them."""

    @property
    def ledger(self) -> Ledger:
        """All answers, in their order."""

    def find(self, origin: str, version: str) -> bytes | None:
        """Return what was kept of the answer to a version of a survey, or None."""

    def add(self, charge: Charge, kept: bytes) -> None:
        """Keep an answer; there is none yet to that origin and version."""

    def replace(self, charge: Charge, kept: bytes) -> None:
        """Keep something else of an answer that is there already; it costs nothing."""


@runtime_checkable
class Store(Protocol):
    """Where answers are kept."""

    def exclusive(self) -> AbstractContextManager[Book]:
        """Return a block that nobody else interferes with; durable at its end, or undone by an exception."""


class MemoryStore:
    """Answers that are forgotten with the process: for tests, and for callers that keep them elsewhere.

    >>> with MemoryStore().exclusive() as book:
    ...     book.ledger, book.find("https://a.example", "0" * 64)
    (Ledger(charges=()), None)
    """

    def __init__(self) -> None:
        self._lock, self._process = threading.Lock(), os.getpid()
        self._ledger, self._kept = Ledger(), dict[tuple[str, str], bytes]()

    @contextmanager
    def exclusive(self) -> "Iterator[_Page]":
        """Let one thread at a time in; a forked process would answer a second time and is refused."""
        if os.getpid() != self._process:
            raise FldpError("MemoryStore: a store in memory cannot be shared with another process; use a file")
        with self._lock:
            page = _Page(self._ledger, dict(self._kept))
            yield page
            self._ledger, self._kept = page.ledger, page.kept

    def __reduce__(self) -> NoReturn:
        raise FldpError("MemoryStore: a store in memory cannot be copied, since both copies would answer; use a file")


class _Page:
    """A copy of a store in memory, to be kept or thrown away."""

    def __init__(self, ledger: Ledger, kept: dict[tuple[str, str], bytes]) -> None:
        self.ledger, self.kept = ledger, kept

    def find(self, origin: str, version: str) -> bytes | None:
        return self.kept.get((origin, version))

    def add(self, charge: Charge, kept: bytes) -> None:
        self.ledger = Ledger((*self.ledger.charges, charge))
        self.replace(charge, kept)

    def replace(self, charge: Charge, kept: bytes) -> None:
        self.kept[charge.origin, charge.version] = kept
