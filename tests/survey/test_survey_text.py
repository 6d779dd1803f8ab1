"""New surveys hide nothing from those who read them; surveys that exist keep their texts, and so their versions."""

import json
import unicodedata

import pytest

from fldp import Survey
from fldp.collector.storage.protocol import StoredSurvey
from fldp.survey import SurveyError
from fldp.survey.visible_text import hidden, skeleton
from support.collector_server import Server, batch, specification
from support.collector_store import opened
from support.serving import run_here

HIDDEN = {
    "zero width space": "\u200b",
    "joiner between Latin letters": "\u200d",
    "non-joiner between Latin letters": "\u200c",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\u00ad",
    "left-to-right mark": "\u200e",
    "right-to-left override": "\u202e",
    "isolate": "\u2067",
    "grapheme joiner": "\u034f",
    "Hangul filler": "\u3164",
    "half-width Hangul filler": "\uffa0",
    "Khmer vowel without a shape": "\u17b4",
    "Mongolian selector after a Latin letter": "\u180b",
    "variation selector after a Latin letter": "\ufe0f",
    "ideographic variation selector after a Latin letter": "\U000e0100",
    "tag": "\U000e0061",
    "blank of Braille": "\u2800",
    "private use": "\ue000",
    "unassigned": "\u0378",
    "not a character": "\ufdd0",
    "line separator": "\u2028",
}
# Words and emoji that need what is hidden elsewhere, or look unusual and are not.
SPELLED = (
    *("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0915\u094d\u200d\u0937", "\u0915\u094d\u200c\u0937"),
    *("\u0dc1\u0dca\u200d\u0dbb\u0dd3", "\u0d28\u0d4d\u200d"),  # Sinhala; Malayalam with a final chillu
    *("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f", "\U0001f3f3\ufe0f\u200d\U0001f308"),
    *("\U0001f469\U0001f3fd\u200d\U0001f4bb", "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"),
    *("1\ufe0f\u20e3", "\U0001fae8", "\u845b\U000e0100", "\u4e08\ufe00", "na\u00efve", "10\u00a0km"),
    *("\u65e5\u672c\u3000\u8a9e", "\u05e9\u05dc\u05d5\u05dd"),
)  # fmt: skip
ALIKE = (
    ("paypal", "p\u0430yp\u0430l"),  # Cyrillic
    ("AB", "\u0391\u0392"),  # Greek
    ("no", "n\u0585"),  # Armenian
    ("\uff21", "A"),
    ("\ufb01ne", "fine"),
    ("18-24", "18\u201324"),
    ("don't", "don\u2019t"),
    ("10 km", "10\u00a0km"),
    ("10/20", "10\u204420"),
    ("10:30", "10\u223630"),
    ("1,5", "1\u201a5"),
    ("1-5", "1\u20435"),
    ("vivacity", "\u0475i\u0475acit\u04af"),
    ("jC", "\u03f3\u03f9"),
    ("\u2764", "\u2764\ufe0f"),
    ("\u0915\u094d\u0937", "\u0915\u094d\u200d\u0937"),
    ("\u0430\u0435", "\u0430e"),
)
DIFFERENT = (
    ("a", "A"),
    ("O", "0"),
    ("caf\u00e9", "cafe"),
    ("\u0430\u0431", "ab"),
    ("\u03b1", "a"),
    ("1", "l"),
    ("x-y", "x y"),
)


def fields(*labels, **texts):
    survey = specification(oracle={"name": "grr", "epsilon": 1.0})
    return {**survey, "labels": [*labels, "something else", "nothing"], **texts}


def mistakes(*labels, **texts):
    """Return what is wrong with a draft; as a survey that exists, it is read."""
    survey = Survey.from_dict(fields(*labels, **texts))
    try:
        survey.check_draft()
    except SurveyError as error:
        return [str(mistake) for mistake in error.mistakes]
    return []


@pytest.mark.parametrize("name", HIDDEN)
def test_a_hidden_character_is_named_by_its_place_and_code_point(name):
    character = HIDDEN[name]
    (mistake,) = mistakes("chrome", f"fire{character}fox")
    assert mistake.startswith("labels: label 1, ")
    assert f"hidden character, U+{ord(character):04X}" in mistake
    assert mistake.endswith(" at 4; leave it out")
    assert character not in mistake or character.isprintable()


@pytest.mark.parametrize("label", SPELLED)
def test_what_scripts_and_emoji_need_stays(label):
    assert mistakes(label) == []


