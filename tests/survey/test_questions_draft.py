"""Drafts of several questions from a table: labels, numbers, what is left out, and columns that cannot be questions."""

import pytest

from fldp import FldpError, Survey
from fldp.estimation.number_planner import best_bins
from fldp.survey.questions_draft import ColumnDraft, draft_questions
from fldp.wire.record_cells import read_rows
from support.commands import run_here


def table(**columns):
    names = list(columns)
    cells = zip(*columns.values(), strict=True)
    return [[(f"line {line}", dict(zip(names, row, strict=True))) for line, row in enumerate(cells, 2)]]


def drafted(rows, **options):
    text, count = draft_questions(rows, "drafted", 1.0, **options)
    return Survey.parse(text, is_json=False, draft=True), text, count


def test_few_numbers_are_labels_and_many_are_a_number():
    stars, load = [str(k % 5) for k in range(60)], [str(k / 2) for k in range(60)]
    draft, text, count = drafted(table(stars=stars, load=load), users=100_000, cross="all")
    assert count == 60
    assert draft.questions[0].labels == ("0", "1", "2", "3", "4")
    scale = draft.questions[1].number
    assert (scale.low, scale.high, scale.bins) == (0, 30, best_bins(100_000, 1.0))
    assert "#   stars: " in text
    assert [view.questions for view in draft.oracle.design.views if len(view.questions) == 2] == [(0, 1)]


def test_a_missing_label_is_an_optional_question_and_a_missing_number_is_refused():
    draft, *_ = drafted(table(os=["mac", None, "linux"], paid=["no", "yes", "no"]))
    assert [each.optional for each in draft.questions] == [True, False]
    load = [*map(str, range(30)), None]
    with pytest.raises(FldpError, match="load is a number, which must be answered, and 1 of 31 rows have none; drop"):
        drafted(table(load=load, paid=["no", "yes"] * 15 + ["no"]))


def test_zeros_that_many_hold_are_apart():
    load = ["0"] * 10 + [str(k + 0.5) for k in range(30)]
    draft, *_ = drafted(table(load=load, paid=["no", "yes"] * 20))
    assert draft.questions[0].number.apart == (0,)
    draft, *_ = drafted(table(load=load[9:], paid=["no", "yes"] * 15 + ["no"]))
    assert draft.questions[0].number.apart == ()


@pytest.mark.parametrize(
    ("least", "most", "expected"),
    [(0, 29.5, (0, 30)), (-3, 41, (-5, 45)), (101, 103, (101, 103)), (1e-3, 7e5, (0, 7e5))],
)
def test_ranges_are_round_numbers_outside(least, most, expected):
    column = ColumnDraft("load", least=least, most=most)
    assert column.range == pytest.approx(expected)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"os": ["a", "b"]}, "--questions needs a table of at least 2 columns, got 1"),
        ({"os": ["a", "b"], "Your plan": ["a", "b"]}, "the column 'Your plan' must be named with 1 to 64 of the"),
        ({"os": ["a", "b"], "plan": ["a", "a"]}, "plan needs at least 2 different answers, got 1"),
        ({"os": ["a", "b"], "plan": ["a", "\x01"]}, "line 3 has .*; a label is one line"),
        ({"os": ["a", "b"], "mail": ["a@b.example", "c@d.example"]}, "2 of 2 labels look like e-mail addresses"),
    ],
)
def test_columns_that_cannot_be_questions_are_refused(columns, message):
    with pytest.raises(FldpError, match=message):
        drafted(table(**columns))


def test_crosses_are_all_or_none():
    with pytest.raises(FldpError, match="--cross must be all or none, got 'some'; list pairs in the file"):
        drafted(table(os=["a", "b"], plan=["a", "b"]), cross="some")


def test_all_columns_of_a_file_are_read(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("os;plan\nmac;no\nlinux;yes\n")
    (rows,) = read_rows(str(path))
    assert [answers for _, answers in rows] == [{"os": "mac", "plan": "no"}, {"os": "linux", "plan": "yes"}]
    run_here("survey", "init", path, "--questions", "--name", "desktop", "-o", tmp_path / "survey.toml")
    assert [each.name for each in Survey.load(tmp_path / "survey.toml").questions] == ["os", "plan"]


def test_people_of_one_kind_are_made_up():
    commutes = run_here("sample", "--people", 100).stdout.decode().splitlines()
    assert (commutes[0], len(commutes)) == ("commute", 101)
    assert commutes.count("car") == 42
    pages = run_here("sample", "--people", 1000, "--strings").stdout.decode().splitlines()
    assert (pages[0], len(pages)) == ("page", 1001)
    done = run_here("sample", "--questions", "--strings", code=None)
    assert done.returncode == 2
    assert b"give --strings or --questions, not both" in done.stderr
