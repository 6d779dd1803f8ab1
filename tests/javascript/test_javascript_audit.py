"""The auditor on the client in JavaScript: every oracle, as a black box that only writes bytes.

The noise is that of the device, so an audit of an honest client accuses it with a probability of at most FALSE_ALARM.
There are twenty-two of them: less than 1e-6 together. Clients with planted mistakes must be caught.
"""

import json
import shlex

import pytest

import fldp
from fldp.privacy.auditor.external_command import Command
from fldp.survey import Survey
from support.javascript import HERE, NAMES, node
from support.serving import shell

FALSE_ALARM = 4e-8
ORACLES = {
    "cms": {"hashes": 2, "width": 8},
    "exponential": {"distance": "line"},
    "fhr": {},
    "fwr": {"eta": 0.5},
    "grouped": {"base": "oue", "groups": [3, 5]},
    "grr": {},
    "hcms": {"hashes": 2, "width": 8},
    "hr": {"blocks": 2},
    "hrr": {},
    "idue": {"budgets": [[0, 0.5]]},
    "lwr": {"epsilon_permanent": 2.0},
    "olh": {},
    "oue": {},
    "pgr": {},
    "rappor": {"epsilon_permanent": 2.0, "bits": 8, "cohorts": 2},
    "rr": {},
    "ss": {},
    "sue": {},
    "urappor": {"sensitive": [0, 1, 5]},
    "urr": {"sensitive": [0, 1, 5]},
    "wave": {"width": 2},
}
LABELS = list("abcdefgh")
STRINGS = ("cms", "hcms", "rappor")


def survey_of(name):
    domain = {"domain": "strings"} if name in STRINGS else {"labels": LABELS[: 2 if name == "rr" else 8]}
    return {
        "name": name,
        "question": "Well?",
        **domain,
        "oracle": {"name": name, "epsilon": 1.0, **ORACLES[name]},
    }


def client(path, mode):
    return shlex.join([node(), str(HERE / "javascript_client.mjs"), str(path), mode])


def audited(tmp_path, name, mode, samples, code, *options):
    """Run the command in the shell on two labels, and return what it says as JSON."""
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(survey_of(name)))
    chosen = [part for label in LABELS[:2] for part in ("--value", label)]
    if name in STRINGS:
        (tmp_path / "candidates.txt").write_text("\n".join(LABELS))
        chosen += ["--candidates", tmp_path / "candidates.txt"]
    command = ("--survey", path, "--command", client(path, mode), "--samples", samples, "--confidence", 1 - FALSE_ALARM)
    said, _ = shell("audit", *command, *chosen, *options, "--json", code=code)
    return json.loads(said)


def test_all_oracles_are_audited():
    """But those whose answers are records, which this client cannot be called with; vectors compare their draws."""
    assert sorted({*ORACLES, "sampled"}) == NAMES


@pytest.mark.parametrize("name", ORACLES)
def test_an_honest_client_passes(tmp_path, name):
    verdict = audited(tmp_path, name, "honest", 5000, code=0)
    assert verdict["holds"]
    assert verdict["oracle"]["name"] == name


@pytest.mark.parametrize("name", ["cms", "fhr", "grr", "hcms", "oue", "urr"])
def test_a_client_with_another_epsilon_is_caught(tmp_path, name):
    assert not audited(tmp_path, name, "careless", 5000, code=1)["holds"]


@pytest.mark.parametrize(("mode", "holds"), [("honest", True), ("forgetful", False)])
def test_all_reports_of_eight_days_keep_the_permanent_epsilon(tmp_path, mode, holds):
    verdict = audited(tmp_path, "lwr", mode, 4000, 0 if holds else 1, "--days", 8)
    assert (verdict["holds"], verdict["epsilon"], verdict["days"]) == (holds, 2.0, 8)


def test_a_client_that_uses_its_noise_twice_is_caught(tmp_path):
    verdict = audited(tmp_path, "olh", "repeats", 2000, code=1)
    assert "independence" in [finding["family"] for finding in verdict["findings"] if finding["violated"]]


@pytest.mark.parametrize(("mode", "holds"), [("honest", True), ("careless", False)])
def test_inside_a_group_it_is_plain_ldp(tmp_path, mode, holds):
    """Between groups nothing is promised, so that the audit of the survey says little; inside one it is epsilon-LDP."""
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(survey_of("grouped")))
    survey = Survey.from_dict(survey_of("grouped"))
    command = Command(client(path, mode), survey.oracle, label=survey.label, survey=survey.version)
    audit_result = fldp.audit(
        lambda values: command(values).data,
        epsilon=1.0,
        domain_size=3,
        values=[0, 1],
        samples=5000,
        confidence=1 - FALSE_ALARM,
    )
    assert audit_result.holds is holds
