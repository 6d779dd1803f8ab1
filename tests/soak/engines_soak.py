"""Twenty million reports on Dask and on Spark: the tally of one process, and no more memory than for one million."""

import tempfile
from pathlib import Path

from fldp.distributed import tally
from support.lakes import ORACLE, build, check_killed, dask_cluster, peak_megabytes, python_children, spark_cluster

REPORTS = 20_000_000
MAX_MEGABYTES = 500  # of a worker, as in the tests of a million


def main():
    """Run both engines, with a worker killed; tell and bound the memory of the others."""
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder) / "lake"
        lake.mkdir()
        build(lake, REPORTS, files=40)
        with dask_cluster() as client:
            _check(lake, Path(folder) / "dask", engine="dask", client=client)
        with spark_cluster() as session:
            _check(lake, Path(folder) / "spark", engine="spark", session=session)


def _check(lake, marker, **options):
    result = tally(lake, ORACLE, **options)
    assert result == tally(lake, ORACLE, workers=1)
    assert result.tally.n == REPORTS
    peaks = sorted(map(peak_megabytes, python_children()))
    print(f"{options['engine']}: {REPORTS:,} reports, peak of a worker {peaks[-1]:.0f} MB", flush=True)
    assert peaks[-1] < MAX_MEGABYTES
    check_killed(lake, marker, **options)
    print(f"{options['engine']}: the same with a worker killed", flush=True)
