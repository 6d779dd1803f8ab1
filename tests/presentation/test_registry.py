"""The entry for registries and the data protection sheet say what the survey and its card say."""

import json
import re
from pathlib import Path

import pytest

import fldp
from fldp.errors import ParameterError
from fldp.presentation import registry
from support.serving import shell

PAGE = (Path(__file__).parents[2] / "docs" / "registry.md").read_text()
LABELS = ["on foot", "by bicycle", "by bus | tram", "by car", "other"]
COMMUTE = {"name": "commute", "question": "How?", "description": "Plan stands.", "labels": LABELS}
GRR = {"name": "grr", "epsilon": 1.0}


def carded(oracle=None, users=1000, **fields):
    specification = {**COMMUTE, "oracle": oracle or GRR, **fields}
    survey = fldp.Survey.from_dict({key: value for key, value in specification.items() if value is not None})
    return fldp.card(survey, users=users, rng=1)


def test_the_entry_is_that_of_the_card_and_the_survey():
    card = carded()
    entry = json.loads(registry.as_registry(card, "x@y.example"))
    deployment = {"name": "commute", "version": card.survey.version, "purpose": "Plan stands."}
    assert entry["deployment"] == deployment | {"opens": None, "closes": None}
    assert entry["mechanism"] == {"name": "grr", "epsilon": 1.0, "domain_size": 5}
    assert entry["privacy"] == {
        "notion": "1-LDP",
        "epsilon": 1.0,
        "eta": 1.0,
        "delta": 0.0,
        "lasting_epsilon": None,
        "change_visible": None,
        "least_values_left": 5,
        "best_guess_before": 0.2,
        "best_guess_after": pytest.approx(2.718281828 / (2.718281828 + 4)),
        "guessed_among": 5,
    }
    assert entry["accuracy"] == {"people": 1000, "share_is_known_to": card.deals[0].reach}
    assert entry["contact"] == "x@y.example"
    assert entry["budget_over_time"]["default_limits_of_a_device"]["collector"] == {"epsilon": 4.0, "eta": 0.25}


def test_what_is_weaker_than_ldp_says_so():
    privacy = registry.entry(carded({"name": "fhr", "epsilon": 1.0}))["privacy"]
    assert (privacy["eta"], privacy["least_values_left"], privacy["notion"]) == (0.5, 2, "(1, 1/2)-FLDP")


def test_every_field_is_in_the_document_and_the_other_way_round():
    documented = re.findall(r"^\| `(\w+)` \|", PAGE, re.M)
    assert documented == list(registry.entry(carded()))


def test_rules_of_the_survey_are_told():
    rules = {"minimum": 500, "retention": "tally", "release": 1000, "oblivious": True}
    card = carded(collect=rules)
    entry = registry.entry(card)
    assert entry["release"] == {"minimum_of_reports": 500, "steps_of_reports": 1000, "reports_are_kept": False}
    assert "relay" in entry["model"]["trust"]
    sheet = registry.as_sheet(card)
    assert "counts without the reports, by day" in sheet
    assert "for those who may read, in steps of 1,000 reports" in sheet
    assert "an administrator sees all" in sheet
    assert "The relay, which cannot read reports" in sheet


@pytest.mark.parametrize(
    ("oracle", "repeat", "lasting", "visible", "unit", "answers"),
    [
        (
            GRR,
            "monthly",
            None,
            None,
            "which a device gives once a month",
            "monthly, each drawn anew at another epsilon",
        ),
        (
            {"name": "lwr", "epsilon": 0.5, "epsilon_permanent": 1.0},
            "weekly",
            2.0,
            0.3,
            "each report",
            "weekly, made from",
        ),
    ],
    ids=["drawn anew", "follows"],
)
def test_answers_that_are_repeated_are_not_called_one_answer(oracle, repeat, lasting, visible, unit, answers):
    card = carded(oracle, collect={"repeat": repeat})
    entry = registry.entry(card)
    assert (entry["privacy"]["lasting_epsilon"], entry["privacy"]["change_visible"]) == (
        lasting,
        None if visible is None else pytest.approx(visible, abs=0.005),
    )
    assert unit in entry["unit_of_privacy"]
    assert entry["budget_over_time"]["answers"].startswith(answers)
    sheet = registry.as_sheet(card)
    assert "gives once." not in sheet
    assert f"One report a {repeat.removesuffix('ly')}, drawn at random" in sheet
    assert ("shows with probability 0.30" in sheet) == (visible is not None)


