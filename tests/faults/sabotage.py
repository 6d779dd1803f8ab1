"""Collectors that are wrong on purpose. Whoever judges collectors must find every one of them wrong."""

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

from fldp import Tally
from fldp.collector.store import Outcome, Verdict


class Sabotage:
    """A store that does what another one does, except for what is overridden."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)


class AcknowledgesFirst(Sabotage):
    """Answers, and commits a moment later. Nothing is wrong until it is killed in between."""

    def commit(self, submissions, day):
        threading.Thread(target=self._later, args=(submissions, day), daemon=True).start()
        return [Outcome(Verdict.ACCEPTED, new.n) for new in submissions]

    def _later(self, submissions, day):
        time.sleep(1)
        self._store.commit(submissions, day)


class ForgetsKeys(Sabotage):
    """Keeps another key than the one that came: nothing is ever known to be a repetition."""

    def commit(self, submissions, day):
        return self._store.commit([replace(new, key=os.urandom(32)) for new in submissions], day)


class CommitsKeysApart(Sabotage):
    """Commits reports, and their keys a moment later: a kill in between counts twice what is sent again."""

    def __init__(self, store):
        super().__init__(store)
        self._file = Path(f"{store.path}.keys")
        self._known = dict(line.split() for line in self._file.read_text().splitlines()) if self._file.exists() else {}

    def commit(self, submissions, day):
        new = {one.key.hex(): one for one in submissions if one.key.hex() not in self._known}
        self._store.commit([replace(one, key=os.urandom(32)) for one in new.values()], day)
        time.sleep(0.02)
        self._known |= {key: one.n for key, one in new.items()}
        with self._file.open("a") as file:
            file.writelines(f"{key} {one.n}\n" for key, one in new.items())
        return [Outcome(Verdict.REPEATED, int(self._known[one.key.hex()])) for one in submissions]


class FoldsTwice(Sabotage):
    """Adds every report to the tally twice when it folds."""

    def fold(self, step):
        return self._store.fold(replace(step, gained=step.gained + step.gained))


class FoldsInTwoSteps(Sabotage):
    """Takes reports away in one transaction and adds them to the tally in the next one."""

    def fold(self, step):
        nothing = Tally.empty(step.gained.oracle)
        done = self._store.fold(replace(step, added=(), gained=nothing))
        time.sleep(0.05)
        return done and self._store.fold(replace(step, removed=()))


class SwapsReports(Sabotage):
    """Counts the right number of reports, and not the right ones: of two that come together it keeps one twice."""

    def commit(self, submissions, day):
        mixed = [replace(one, content=_doubled(one.content)) for one in submissions]
        return self._store.commit(mixed, day)


def _doubled(content):
    """Return as many reports, the last of which is the first."""
    rows = [*range(len(content) - 1), 0]
    return type(content).trusted(content.oracle, content.data[rows])


class DoesNotSync(Sabotage):
    """SQLite: commits without waiting for the disk. A kill does not show it; a power cut does, and a trace of calls."""

    def __init__(self, store):
        super().__init__(store)
        store._writer.execute("PRAGMA synchronous = NORMAL")


class DoesNotFlush(Sabotage):
    """PostgreSQL: the same. A crash of the database server shows it."""

    def __init__(self, store):
        super().__init__(store)
        configure = store._pool._configure

        def wrongly(connection):
            configure(connection)
            connection.execute("SET synchronous_commit TO off")

        store._pool._configure = wrongly
        store._pool.drain()


KINDS = {
    "acknowledges first": AcknowledgesFirst,
    "forgets keys": ForgetsKeys,
    "commits keys apart": CommitsKeysApart,
    "does not flush": DoesNotFlush,
    "does not sync": DoesNotSync,
    "folds in two steps": FoldsInTwoSteps,
    "folds twice": FoldsTwice,
    "swaps reports": SwapsReports,
}
