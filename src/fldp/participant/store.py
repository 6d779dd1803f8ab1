"""Where a participant keeps its answers: in memory, in a file (``fldp.participant.sqlite_store``), or elsewhere.

A store has one method. ``exclusive()`` is a block in which nobody else, in no other thread or process, can read or
change anything. What was added in it is durable when the block ends, and gone if it ends with an exception.

A book that is also a ``RefusalBook`` counts refused surveys by origin. One that is not works, and counts none. A book
that is also a ``ChanceBook`` can answer surveys that ask only the questions that chance has chosen, and one that is
also a ``PassBook`` surveys that take passes. A book that is also a ``NoteBook`` remembers what a client may forget: the
keys that a relay handed out, and when an answer that waits is due.

A book that is also an ``EpochBook`` keeps an answer for each week or month. With one that is not, surveys that are
repeated by those are refused. Where answers are charged by the month, its ledger says when it began (``Ledger.born``).
"""

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import NoReturn, Protocol, runtime_checkable

from fldp.errors import BudgetError, FldpError
from fldp.participant import epochs
from fldp.participant.ledger import Charge, Ledger, Refusals


class Book(Protocol):
    """A ledger and its answers, while nobody else can change them."""

    @property
    def ledger(self) -> Ledger:
        """All answers, in their order."""

    def find(self, origin: str, version: str) -> bytes | None:
        """Return the stored answer to a version of a survey, or None."""

    def add(self, charge: Charge, kept: bytes) -> None:
        """Store an answer; there is none yet to that origin and version."""

    def replace(self, charge: Charge, kept: bytes) -> None:
        """Store other bytes for an answer that already exists; it costs nothing."""


@runtime_checkable
class RefusalBook(Protocol):
    """What a book may add: how often surveys of an origin were refused."""

    @property
    def refusals(self) -> tuple[Refusals, ...]:
        """One entry for each origin, in the order of the first refusal."""

    def refuse(self, origin: str, day: str) -> None:
        """Count one more refusal of a survey of that origin, on that day."""


@runtime_checkable
class EpochBook(Protocol):
    """What a book may add: an answer for each epoch. Its ``add`` and ``replace`` go by ``charge.epoch``, too."""

    def find_epoch(self, origin: str, version: str, epoch: str) -> bytes | None:
        """Return the stored answer to a version of a survey in a week or a month, or None."""


@runtime_checkable
class ChanceBook(Protocol):
    """What a book may add: words that chose which questions of a survey are asked, drawn before anybody saw them."""

    def chance(self, origin: str, version: str) -> int | None:
        """Return the word of a version of a survey, or None."""

    def keep_chance(self, origin: str, version: str, word: int) -> None:
        """Store the word of a version of a survey; there is none yet. No answer is in it, and it costs nothing."""


@runtime_checkable
class PassBook(Protocol):
    """What a book may add: passes, and the secrets of those that are asked for."""

    def kept_pass(self, origin: str, version: str) -> str | None:
        """Return what is kept of the pass to a version of a survey, or None."""

    def keep_pass(self, origin: str, version: str, text: str) -> None:
        """Keep a text in place of the one before, if there was one. No answer is in it, and it costs nothing."""


@runtime_checkable
class NoteBook(Protocol):
    """What a book may add: short texts in ASCII of one line, by origin and what they are about."""

    def note(self, origin: str, about: str) -> str | None:
        """Return a text, or None."""

    def keep_note(self, origin: str, about: str, text: str) -> None:
        """Keep a text in place of the one before, if there was one. No answer is in it, and it costs nothing."""


@runtime_checkable
class Store(Protocol):
    """Where answers are kept."""

    def exclusive(self) -> AbstractContextManager[Book]:
        """Return a block that nobody else interferes with; durable at its end, or undone by an exception."""