def test_kept_answers_have_one_epsilon_for_all_days():
    fields = {"name": "words", "question": "Which?", "domain": "strings", "collect": {"repeat": "daily"}}
    oracle = {"name": "rappor", "epsilon": 1.0, "epsilon_permanent": 2.0}
    survey = fldp.Survey.from_dict({**fields, "oracle": oracle})
    assert registry.unit(survey) == "all reports of one person to this survey, which are made of one answer"
    assert registry.budget(survey)["answers"] == "daily, made of one kept answer"


def test_several_questions_are_told_as_what_they_are():
    asked = [{"name": name, "question": f"{name}?", "labels": ["no", "yes"]} for name in ("tea", "milk")]
    survey = fldp.Survey.from_dict({"name": "drinks", "questions": asked, "oracle": {"epsilon": 1.0}})
    card = fldp.card(survey, users=1000, rng=1)
    entry, sheet = registry.entry(card), registry.as_sheet(card)
    assert entry["mechanism"]["name"] == "sampled"
    assert entry["data"]["questions"] == [{"question": f"{name}?", "values": 2} for name in ("tea", "milk")]
    assert entry["data"]["values"] is None
    assert entry["accuracy"]["share_is_known_to"] == card.reaches[0] > 0
    assert "| Questions | tea? (2 possible answers) milk? (2 possible answers) |" in sheet
    assert "What somebody can guess from it" in sheet
    assert registry.unit(survey) == (
        "one person's answers to all questions of this survey, together, which a device gives once"
    )


def test_a_number_is_told_with_its_range_and_as_one_question():
    load = {"name": "load", "question": "How long?", "number": {"low": 0, "high": 30, "unit": "s"}}
    survey = fldp.Survey.from_dict({**load, "oracle": {"epsilon": 1.0}})
    card = fldp.card(survey, users=1000, rng=1)
    told = {"question": "How long?", "values": 32, "number": {"low": 0, "high": 30, "unit": "s"}}
    assert registry.entry(card)["data"] == told
    sheet = registry.as_sheet(card)
    assert "| Question | How long? (a number from 0 to 30 s, reported as one of 32 cells) |" in sheet
    assert "questions" not in sheet + str(card)
    points = fldp.Survey.from_dict({**load, "number": {**load["number"], "goal": "mean"}, "oracle": {"epsilon": 1.0}})
    assert "reported as one of 256 points" in registry.as_sheet(fldp.card(points, users=1000, rng=1))


def test_a_number_among_questions_is_told_with_its_range():
    number = {"name": "age", "question": "Age?", "number": {"low": 0, "high": 100}}
    asked = [{"name": "tea", "question": "Tea?", "labels": ["no", "yes"]}, number]
    survey = fldp.Survey.from_dict({"name": "both", "questions": asked, "oracle": {"epsilon": 1.0}})
    told = registry.data(survey)["questions"]
    assert told[0] == {"question": "Tea?", "values": 2}
    assert told[1] == {"question": "Age?", "values": 32, "number": {"low": 0, "high": 100, "unit": None}}


def test_a_search_asks_for_any_text():
    words = {"name": "words", "question": "Which?", "domain": "strings", "search": {"bits": 8}}
    card = fldp.card(fldp.Survey.from_dict({**words, "oracle": {"epsilon": 2.0}}), users=1000, rng=1)
    assert registry.entry(card)["data"] == {"question": "Which?", "values": None}
    told = "| Question | Which? (any text; a round asks for at most 256 beginnings) |"
    assert told in registry.as_sheet(card)


