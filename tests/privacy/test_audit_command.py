"""Commands as black boxes, which are real processes, and the command that audits them.

Audits of honest clients use secure noise at a confidence of 0.9999: each accuses with a probability of at most 1e-4.
"""

import json
import os
import shlex
import sys
import time
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest

import fldp
from fldp.privacy.auditor.external_command import Command
from fldp.survey import Survey
from support.serving import shell
from support.waiting import LONG, until

STRANGER = shlex.join([sys.executable, "-S", str(Path(__file__).parents[1] / "support" / "wire_only_client.py")])
RR = ("--oracle", "rr", "--epsilon", "1")
SURE = ("--confidence", "0.9999")
SURVEY = {"name": "s", "question": "Well?", "labels": ["no", "yes"], "oracle": {"name": "rr", "epsilon": 1.0}}


def run(*arguments, code=0, cwd="."):
    with chdir(cwd):
        return shell("audit", *arguments, code=code)


def stranger(mode, **options):
    return Command(f"{STRANGER} {shlex.quote(mode)}", fldp.RR(1.0), **{"timeout": LONG, **options})


def test_an_honest_stranger_passes_and_a_careless_one_does_not():
    printed = json.loads(run(*RR, "--command", f"{STRANGER} honest", "--samples", 4000, *SURE, "--json")[0])
    assert printed["holds"]
    assert printed["epsilon_lower_bound"] > 0.5
    assert printed["oracle"] == {"name": "rr", "epsilon": 1.0}
    printed = run(*RR, "--command", f"{STRANGER} careless", "--samples", 4000, code=1)[0]
    assert "VIOLATED" in printed
    assert (
        "VIOLATION: this is not (epsilon 1, eta 1)-FLDP, which is plain LDP. At this eta, epsilon is at least 1"
        in printed
    )
    assert "rules out" not in printed  # that is the declared oracle's, not this program's
    assert "What else its reports give away was not seen" in printed


def test_a_survey_has_labels_and_a_version(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps(SURVEY))
    version = Survey.from_dict(SURVEY).version
    command = ("--survey", "s.json", "--command", f"{STRANGER} repeats:{version}", "--samples", 2000)
    # Repeats double the variance of every count, so 6 standard errors are 4.2: another family errs once in 10,000.
    sure = ("--confidence", "0.999999999")
    printed = json.loads(run(*command, *sure, "--json", code=1, cwd=tmp_path)[0])
    assert printed["values"] == ["no", "yes"]
    assert [finding["family"] for finding in printed["findings"] if finding["violated"]] == ["independence"]
    assert printed["conclusion"].startswith("VIOLATION: reports of different people are not independent.")
    refused = run("--survey", "s.json", "--command", f"{STRANGER} honest", code=2, cwd=tmp_path)[1]
    assert f"for label 'no': wire: a batch for survey version none, where {version} is expected" in refused


def test_help():
    assert "exit code 1" in run("--help")[0]


def test_the_table_and_what_it_is_worth():
    text = run("--oracle", "fhr", "--epsilon", 1, "--domain", 1023, "--samples", 2000, *SURE)[0]
    for family in ("outputs", "positions", "order", "parities", "classes", "supports", "independence"):
        assert f"│ {family} " in text
    assert "they fit (epsilon 1, eta 0.5)-FLDP" in text
    assert "That is no proof." in text
    chosen = run(*RR, "--value", 0, "--value", 1, "--samples", 1000, *SURE, "--json")[0]
    assert json.loads(chosen)["values"] == ["0", "1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "fldp: name an oracle: --survey FILE, or --oracle NAME --epsilon E --domain D"),
        ((*RR, "--samples", "3"), "audit: samples must be an integer from 100 to 10000000, got 3"),
        ((*RR, "--confidence", "1"), "audit: confidence must be a number between 0 and 1, got 1.0"),
        ((*RR, "--value", "0"), "audit: values must be 2 to 32 different ones, got (0,)"),
        (
            (*RR, "--value", "7"),
            "RR: unknown label at position 0 (not shown, to protect the answer)",
        ),
        ((*RR, "--command", ""), "audit: the command must be a program and its arguments, got ''"),
        ((*RR, "--command", "'"), 'audit: the command must be a program and its arguments, got "\'"'),
        ((*RR, "--command", "/nowhere/client"), "/nowhere/client: cannot be run: No such file or directory"),
        (
            (*RR, "--command", "cat", "--timeout", "0"),
            "audit: the time limit must be a positive, finite number, got 0.0",
        ),
        ((*RR, "--command", "cat"), "cat: for label '0': exit code 1: cat: 5000: No such file or directory"),
        ((*RR, "--command", "echo"), "echo: for label '0': wire: this is not an fldp file"),
    ],
    ids=str,
)
def test_bad_use_is_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shell("audit", *arguments, code=2) == ("", f"{message}\n")


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("few", "for label '1': 9 reports, where 10 were asked for"),
        ("many", "for label '1': wire: more reports than the 10 that were asked for"),
        ("another", "of RR(epsilon=2.0), where RR(epsilon=1.0) is expected"),
        ("cut", "wire: the input ends within the end"),
        ("more", "wire: bytes after the end"),
        ("nothing", "wire: the input ends within the magic number"),
        ("text", "wire: this is not an fldp file"),
        ("fails", "for label '1': exit code 3: the dog ate it[31m"),
        ("fails later", "for label '1': exit code 1"),
        ("endless", "wire: this is not an fldp file"),
    ],
)
def test_a_command_that_does_not_answer_as_it_should_is_refused(mode, message):
    with pytest.raises(fldp.WireError) as refusal:
        stranger(mode)([1] * 10)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("mode", ["slow", "lingers"])
def test_a_command_that_takes_too_long_is_ended(mode):
    begin = time.monotonic()
    with pytest.raises(fldp.WireError, match="for label '1': no complete answer within 1 seconds"):
        stranger(mode, timeout=1.0)([1] * 10)
    assert time.monotonic() - begin < LONG


@pytest.mark.parametrize("last", ["wait", "exit 0"])
def test_what_a_command_started_ends_with_it(tmp_path, last):
    """A child of the child holds the pipe open and says nothing, with its parent or without."""
    script = tmp_path / "client.sh"
    script.write_text(f"sleep 97 & echo $! > {tmp_path}/pid; {last}")
    for seconds in (0.5, 5, 60):  # as many as it takes to start
        with pytest.raises(fldp.WireError, match=r"no complete answer within [\d.]+ seconds"):
            Command(f"sh {script}", fldp.RR(1.0), timeout=seconds)([1])
        if (tmp_path / "pid").exists():
            break
    pid = int((tmp_path / "pid").read_text())
    try:
        until(lambda: _has_ended(Path(f"/proc/{pid}/stat")), 60)  # it sleeps longer
    except AssertionError:
        os.kill(pid, 9)
        pytest.fail("the child of the command goes on")


def _has_ended(state):
    try:
        return state.read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_what_a_command_says_aside_does_not_stop_it():
    reports = stranger("loud")(np.ones(3000, np.int64))
    assert len(reports) == 3000
    assert 0.6 < reports.data.mean() < 0.85
