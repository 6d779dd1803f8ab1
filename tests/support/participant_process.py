"""A participant in a process of its own, which others race against and which dies when it is told to.

Run as ``python participant_process.py PATH WHAT``.
"""

import json
import os
import signal
import sys
from contextlib import contextmanager

from fldp import BudgetError, Participant
from fldp.participant.sqlite_store import FileStore
from fldp.participant.stored_answer import StoredAnswer
from support.participant_surveys import LABELS, ORIGIN, WIDE, specification


def say(**fields):
    print(json.dumps(fields), flush=True)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def race(path):
    """Answer the same version as all others, then one of one's own."""
    number = int(sys.argv[3])
    say(ready=True)
    sys.stdin.readline()
    participant = Participant(path)
    answer = participant.answer(specification(), LABELS[number % 5], origin=ORIGIN)
    say(report=answer.report.hex(), repeated=answer.repeated)
    sys.stdin.readline()
    try:
        participant.answer(specification(1 + number), LABELS[0], origin=ORIGIN)
        say(refused=None)
    except BudgetError as error:
        say(refused=str(error))


class DyingBook:
    """Passes everything on, and dies before or after an answer is added."""

    def __init__(self, book, step):
        self._book, self._step = book, step
        self.ledger, self.find = book.ledger, book.find

    def add(self, charge, kept):
        say(drawn=StoredAnswer.verified(kept).report.hex(), key=StoredAnswer.verified(kept).key)
        if self._step == "drawn":
            die()
        self._book.add(charge, kept)
        if self._step == "spilled":  # so much that SQLite writes to the file before the end, and keeps a journal
            self._book._connection.execute("PRAGMA cache_size = 2")
            for number in range(100):
                self._book._connection.execute(
                    "INSERT INTO answers"
                    " (origin, name, topic, version, epsilon, eta, labels, size, day, epoch, renews, kept)"
                    " VALUES ('o', 'n', 't', ?, '1', '1', 'f', 5, 'd', '', 0, randomblob(10000))",
                    (str(number),),
                )
        if self._step in ("added", "spilled"):
            die()


class DyingStore(FileStore):
    """Dies at a step of an answer."""

    step = None

    @contextmanager
    def exclusive(self):
        with super().exclusive() as book:
            yield DyingBook(book, self.step) if self.step else book
        if self.step == "committed":
            die()


def dying(path):
    """Answer once, and die on the way."""
    store = DyingStore(path)
    participant = Participant(store)
    store.step = sys.argv[3]
    say(sent=participant.answer(specification(), "firefox", origin=ORIGIN).report.hex())


def forever(path):
    """Answer ever more versions, until somebody ends it."""
    participant = Participant(path, limits=WIDE)
    for number in range(int(sys.argv[3]), 10**6):
        say(number=number, sent=participant.answer(specification(number), "firefox", origin=ORIGIN).report.hex())


if __name__ == "__main__":
    {"race": race, "dying": dying, "forever": forever}[sys.argv[2]](sys.argv[1])