def test_a_survey_beyond_the_default_limits_says_so():
    card = carded({"name": "grr", "epsilon": 4.0})
    assert registry.budget(card.survey)["default_limits_allow_it"] is False
    assert "Nobody can answer with these limits: an answer costs epsilon 4" in registry.as_sheet(card)
    assert registry.budget(carded().survey)["default_limits_allow_it"] is True
    assert "Nobody can answer" not in registry.as_sheet(carded())


def test_what_is_protected_less_is_told():
    budgets = {"name": "idue", "epsilon": 2.0, "budgets": [[1, 0.5]]}
    assert "1 of 5 by a budget of their own, from 0.5" in registry.as_sheet(carded(budgets))
    named = registry.as_sheet(carded({"name": "urr", "epsilon": 1.0, "sensitive": [1]}))
    assert named.count("Only 1 of the 5 answers is sensitive. Any other answer is named for certain") == 1


@pytest.mark.parametrize(("submit", "told"), [("ticket", "ticket comes with it"), ("open", None)])
def test_what_comes_with_a_report_is_told(submit, told):
    sheet = registry.as_sheet(carded(collect={"submit": submit}))
    assert ("comes with it" in sheet) == bool(told)
    assert (told or "lets it count once") in sheet
    assert ("random numbers and tickets" in sheet) == bool(told)


def test_when_it_is_asked_is_told():
    times = {"opens": "2026-11-01T00:00:00Z", "closes": "2026-12-01T00:00:00Z"}
    card = carded(collect=times)
    assert times.items() <= registry.entry(card)["deployment"].items()
    assert "| When | From 2026-11-01T00:00:00Z to 2026-12-01T00:00:00Z |" in registry.as_sheet(card)


def test_the_sheet_leaves_open_what_only_the_organisation_knows():
    sheet = registry.as_sheet(carded(description=None))
    assert "gives one collector at most epsilon 4, at eta 1/4 or more" in sheet
    opened = re.findall(r"^\| ([^|]+) \| ________ \|$", sheet, re.M)
    assert opened == ["Purpose", "Controller and contact", "Legal basis", "Who is asked", "Assessed by, on"]
    assert "epsilon 1, eta 1, delta 0" in sheet
    assert all(len(re.split(r"(?<!\\)\|", row)) == 4 for row in sheet.splitlines() if row.startswith("|"))


def test_an_oracle_alone_is_no_deployment():
    with pytest.raises(ParameterError, match="is about a survey: give its file, not an oracle"):
        registry.as_registry(fldp.card(fldp.RR(epsilon=1.0), users=100))


def test_the_command(tmp_path):
    (tmp_path / "survey.json").write_text(json.dumps({**COMMUTE, "oracle": GRR}))
    words = ("card", "--survey", tmp_path / "survey.json", "--users", "1000", "--format")
    assert json.loads(shell(*words, "registry")[0])["format"] == registry.FORMAT
    assert shell(*words, "sheet", "--contact", "x@y.example")[0].startswith("# Data protection sheet: commute\n")


def test_of_strings_it_names_the_version_that_is_published_and_no_number_of_values(tmp_path):
    """The card compares a few texts; the survey among them would have another version."""
    pages = {"name": "pages", "question": "Which?", "domain": "strings", "oracle": {"name": "hcms", "epsilon": 2.0}}
    (tmp_path / "pages.json").write_text(json.dumps(pages))
    version = fldp.Survey.from_dict(pages).version
    words = ("card", "--survey", tmp_path / "pages.json", "--users", "1000")
    entry = json.loads(shell(*words, "--format", "registry")[0])
    assert (entry["deployment"]["version"], entry["data"]["values"]) == (version, None)
    assert json.loads(shell(*words, "--json")[0])["survey"] == version
    sheet = shell(*words, "--format", "sheet")[0]
    assert f"version `{version[:12]}`" in sheet
    assert "Which? (any text; guesses below are among 8 texts)" in sheet
