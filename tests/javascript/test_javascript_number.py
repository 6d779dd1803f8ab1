"""Numbers in JavaScript beside those in Python: the same cells, versions and refusals. Nothing here fails by chance."""

import random

import numpy as np
import pytest

from fldp.data.scale import MAX_BINS, Scale, number_of
from fldp.errors import FldpError
from fldp.survey import Survey
from support.javascript import ask

WAVE = {"name": "wave", "epsilon": 1.0, "width": 1}
TABLES = [
    {"low": 0, "high": 30},
    {"low": 0, "high": 30, "bins": 8, "apart": [0, 4, 30], "unit": "s"},
    {"low": -3, "high": 7.1, "bins": 17, "apart": [0]},
    {"low": 0, "high": 9, "edges": [0, 1, 2, 5, 9], "apart": [9, 1, 1.5]},
    {"low": 0.1, "high": 0.7, "bins": 4095},
    {
        "low": 0,
        "high": 1,
        "bins": 10,
        "apart": [0.3, 0.6, 0.7],
    },  # doubles put 0.3 below the edge of the bin that it is in
    {"low": 0, "high": 1, "bins": 49, "apart": [k / 49 for k in range(0, 49, 3)]},
    {"low": -7.0, "high": 3.25e124, "bins": 24, "apart": [-6.999999999999999, 2.0315029295715243e124]},
    {
        "low": -269321138.8,
        "high": 0.17,
        "bins": 29,
        "apart": [-139304037.23893228, -65008550.62199872, -9286935.65929854],
    },
    {"low": 0, "high": 30, "outside": "refuse", "bins": 4},
    {"low": 0, "high": 1, "goal": "mean"},
]
BAD = [
    {"low": 0},
    {"low": 0, "high": 0},
    {"low": 0, "high": "1"},
    {"low": -1e308, "high": 1e308},
    {"low": 0, "high": 1, "bins": 2},
    {"low": 0, "high": 1, "bins": MAX_BINS + 1},
    {"low": 0, "high": 1, "bins": 3.5},
    {"low": 0, "high": 1, "bins": MAX_BINS, "apart": [0]},
    {"low": 1, "high": 1 + 2**-50, "bins": 64},
    {"low": 0, "high": 1, "bins": 3, "edges": [0, 0.2, 0.5, 1]},
    {"low": 0, "high": 1, "edges": [0, 0.5, 0.2, 1]},
    {"low": 0, "high": 1, "edges": [0, 0.5, 1]},
    {"low": 0, "high": 1, "edges": [0, 0.2, 0.5, 2]},
    {"low": 0, "high": 1, "apart": [2]},
    {"low": 0, "high": 1, "apart": [0, 0]},
    {"low": 0, "high": 1, "apart": 0},
    {"low": 0, "high": 1, "goal": "mean", "apart": [0]},
    {"low": 0, "high": 1, "goal": "median"},
    {"low": 0, "high": 1, "outside": "drop"},
    {"low": 0, "high": 1, "unit": "s" * 21},
    {"low": 0, "high": 1, "unit": " "},
    {"low": 0, "high": 1, "unit": "a\u00a0b"},
    {"low": 0, "high": 1, "widht": 3},
]


def fields_of(table, oracle=None):
    return {"name": "load", "question": "How long?", "number": table, "oracle": oracle or WAVE}


def width_for(table):
    """A survey of a table, with the first width that suits its cells."""
    for width in range(1, 9):
        try:
            return Survey.from_dict(fields_of(table, {**WAVE, "width": width}))
        except FldpError:
            continue
    raise AssertionError(table)


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_versions_are_those_of_python(table):
    survey = width_for(table)
    told = fields_of(table, survey.canonical["oracle"])
    answers = ask([{"do": "version", "survey": told}, {"do": "version", "survey": survey.canonical}])
    assert [answer.get("result") for answer in answers] == [survey.version] * 2, answers


@pytest.mark.parametrize("table", [table for table in TABLES if "goal" not in table], ids=str)
def test_versions_of_distributions_are_those_of_python(table):
    """Planned in Python, with its views and weights; what JavaScript reads has them all."""
    survey = Survey.from_dict(fields_of(table, {"epsilon": 1.0}))
    answers = ask([{"do": "version", "survey": survey.canonical}])
    assert answers[0].get("result") == survey.version, answers


@pytest.mark.parametrize("table", [table for table in TABLES if "goal" not in table], ids=str)
def test_cells_are_those_of_python(table):
    survey, chance = width_for(table), random.Random(str(table))
    scale = survey.number
    numbers = [*scale.bounds, *scale.apart, *np.nextafter(scale.bounds, -9e9), *np.nextafter(scale.bounds, 9e9)]
    numbers += [chance.uniform(scale.low - 1, scale.high + 1) for _ in range(500)]
    texts = [
        *map(repr, map(float, numbers)),
        "x",
        "",
        "nan",
        "1e999",
        "0x10",
        "1_0",
        " 3",
        "+2",
        ".5",
        "5.",
        "-0",
        "3,2",
    ]
    answers = ask([{"do": "cells", "survey": survey.canonical, "texts": texts}])[0]["result"]
    assert answers == [-1 if number_of(text) is None else scale.cell(number_of(text)) for text in texts]


def test_a_mean_is_rounded_to_a_neighbour():
    """400 draws of 0.3 of a step: both neighbours occur, but once in 1e60; and their share is within 5 sd."""
    scale = Scale(0, 1, goal="mean")
    text = repr((100 + 0.3) / 255)
    answers = ask(
        [{"do": "cells", "survey": width_for({"low": 0, "high": 1, "goal": "mean"}).canonical, "texts": [text] * 400}]
    )
    cells = answers[0]["result"]
    assert set(cells) == {100, 101}
    assert abs(np.mean(cells) - 100.3) < 5 * np.sqrt(0.21 / 400)
    assert scale.size == 256


@pytest.mark.parametrize("table", BAD, ids=str)
def test_bad_tables_are_refused_by_both(table):
    with pytest.raises(FldpError):
        Survey.from_dict(fields_of(table))
    assert ask([{"do": "version", "survey": fields_of(table)}])[0].get("error") == "ParameterError"


def test_a_number_among_several_questions_has_the_version_of_python():
    asked = [
        {"name": "os", "question": "Which?", "labels": ["linux", "mac"]},
        {"name": "load", "question": "How long?", "number": {"low": 0, "high": 16, "bins": 16, "unit": "s"}},
    ]
    survey = Survey.from_dict({"name": "desktop", "questions": asked, "oracle": {"epsilon": 1.0}})
    answers = ask([{"do": "version", "survey": survey.canonical}])
    assert answers[0].get("result") == survey.version, answers
