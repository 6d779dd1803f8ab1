"""Parts as rows: what a shuffle does to them changes nothing."""

import random
from functools import reduce
from operator import add

import numpy as np
import pyarrow as pa
import pytest

import fldp
from fldp.distributed import Bad, PartialTally, tally
from fldp.distributed.engines import spark_shuffle
from fldp.distributed.lake.scan import Job

ORACLE = fldp.FHR(epsilon=1.0, domain_size=70_000)  # 128 chunks: more than a batch holds


def part(seed):
    generator = np.random.default_rng(seed)
    state = ORACLE.tally_format.zeros()
    places = generator.integers(0, state.size, 40)
    state.reshape(-1)[places] = generator.integers(-(2**40), 2**40, 40)
    return PartialTally(ORACLE, None, state, seed, (Bad(f"{seed}.parquet", 7, 1, "is bad"),), seed, 1)


def shuffled(rows, tasks, seed):
    """Send rows of one number to one task, in any order."""
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return [[row for row in rows if row[0] % tasks == task] for task in range(tasks)]


@pytest.mark.parametrize("tasks", [1, 3])
def test_chunks_of_parts_add_up_to_the_sum_of_parts(tasks):
    parts = [part(seed) for seed in range(1, 6)] + [PartialTally(ORACLE, None)]
    sent = [row for one in parts for row in spark_shuffle.pairs(spark_shuffle.batches(spark_shuffle.rows(one)))]
    merged = [row for task in shuffled(sent, tasks, 7) for row in spark_shuffle.merged(task)]
    assert len({number for number, _ in merged}) == len(merged)
    collected, expected = spark_shuffle.collect(Job(ORACLE), merged), reduce(add, parts)
    assert np.array_equal(collected.state, expected.state)
    assert (collected.n, collected.bad, collected.bad_rows, collected.bad_files) == (15, expected.bad, 15, 5)


def test_chunks_of_zeros_stay_where_they_are():
    assert len(list(spark_shuffle.rows(part(1)))) <= 41
    assert len(list(spark_shuffle.rows(PartialTally(ORACLE, None)))) == 1


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("size", [1, 2, 2048])
def test_a_chunk_is_as_wide_as_its_widest_count(width, size):
    """The least and the most that fit, and the next ones that do not; sums may need more than their parts."""
    most = (1 << 8 * width - 1) - 1
    for edge in (most, -1 - most):
        chunk = np.full(size, edge)
        packed = spark_shuffle._packed(chunk)
        assert len(packed) == size * width + 1
        assert np.array_equal(spark_shuffle._counts(packed), chunk)
        if width < 8:
            beyond = chunk + np.sign(edge)
            assert len(spark_shuffle._packed(beyond)) == 2 * size * width + 1
            assert np.array_equal(spark_shuffle._counts(spark_shuffle._packed(beyond)), beyond)
            ((_, content),) = spark_shuffle.merged([(3, packed), (3, packed)])
            assert np.array_equal(spark_shuffle._counts(content), 2 * chunk)


def test_nothing_adds_up_to_an_empty_tally():
    assert spark_shuffle.collect(Job(ORACLE), []).tally() == fldp.Tally.empty(ORACLE)


def test_frames_of_one_process():
    oracle = fldp.GRR(epsilon=1.0, domain_size=9)
    frame = pa.table({"symbol": [1, 2, 9, 8]})
    assert tally(frame.slice(0, 2), oracle).tally == oracle.tally(np.array([1, 2], np.uint8))
    with pytest.raises(fldp.WireError, match=r"^frame: row 2 is not a report that"):
        tally(frame, oracle)
    assert tally(frame.to_pandas(), oracle, skip_bad=True).bad[0].row == 2
    far = pa.table({"symbol": np.where(np.arange(70_000) == 69_999, 9, 1)})
    assert tally(far, oracle, skip_bad=True).bad[0].row == 69_999
    with pytest.raises(fldp.ParameterError, match="a frame has no days"):
        tally(frame, oracle, since="2026-11-01")
    with pytest.raises(fldp.WireError, match="there must be a column symbol"):
        tally(frame.rename_columns(["other"]), oracle)
