"""Telemetry in JavaScript at full size: a year of 10,000 installs at a real collector, and an audit of the client.

``FLDP_INSTALLS`` says how many installs; every one is the whole client with stores of its own, in memory. As many
processes as there are processors share them.
"""

import json
import os
import random
import shlex
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from fldp.client import Client
from fldp.participant.epochs import month_of
from fldp.privacy.auditor import audit
from fldp.privacy.auditor.external_command import Command
from fldp.telemetry.metrics import UNSET
from fldp.telemetry.publishing import exported, publish, survey_of
from fldp.telemetry.rehearsal import intervals, local_collector, pairs_of
from support.javascript import HERE, node
from support.telemetry import declared, only, outcome_row, quick_folder, write_year

INSTALLS = int(os.environ.get("FLDP_INSTALLS", "10000"))
MONTHS = [f"2026-{month:02d}" for month in range(1, 13)] + ["2027-01"]


def people(metrics):
    """What each install records in every month, by metric: the first label is the most frequent, some have none."""
    drawn = random.Random(1)
    for _ in range(INSTALLS):
        yield {
            name: drawn.choices(metric.labels, weights=[1 / (1 + place) for place in range(len(metric.labels))])[0]
            for name, metric in metrics.metrics.items()
        }


def lived(metrics, installs):
    """What each install has stored after a year; every process has its share of them."""
    command = [node(), str(HERE / "telemetry_installs.mjs"), json.dumps(exported(metrics, "")), json.dumps(MONTHS)]
    workers = os.cpu_count()
    size = -(-len(installs) // workers)

    def run(first):
        share = json.dumps(installs[first : first + size])
        return json.loads(subprocess.run(command, input=share, stdout=subprocess.PIPE, text=True, check=True).stdout)

    with ThreadPoolExecutor(workers) as pool:
        return [install for share in pool.map(run, range(0, len(installs), size)) for install in share]


def excess(charges):
    """The months above epsilon 2 and the twelve months above 12, added up here and not by the ledger."""
    months = Counter()
    for charge in charges:
        months[month_of(charge["epoch"])] += Fraction(str(charge["epsilon"]))
    years = [month for month in months if sum(months[month + later] for later in range(12)) > 12]
    return [month for month, epsilon in months.items() if epsilon > 2] + years


@pytest.mark.serving
def test_a_year_of_installs_in_javascript():
    """All shares of all metrics lie inside their intervals at once, which fails by chance in 5 of 100 runs; no
    install is above its limits."""
    with (
        quick_folder() as folder,
        local_collector(folder) as (url, token),
        Client(url, token) as client,
    ):
        metrics = declared(collector=url)
        publish(metrics, client, "")
        installs = list(people(metrics))
        stored = lived(metrics, installs)
        assert [excess(install["charges"]) for install in stored] == [[]] * INSTALLS
        reports = [
            (report, person) for install, person in zip(stored, installs, strict=True) for report in install["reports"]
        ]
        assert {report["state"] for report, _ in reports} == {"sent"}
        truth = Counter((report["metric"], person[report["metric"]]) for report, person in reports)
        pairs = sum((pairs_of(report["metric"] for report in install["reports"]) for install in stored), Counter())
        rows, missed = [], []
        for name, metric in metrics.metrics.items():
            estimate = client.estimate(survey_of(metrics, metric))
            ends = intervals(metrics, metric, estimate, pairs[name])
            counts = [truth[name, label] for label in metric.labels]
            inside = sum(low <= count <= high for (low, high), count in zip(ends, counts, strict=True))
            rows.append(outcome_row(name, estimate.n, inside, ends))
            print(name, counts, ends.round().tolist())
            missed += [name] * (len(counts) - inside)
            assert estimate.n == sum(counts)
        write_year("a year in JavaScript", INSTALLS, rows)
        assert missed == [], rows


@pytest.mark.parametrize("name", ["theme", "sync", "startup"])
def test_an_audit_of_the_whole_client_in_javascript(name):
    """4,000 installs for each value and each half of the audit."""
    metrics = only(name)
    survey = survey_of(metrics, metrics.metrics[name])
    line = [node(), str(HERE / "telemetry_client.mjs"), "honest", json.dumps(exported(metrics, "")), name]
    client = Command(shlex.join(line), survey.oracle, label=survey.label, survey=survey.version, timeout=3600)
    values = [0, survey.labels.index(UNSET)]
    assert audit(client, oracle=survey.oracle, values=values, samples=4000).holds
