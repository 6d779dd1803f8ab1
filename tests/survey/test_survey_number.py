"""Surveys of a number: what is planned is pinned, texts become cells, and answers are never shown."""

import json

import numpy as np
import pytest

import fldp
from fldp import DomainError
from fldp.data.number import Number
from fldp.participant.choice import Choice
from fldp.survey import Survey
from support.serving import shell

MEAN = {
    "name": "load",
    "question": "How many seconds did the last page take?",
    "number": {"low": 0, "high": 30, "unit": "s", "goal": "mean"},
    "oracle": {"epsilon": 1.0},
}


def survey(number=None, **fields):
    return Survey.from_dict({**MEAN, "number": {**MEAN["number"], **(number or {})}, **fields})


def test_the_version_pins_what_was_planned():
    number_survey = survey()
    assert number_survey.canonical["oracle"] == {"name": "wave", "epsilon": 1.0, "width": 128}
    assert number_survey.canonical["number"] == {
        "low": 0.0, "high": 30.0, "bins": 256, "unit": "s", "goal": "mean", "outside": "clamp",
    }  # fmt: skip
    assert Survey.from_dict(number_survey.canonical).version == number_survey.version
    assert number_survey.version == "0d9c3b8486963b5e51a1b9eb8b0a392994c35a5778045342e013a0b810b9c0bf"
    assert survey({"high": 31}).version != number_survey.version


DISTRIBUTION = {**MEAN, "number": {"low": 0, "high": 30, "unit": "s", "apart": [0]}}


def test_the_version_pins_the_views_of_a_distribution():
    survey = Survey.from_dict(DISTRIBUTION)
    assert survey.canonical["oracle"] == {
        "name": "sampled", "epsilon": 1.0, "base": "ss", "views": [[0], ["wave", 0, 5]], "weights": [1843, 2253],
    }  # fmt: skip
    assert survey.oracle.answers == (33,)
    assert Survey.from_dict(survey.canonical).version == survey.version
    assert survey.version == "33b7e0d6723c94d5b68978a89e7a917bdf0d5028cc04478fb07b79204ef4f946"


def test_a_distribution_is_estimated_with_its_spike():
    """All figures within 4 standard errors, or in their intervals: false alarm below 1e-3, fixed seed."""
    survey, draw = Survey.from_dict(DISTRIBUTION), np.random.default_rng(1)
    people = np.where(draw.random(50_000) < 0.3, 0.0, draw.gamma(2, 4, 50_000))
    number = survey.estimate(survey.privatize(people, rng=2))
    inside = np.minimum(people, 30)
    zeros, mean = number.cdf(0), number.mean()
    assert abs(zeros.value - np.mean(people == 0)) < 4 * zeros.stderr
    assert abs(mean.value - inside.mean()) < 4 * mean.stderr + number.scale.half_cell
    for q in (0.2, 0.5, 0.9):
        value = number.quantile(q)
        assert value.low <= np.quantile(inside, q) <= value.high
    assert number.sum(range(33)).stderr == 0
    assert fldp.verify(survey.oracle).epsilon == 1.0


SEVERAL = {
    "name": "desktop",
    "questions": [
        {"name": "os", "question": "Which system do you use?", "labels": ["linux", "mac", "windows"]},
        {
            "name": "load",
            "question": "How long did it take?",
            "number": {"low": 0, "high": 16, "bins": 16, "unit": "s"},
        },
    ],
    "tables": {"cross": [["os", "load"]]},
    "oracle": {"epsilon": 2.0},
}


