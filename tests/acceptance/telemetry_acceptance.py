"""Telemetry at full size: a year of 10,000 installs at a real collector, months and weeks, and an audit of the client.

``FLDP_INSTALLS`` says how many installs; every install is the whole client with files of its own.
"""

import os
import shlex
import sys
from pathlib import Path

import pytest

from fldp.client import Client
from fldp.privacy.auditor import audit
from fldp.privacy.auditor.external_command import Command
from fldp.telemetry.metrics import read_metrics
from fldp.telemetry.publishing import survey_of
from fldp.telemetry.rehearsal import local_collector, rehearse
from support.telemetry import above_limits, at, charges, install, only, quick_folder

ROOT = Path(__file__).parents[2]
INSTALLS = int(os.environ.get("FLDP_INSTALLS", "10000"))
CLIENT = ROOT / "tests" / "support" / "telemetry_client.py"


@pytest.mark.serving
@pytest.mark.parametrize(("period", "count", "epsilon"), [("month", 12, 1.0), ("week", 52, 0.2)])
def test_a_year_of_installs(period, count, epsilon):
    """All shares of all metrics lie inside of their intervals at once, which fails by chance in 5 of 100 runs; no
    install is above its limits, added up from its own ledger."""
    metrics = read_metrics(str(ROOT / "examples" / "wordy" / "metrics.toml"))
    metrics = metrics._replace(period=period, epsilon=epsilon)
    installs = INSTALLS if period == "month" else INSTALLS // 4
    with quick_folder() as folder, local_collector(folder) as (url, token), Client(url, token) as client:
        outcomes = rehearse(
            metrics, client, url, installs=installs, count=count, seed=1, folder=folder / "installs", say=print
        )
        for outcome in outcomes:
            print(outcome.metric.name, int(outcome.estimate.n), outcome.inside, "of", len(outcome.truth))
            assert outcome.estimate.n == outcome.truth.sum()
            assert outcome.inside == len(outcome.truth)
        for number in range(0, installs, 10):
            agent = install(folder / "installs" / str(number), metrics, at("2027-01-01"))
            assert above_limits(charges(agent)) == []


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
