"""docs/tutorial.md, followed from top to bottom in an empty folder: its commands work, and end with the table shown."""

import json
import re
import shlex
from pathlib import Path

import pytest

from fldp import Survey
from support.commands import run_here
from support.documents import words

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()


def commands():
    """Yield all commands in their order, and the survey where it stands."""
    for language, text in re.findall(r"^```(sh|toml)\n(.*?)^```", TUTORIAL, re.MULTILINE | re.DOTALL):
        if language == "toml":
            yield text
        for line in text.splitlines() if language == "sh" else ():
            yield shlex.split(line, comments=True)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorial")
    for command in commands():
        if isinstance(command, str):
            (folder / "ticket.toml").write_text(command)
        else:
            assert command[0] == "fldp"
            said = run_here(*command[1:], cwd=folder).stdout
    (folder / "said").write_bytes(said)
    return folder


def cross(folder, *names):
    done = run_here("estimate", folder / "tally.fldp", "--survey", folder / "ticket.toml", "--json", "--cross", *names)
    return json.loads(done.stdout)


@pytest.mark.long
def test_the_last_table_says_where_to_begin(folder):
    """Row shares within five standard errors of the truth, 0.2 and 0.6, and every cell marked: fails once in 10^6."""
    table = cross(folder, "site", "ticket")
    shares = {(row["row"], row["column"]): row for row in table["row_shares"]}
    for site, share in {"north": 0.2, "south": 0.6}.items():
        row = shares[site, "yes"]
        reach = 5 * (row["high"] - row["low"]) / 2 / 1.96
        assert abs(row["share"] - share) < reach
    assert shares["north", "yes"]["high"] < shares["south", "yes"]["low"]
    assert table["marks"] == [[1, -1], [-1, 1]]
    assert table["independence"]["p_value"] < 1e-6
    (shown,) = re.findall(r"^```text\n(.*?)^```", TUTORIAL, re.MULTILINE | re.DOTALL)
    assert words(shown) == words((folder / "said").read_text())


def test_the_drafted_survey_has_a_number_and_labels(folder):
    drafted = Survey.load(folder / "drafted.toml", draft=True)
    assert [each.name for each in drafted.questions] == ["site", "commute", "km", "ticket"]
    assert [each.number is not None for each in drafted.questions] == [False, False, True, False]
    assert drafted.questions[2].number.apart == (0,)
    assert len([view for view in drafted.oracle.design.views if len(view.questions) == 2]) == 6
