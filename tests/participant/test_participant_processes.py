"""Several processes at once, and processes that are killed: one draw, whatever happens."""

import json
import os
import random
import signal
import subprocess
import sys

import pytest

from fldp import Participant, Spent
from support.participant_surveys import ORIGIN, WIDE, specification

SCRIPT = ("-m", "support.participant_process")


def answered(path):
    return Participant(path).answer(specification(), "firefox", origin=ORIGIN)


def started(*arguments):
    command = [sys.executable, *SCRIPT, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.long
def test_eight_processes_at_once_draw_once(tmp_path):
    """They make the file, draw and answer at the same time; then each asks for a version of its own."""
    path = tmp_path / "answers.db"
    processes = [started(path, "race", number) for number in range(8)]
    for process in processes:
        assert json.loads(process.stdout.readline()) == {"ready": True}
    answers = turn(processes)
    assert len({answer["report"] for answer in answers}) == 1
    assert sorted(answer["repeated"] for answer in answers) == [False] + [True] * 7
    refusals = [answer["refused"] for answer in turn(processes)]
    assert refusals.count(None) == 1  # epsilon 2 in all, and 1 was spent
    assert {text for text in refusals if text} == {
        f"participant: answers on topic browser to {ORIGIN} must have an epsilon of at most 2 together, got 3"
    }
    for process in processes:
        process.communicate()
    assert len(Participant(path).history()) == 2
    assert answered(path).report.hex() == answers[0]["report"]
    assert os.listdir(tmp_path) == ["answers.db"]


def turn(processes):
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    return [json.loads(process.stdout.readline()) for process in processes]


@pytest.mark.parametrize("step", ["drawn", "added", "spilled"])
def test_a_crash_before_the_commit_spends_nothing(tmp_path, step):
    path = tmp_path / "answers.db"
    process = started(path, "dying", step)
    said = process.communicate()[0].splitlines()
    assert process.returncode == -signal.SIGKILL
    (drawn,) = map(json.loads, said)  # never sent
    assert (tmp_path / "answers.db-journal").exists() == (step in ("added", "spilled"))
    participant = Participant(path)
    assert participant.history() == ()
    assert participant.spent() == Spent()
    answer = participant.answer(specification(), "firefox", origin=ORIGIN)
    assert not answer.repeated
    assert answer.report.hex() != drawn["drawn"]  # a 64-bit seed: alike once in 2^64


def test_a_crash_after_the_commit_repeats(tmp_path):
    path = tmp_path / "answers.db"
    process = started(path, "dying", "committed")
    said = process.communicate()[0].splitlines()
    assert process.returncode == -signal.SIGKILL
    (drawn,) = map(json.loads, said)
    answer = answered(path)
    assert answer.repeated
    assert answer.report.hex() == drawn["drawn"]
    assert answer.key == drawn["key"]


@pytest.mark.long
def test_whenever_it_is_killed_what_was_sent_is_kept(tmp_path):
    path, sent, draws = tmp_path / "answers.db", {}, random.Random(1)
    for _ in range(3):
        process = started(path, "forever", len(sent))
        for _ in range(draws.randrange(3, 30)):
            line = json.loads(process.stdout.readline())
            sent.setdefault(line["number"], line["sent"])
        os.kill(process.pid, signal.SIGKILL)
        for rest in process.communicate()[0].splitlines(keepends=True):
            if rest.endswith("\n"):
                sent[json.loads(rest)["number"]] = json.loads(rest)["sent"]
    participant = Participant(path, limits=WIDE)
    assert len(sent) <= len(participant.history()) <= len(sent) + 3  # one that was kept and not sent, each time
    for number, report in sent.items():
        answer = participant.answer(specification(number), "chrome", origin=ORIGIN)
        assert (answer.repeated, answer.report.hex()) == (True, report)
