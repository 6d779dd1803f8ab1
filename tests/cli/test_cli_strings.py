"""Commands on strings that nobody can list, and pictures that cannot be drawn."""

import json
import sys

import pytest

import fldp
from fldp import wire
from fldp.presentation.search import table
from support.serving import run_here

PAGES = 'name = "pages"\nquestion = "Which page?"\ndomain = "strings"\n[oracle]\nname = "cms"\nepsilon = 2.0\n'
DAILY = 'name = "rappor"\nepsilon = 1.0\nepsilon_permanent = 2.0\n[collect]\nrepeat = "daily"\n'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pages.toml").write_text(PAGES)
    (tmp_path / "daily.toml").write_text(PAGES.partition('name = "cms"')[0] + DAILY)
    (tmp_path / "r").write_bytes(wire.encode(fldp.GRR(1.0, 7).privatize([1, 2, 3] * 100, rng=1)))
    return tmp_path


def test_a_plan_for_strings(folder):
    out = run_here("plan", "--survey", "pages.toml", "--users", "10000", cwd=folder).stdout.decode()
    assert "* cms" in out
    assert "hcms" in out
    assert "the largest that they can be" in out
    facts = json.loads(run_here("plan", "--survey", "daily.toml", "--users", "10000", "--json", cwd=folder).stdout)
    assert [row["oracle"]["name"] for row in facts["rows"]] == ["rappor"]
    assert facts["epsilon_permanent"] == 2
    done = run_here("plan", "--survey", "pages.toml", "--users", "9", "--eta", "0.5", code=2, cwd=folder)
    assert done.stderr == b"fldp: a plan for strings takes --survey, --users and --json alone\n"


def test_a_card_for_strings(folder):
    done = run_here("card", "--survey", "pages.toml", "--users", "10000", "--seed", "1", cwd=folder)
    assert b"8 made-up texts stand in" in done.stderr
    assert b"Which page?" in done.stdout
    assert b"epsilon 2." in done.stdout
    (folder / "c.txt").write_text("news\nmail\n")
    done = run_here("card", "--survey", "pages.toml", "--users", "9", "--candidates", "c.txt", cwd=folder)
    assert b"made-up" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("estimate", "r", "--plot", "p.png"), ("card", "--survey", "pages.toml", "--users", "9", "-o", "c.html")],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_computed(folder, monkeypatch, arguments):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = run_here(*arguments, code=2, cwd=folder)
    assert done.stdout == b""
    assert b"pip install 'fldp[plot]'" in done.stderr


def test_recovery_that_is_not_possible_comes_after_the_verdict(folder):
    done = run_here("integrity", "r", "--recover", code=2, cwd=folder)
    assert done.stdout
    assert b"fldp: --recover is not possible here" in done.stderr
    assert b"a fake report of GRR looks like an honest one" in done.stderr


def test_a_line_parts_what_is_certain_from_what_may_be_noise():
    people = {"news": 9000, "mail": 6000, "maps": 5000}
    hitters = fldp.heavy_hitters(people, epsilon=4.0, k=10, rng=1)
    shown = table(hitters, 0.95)
    certain = sum(hitter.certain for hitter in hitters.top())
    assert 0 < certain < 10
    assert shown.title == f"{certain} strings that people hold; below the line, {10 - certain} that may be noise"
    assert [row.end_section for row in shown.rows].index(True) == certain - 1
    assert [*shown.columns[-1].cells] == ["yes"] * certain + ["no"] * (10 - certain)
