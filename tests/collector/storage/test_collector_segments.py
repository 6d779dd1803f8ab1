"""Segments that a damaged disk might hold are refused, before they reach a kernel or a sum."""

import numpy as np
import pytest

import fldp
from fldp.collector.storage.protocol import REPORTS, TAKEN_REPORTS, TALLY, Segment, StoreError
from fldp.collector.storage.segments import (
    in_order,
    packed,
    reports_of,
    tally_segment,
    total,
    total_and_reports,
    without,
)

ORACLE = fldp.GRR(epsilon=1.0, domain_size=5)
SEVERAL = ORACLE.privatize([0, 1, 2, 3, 4, 0, 1], rng=1)
[WHOLE] = packed([SEVERAL])


@pytest.mark.parametrize(
    ("segment", "message"),
    [
        (Segment(REPORTS, 9, WHOLE.data), "a segment of some day is damaged"),
        (Segment(REPORTS, -7, WHOLE.data, day="2026-01-05"), "a segment of 2026-01-05 is damaged"),
        (Segment(TALLY, 7, WHOLE.data), "a segment of some day is damaged"),
        (Segment(REPORTS, 7, b"\xff" * len(WHOLE.data)), r"holds reports that GRR.* cannot produce"),
    ],
)
def test_damaged_reports_are_refused(segment, message):
    with pytest.raises(StoreError, match=message):
        reports_of(ORACLE, segment)


def test_a_tally_that_no_reports_add_up_to_is_refused():
    impossible = Segment(TALLY, 3, np.array([1, 1, 1, 1, 0], "<i8").tobytes())
    for segment in (impossible, Segment(TALLY, 3, b"\0" * 8)):
        with pytest.raises(StoreError, match="a stored tally cannot be one of 3 reports of GRR"):
            total(ORACLE, [segment])


def test_what_takes_out_is_refused_where_nothing_can_be():
    taking = packed([SEVERAL[:2]], TAKEN_REPORTS)
    for read in (total, total_and_reports):
        with pytest.raises(StoreError, match="a segment that takes reports out is where none can be"):
            read(ORACLE, [WHOLE, *taking])
    assert total(ORACLE, [WHOLE, tally_segment(ORACLE.tally(SEVERAL))]).n == 14


def test_reports_that_are_not_there_cannot_be_taken_out():
    missing = fldp.Reports(ORACLE, np.full(8, SEVERAL.data[0], SEVERAL.data.dtype))
    with pytest.raises(StoreError, match="withdrawn reports are not among those that are stored; run fldp fsck"):
        list(without(ORACLE, [WHOLE], packed([missing], TAKEN_REPORTS)))


@pytest.mark.parametrize("oracle", [fldp.FHR(epsilon=1.0, domain_size=1023), fldp.OLH(epsilon=1.0, domain_size=9)])
@pytest.mark.parametrize("n", [300, 5000])
def test_reports_are_put_in_one_order_whatever_sorts_them(oracle, n):
    reports = oracle.privatize([0] * n, rng=3)
    rows = np.frombuffer(np.ascontiguousarray(reports.data).tobytes(), np.uint8).reshape(n, -1)
    expected = sorted(rows.tolist(), key=lambda row: row[::-1] if len(row) <= 8 else row)
    data = np.ascontiguousarray(in_order(reports).data)
    assert np.frombuffer(data.tobytes(), np.uint8).reshape(n, -1).tolist() == expected
    assert in_order(reports[::-1]) == in_order(reports)
