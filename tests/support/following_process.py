"""A participant that answers a survey which follows a value, and dies on the way.

Run as ``python following_process.py PATH STEP``.
"""

import json
import os
import signal
import sys
from contextlib import contextmanager

from fldp import Participant
from fldp.participant.past_answers import newest
from fldp.participant.sqlite_store import FileStore
from fldp.participant.stored_answer import StoredDailyAnswer
from support.participant_surveys import ORIGIN, specification

FIELDS = specification(oracle={"name": "lwr", "epsilon": 0.5, "epsilon_permanent": 1.0}, collect={"repeat": "daily"})


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class DyingBook:
    """Passes everything on, and dies before or after an answer is added or replaced."""

    def __init__(self, book, step):
        self._book, self._step = book, step
        self.ledger, self.find = book.ledger, book.find

    def add(self, charge, kept):
        self._write(self._book.add, "added", charge, kept)

    def replace(self, charge, kept):
        self._write(self._book.replace, "replaced", charge, kept)

    def _write(self, write, step, charge, kept):
        drawn = StoredDailyAnswer.verified(newest(kept))
        print(json.dumps({"kept": drawn.permanent.hex(), "key": drawn.last.key}), flush=True)
        if self._step == "drawn":
            die()
        write(charge, kept)
        if self._step == step:
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


if __name__ == "__main__":
    store = DyingStore(sys.argv[1])
    participant = Participant(store)
    store.step = sys.argv[2]
    participant.answer(FIELDS, "firefox", origin=ORIGIN)
