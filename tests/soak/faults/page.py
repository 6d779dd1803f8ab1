"""Page: a few bytes that a collector and its watcher share; they outlive the collector however it ends."""

import mmap
from pathlib import Path

COMMIT, FOLD, ANSWER, STAGE, LINGER, DELETE, LAKE = range(7)
HOLD_COMMIT, HOLD_FOLD, HOLD_TICKETS = 8, 10, 12  # 1 if such a step is to be held before it is done
HELD = 1  # added to one of these: 1 while a step is held
LAKE_ROUNDS = 14  # how often the lake was gone through, modulo 256
_SURVEY = slice(16, 20)
STARTING, OPENING, SERVING = range(3)  # stages: imports; the store is opened and migrated; requests are answered
SIZE = 32
_PHASES = ((COMMIT, "commit"), (FOLD, "fold"), (ANSWER, "answer"), (DELETE, "delete"), (LAKE, "lake"))


class Page:
    """``page[COMMIT]`` and ``page[FOLD]`` are 1 within such a transaction, ``page[STAGE]`` is how far the start got.

    If its watcher sets ``page[HOLD_FOLD]``, a fold of the survey ``page.survey`` (0: of any) that was worked out waits
    before it is done, until that is cleared; so do the others. If it sets ``page[LINGER]``, the collector waits after
    every commit before it answers: ``page[ANSWER]``.
    """

    def __init__(self, path):
        path = Path(path)
        if not path.exists():
            path.write_bytes(bytes(SIZE))
        with path.open("r+b") as file:
            self._bytes = mmap.mmap(file.fileno(), SIZE)

    def __getitem__(self, place):
        return self._bytes[place]

    def __setitem__(self, place, value):
        self._bytes[place] = value

    @property
    def survey(self):
        return int.from_bytes(self._bytes[_SURVEY], "little")

    @survey.setter
    def survey(self, number):
        self._bytes[_SURVEY] = number.to_bytes(4, "little")

    def clear(self):
        self._bytes[:] = bytes(SIZE)

    @property
    def phases(self):
        """What was going on, in words."""
        if self[STAGE] != SERVING:
            return ["opening" if self[STAGE] == OPENING else "starting"]
        return [name for place, name in _PHASES if self[place]] or ["between"]