def test_a_number_among_several_questions():
    """The figures of the number, and its cross with another question: 40,000 people, 4 standard errors, fixed seed."""
    survey, draw = Survey.from_dict(SEVERAL), np.random.default_rng(1)
    assert Survey.from_dict(survey.canonical).version == survey.version
    seconds, systems = draw.gamma(2, 2, 40_000), draw.integers(0, 3, 40_000)
    answers = [{"os": SEVERAL["questions"][0]["labels"][os], "load": x} for os, x in zip(systems, seconds, strict=True)]
    tables = survey.estimate(survey.privatize(answers, rng=3))
    number = tables["load"]
    assert isinstance(number, Number)
    assert abs(number.cdf(4).value - np.mean(seconds < 4)) < 4 * number.cdf(4).stderr
    assert number.mean().unit == "s"
    np.testing.assert_allclose(tables.cross("os", "load").counts.sum(axis=0), number.counts, atol=1e-6)
    clamped = survey.encode([{"os": "mac", "load": 99}, {"os": "mac", "load": "15.5"}])
    assert clamped[0] == clamped[1]
    printed = str(tables)
    assert "os: the 3 largest of 3 estimates" in printed
    assert "load: 40,000 reports" in printed
    cells = [label for label in number.histogram().labels() if label in printed.partition("load: Shares of people")[2]]
    assert sorted(cells, key=printed.index) == cells  # in their order, not the largest first
    assert "load: the" in str(fldp.postprocess(tables, "consistent"))


@pytest.mark.parametrize(
    ("number", "more", "told"),
    [
        ({"low": 0}, {}, "number: high is missing"),
        ({"low": 0, "high": 1, "goal": "mean"}, {}, "a distribution: a mean is asked for in a survey of its own"),
        ({"low": 0, "high": 1}, {"optional": True}, "a number must be answered"),
        ({"low": 0, "high": 1}, {"labels": ["a", "b"]}, "the domain is given twice"),
    ],
)
def test_mistakes_of_a_number_among_several(number, more, told):
    asked = [SEVERAL["questions"][0], {"name": "load", "question": "How long?", "number": number, **more}]
    with pytest.raises(fldp.ParameterError) as raised:
        Survey.from_dict({**SEVERAL, "questions": asked})
    assert told in str(raised.value)


def test_numbers_and_their_texts_are_the_same_answers():
    number_survey = survey({"goal": "distribution", "bins": 30}, oracle={"name": "wave", "epsilon": 1.0, "width": 5})
    assert number_survey.encode([3.2, 29.9, 31, -1]).tolist() == [3, 29, 29, 0]
    assert number_survey.encode(["3.2", " 29.9", "31", "-1"]).tolist() == [3, 29, 29, 0]
    assert number_survey.encode(np.array([3.2, 29.9])).tolist() == [3, 29]
    assert [number_survey.value(text) for text in ("3.2", "x", "nan", "99")] == [3, None, None, 29]
    assert number_survey.label(3) == "3 to 4 s"
    assert number_survey.domain_size == 30
    assert number_survey.asked.choices == "a number from 0 to 30 s"


def test_what_is_outside_is_refused_only_by_who_holds_the_survey():
    number_survey = survey(
        {"goal": "distribution", "outside": "refuse"}, oracle={"name": "wave", "epsilon": 1.0, "width": 5}
    )
    assert number_survey.value("99") is None
    assert number_survey.value("99", clamp=True) == 31
    with pytest.raises(DomainError, match="above high = 30"):
        number_survey.encode([99])
    assert [Choice.of(text).value(number_survey) for text in ("99", "-5")] == [31, 0]
    answer = fldp.Participant(_memory()).answer(number_survey, "99", origin="https://collector.example")
    assert len(fldp.wire.decode(answer.report)) == 1  # a refusal would tell the collector, who chose the range


def test_nor_among_several_questions():
    load = {"name": "load", "question": "How long?", "number": {"low": 0, "high": 30, "bins": 3, "outside": "refuse"}}
    asked = [load, {"name": "os", "question": "Which?", "labels": ["linux", "mac"]}]
    several = Survey.from_dict({"name": "desktop", "questions": asked, "oracle": {"epsilon": 1.0}})
    assert several.encode([{"load": 30, "os": "mac"}]).tolist() == [5]
    with pytest.raises(DomainError, match=r"unknown answer to 'load' at position 0 \(not shown"):
        several.encode([{"load": 30.1, "os": "mac"}])
    answer = fldp.Participant(_memory()).answer(several, {"load": 99, "os": "mac"}, origin="https://collector.example")
    assert len(fldp.wire.decode(answer.report)) == 1
    assert several.record({"load": 99, "os": "mac"}) == 5


def _memory():
    from fldp.participant_store import MemoryStore

    return MemoryStore()


