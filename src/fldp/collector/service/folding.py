"""Compaction: folds the tail of reports into the tallies of their days, in steps of bounded size."""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from fldp.collector.storage.protocol import REPORTS, TAKEN_REPORTS, TALLY, CollectorStore, Fold, Segment
from fldp.collector.storage.segments import (
    MAX_BYTES,
    balance,
    batches,
    in_order,
    not_there,
    packed,
    reports_of,
    split,
    state_bytes,
    taken_reports,
    tally_segment,
    total,
    total_and_reports,
)
from fldp.data.reports import Reports, Tally
from fldp.errors import DomainError, FldpError
from fldp.oracles.base.oracle import Oracle
from fldp.survey.survey import Survey

STEP_BYTES = 4 * MAX_BYTES
MAX_ROWS = 16  # that a step takes reports out of: it holds them in memory, and writes them anew
Find = Callable[[int], Survey | None]

log = logging.getLogger("fldp.collector")


def fold_day(store: CollectorStore, number: int, day: str, survey: Survey) -> int:
    """Fold the tail of a survey and day; return the number of reports folded.

    What comes meanwhile is left to the next round: under load there is always more, and every step has a commit of its
    own. Only where reports are to be taken out, all must be folded before.
    """
    folded = 0
    while step := next_step(store, number, day, survey):
        if not store.fold(step):
            break
        folded += step.gained.n
        if step.is_whole and not _takes(store, number, day):
            break
    return folded


def _takes(store: CollectorStore, number: int, day: str) -> bool:
    """Whether something of a day waits to be taken out."""
    with store.snapshot() as snapshot:
        return any(part.takes for part in snapshot.segments(number, (day, day), folded=False))


def next_step(store: CollectorStore, number: int, day: str, survey: Survey) -> Fold | None:
    """Work out the next step for a survey and day, None if nothing waits. What adds comes before what takes out."""
    most_bytes = max(STEP_BYTES, state_bytes(survey.oracle))  # which every step rewrites
    tail = store.tail(number, day, most_bytes)
    if not tail:
        return taking_step(store, number, day, survey)
    is_whole = sum(len(part.data) for part in tail) < most_bytes
    return replace(fold_step(store, number, day, survey, tail), is_whole=is_whole)


def fold_step(store: CollectorStore, number: int, day: str, survey: Survey, tail: list[Segment]) -> Fold:
    """Work out one step. Nothing is changed yet, so this needs no lock."""
    rows = tuple(part.id for part in tail)
    if survey.collect["retention"] == "tally":
        return Fold(number, day, rows, (), total(survey.oracle, tail))
    fitting = _fitting(store, number, day, tail)
    gained, reports = total_and_reports(survey.oracle, tail)
    added = _merged(survey.oracle, tail, reports, fitting)
    return Fold(number, day, (*rows, *(part.id for part in fitting)), added, gained)


