"""Single reports, read many at a time: the same reports as one by one, and nothing that the reader would refuse."""

import random

import numpy as np
import pytest

from fldp import Reports, WireError, wire
from fldp.conformance.vectors import CASES, SURVEY, craft, some_values
from fldp.data.packing import pack
from fldp.wire.single_reports import SingleReports
from soak.fuzz_wire import damage

EVERY = [(f"{name} {number}", oracle) for name, listed in CASES.items() for number, oracle in enumerate(listed)]
each_oracle = pytest.mark.parametrize("oracle", [oracle for _, oracle in EVERY], ids=[name for name, _ in EVERY])


def sample(oracle, count, seed=3):
    return oracle.privatize(some_values(oracle, count), rng=seed)


def read(oracle, batch):
    try:
        return wire.decode(batch, oracle, SURVEY)
    except WireError:
        return None


def read_shortly(single, batch):
    """As ``read``, by the other way, where that knows the batch at all."""
    packed = single.packed(batch)
    if packed is None:
        return None
    reports, good = single.decode([packed])
    return reports if good[0] else None


@each_oracle
def test_many_are_read_as_one_by_one(oracle):
    single, reports = SingleReports(oracle, SURVEY), sample(oracle, 21)
    bodies = [wire.encode(reports[row], SURVEY) for row in range(21)]
    assert {len(body) for body in bodies} == {single.size}
    decoded, good = single.decode([single.packed(body) for body in bodies])
    assert decoded == reports
    assert good.all()


@each_oracle
def test_every_other_batch_is_left_to_the_reader(oracle):
    single, reports = SingleReports(oracle, SURVEY), sample(oracle, 2)
    for other in (wire.encode(reports, SURVEY), wire.encode(reports[:0], SURVEY), wire.encode(reports[0])):
        assert single.packed(other) is None
    assert single.packed(wire.encode(reports[0], "f" * 64)) is None


@each_oracle
def test_a_changed_byte_is_noticed_wherever_it_is(oracle):
    single, body = SingleReports(oracle, SURVEY), wire.encode(sample(oracle, 1), SURVEY)
    places = range(single.size) if single.size < 400 else random.Random(1).sample(range(single.size), 400)
    for place in places:
        changed = bytearray(body)
        changed[place] ^= 1 << place % 8
        assert single.packed(bytes(changed)) is None


@each_oracle
def test_what_is_whole_and_impossible_is_marked_alone(oracle):
    """Random bytes as a report, with the right checks: both ways agree on each, whatever its neighbours are."""
    rng, single = random.Random(2), SingleReports(oracle, SURVEY)
    fields = {"oracle": wire.describe(oracle), "survey": SURVEY}
    size = len(pack(oracle.report_format, sample(oracle, 1).data))
    honest = pack(oracle.report_format, sample(oracle, 1).data).tobytes()
    packed = [honest if row % 3 == 0 else rng.randbytes(size) for row in range(60)]
    bodies = [craft(fields, [(1, each)], 1) for each in packed]
    assert [single.packed(body) for body in bodies] == packed
    decoded, good = single.decode(packed)
    expected = [read(oracle, body) for body in bodies]
    assert good.tolist() == [each is not None for each in expected]
    for row in np.flatnonzero(good):
        assert decoded[int(row)] == expected[row]


def test_damage_of_all_kinds_is_judged_as_by_the_reader():
    rng = random.Random(4)
    sent = [(reports, wire.encode(reports, SURVEY)) for _, oracle in EVERY for reports in [sample(oracle, 1)]]
    singles = {id(reports): SingleReports(reports.oracle, SURVEY) for reports, _ in sent}
    for _ in range(4000):
        reports, body = rng.choice(sent)
        body = damage(rng, body, sent)
        row = read_shortly(singles[id(reports)], body)
        assert row is None or row == read(reports.oracle, body)


def test_reports_are_those_of_the_oracle():
    _, oracle = EVERY[0]
    decoded, _ = SingleReports(oracle, SURVEY).decode([pack(oracle.report_format, sample(oracle, 1).data).tobytes()])
    assert isinstance(decoded, Reports)
    assert decoded.oracle is oracle
    assert not decoded.data.flags.writeable
