"""Folding: how much a step takes from a store, and what it merges that with."""

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import fldp
from fldp.collector.service.folding import Folder, fold_step, next_step, taking_step
from fldp.collector.storage.protocol import REPORTS, TAKEN_REPORTS, TAKEN_TALLY, TALLY, StoreError
from fldp.collector.storage.segments import packed, tally_segment
from support.waiting import until

MEBIBYTE, DAY = 1 << 20, "2026-11-16"


class Store:
    """A store that remembers what it was asked for."""

    def __init__(self, tail=(), room=()):
        self.asked, self._tail, self._room = [], list(tail), list(room)  # the room is what is folded

    def tail(self, number, day, most):
        self.asked.append((number, day, most))
        return []

    def room(self, number, day, most):
        self.asked.append((number, day, most))
        return self._room

    @contextmanager
    def snapshot(self):
        yield SimpleNamespace(segments=lambda number, days, folded: iter(self._room if folded else self._tail))


def survey_of(oracle, retention="reports"):
    return SimpleNamespace(oracle=oracle, collect={"retention": retention})


@pytest.mark.parametrize(("values", "most"), [(5, 4 * MEBIBYTE), (MEBIBYTE, 8 * MEBIBYTE)])
def test_a_step_folds_some_mebibytes_and_no_less_than_the_tally_that_it_writes(values, most):
    store = Store()
    assert next_step(store, 7, DAY, survey_of(fldp.OUE(epsilon=1.0, domain_size=values))) is None
    assert store.asked == [(7, DAY, most)]


def numbered(segments, first=0):
    return [replace(part, id=number, day=DAY) for number, part in enumerate(segments, first)]


def test_the_tail_is_merged_into_eight_rows_that_are_at_most_half_full_and_into_the_tally():
    oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    one = fldp.Reports(oracle, np.zeros(1, np.uint8))
    rows, tallies = packed([one]) * 12, [tally_segment(oracle.tally(one))] * 2
    *room, waiting, merged, tallied = numbered([*rows, *tallies])
    store = Store(room=[*room, merged])
    step = fold_step(store, 7, DAY, survey_of(oracle), [waiting, tallied])
    assert store.asked == [(7, DAY, MEBIBYTE // 2)]
    assert step.removed == (waiting.id, tallied.id, *range(8), merged.id)
    assert [(part.kind, part.n) for part in step.added] == [(REPORTS, 9), (TALLY, 2)]
    assert step.gained.n == 2


def test_a_step_takes_out_some_mebibytes_at_once():
    oracle = fldp.GRR(epsilon=1.0, domain_size=256)  # a byte for a report
    tail = numbered(packed([fldp.Reports(oracle, np.zeros(6 * MEBIBYTE, np.uint8))], TAKEN_REPORTS))
    step = taking_step(Store(tail), 7, DAY, survey_of(oracle, "tally"))
    assert step.removed == (0, 1, 2, 3)
    assert step.lost.n == 4 * MEBIBYTE
    nearly, few = (packed([fldp.Reports(oracle, np.zeros(n, np.uint8))], TAKEN_REPORTS) for n in (4 * MEBIBYTE - 1, 5))
    step = taking_step(Store(numbered([*nearly, *few, *few])), 7, DAY, survey_of(oracle, "tally"))
    assert step.removed == (0, 1, 2, 3, 4)


def test_a_tally_that_is_not_there_is_refused_by_its_number_and_day():
    oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    one, two = (oracle.tally(fldp.Reports(oracle, np.zeros(n, np.uint8))) for n in (1, 2))
    (tail,) = numbered([tally_segment(two, TAKEN_TALLY)])
    with pytest.raises(StoreError, match=f"2 withdrawn reports of {DAY} are not among those that are stored"):
        taking_step(Store([tail], numbered([tally_segment(one)], 100)), 7, DAY, survey_of(oracle))


def test_a_step_takes_reports_out_of_sixteen_rows_and_leaves_the_others_to_the_next():
    oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    wanted = fldp.Reports(oracle, np.full(20, 3, np.uint8))
    (tail,) = numbered(packed([wanted], TAKEN_REPORTS), 100)
    rows = numbered(packed([fldp.Reports(oracle, np.array([1, 3], np.uint8))]) * 20)
    step = taking_step(Store([tail], rows), 7, DAY, survey_of(oracle))
    assert step.removed == (100, *range(16))
    assert [(part.kind, part.n) for part in step.added] == [(REPORTS, 1)] * 16
    assert (step.lost.n, [(part.kind, part.n) for part in step.left]) == (16, [(TAKEN_REPORTS, -4)])


class Deleting:
    """A store with nothing to fold, in which surveys are deleted and deletions may fail."""

    def __init__(self, *failures):
        self.left, self.purged, self._failures = [], 0, list(failures)

    def deletions(self):
        return list(self.left)

    def purge(self):
        if self._failures:
            raise self._failures.pop(0)
        self.left.clear()
        self.purged += 1

    def folding(self):
        return nullcontext(enter_result=False)


def test_deletions_are_completed_at_the_start_and_whenever_one_was_begun():
    store = Deleting()
    folder = Folder(store, lambda number: None, pause=0.001)
    try:
        until(lambda: store.purged == 1)  # what no deletion is known of
        store.left.append("a survey")
        until(lambda: store.purged == 2 and not store.left)
    finally:
        folder.stop()
    assert store.purged == 2


def test_only_what_is_unexpected_is_logged_with_its_trace(caplog):
    store = Deleting(fldp.FldpError("the disk is full"), ZeroDivisionError("by zero"))
    folder = Folder(store, lambda number: None, pause=0.001)
    try:
        until(lambda: store.purged)
    finally:
        folder.stop()
    told = [record for record in caplog.records if record.message == "folding failed"]
    assert [(record.error, bool(record.exc_info)) for record in told] == [
        ("the disk is full", False),
        ("by zero", True),
    ]
    assert folder.failures == 2
