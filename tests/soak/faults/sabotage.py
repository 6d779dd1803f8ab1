"""Collectors that are wrong on purpose. Whoever judges collectors must find every one of them wrong."""

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

from fldp import Tally
from fldp.collector.service import lake_writer
from fldp.collector.storage.admission import stored_sum
from fldp.collector.storage.protocol import Admitted, SubmissionResult
from fldp.collector.storage.sqlite.snapshot import SqliteSnapshot


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
        return [SubmissionResult(Admitted.ACCEPTED, new.n) for new in submissions]

    def _later(self, submissions, day):
        time.sleep(30)  # longer than it takes to kill it, on any machine
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
        return [SubmissionResult(Admitted.REPEATED, int(self._known[one.key.hex()])) for one in submissions]


class TakesTwice(Sabotage):
    """Takes what is withdrawn out of the tally twice when it folds."""

    def fold(self, step):
        return self._store.fold(step if step.lost is None else replace(step, lost=step.lost + step.lost))


class FoldsTwice(Sabotage):
    """Adds every report to the tally twice when it folds."""

    def fold(self, step):
        return self._store.fold(replace(step, gained=step.gained + step.gained))


class FoldsInTwoSteps(Sabotage):
    """Takes reports away in one transaction and adds them to the tally in the next one."""

    def fold(self, step):
        nothing = Tally.empty(step.gained.oracle)
        done = self._store.fold(replace(step, added=(), gained=nothing))
        time.sleep(0.5)
        return done and self._store.fold(replace(step, removed=()))


class SwapsReports(Sabotage):
    """Counts the right number of reports, and not the right ones: of two that come together it keeps one twice."""

    def commit(self, submissions, day):
        mixed = [one if one.tallied else replace(one, content=_doubled(one.content)) for one in submissions]
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


class LeavesSegments(Sabotage):
    """Deletes a survey and forgets its reports."""

    def delete_surveys(self, numbers):
        with self._store._writing() as connection:
            for table, column in (("surveys", "number"), ("tallies", "survey"), ("keys", "survey")):
                connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(number,) for number in numbers])


class FoldsTheDeleted(Sabotage):
    """Does a step of folding whatever became of its survey meanwhile."""

    def fold(self, step):
        done = self._store.fold(step)
        if not done:
            with self._store._writing() as connection:
                values = (step.survey, step.day, *stored_sum(None, step.gained))
                connection.execute("INSERT OR REPLACE INTO tallies VALUES (?, ?, ?, ?, ?)", values)
        return done


class MergesTwice(Sabotage):
    """Counts a tally of another collector twice."""

    def commit(self, submissions, day):
        merges = [new for new in submissions if new.merged]
        outcomes = self._store.commit(submissions, day)
        self._store.commit([replace(new, key=_again(new.key)) for new in merges], day)
        return outcomes


def _again(key):
    return bytes(reversed(key))


class InheritsKeys(Sabotage):
    """A survey that is published again knows the keys of its life before."""

    def __init__(self, store):
        super().__init__(store)
        self._keys, self._kept = {}, {}  # by the number of a survey, and by the version of one that was deleted

    def delete_surveys(self, numbers):
        for number in numbers:
            self._kept.setdefault(self._version(number), {}).update(self._keys.pop(number, {}))
        self._store.delete_surveys(numbers)

    def _version(self, number):
        entry = self._store.find_number(number)
        return entry and entry.version

    def commit(self, submissions, day):
        known = [self._kept.get(self._version(new.survey), {}).get(new.key) for new in submissions]
        new = [one for one, answer in zip(submissions, known, strict=True) if answer is None]
        outcomes = iter(self._store.commit(new, day))
        for one in new:
            self._keys.setdefault(one.survey, {})[one.key] = one.n
        return [next(outcomes) if answer is None else SubmissionResult(Admitted.REPEATED, answer) for answer in known]


class ForgetsKeysWhenClosed(Sabotage):
    """Refuses a key that it has acknowledged, once the survey is closed."""

    def commit(self, submissions, day):
        outcomes = self._store.commit(submissions, day)
        pairs = zip(submissions, outcomes, strict=True)
        return [_closed(one) if self._is_closed(new) else one for new, one in pairs]

    def _is_closed(self, new):
        entry = self._store.find_number(new.survey)
        return entry is not None and entry.closed is not None and new.merged is None


def _closed(outcome):
    return SubmissionResult(Admitted.CLOSED) if outcome.verdict is Admitted.REPEATED else outcome


class TakesAfterClosing(Sabotage):
    """Takes reports of a survey that was closed."""

    def close_surveys(self, numbers, now):
        pass


class StaysClosed(Sabotage):
    """Does not reopen a survey, and says that it has."""

    def reopen_survey(self, number):
        pass


class SpendsNoTickets(Sabotage):
    """Takes any number of reports with one ticket."""

    def commit(self, submissions, day):
        return self._store.commit([replace(new, ticket=None) for new in submissions], day)


class LosesFromLake(Sabotage):
    """Leaves a report out of every file that it writes to the lake."""

    def __init__(self, store):
        super().__init__(store)
        kept = lake_writer.kept_reports
        lake_writer.kept_reports = lambda *arguments: (part[1:] for part in kept(*arguments))


def restore_loses_keys():
    """Restore other keys than those of the backup: as many, with the same answers, and known to nobody."""
    rows = SqliteSnapshot.rows

    def changed(snapshot, table):
        for row in rows(snapshot, table):
            yield (row[0], os.urandom(32), *row[2:]) if table == "keys" else row

    SqliteSnapshot.rows = changed


RESTORES = {"restores without keys": restore_loses_keys}

KINDS = {
    "acknowledges first": AcknowledgesFirst,
    "forgets keys": ForgetsKeys,
    "commits keys apart": CommitsKeysApart,
    "does not flush": DoesNotFlush,
    "does not sync": DoesNotSync,
    "folds the deleted": FoldsTheDeleted,
    "folds in two steps": FoldsInTwoSteps,
    "folds twice": FoldsTwice,
    "takes twice": TakesTwice,
    "forgets keys when closed": ForgetsKeysWhenClosed,
    "inherits keys": InheritsKeys,
    "leaves segments": LeavesSegments,
    "loses from the lake": LosesFromLake,
    "merges twice": MergesTwice,
    "restores without keys": Sabotage,
    "spends no tickets": SpendsNoTickets,
    "stays closed": StaysClosed,
    "swaps reports": SwapsReports,
    "takes after closing": TakesAfterClosing,
}
