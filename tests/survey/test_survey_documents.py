"""The surveys in the documents: good, and such that people can answer them."""

import json
import re
from pathlib import Path

import pytest

from support.serving import run_here

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "js" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SURVEYS = [
    (f"{path.name} {number}", block)
    for path in DOCUMENTS
    for number, block in enumerate(re.findall(r"```toml\n(.*?)```", path.read_text(), re.S), 1)
    if re.search(r"^question\s*=", block, re.M)
]


@pytest.mark.parametrize("block", [block for _, block in SURVEYS], ids=[name for name, _ in SURVEYS])
def test_everybody_can_answer_it(tmp_path, block):
    (tmp_path / "survey.toml").write_text(block)
    (tmp_path / "countries.txt").write_text("Chad\nChile\nChina\n")
    done = run_here("survey", "check", "survey.toml", "--json", cwd=tmp_path)
    assert done.stderr == b""
    assert json.loads(done.stdout)["answers"]["at_origin"] > 0


def test_the_documents_have_surveys():
    assert {name.split()[0] for name, _ in SURVEYS} >= {"README.md", "strings.md", "notions.md", "heavy_hitters.md"}


def test_a_survey_that_nobody_can_answer_is_told_so(tmp_path):
    block = dict(SURVEYS)["strings.md 1"]
    (tmp_path / "survey.toml").write_text(block.replace("epsilon = 2.0", "epsilon = 4.0"))
    done = run_here("survey", "check", "survey.toml", cwd=tmp_path)
    assert b"warning: nobody can answer survey pages: an answer costs epsilon 4" in done.stderr
    assert b"nobody can answer this survey with the default limits" in done.stdout