def _fitting(store: CollectorStore, number: int, day: str, tail: list[Segment]) -> list[Segment]:
    """Return the folded segments that the tail is merged into: a part-filled one, and the merged tally."""
    kinds = {part.kind for part in tail}
    segments = [part for part in store.room(number, day, MAX_BYTES // 2) if part.kind in kinds]
    reports = [part for part in segments if part.kind == REPORTS][:8]
    return [*reports, *(part for part in segments if part.kind == TALLY)]


def _merged(oracle: Oracle, tail: list[Segment], reports: list[Reports], fitting: list[Segment]) -> tuple[Segment, ...]:
    """Return all reports in one order, and all merged tallies in one."""
    tallies = [part for part in (*tail, *fitting) if part.kind == TALLY]
    rows = packed([*reports, *batches(oracle, fitting)])
    return (*rows, tally_segment(total(oracle, tallies))) if tallies else tuple(rows)


def taking_step(store: CollectorStore, number: int, day: str, survey: Survey) -> Fold | None:
    """Work out a step that takes out what was withdrawn, from one snapshot; None if nothing of the day was.

    What adds must be folded before: what is taken may be among it. A withdrawal is never stored before what it takes,
    so where nothing that adds waits beside it, that is folded.
    """
    days = day, day
    with store.snapshot() as snapshot:
        tail = _at_most(snapshot.segments(number, days, folded=False), STEP_BYTES)
        if not tail or not tail[0].takes:  # they are in the order of their kinds
            return None
        tail = [part for part in tail if part.kind == tail[0].kind]
        if survey.collect["retention"] == "tally":
            return _taking(number, tail, (), balance(survey.oracle, tail)[1])
        taking = _out_of_reports if tail[0].kind == TAKEN_REPORTS else _out_of_tally
        return taking(survey.oracle, number, tail, snapshot.segments(number, days, folded=True))


def _at_most(segments: Iterable[Segment], most_bytes: int) -> list[Segment]:
    taken, size = list[Segment](), 0
    for part in segments:
        taken.append(part)
        size += len(part.data)
        if size >= most_bytes:
            break
    return taken


def _taking(
    number: int, removed: list[Segment], added: Sequence[Segment], lost: Tally, left: Sequence[Segment] = ()
) -> Fold:
    rows = tuple(part.id for part in removed)
    return Fold(number, removed[0].day, rows, tuple(added), Tally.empty(lost.oracle), lost, tuple(left))


def _out_of_reports(oracle: Oracle, number: int, tail: list[Segment], folded: Iterable[Segment]) -> Fold:
    """Take reports out of the rows that have them, as many rows as one step may rewrite; the rest stays in the tail."""
    wanted = missing = taken_reports(oracle, tail)
    removed, added = list(tail), list[Segment]()
    for part in folded:
        if part.kind != REPORTS or not len(missing) or len(removed) - len(tail) >= MAX_ROWS:
            break
        rest, still = split(in_order(reports_of(oracle, part)), missing)
        if len(still) < len(missing):
            removed.append(part)
            added += packed([rest])
            missing = still
    if len(removed) == len(tail):
        raise not_there(len(missing), tail[0].day)
    lost = oracle.tally(split(wanted, missing)[0])
    return _taking(number, removed, added, lost, packed([missing], TAKEN_REPORTS))


def _out_of_tally(oracle: Oracle, number: int, tail: list[Segment], folded: Iterable[Segment]) -> Fold:
    """Take merged tallies out of the one of the day."""
    merged = [part for part in folded if part.kind == TALLY]
    lost = balance(oracle, tail)[1]
    try:
        rest = total(oracle, merged) - lost
    except DomainError:
        raise not_there(lost.n, tail[0].day) from None
    return _taking(number, [*tail, *merged], [tally_segment(rest)] if rest.n else [], lost)


class Folder:
    """A thread that folds, ``pause`` seconds between two rounds, and completes deletions that were cut short.

    ``then`` is what else is done in each round, by one collector at a time.
    """

    def __init__(
        self, store: CollectorStore, find: Find, pause: float, then: Callable[[], None] = lambda: None
    ) -> None:
        self._store, self._find, self._pause, self._then = store, find, pause, then
        self._stop = threading.Event()
        self.folded = self.failures = 0
        self._thread = threading.Thread(target=self._run, name="fldp-folder", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End after the step that is being done."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        purged = False
        while True:
            try:
                if not purged or self._store.deletions():  # at the start also what no deletion is known of
                    self._store.purge()
                    purged = True
                with self._store.folding() as is_ours:
                    if is_ours:
                        self.round()
            except Exception as error:
                self._failed(error)
            if self._stop.wait(self._pause):
                return

    def round(self) -> None:
        """Fold every survey and day that has something to fold, and leave no trace of how it came."""
        self._fold_all()
        self._then()
        self._store.scrub()

    def _fold_all(self) -> None:
        for number, day, _ in self._store.pending():
            if self._stop.is_set():
                return
            try:
                self._fold(number, day)
            except Exception as error:  # one damaged day must not keep the others waiting
                self._failed(error)

    def _fold(self, number: int, day: str) -> None:
        survey = self._find(number)
        if survey is not None:
            self.folded += fold_day(self._store, number, day, survey)

    def _failed(self, error: Exception) -> None:
        """Log a failure. Reports stay in the tail, and the next round tries again."""
        self.failures += 1
        expected = isinstance(error, FldpError)
        log.error("folding failed", extra={"error": str(error)}, exc_info=None if expected else error)
