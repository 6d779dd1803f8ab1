"""The Dask engine, on a cluster of processes: the tally of one process, bit for bit, and no more memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fldp import DomainError, ParameterError, WireError
from fldp.distributed import RunKey, privatize, tally
from fldp.distributed.engines.local import as_pandas
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
    dask_cluster,
    in_order,
    peak_megabytes,
    people,
    spoil,
    values_of,
)

MAX_MEGABYTES = 500  # of a worker


@pytest.fixture(scope="module")
def client():
    with dask_cluster() as client:
        yield client


@pytest.fixture(scope="module")
def dask_frame():
    import dask.dataframe  # slow to load: only on the worker that runs this file

    return dask.dataframe


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return build(tmp_path_factory.mktemp("lake"), 1_000_000)


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory):
    return spoil(tmp_path_factory.mktemp("spoiled"))


def test_a_million_reports(client, lake):
    heard = []
    result = tally(lake, ORACLE, engine="dask", client=client, progress=heard.append)
    assert result == tally(lake, ORACLE)
    assert result.tally.n == 1_000_000
    assert sum(heard) == pytest.approx(sum(file.stat().st_size for file in lake.iterdir()), abs=100)
    peaks = client.run(peak_megabytes).values()
    print("peak memory of workers, MB:", [round(peak) for peak in peaks])
    assert max(peaks) < MAX_MEGABYTES


def test_a_worker_is_killed(client, lake, tmp_path):
    check_killed(lake, tmp_path / "killed", engine="dask", client=client)


def test_bad_rows_and_files(client, spoiled):
    check_bad(spoiled, engine="dask", client=client)


def test_a_client_may_be_active_or_named_by_its_address_or_our_own(client, spoiled):
    expected = tally(spoiled, ORACLE, skip_bad=True)
    address = client.scheduler.address
    assert tally(spoiled, ORACLE, skip_bad=True, engine="dask", address=address) == expected
    with client.as_current():
        assert tally(spoiled, ORACLE, skip_bad=True, engine="dask", tasks=1) == expected
    assert tally(spoiled, ORACLE, skip_bad=True, engine="dask") == expected
    with pytest.raises(ParameterError, match="lake: tasks must be an integer"):
        tally(spoiled, ORACLE, skip_bad=True, engine="dask", client=client, tasks=0)
    with pytest.raises(ParameterError, match="address must be None where there is a client already, got 'tcp:"):
        tally(spoiled, ORACLE, skip_bad=True, engine="dask", client=client, address=address)


def test_what_fails_on_a_worker_is_one_line(client, tmp_path):
    check_lost(tmp_path, engine="dask", client=client)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_lakes_of_reports(client, tmp_path, oracle):
    check_same(tmp_path, oracle, engine="dask", client=client)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_frames_of_reports(client, dask_frame, oracle):
    reports = oracle.privatize(values_of(oracle, 1000), rng=1)
    table = pa.Table.from_batches([parquet.batch(parquet.schema(oracle), reports.data)])
    frame = dask_frame.from_pandas(as_pandas(table), npartitions=5)
    assert tally(frame, oracle, engine="dask", client=client).tally == oracle.tally(reports)


def test_bad_rows_of_frames(client, dask_frame):
    frame = dask_frame.from_pandas(pd.DataFrame({"symbol": np.arange(100) % 5001}), npartitions=4)
    bad = frame.assign(symbol=frame["symbol"] + 5000 * (frame["symbol"] == 60))
    with pytest.raises(WireError, match=r"^partition 2: row 10 is not a report that .* can produce$"):
        tally(bad, ORACLE, engine="dask", client=client)
    result = tally(bad, ORACLE, engine="dask", client=client, skip_bad=True)
    assert [(one.path, one.row) for one in result.bad] == [("partition 2", 10)]
    assert result.tally.n == 99
    with pytest.raises(ParameterError, match="engine must be 'dask' for this frame, got 'local'"):
        tally(frame, ORACLE)
    with pytest.raises(ParameterError, match="the oracle must be given"):
        tally(frame, engine="dask")


def test_privatized_frames_are_those_of_one_process(client, dask_frame):
    table, key = people(3000), RunKey(bytes(32))
    whole = in_order(privatize(table, "value", "who", FHR, run_key=key))
    frame = dask_frame.from_pandas(table.to_pandas(), npartitions=7)
    with client.as_current():
        reports = privatize(frame, "value", "who", FHR, run_key=key)
        assert in_order(reports.compute().astype("uint16")) == whole == in_order(reports.compute())
        assert (
            tally(reports, FHR, engine="dask").tally
            == tally(privatize(table, "value", "who", FHR, run_key=key), FHR).tally
        )
        twice = dask_frame.concat([frame, frame.partitions[3]])
        count = len(frame.partitions[3])
        with pytest.raises(
            DomainError, match=f"identifier who must be different in every row, but {count} rows repeat one"
        ):
            privatize(twice, "value", "who", FHR)
        assert len(privatize(twice, "value", "who", FHR, check_unique=False)) == 3000 + count
