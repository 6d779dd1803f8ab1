"""The table [search] of a survey: a search as a person writes it, and a round as a collector publishes it."""

import copy
import json
from pathlib import Path

import pytest

from fldp import Survey
from fldp.conformance import vectors
from fldp.presentation.tables import survey_facts
from fldp.search import Search
from fldp.survey import SurveyError

WRITTEN = """\
name = "words"
question = "Which word do you type most often?"
domain = "strings"
[search]
k = 5
rounds = 3
bits = 8
quota = 500
[oracle]
epsilon = 2.0
"""


def parsed(text=WRITTEN):
    return Survey.parse(text, is_json=False)


def later():
    first = parsed()
    return first.at(first.search.search.later(2, ("0110", "0101", "111"), 5, ("00",)))


def test_what_is_written_is_the_first_round():
    survey = parsed()
    assert survey.search == Search(epsilon=2.0, k=5, rounds=3, bits=8, quota=500).first
    assert survey.oracle == survey.search.oracle
    assert (survey.domain_size, survey.labels) == (257, None)
    assert parsed(WRITTEN.replace("[oracle]", '[oracle]\nname = "fwr"\neta = 0.5')).oracle.eta == 0.5


@pytest.mark.parametrize("survey", [parsed(), later()], ids=["first", "later"])
def test_a_version_says_all_of_it(survey):
    again = Survey.from_dict(json.loads(json.dumps(survey.canonical)))
    assert (again, again.version) == (survey, survey.version)
    assert survey.canonical["domain"] == "strings"
    assert "domain_size" not in survey.canonical


def test_rounds_are_versions_of_one_survey():
    first, second = parsed(), later()
    assert first.version != second.version
    assert (first.name, first.question, first.collect) == (second.name, second.question, second.collect)
    assert second.domain_size == 3 * 32 + 1


def test_the_oracle_of_a_later_round_is_what_it_says():
    """Whatever a plan would say today: the reports are there already."""
    fields = later().canonical
    assert Survey.from_dict({**fields, "oracle": {"name": "hr", "epsilon": 2.0}}).oracle.name == "hr"


def test_answers_are_strings():
    survey = later()
    assert survey.value("the") == survey.search.value(b"the")
    assert survey.encode(["the", "\N{SNOWMAN}"]).dtype == "int64"
    assert survey.value("") is None
    assert survey.value("\ud800") is None
    assert survey.label(survey.search.none) == "(none of these)"
    assert survey.oracle.tally(survey.privatize(["the"] * 20)).n == 20


def test_estimates_have_the_beginnings_as_labels():
    survey = later()
    estimate = survey.estimate(survey.oracle.tally(survey.privatize(["the", "of"] * 50, rng=1)))
    assert len(estimate.labels) == survey.domain_size
    assert estimate.labels[-1] == "(none of these)"
    assert estimate.labels[:2] == [survey.label(0), survey.label(1)]
    assert list(estimate.to_pandas()["label"]) == list(estimate.labels)


def test_all_labels_are_of_strings_that_have_the_value():
    survey = parsed()
    for value in range(survey.search.none):
        beginning = survey.search.beginning(value)
        if beginning is None:
            assert survey.label(value) == "(no string)"
        elif beginning.whole:
            assert survey.search.value(beginning.value) == value
            assert survey.label(value) == beginning.text


def test_what_people_see_of_it():
    survey = parsed()
    assert survey_facts(survey)["search"] == "round 1 of at most 4, goes on after 500 reports"
    assert survey_facts(survey.at(survey.search.search.later(3, ("00",), 0)))["search"] == "round 3 of at most 4"


