"""docs/survey.md against the rules: every key, every default, and examples that work."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from fldp import Survey
from fldp.oracles.registry import built_in
from fldp.participant.headroom import headroom
from fldp.passes.issuing import PrivateKey
from fldp.passes.tokens import key_text
from fldp.search.rounds import Search
from fldp.survey import pass_rules, rules
from fldp.survey.search_table import WRITTEN

PAGE = (Path(__file__).parents[2] / "docs" / "survey.md").read_text()
PARTS = dict(zip(["survey", "oracle", "collect", "search"], PAGE.split("\n## ")[1:5], strict=True))
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| `(\w+ = [^`]+)` \|", re.MULTILINE)
KEYS = {(part, key): (default, example) for part, text in PARTS.items() for key, default, example in ROW.findall(text)}

BASE = {"name": "commute", "question": "How?", "labels": ["no", "yes", "sometimes"]}
ORACLE = {"name": "grr", "epsilon": 1.0}
STRINGS = {"name": "commute", "question": "How?", "domain": "strings"}
CMS, RAPPOR = {"name": "cms", "epsilon": 1.0}, {"name": "rappor", "epsilon": 1.0, "epsilon_permanent": 2.0}
ISSUER_KEY = key_text(PrivateKey.generate().public)
BESIDE = {  # what an example needs beside it
    ("survey", "domain"): STRINGS | {"oracle": CMS},
    ("survey", "labels_file"): {key: BASE[key] for key in ("name", "question")} | {"oracle": ORACLE},
    ("survey", "domain_size"): {key: BASE[key] for key in ("name", "question")} | {"oracle": ORACLE},
    ("survey", "number"): {key: BASE[key] for key in ("name", "question")} | {"oracle": {"epsilon": 1.0}},
    ("survey", "sensitive"): BASE | {"oracle": {"name": "urr", "epsilon": 1.0}},
    ("survey", "budgets"): BASE | {"oracle": {"name": "idue", "epsilon": 1.0}},
    ("survey", "distance"): BASE | {"oracle": {"name": "exponential", "epsilon": 1.0}},
    ("collect", "repeat"): STRINGS | {"oracle": RAPPOR},
    ("collect", "issuer_key"): BASE | {"oracle": ORACLE, "collect": {"submit": "pass"}},
    ("collect", "issuer"): BASE | {"oracle": ORACLE, "collect": {"submit": "pass", "issuer_key": ISSUER_KEY}},
    ("collect", "derive"): BASE | {"oracle": {"name": "olh", "epsilon": 1.0}, "collect": {"submit": "ticket"}},
}


def written(part):
    return {key for place, key in KEYS if place == part}


def test_every_key_is_there_and_no_other():
    assert written("survey") == {*rules._TEXTS, *rules._DOMAINS, *rules.DIFFERING}
    assert written("oracle") == {"name", "epsilon"}
    assert written("collect") == {*rules.COLLECT_DEFAULTS, "repeat", "derive", "oblivious", "release", *pass_rules.KEYS}
    assert written("search") == {*WRITTEN}


def test_every_parameter_is_there_with_its_oracles():
    for cls in built_in():
        for parameter in {field.name for field in fields(cls)} - {"epsilon", "domain_size"}:
            (row,) = re.findall(rf"^\|[^|]*`{parameter}`[^|]*\|([^|]*)\|[^|]*\|$", PARTS["oracle"], re.MULTILINE)
            assert f"`{cls.name}`" in row, parameter


@pytest.mark.parametrize("place", KEYS, ids=".".join)
def test_every_example_works_and_is_not_the_default(place, tmp_path):
    (part, key), (default, example) = place, KEYS[place]
    value = tomllib.loads(example.replace("MIIBUjA9...", ISSUER_KEY))  # it is long
    assert [*value] == [key]
    (tmp_path / "countries.txt").write_text("Chad\nChile\nChina\n")
    beside = BESIDE.get(
        place, STRINGS | {"oracle": {"epsilon": 1.0}} if part == "search" else BASE | {"oracle": ORACLE}
    )
    survey = {**beside, **value} if part == "survey" else {**beside, part: {**beside.get(part, {}), **value}}
    arguments, mistakes = rules.check_survey(survey, tmp_path)
    assert not mistakes, mistakes.messages
    assert arguments["oracle"] is not None
    assert default.strip("`") != example.partition("= ")[2]


def test_defaults():
    collect = {**rules.COLLECT_DEFAULTS, "repeat": rules.REPEATS[0], "derive": False, "oblivious": False}
    for key, value in collect.items():
        text = KEYS["collect", key][0]
        assert (None if text == "none" else tomllib.loads(f"x = {text.strip('`')}")["x"]) == value, key
    for field in fields(Search):
        if field.name in WRITTEN and field.name != "alphabet":
            assert KEYS["search", field.name][0] == ("none" if field.default is None else f"`{field.default}`")
    needed = {key for key, (default, _) in KEYS.items() if default == "needed"}
    assert needed == {("survey", "name"), ("survey", "question"), ("oracle", "name"), ("oracle", "epsilon")}


def test_how_many_people_can_answer():
    plain = headroom(Survey.from_dict({**BASE, "oracle": ORACLE}))
    weak = headroom(Survey.from_dict({**BASE, "oracle": {"name": "fhr", "epsilon": 1.0, "allow_exposure": True}}))
    assert (plain.at_origin, plain.on_topic) == (4, 2)
    assert (weak.at_origin, weak.on_topic) == (2, 1)
