"""The Spark engine, on executors in processes of their own: the tally of one process, bit for bit."""

import os

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fldp import DomainError, ParameterError, WireError, parquet
from fldp.distributed import RunKey, privatize, tally
from fldp.distributed.spark_session import opened
from lakes import (
    FHR,
    ORACLE,
    ORACLES,
    build,
    check_bad,
    check_killed,
    check_lost,
    in_order,
    peak_megabytes,
    people,
    spoil,
)

pytestmark = pytest.mark.xdist_group("spark")
MOST_MEGABYTES = 500  # of a Python worker
CLUSTER = "local-cluster[2,1,1024]"  # two executors with a core each


@pytest.fixture(scope="module")
def spark():
    os.environ["PYTHONPATH"] = os.path.dirname(__file__)  # executors have to find the oracle that kills them
    with opened(None, CLUSTER) as made:
        yield made
    del os.environ["PYTHONPATH"]


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return build(tmp_path_factory.mktemp("lake"), 1_000_000)


def python_workers():
    """Return the processes in which executors run Python."""
    return [
        child for child in psutil.Process().children(recursive=True) if "pyspark.daemon" in " ".join(child.cmdline())
    ]


def test_a_million_reports(spark, lake):
    heard = []
    found = tally(lake, ORACLE, engine="spark", session=spark, progress=heard.append)
    assert found == tally(lake, ORACLE)
    assert found.tally.n == 1_000_000
    peaks = [peak_megabytes(worker.pid) for worker in python_workers()]
    print("peak memory of Python workers, MB:", [round(peak) for peak in peaks])
    assert len(peaks) >= 2
    assert max(peaks) < MOST_MEGABYTES


@pytest.mark.parametrize("victim", ["self", "executor"])
def test_a_worker_is_killed(spark, lake, tmp_path, victim):
    check_killed(lake, tmp_path / "killed", victim=victim, engine="spark", session=spark)


def test_bad_rows_and_files(spark, tmp_path):
    check_bad(spoil(tmp_path), engine="spark")


def test_what_fails_on_a_worker_is_one_line(spark, tmp_path):
    check_lost(tmp_path, engine="spark")
    with pytest.raises(ParameterError, match="address must be None where there is a session already, got 'local'"):
        tally(build(tmp_path, 10, files=1), ORACLE, engine="spark", address="local")


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_frames_of_reports(spark, tmp_path, oracle):
    reports = oracle.privatize(np.resize(np.arange(oracle.domain_size), 1000), rng=1)
    table = pa.Table.from_batches([parquet.batch(parquet.schema(oracle), reports.data)])
    pq.write_table(table, tmp_path / "reports.parquet", row_group_size=300)
    frame = spark.read.parquet(str(tmp_path))
    assert tally(frame, oracle, engine="spark").tally == oracle.tally(reports)