def mistakes(fields):
    with pytest.raises(SurveyError) as error:
        Survey.from_dict(fields) if isinstance(fields, dict) else parsed(fields)
    return [str(mistake) for mistake in error.value.mistakes]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("k = 5", "k = 0", "line 5: Search: k must be an integer from 1 to 4096, got 0"),
        ("k = 5", "letters = 5", "line 5: 'letters' is not a parameter of a search"),
        ("k = 5", 'oracle = "grr"', "line 5: 'oracle' is not what the first round of a search has"),
        ("bits = 8", "bits = 3", "line 7: Search: bits must be an integer from 4 to 18, got 3"),
        ("epsilon = 2.0", "epsilon = -1", "line 4: Search: epsilon must be a positive, finite number, got -1"),
        ("epsilon = 2.0", "blocks = 2", "line 10: 'blocks' is not a parameter of the oracle of a search"),
        ("epsilon = 2.0", 'name = "olh"', "line 4: Search: epsilon must be a positive, finite number, got None"),
        ("epsilon = 2.0", 'epsilon = 2.0\nname = "no"', "line 4: oracle: the name must be one of "),
        ("epsilon = 2.0", 'epsilon = 2.0\nname = "cms"', "line 4: "),
        ("epsilon = 2.0", "epsilon = 2.0\nname = 7", "line 4: Search: oracle must be the name of an oracle, got 7"),
        ("epsilon = 2.0", 'epsilon = 2.0\nname = ["grr"]', "line 4: Search: oracle must be the name of an oracle"),
        ("epsilon = 2.0", 'epsilon = 2.0\neta = "x"', "line 4: Search: eta must be a positive, finite number, got 'x'"),
        ('domain = "strings"', 'labels = ["a", "b"]', "line 4: a search needs domain = 'strings'"),
    ],
)
def test_what_a_person_may_write_wrong(old, new, message):
    assert any(mistake.startswith(message) for mistake in mistakes(WRITTEN.replace(old, new))), mistakes(
        WRITTEN.replace(old, new)
    )


def test_a_search_that_is_no_table():
    fields = parsed().canonical
    assert mistakes({**fields, "search": 5}) == ["search must be a table, got 5"]
    assert mistakes({**fields, "oracle": 5}) == ["the table [oracle] is missing, with an epsilon"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"round": 0}, "search.round must be an integer from 1 to 4, got 0"),
        ({"round": True}, "search.round must be an integer from 1 to 4, got True"),
        ({"step": 9}, "search.step must be an integer from 0 to 8, got 9"),
        ({"step": 7}, "search.step must be one that makes at most 2^8 of these prefixes, got 7"),
        ({"prefixes": []}, "search.prefixes must be a list of 1 to 64 texts of 0 and 1, got []"),
        ({"prefixes": ["01", "2"]}, "search.prefixes must be a list of 1 to 64 texts of 0 and 1, got ['01', '2']"),
        ({"prefixes": [5]}, "search.prefixes must be a list of 1 to 64 texts of 0 and 1, got [5]"),
        ({"prefixes": ["01", "01"]}, "search.prefixes must be texts none of which begins another, got '01'"),
        ({"prefixes": ["01", "1", "0101"]}, "search.prefixes must be texts none of which begins another, got '0101'"),
        ({"found": ["0" * 70_000]}, "search.found must be a list of 0 to 64 texts of 0 and 1, got"),
        ({"found": None}, "search.found must be a list of 0 to 64 texts of 0 and 1, got None"),
        ({"oracle": ["grr"]}, "Search: oracle must be the name of an oracle, got ['grr']"),
        ({"eta": [1]}, "Search: eta must be a positive, finite number, got [1]"),
        ({"alphabet": 5}, "PrefixCode: alphabet must be a text of characters, got 5"),
        ({"eta": 0.5, "letters": 1}, "'letters' is not a parameter of a search"),
    ],
)
def test_a_round_that_cannot_be_one(changes, message):
    fields = copy.deepcopy(later().canonical)
    fields["search"] |= changes
    assert any(mistake.startswith(message) for mistake in mistakes(fields)), mistakes(fields)


def test_an_oracle_that_is_not_for_listed_values():
    fields = later().canonical
    assert mistakes({**fields, "oracle": {"name": "cms", "epsilon": 2.0}})
    assert mistakes({**fields, "oracle": {"name": "nothing", "epsilon": 2.0}})


def test_vectors_are_of_all_kinds():
    """They are what the code gives, and go through all of it."""
    text = (Path(__file__).parents[2] / "vectors" / f"{vectors.SEARCH}.json").read_text()
    assert text == vectors._text(list(vectors.rounds())), "run make vectors, if the change is meant"
    cases = json.loads(text)
    assert {case["search"]["step"] for case in cases} == {8, 7, 0}
    for case in cases:
        values = [row["value"] for row in case["strings"]]
        none = len(case["search"]["prefixes"]) << case["search"]["step"]
        assert case["search"]["round"] == 1 or none in values
        assert any(value != none for value in values)
