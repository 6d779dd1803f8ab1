"""The whole client, audited from the outside as ``fldp audit --command`` does it: record, period, lot, report."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from fldp.telemetry.specification import specification
from support.commands import run_here
from support.telemetry import only

TESTS = Path(__file__).parents[1]
CLIENT = str(TESTS / "support" / "telemetry_client.py")
LOUD = """
import sys
from fldp import wire
from fldp.responder.responder import Responder
import support.telemetry_client as client

quiet = Responder.encode

def loud(self, label):
    while True:
        body = quiet(self, label)
        if self.labels.index(label) in set(wire.decode(body).data[0].ravel().tolist()):
            return body

Responder.encode = loud
client.main(*sys.argv[1:])
"""


def audited(tmp_path, monkeypatch, name, values, samples, code, *client):
    """Audit an install with one metric; each sample is the whole life of one."""
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    metrics = only(name)
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(specification(metrics, metrics.metrics[name])))
    line = ["audit", "--survey", path, "--samples", samples, "--json", "--timeout", 600]
    line += ["--command", shlex.join([sys.executable, *client, name])]
    line += [word for value in values for word in ("--value", value)]
    return json.loads(run_here(*line, code=code).stdout)


@pytest.mark.long
def test_a_whole_install_keeps_its_promise_and_one_without_noise_is_found(tmp_path, monkeypatch):
    """So few samples find a client without noise, not finer cracks: `make acceptance` has forty times as many."""
    values = ["below 100 ms", "12,800 ms or more"]
    assert audited(tmp_path, monkeypatch, "startup", values, 100, 0, CLIENT)
    assert audited(tmp_path, monkeypatch, "startup", values, 100, 1, "-c", LOUD)
