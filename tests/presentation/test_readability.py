"""The texts for people who answer are plain: grade 8 of Flesch and Kincaid or below, as a whole and one by one."""

import json
import subprocess
from functools import cache
from pathlib import Path

import pytest

import fldp
from fldp.presentation.card_text import sections
from support.javascript import node
from support.readability import grade, sentences, syllables

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "fldp" / "collector" / "static"
MAX_GRADE = 8
MIN_WORDS = 14  # of a text by itself; the measure says little of a short line
LABELS = ["on foot", "bicycle", "bus", "car", "other"]
SURVEYS = {
    "grr": {"oracle": {"name": "grr", "epsilon": 1.0}},
    "fhr": {"oracle": {"name": "fhr", "epsilon": 1.0}, "labels": [f"line {number}" for number in range(31)]},
    "lwr": {"oracle": {"name": "lwr", "epsilon": 0.5, "epsilon_permanent": 1.0}, "collect": {"repeat": "daily"}},
    "monthly": {"oracle": {"name": "grr", "epsilon": 1.0}, "collect": {"repeat": "monthly"}},
    "relayed": {"oracle": {"name": "hrr", "epsilon": 1.0}, "collect": {"oblivious": True}},
    "sensitive": {"oracle": {"name": "urr", "epsilon": 1.0}, "sensitive": ["car", "bus"]},
    "budgets": {"oracle": {"name": "idue", "epsilon": 1.0}, "budgets": {"car": 0.5}},
    "distance": {"oracle": {"name": "exponential", "epsilon": 4.0}, "distance": "line"},
}


@cache
def page_texts(folder):
    for name, file in {"en": "answer/texts/en.js", "format": "shared/format.js"}.items():
        text = (STATIC / file).read_text().replace("../../shared/format.js", "./format.mjs")
        (folder / f"{name}.mjs").write_text(text)
    walk = folder / "walk.mjs"
    walk.write_text((ROOT / "tests" / "support" / "page_texts.mjs").read_text())
    done = subprocess.run([node(), str(walk)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def hard(texts):
    """Return the texts that are too hard, with their grades."""
    return [
        (round(grade(text), 1), text) for text in texts if len(text.split()) >= MIN_WORDS and grade(text) > MAX_GRADE
    ]


def test_the_answer_page_is_plain(tmp_path):
    texts = page_texts(tmp_path)
    assert len(texts) > 150
    assert hard(texts) == []
    assert grade("\n".join(text for text in texts if text.endswith("."))) <= MAX_GRADE


@pytest.mark.parametrize("name", SURVEYS)
def test_the_card_is_plain(name):
    survey = fldp.Survey.from_dict({"name": "commute", "question": "How?", "labels": LABELS, **SURVEYS[name]})
    lines = [line for section in sections(fldp.card(survey, users=2000, rng=1)) for line in section.lines]
    assert hard(lines) == []
    assert grade("\n".join(lines)) <= MAX_GRADE


def test_the_card_of_several_questions_is_plain():
    card = fldp.card(fldp.questions([3, 2, 2], epsilon=2.0, cross="all"), users=2000, rng=1)
    assert hard([line for section in sections(card) for line in section.lines]) == []


def test_the_measure_tells_hard_from_plain():
    """Counted by hand: 10 words, 11 syllables, 2 sentences."""
    plain = "Your answer stays here. Chance picks the one we send."
    assert (len(sentences(plain)), sum(map(syllables, plain.replace(".", "").split()))) == (2, 11)
    assert grade(plain) == pytest.approx(0.39 * 5 + 11.8 * 1.1 - 15.59)
    long = "Individual participants' categorical responses are probabilistically obfuscated before transmission occurs."
    assert grade(long) > 20
