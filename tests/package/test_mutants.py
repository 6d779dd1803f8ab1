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