def test_a_number_is_answered_as_a_number():
    person = fldp.Participant(_memory())
    first = person.answer(survey(), 3.2, origin="https://collector.example")
    assert person.answer(survey(), "4", origin="https://collector.example").report == first.report


@pytest.mark.parametrize("bad", [["x"], [None], ["3.2", "nan"], [True]])
def test_bad_answers_are_not_shown(bad):
    with pytest.raises(DomainError, match="not shown") as raised:
        survey().encode(bad)
    assert "x" not in str(raised.value).split(":")[1]


def test_estimates_are_numbers():
    number_survey = survey()
    number = number_survey.estimate(number_survey.privatize([3.0] * 20_000 + [20.0] * 20_000, rng=1))
    assert isinstance(number, Number)
    mean = number.mean()
    assert abs(mean.value - 11.5) < 4 * mean.stderr  # false alarm 6e-5, fixed seed
    assert mean.stderr == pytest.approx(15 * np.sqrt(4.04 / 40_000), rel=0.02)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"number": {"low": 0}}, "survey: number: high is missing"),
        ({"number": MEAN["number"], "labels": ["a", "b"]}, "the domain is given twice: labels, number"),
        ({"oracle": {"epsilon": -1}}, "survey: oracle.epsilon must be a positive, finite number, got -1"),
        ({"oracle": {"epsilon": 1.0, "width": 3}}, "'width' is not given for a number"),
        ({"oracle": {"name": "grr", "epsilon": 1.0}}, "oracle.name must be one for numbers, or left out, got 'grr'"),
        ({"oracle": {"name": "sampled", "epsilon": 1.0}}, "oracle.views is missing"),
        ({"oracle": {"name": "sampled", "epsilon": 1.0, "views": 1}}, "oracle.name must be 'wave', or left out, where"),
        ({"oracle": None}, "the table [oracle] is missing"),
        ({"sensitive": ["3"]}, "is not"),
    ],
)
def test_mistakes(fields, told):
    with pytest.raises(fldp.ParameterError) as raised:
        Survey.from_dict({**MEAN, **fields})
    assert told in str(raised.value)


def test_mistakes_have_their_lines():
    text = 'name = "load"\nquestion = "How long?"\nnumber = { low = 0, high = -1 }\n[oracle]\nepsilon = 1.0\n'
    with pytest.raises(fldp.ParameterError, match=r"line 3: number: high must be above low = 0"):
        Survey.parse(text, is_json=False)


def test_the_shell_shows_a_number_alone_and_among_several(tmp_path):
    """From a column of numbers to figures, as text, JSON and CSV; options of numbers are refused for others."""
    lines = [f"{'linux' if k % 3 else 'mac'},{k % 11}" for k in range(2000)]
    (tmp_path / "both.csv").write_text("os,load\n" + "\n".join(lines) + "\n")
    for fields, more in ((DISTRIBUTION, ("--column", "load")), (SEVERAL, ())):
        survey, reports = tmp_path / f"{fields['name']}.json", tmp_path / f"{fields['name']}.fldp"
        survey.write_text(json.dumps(fields))
        shell("privatize", tmp_path / "both.csv", "--survey", survey, "-o", reports, *more)
        one = ("--question", "load") if fields is SEVERAL else ()
        said, _ = shell("estimate", reports, "--survey", survey, *one)
        assert "quantile 0.5" in said
        said, _ = shell("estimate", reports, "--survey", survey, *one, "--json", "--cdf", "4", "--share", "2", "5")
        printed = json.loads(said)
        assert [value["what"] for value in printed["values"]] == ["share up to 4 s", "share from 2 to 5 s"]
        assert printed["cdf"][-1]["cdf"] == pytest.approx(1)
        said, _ = shell("estimate", reports, "--survey", survey, *one, "--csv")
        assert said.startswith("label,start,end,share,stderr,low,high\n")
    _, told = shell("estimate", reports, "--survey", survey, "--mean", code=2)
    assert "are for a number" in told
    said, _ = shell("plan", "--number", "--users", "100000", "--epsilon", "1", "--json")
    assert json.loads(said)["bins"] == 32
    _, told = shell("plan", "--number", "--users", "100000", code=2)
    assert "needs --users and --epsilon" in told
