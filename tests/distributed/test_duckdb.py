"""The queries of docs/lake.md, run by DuckDB on a lake, and the columns that the R script asks for."""

import math
import re
import shutil
import subprocess
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

import fldp
from fldp.presentation.estimate_formats import as_parquet
from fldp.wire import parquet

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "estimates.R"
ORACLE = fldp.GRR(epsilon=1.0, domain_size=5)
DAYS = {"2026-11-15": 300, "2026-11-16": 200}
VERSION = "2d" * 32


@pytest.fixture
def lake(tmp_path, monkeypatch):
    """Write a lake of two days; return all of its reports."""
    monkeypatch.chdir(tmp_path)
    batches = [ORACLE.privatize(np.arange(n) % 3, rng=n) for n in DAYS.values()]
    for day, reports in zip(DAYS, batches, strict=True):
        folder = tmp_path / "lake" / f"survey={VERSION}" / f"day={day}"
        folder.mkdir(parents=True)
        with (folder / "reports.parquet").open("wb") as file:
            parquet.write(file, ORACLE, [reports], VERSION)
    return fldp.Reports.concatenate(batches)


def queries():
    """Return the queries of the page, in their order."""
    return re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "lake.md").read_text(), re.DOTALL)


def test_the_documented_queries_count_and_estimate_as_fldp_does(lake):
    by_day, counts, decoded = (duckdb.sql(query).fetchall() for query in queries())
    assert [(str(day), n) for day, n in by_day] == list(DAYS.items())
    assert [value for value, _ in counts] == list(range(5))
    assert [count for _, count in counts] == np.bincount(lake.data, minlength=5).tolist()
    estimate = ORACLE.estimate(lake)
    for value, number, share, stderr in decoded:
        assert math.isclose(number, estimate.counts[value], rel_tol=1e-9)
        assert math.isclose(share, estimate.counts[value] / 500, rel_tol=1e-9)
        assert math.isclose(stderr, estimate.stderr[value], rel_tol=1e-9)
    assert len(decoded) == 5


def test_the_r_script_asks_for_columns_that_are_there(lake, tmp_path):
    """R reads them where it is installed; elsewhere the names in the script are compared with the files."""
    file = tmp_path / "estimates.parquet"
    file.write_bytes(as_parquet(ORACLE.estimate(lake), 0.95, None))
    asked = re.search(r"select\((.*?)\)", SCRIPT.read_text()).group(1).split(", ")
    assert set(asked) <= set(pq.read_schema(file).names)
    assert '"symbol" %in% names(lake)' in SCRIPT.read_text()
    assert pq.read_schema(next((tmp_path / "lake").rglob("*.parquet"))).names == ["symbol"]
    if shutil.which("Rscript"):
        done = subprocess.run(["Rscript", SCRIPT, file, "lake"], check=False, capture_output=True, text=True)
        missing = "there is no package called" in done.stderr
        assert missing or (done.returncode == 0 and "estimates are below zero" in done.stdout), done.stderr
