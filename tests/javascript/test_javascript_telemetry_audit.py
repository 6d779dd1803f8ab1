"""The whole client in JavaScript, audited from the outside as ``fldp audit --command`` does it."""

import json
import shlex

import pytest

from fldp.telemetry.publishing import exported
from fldp.telemetry.specification import specification
from support.commands import run_here
from support.javascript import HERE, node
from support.telemetry import only

FALSE_ALARM, SAMPLES = 1e-5, 300  # `make acceptance` has more
VALUES = ["below 100 ms", "12,800 ms or more"]


def audited(tmp_path, mode, code):
    """Audit an install with one metric; each sample is the whole life of one."""
    metrics = only("startup")
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(specification(metrics, metrics.metrics["startup"])))
    client = [node(), str(HERE / "telemetry_client.mjs"), mode, json.dumps(exported(metrics, "")), "startup"]
    line = ["audit", "--survey", path, "--samples", SAMPLES, "--confidence", 1 - FALSE_ALARM, "--json"]
    line += ["--timeout", 600, "--command", shlex.join(client)]
    line += [word for value in VALUES for word in ("--value", value)]
    return json.loads(run_here(*line, code=code).stdout)


@pytest.mark.long
@pytest.mark.parametrize(("mode", "holds"), [("honest", True), ("loud", False)])
def test_a_whole_install_keeps_its_promise_and_one_that_draws_until_it_likes_the_report_is_found(tmp_path, mode, holds):
    assert audited(tmp_path, mode, 0 if holds else 1)["holds"] is holds
