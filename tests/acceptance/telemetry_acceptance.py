"""Telemetry at full size: a year of 10,000 installs at a real collector, months and weeks, and an audit of the client.

``FLDP_INSTALLS`` says how many installs; every install is the whole client with files of its own. As many processes as
there are processors share them.
"""

import os
import shlex
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from fldp.client import Client
from fldp.privacy.auditor import audit
from fldp.privacy.auditor.external_command import Command
from fldp.telemetry.metrics import read_metrics
from fldp.telemetry.publishing import survey_of
from fldp.telemetry.rehearsal import Lives, live, local_collector, outcomes, published
from support.telemetry import above_limits, at, charges, install, only, outcome_row, quick_folder, write_year

ROOT = Path(__file__).parents[2]
INSTALLS = int(os.environ.get("FLDP_INSTALLS", "10000"))
CLIENT = ROOT / "tests" / "support" / "telemetry_client.py"


def within_limits(metrics, folder, numbers):
    """Whether no month and no year of these installs was ever above the limits, added up from their ledgers."""
    moment = at("2027-01-01")
    return not any(above_limits(charges(install(folder / str(each), metrics, moment))) for each in numbers)


@pytest.mark.serving
@pytest.mark.parametrize(("period", "count", "epsilon"), [("month", 12, 1.0), ("week", 52, 0.2)])
def test_a_year_of_installs(period, count, epsilon):
    """All shares of all metrics lie inside their intervals at once, which fails by chance in 5 of 100 runs; no
    install is above its limits."""
    metrics = read_metrics(str(ROOT / "examples" / "wordy" / "metrics.toml"))
    metrics = metrics._replace(period=period, epsilon=epsilon)
    installs = INSTALLS if period == "month" else INSTALLS // 4
    workers = os.cpu_count()
    shares = [range(first, installs, workers) for first in range(workers)]
    with (
        quick_folder() as folder,
        local_collector(folder) as (url, token),
        Client(url, token) as client,
        ProcessPoolExecutor(workers) as pool,
    ):
        tried = published(metrics, client, url)
        lives = partial(live, tried, count=count, seed=1, folder=folder / "installs", say=print)
        lived = Lives.together(pool.map(lives, shares))
        assert all(pool.map(partial(within_limits, tried, folder / "installs"), shares))
        results = outcomes(tried, client, lived)
        assert [each.estimate.n for each in results] == [each.truth.sum() for each in results]
        rows = [outcome_row(each.metric.name, each.estimate.n, each.inside, each.ends) for each in results]
        if period == "month":
            write_year("a year in Python", installs, rows)
        assert [each.inside for each in results] == [len(each.truth) for each in results], rows


@pytest.mark.parametrize("name", ["theme", "sync", "startup"])
def test_an_audit_of_the_whole_client(name, monkeypatch):
    """4,000 installs for each value and each half of the audit."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    metrics = only(name)
    survey = survey_of(metrics, metrics.metrics[name])
    command = shlex.join([sys.executable, str(CLIENT), name])
    client = Command(command, survey.oracle, label=survey.label, survey=survey.version, timeout=3600)
    values = [0, len(metrics.metrics[name].labels) - 1]
    assert audit(client, oracle=survey.oracle, values=values, samples=4000).holds