def find_answer(book: Book, charge: Charge) -> bytes | None:
    """Return the stored answer of a charge, or None; a book that knows no epochs is of no use where there are some."""
    if not charge.epoch:
        return book.find(charge.origin, charge.version)
    if isinstance(book, EpochBook):
        return book.find_epoch(charge.origin, charge.version, charge.epoch)
    raise BudgetError(f"participant: survey {charge.name} is repeated, which this store cannot keep: give find_epoch()")


def count_refusal(store: Store, origin: str, day: str) -> None:
    """Count a refused survey if the store can. A failure to count is ignored: the refusal itself matters."""
    with suppress(FldpError), store.exclusive() as book:
        if isinstance(book, RefusalBook):
            book.refuse(origin, day)


class MemoryStore:
    """Answers that are forgotten with the process: for tests, and for callers that keep them elsewhere.

    ``born`` is the day on which the ledger began, today unless it is given.

    >>> with MemoryStore().exclusive() as book:
    ...     book.ledger, book.find("https://a.example", "0" * 64)
    (Ledger(charges=()), None)
    """

    def __init__(self, *, born: str | None = None) -> None:
        self._lock, self._process = threading.Lock(), os.getpid()
        day = epochs.today() if born is None else epochs.checked_day("MemoryStore", "born", born)
        self._ledger, self._kept = Ledger(born=day), dict[tuple[str, str, str], bytes]()
        self._refusals: tuple[Refusals, ...] = ()
        self._chances, self._texts = dict[tuple[str, str], int](), dict[tuple[str, str], str]()

    @contextmanager
    def exclusive(self) -> "Iterator[_Page]":
        """Admit one thread at a time; a forked process would answer a second time, and is refused."""
        if os.getpid() != self._process:
            raise FldpError("MemoryStore: a store in memory cannot be shared with another process; use a file")
        with self._lock:
            page = _Page(self._ledger, dict(self._kept), self._refusals, dict(self._chances), dict(self._texts))
            yield page
            self._ledger, self._kept, self._refusals = page.ledger, page.kept, page.refusals
            self._chances, self._texts = page.chances, page.texts

    def __reduce__(self) -> NoReturn:
        raise FldpError("MemoryStore: a store in memory cannot be copied, since both copies would answer; use a file")


class _Page:
    """A copy of a store in memory, to be kept or thrown away."""

    def __init__(
        self,
        ledger: Ledger,
        kept: dict[tuple[str, str, str], bytes],
        refusals: tuple[Refusals, ...],
        chances: dict[tuple[str, str], int],
        texts: dict[tuple[str, str], str],
    ) -> None:
        self.ledger, self.kept, self.refusals, self.chances, self.texts = ledger, kept, refusals, chances, texts

    def find(self, origin: str, version: str) -> bytes | None:
        return self.find_epoch(origin, version, "")

    def find_epoch(self, origin: str, version: str, epoch: str) -> bytes | None:
        return self.kept.get((origin, version, epoch))

    def add(self, charge: Charge, kept: bytes) -> None:
        self.ledger = Ledger((*self.ledger.charges, charge), self.ledger.born)
        self.replace(charge, kept)

    def replace(self, charge: Charge, kept: bytes) -> None:
        self.kept[charge.origin, charge.version, charge.epoch] = kept

    def chance(self, origin: str, version: str) -> int | None:
        return self.chances.get((origin, version))

    def keep_chance(self, origin: str, version: str, word: int) -> None:
        self.chances[origin, version] = word

    def kept_pass(self, origin: str, version: str) -> str | None:
        return self.note(origin, f"pass {version}")

    def keep_pass(self, origin: str, version: str, text: str) -> None:
        self.keep_note(origin, f"pass {version}", text)

    def note(self, origin: str, about: str) -> str | None:
        return self.texts.get((origin, about))

    def keep_note(self, origin: str, about: str, text: str) -> None:
        self.texts[origin, about] = text

    def refuse(self, origin: str, day: str) -> None:
        counts = {entry.origin: entry for entry in self.refusals}
        before = counts.get(origin, Refusals(origin, 0, day))
        counts[origin] = Refusals(origin, before.count + 1, day)
        self.refusals = tuple(counts.values())
