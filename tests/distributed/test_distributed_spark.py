"""The Spark engine, on executors in processes of their own: the tally of one process, bit for bit."""

from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fldp
from fldp import DomainError, ParameterError, WireError
from fldp.distributed import RunKey, privatize, tally
from fldp.distributed.engines import spark as engine
from fldp.distributed.lake.layout import Piece
from fldp.distributed.lake.scan import Job
from fldp.wire import parquet
from support.lakes import (
    FHR,
    ORACLE,
    ORACLES,
    build,
    check_bad,
    check_killed,
    check_lost,
    check_same,
    in_order,
    peak_megabytes,
    people,
    python_children,
    spark_cluster,
    spoil,
    values_of,
)

MAX_MEGABYTES = 500  # of a Python worker


@pytest.fixture(scope="module")
def spark():
    with spark_cluster() as session:
        yield session


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return build(tmp_path_factory.mktemp("lake"), 1_000_000)


def test_a_million_reports(spark, lake):
    heard = []
    result = tally(lake, ORACLE, engine="spark", session=spark, progress=heard.append)
    assert result == tally(lake, ORACLE)
    assert result.tally.n == 1_000_000
    peaks = [peak_megabytes(worker) for worker in python_children()]
    print("peak memory of Python workers, MB:", [round(peak) for peak in peaks])
    assert len(peaks) >= 2
    assert max(peaks) < MAX_MEGABYTES


@pytest.mark.parametrize(("victim", "collected"), [("self", 1 << 24), ("executor", 1 << 24), ("executor", 0)])
def test_a_worker_is_killed(spark, lake, tmp_path, monkeypatch, victim, collected):
    """While the driver adds up the states, and while a shuffle does."""
    monkeypatch.setattr(engine, "_MAX_COLLECTED", collected)
    check_killed(lake, tmp_path / "killed", victim=victim, engine="spark", session=spark)


@pytest.mark.parametrize("collected", [1 << 24, 0])
def test_bad_rows_and_files(spark, tmp_path, monkeypatch, collected):
    monkeypatch.setattr(engine, "_MAX_COLLECTED", collected)
    check_bad(spoil(tmp_path), engine="spark")


def test_states_that_are_many_bytes_are_added_by_a_shuffle(spark, tmp_path, monkeypatch):
    """A state of some hundred chunks, and as many tasks as make more of them than the driver adds up by itself."""
    merged, shuffles = engine._merged, []
    monkeypatch.setattr(engine, "_merged", lambda states: shuffles.append(states) or merged(states))
    oracle = fldp.FHR(epsilon=1.0, domain_size=2**19)  # 16 MiB
    build(tmp_path, 20_000, files=2, oracle=oracle)
    for tasks in (1, 2):
        assert tally(tmp_path, oracle, engine="spark", tasks=tasks) == tally(tmp_path, oracle)
    assert len(shuffles) == 1


@pytest.mark.parametrize(
    ("cores", "size", "domain_size", "tasks"),
    [
        (2, 1 << 28, 1023, 8),  # some for each core
        (2, 1 << 32, 1023, 64),  # more if there is much to read
        (2, 1 << 40, 1023, 200),  # but not more than Spark would make
        (100, 1 << 32, 1023, 400),
        (2, 1 << 28, 2**22 - 1, 4),  # fewer where they would hand on more than they read
        (2, 1 << 28, 2**26 - 1, 2),
        (None, 1 << 28, 1023, 200),  # Spark Connect does not say
    ],
)
def test_how_many_tasks(cores, size, domain_size, tasks):
    session = SimpleNamespace(conf={"spark.sql.shuffle.partitions": "200"})
    if cores:
        session.sparkContext = SimpleNamespace(defaultParallelism=cores)
    job = Job(fldp.FHR(epsilon=1.0, domain_size=domain_size))
    assert engine.task_count(session, [Piece("x", size, part, 2) for part in range(2)], job) == tasks


def test_what_fails_on_a_worker_is_one_line(spark, tmp_path):
    check_lost(tmp_path, engine="spark")
    with pytest.raises(ParameterError, match="address must be None where there is a session already, got 'local'"):
        tally(build(tmp_path, 10, files=1), ORACLE, engine="spark", address="local")


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_lakes_of_reports(spark, tmp_path, oracle):
    check_same(tmp_path, oracle, engine="spark", session=spark)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_frames_of_reports(spark, tmp_path, oracle):
    reports = oracle.privatize(values_of(oracle, 1000), rng=1)
    table = pa.Table.from_batches([parquet.batch(parquet.schema(oracle), reports.data)])
    pq.write_table(table, tmp_path / "reports.parquet", row_group_size=300)
    frame = spark.read.parquet(str(tmp_path))
    assert tally(frame, oracle, engine="spark").tally == oracle.tally(reports)


def test_bad_rows_of_frames(spark):
    frame = spark.range(0, 100, 1, 4).selectExpr("if(id = 60, -1L, id) as symbol", "1.5 as other")
    with pytest.raises(WireError, match=r"^partition 2: row 10 has a number that does not fit$"):
        tally(frame, ORACLE, engine="spark")
    result = tally(frame, ORACLE, engine="spark", skip_bad=True)
    assert [(one.path, one.row) for one in result.bad] == [("partition 2", 10)]
    assert (result.tally.n, result.bad_rows) == (99, 1)
    with pytest.raises(ParameterError, match="engine must be 'spark' for this frame, got 'local'"):
        tally(frame, ORACLE)
    with pytest.raises(DomainError, match=r"the frame must have a column plus of int, got none"):
        tally(frame, FHR, engine="spark")


def test_privatized_frames_are_those_of_one_process(spark, tmp_path):
    table, key = people(3000), RunKey(b"correct horse battery staple 123")
    whole = privatize(table, "value", "who", FHR, run_key=key)
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=500)
    frame = spark.read.parquet(str(tmp_path / "people.parquet")).repartition(5)
    reports = privatize(frame, "value", "who", FHR, run_key=key)
    assert sorted(map(tuple, reports.collect())) == in_order(whole)
    assert tally(reports, FHR, engine="spark").tally == tally(whole, FHR).tally
    assert "correct" not in reports._jdf.queryExecution().toString()
    reports.write.parquet(str(tmp_path / "lake"))
    assert tally(tmp_path / "lake", FHR).tally == tally(whole, FHR).tally


def test_a_person_with_two_rows_or_none_is_refused(spark):
    rows = spark.range(0, 100, 1, 4).selectExpr("id % 97 as who", "id % 7 as value")
    with pytest.raises(DomainError, match="identifier who must be different in every row, but 3 rows repeat one"):
        privatize(rows, "value", "who", FHR)
    with pytest.raises(DomainError, match="column who must not have missing cells, but 1 are missing"):
        privatize(rows.selectExpr("nullif(who, 50) as who", "value"), "value", "who", FHR)
