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


@pytest.fixture
def estimates(lake, tmp_path):
    """Write the estimates of the lake; return the file."""
    file = tmp_path / "estimates.parquet"
    file.write_bytes(as_parquet(ORACLE.estimate(lake), 0.95, None))
    return file


def test_the_r_script_asks_for_columns_that_are_there(estimates, tmp_path):
    asked = re.search(r"select\((.*?)\)", SCRIPT.read_text()).group(1).split(", ")
    assert set(asked) <= set(pq.read_schema(estimates).names)
    assert '"symbol" %in% names(lake)' in SCRIPT.read_text()
    assert pq.read_schema(next((tmp_path / "lake").rglob("*.parquet"))).names == ["symbol"]


def r_reads():
    """Whether R is here, and can read Parquet."""
    command = ["Rscript", "-e", "library(arrow); library(dplyr)"]
    return shutil.which("Rscript") and not subprocess.run(command, check=False, capture_output=True).returncode


def test_r_reads_what_fldp_wrote(lake, estimates):
    if not r_reads():
        pytest.skip("R with arrow and dplyr is not installed")
    done = subprocess.run(["Rscript", SCRIPT, estimates, "lake"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    estimate = ORACLE.estimate(lake)
    shown = re.findall(r"^\d+ +(\d) +\1 +(-?[\d.]+) +-?[\d.]+ +([\d.]+) ", done.stdout, re.M)
    ranked = np.argsort(-estimate.counts)
    assert [int(value) for value, _, _ in shown] == ranked.tolist()
    assert [float(count) for _, count, _ in shown] == pytest.approx(estimate.counts[ranked], rel=1e-3)
    assert [float(error) for _, _, error in shown] == pytest.approx(estimate.stderr[ranked], rel=1e-3)
    assert "1 of 5 estimates are below zero" in done.stdout
    assert [int(n) for n in re.findall(r"^\d+ (\d+)$", done.stdout, re.M)] == list(DAYS.values())
    symbols = re.findall(r"^\d+ +(\d) +(\d+)$", done.stdout, re.M)
    assert [int(n) for _, n in symbols] == np.bincount(lake.data, minlength=5).tolist()
