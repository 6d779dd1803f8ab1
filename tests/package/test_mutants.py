"""``make mutants``: what it changes, what it judges by, and that its explanations are about lines that there are."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "mutants.py"))


def test_one_place_is_changed_at_a_time():
    text = "if a < 1 and b:\n    c = a + b"
    kinds = sorted((line, kind) for line, kind, _ in TOOL["mutants"](text))
    assert kinds == [(1, "and, or"), (1, "comparison"), (1, "condition"), (1, "number"), (2, "arithmetic")]
    assert {mutant for _, _, mutant in TOOL["mutants"](text)} == {
        "if not (a < 1 and b):\n    c = a + b",
        "if a < 1 or b:\n    c = a + b",
        "if a < 1 and b:\n    c = a - b",
        "if a <= 1 and b:\n    c = a + b",
        "if a < 2 and b:\n    c = a + b",
    }


def test_a_run_that_does_not_end_is_not_counted_as_killed(tmp_path):
    endless = tmp_path / "test_endless.py"
    endless.write_text("import time\n\n\ndef test_it():\n    time.sleep(600)\n")
    came = TOOL["outcome"](tmp_path, (str(endless),), 0.1)
    assert came == "did not end"
    told = TOOL["summary"]("coins", [("a.py:1: number", "killed"), ("a.py:2: number", came), ("a.py:3: x", "survived")])
    assert told.splitlines() == [
        "coins: 1 of 3 were killed, 1 did not end",
        "  a.py:2: number: did not end",
        "  a.py:3: x: survived",
    ]


@pytest.mark.parametrize("part", TOOL["PARTS"])
def test_files_and_tests_of_a_part_are_there(part):
    files, tests = TOOL["PARTS"][part]
    assert [name for name in files if not (ROOT / "src" / "fldp" / name).is_file()] == []
    assert [name for name in tests if not (ROOT / name).exists()] == []


def test_explanations_are_about_lines_that_there_are():
    kinds = {"comparison", "arithmetic", "and, or", "number", "condition"}
    for name, kind, line in TOOL["EXPLAINED"]:
        assert kind in kinds
        assert line in map(str.strip, (ROOT / "src" / "fldp" / name).read_text().splitlines())