@pytest.mark.parametrize("label", ["a  b", "a \u00a0b", "a\u3000\u3000b"])
def test_several_blanks_in_a_row(label):
    (mistake,) = mistakes(label)
    assert "label 0" in mistake
    assert "must have single blanks, between words only" in mistake


@pytest.mark.parametrize("pair", ALIKE)
def test_two_labels_that_look_alike(pair):
    assert skeleton(pair[0]) == skeleton(pair[1])
    (mistake,) = mistakes(*pair)
    assert "labels: label 1, " in mistake
    assert "looks like label 0, " in mistake
    assert mistake.endswith("; word one of them differently")


@pytest.mark.parametrize("pair", DIFFERENT)
def test_labels_that_can_be_told_apart(pair):
    assert mistakes(*pair) == []


def test_the_difference_is_named():
    (mistake,) = mistakes("paypal", "p\u0430ypal")
    assert "(U+0430 CYRILLIC SMALL LETTER A where the other has U+0061 LATIN SMALL LETTER A)" in mistake


@pytest.mark.parametrize("key", ["question", "title", "description"])
def test_texts_around_the_labels(key):
    (mistake,) = mistakes("a", **{key: "abc\u202edef"})
    assert mistake == f"{key} has a hidden character, U+202E RIGHT-TO-LEFT OVERRIDE at 3; leave it out"
    assert mistakes("a", **{key: "\u05e9\u05dc\u05d5\u05dd\u200f (2)"}) == []
    assert mistakes("a", description="two\nlines") == []


def test_every_character_is_hidden_or_printed():
    """Of all of Unicode, what is not refused is a letter, mark, number, sign or blank, or a sign around numbers."""
    kept = {chr(code) for code in range(0x20, 0x110000) if not any(hidden(f"a{chr(code)}b"))}
    categories = {
        unicodedata.category(character) for character in kept if not "\U0001f000" <= character <= "\U0001faff"
    }
    assert {category[0] for category in categories - {"Cf"}} == set("LMNPSZ")
    assert not categories & {"Cc", "Cn", "Co", "Cs", "Zl", "Zp"}
    assert not kept & {
        chr(code) for code in (0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070))
    }


def test_a_survey_that_exists_keeps_its_version():
    survey = Survey.from_dict(fields("chrome", "chrom\u0435", "fire\u200bfox"))
    again = Survey.parse(json.dumps(survey.canonical), is_json=True)
    assert again.version == survey.version
    assert again.encode(["chrom\u0435"])[0] == 1


def test_the_shell_checks_a_draft_with_its_line(tmp_path):
    path = tmp_path / "x.toml"
    text = 'name = "x"\nquestion = "Which?"\nlabels = ["no", "n\u043e", "y\u200bes"]\n'
    path.write_text(text + '[oracle]\nname = "grr"\nepsilon = 1\n', encoding="utf-8")
    said = run_here("survey", "check", path, code=1).stderr.decode().splitlines()
    assert len(said) == 2
    assert all("line 3: labels: label" in line for line in said)
    assert "U+043E CYRILLIC SMALL LETTER O" in said[0]
    assert "U+200B ZERO WIDTH SPACE" in said[1]


def test_a_draft_from_data_is_one_that_can_be_published(tmp_path):
    (tmp_path / "x.csv").write_text("browser\nfirefox\nfire\u00adfox\n", encoding="utf-8")
    said = run_here("survey", "init", tmp_path / "x.csv", code=None)
    assert said.returncode != 0
    assert b"U+00AD SOFT HYPHEN" in said.stderr


def test_the_collector_refuses_a_new_survey_and_keeps_an_old_one(tmp_path):
    old = Survey.from_dict(fields("chrome", "chrom\u0435"))
    store = opened("sqlite", tmp_path)
    store.publish(StoredSurvey(0, old.version, old.name, json.dumps(old.canonical), "2026-11-01T00:00:00Z", None))
    store.close()
    server = Server(tmp_path)
    try:
        with server.admin as client:
            refused = client.post("/v1/surveys", json=fields("chrome", "ch\u200brome"))
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:fldp:survey")
            assert "U+200B" in refused.json()["mistakes"][0]
            assert client.post("/v1/surveys", json=fields("chrome", "chrom\u0435", title="new")).status_code == 422
            assert client.post("/v1/surveys", json=old.canonical).status_code == 200
            assert client.get(f"/v1/surveys/{old.name}").json()["version"] == old.version
        assert server.send(old, batch(old, 3)).json() == {"accepted": 3}
        assert server.fsck().returncode == 0
    finally:
        assert server.stop() == 0
