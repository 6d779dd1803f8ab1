"""The page of the reproduction: complete, the same each time, and true to the evidence; the committed one, too."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fldp.experiments.paper.claims import CLAIMS, Outcome
from fldp.experiments.paper.document import document, verdicts
from fldp.experiments.paper.figures import PICTURES
from support import reproduction
from support.reproduction import OPEN, SETTLED, with_lines

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"


@pytest.fixture(scope="module")
def evidence():
    return reproduction.evidence()


def test_the_page_is_the_same_for_the_same_evidence(evidence):
    judged = verdicts(evidence)
    page = document(evidence, judged, full=False, folder="pictures")
    assert page == document(evidence, verdicts(evidence), full=False, folder="pictures")
    assert page != document(replace(evidence, costs=evidence.costs[:3]), judged, full=False, folder="pictures")
    assert "every user's own report" in document(evidence, judged, full=True, folder="pictures")
    assert page.isascii() or set(re.findall(r"[^\x00-\x7f]", page)) == {"µ"}


def test_the_page_has_every_claim_figure_and_panel(evidence):
    page = document(evidence, verdicts(evidence), full=False, folder="pictures")
    for name, one in CLAIMS.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert one.says.replace("|", "\\|") in row
        assert sum(outcome.value in row for outcome in Outcome) >= 1
        assert f"**`{name}`** ({one.where}): " in page
    for name, picture in PICTURES.items():
        assert f"![{picture.caption}](pictures/{name}.svg)" in page
    for metric in ("KLD", "SE", "RE", "NCR"):
        assert f"| {metric} | step | power |" in page
    assert len(re.findall(r"^\| top \d+ \|", page, re.MULTILINE)) == 4 * 2
    assert "| OUE of the same error |" in page
    widths = [len(re.split(r"(?<!\\)\|", line)) for line in page.splitlines() if line.startswith("|")]
    assert min(widths) > 3


def test_a_wrong_table_changes_the_page(evidence):
    worse = with_lines(evidence, lambda e: 0.6 - 0.1 * e, lambda e: 0.3 - 0.1 * e)
    rows = [line for line in document(worse, verdicts(worse), full=False, folder="x").splitlines() if "-best`" in line]
    assert all("**does not hold**" in row for row in rows if row.startswith("|"))


def test_the_committed_page_is_of_the_whole_run():
    page = PAGE.read_text()
    for name, one in CLAIMS.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert one.says.replace("|", "\\|") in row
        assert OPEN.value not in row, "the whole run decides every claim"
    for name, outcome in SETTLED.items():
        assert f"**`{name}`** ({CLAIMS[name].where}): {outcome.value}." in page
    for name in ("zipf", "online", "brown"):
        assert re.search(rf"^\| {name} \| [\d,]+ \| [\d,]+ \|$", page, re.MULTILINE)
    assert "10 runs, epsilon from 0.4 to 2" in page
    assert len(re.findall(r"^\| top \d+ \|( [^|]+\|){3}$", page, re.MULTILINE)) == 4 * 3


def test_the_tables_are_of_the_evidence(evidence):
    page = document(evidence, verdicts(evidence), full=False, folder="x")
    pairs = [(match.weak, match.plain) for match in evidence.matches]
    less = [sum(getattr(a, how).after < getattr(b, how).after for a, b in pairs) for how in ("blind", "informed")]
    assert f"plain LDP in {less[0]} of 3 pairs; informed, in {less[1]}." in page
    series = ("OUE", "FWR, eta 1", "FWR, eta 1/2", "FHR, full", "FHR, paper")
    oue, plain, weak, full, paper = (
        40_000 * evidence.main.where(dataset="step", series=one, epsilon=1.0, metric="mse")["value"].mean()
        for one in series
    )
    numbers = (1.0, oue, plain, weak, full, paper, plain / weak, paper / full, paper / weak)
    assert "| " + " | ".join(f"{number:.3g}" for number in numbers) + " |" in page
    guess = evidence.matches[0].weak
    told = f"{guess.blind.gain:.3g} | {100 * guess.informed.after:.1f} % | {guess.blind.left:,.0f} |"
    assert f"| FHR, full | 1 | 1/2 | {guess.errors['full']:.3g} | {told}" in page
    for cost in evidence.costs:
        assert f"| {cost.oracle.title}, eta {cost.oracle.eta} | {cost.bits:,} |" in page
