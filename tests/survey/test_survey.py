import hashlib
import json
import re
import time

import numpy as np
import pytest

import fldp
from fldp import DomainError
from fldp.survey import Survey, SurveyError
from fldp.survey.draft import candidates, draft
from fldp.wire.cells import Encoder, read_cells

GOOD = """\
name = "browser"                 # a comment
question = "Which browser are you using?"
labels = ["chrome", "firefox", "safari", "edge", "other"]

[oracle]
name = "fhr"
epsilon = 1.0

[collect]
submit = "token"
closes = 2027-01-01T01:00:00+01:00
"""


def parsed(text, **options):
    return Survey.parse(text, is_json=text.lstrip().startswith("{"), **options)


def mistakes(text):
    with pytest.raises(SurveyError) as error:
        parsed(text)
    return [(mistake.line, mistake.message) for mistake in error.value.mistakes]


def test_a_survey():
    survey = parsed(GOOD)
    assert survey.oracle == fldp.FHR(1.0, 5)
    assert survey.labels == ("chrome", "firefox", "safari", "edge", "other")
    assert survey.collect["closes"] == "2027-01-01T00:00:00Z"
    assert survey.collect["minimum"] == 100


def test_toml_json_and_canonical_form_are_the_same_survey(tmp_path):
    survey = parsed(GOOD)
    assert Survey.from_dict(survey.canonical) == survey
    (tmp_path / "s.json").write_text(json.dumps(survey.canonical, indent=2))
    (tmp_path / "s.toml").write_text(GOOD)
    assert Survey.load(tmp_path / "s.json") == Survey.load(str(tmp_path / "s.toml")) == survey


def test_the_version_is_frozen():
    """Every participant computes it anew: it must never change."""
    survey = parsed(GOOD)
    text = (
        '{"collect":{"closes":"2027-01-01T00:00:00Z","minimum":100,"opens":null,"origins":[],"retention":"raw",'
        '"submit":"token"},"format":"fldp-survey-1","labels":["chrome","firefox","safari","edge","other"],'
        '"name":"browser","oracle":{"epsilon":1,"name":"fhr"},"question":"Which browser are you using?"}'
    )
    assert survey.version == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        ("chrome", "chromium"),
        ('"chrome", "firefox"', '"firefox", "chrome"'),
        ("epsilon = 1.0", "epsilon = 1.1"),
        ("fhr", "grr"),
        ("using?", "using"),
        ('"token"', '"open"'),
        ("browser", "browsers"),
        ("[oracle]", 'topic = "web"\n[oracle]'),
        ("[oracle]", 'description = "Why we ask."\n[oracle]'),
    ],
)
def test_every_change_is_another_version(change):
    assert parsed(GOOD.replace(*change, 1)).version != parsed(GOOD).version


def test_writing_it_differently_is_the_same_version():
    other = GOOD.replace("1.0", "1").replace("2027-01-01T01:00:00+01:00", '"2027-01-01T00:00:00Z"')
    assert parsed(other + "minimum = 100\n").version == parsed(GOOD).version


def test_labels_and_values():
    survey = parsed(GOOD)
    assert survey.encode(["edge", "chrome"]).tolist() == [3, 0]
    assert survey.encode("edge").tolist() == [3]
    assert survey.label(3) == "edge"
    assert survey.value("lynx") is None
    with pytest.raises(DomainError) as error:
        survey.encode(["edge", "lynx"])
    assert str(error.value) == "survey browser: unknown label at position 1 (not shown, to protect the answer)"
    with pytest.raises(DomainError, match="unknown label at position 0"):
        survey.encode([None])


def test_numbers_instead_of_labels():
    survey = parsed('name = "n"\nquestion = "q"\ndomain_size = 1023\n[oracle]\nname = "oue"\nepsilon = 1')
    assert survey.labels is None
    assert survey.encode(["0", "1022"]).tolist() == [0, 1022]
    assert [survey.value(text) for text in ("1023", "-1", "01", "1.0", "", "٣", "9" * 30)] == [None] * 7
    assert survey.label(7) == "7"


def test_labelled_estimates():
    survey = parsed(GOOD)
    labels = ["chrome"] * 900 + ["edge"] * 100
    estimate = survey.estimate(survey.oracle.tally(survey.privatize(labels, rng=1)))
    assert estimate.labels == survey.labels
    assert estimate.to_pandas()["label"].tolist() == list(survey.labels)
    assert estimate.top(1)["value"] == 0


def test_labels_from_a_file(tmp_path):
    (tmp_path / "labels.txt").write_text("äpfel\nbirnen\nkirschen\n", encoding="utf-8")
    (tmp_path / "s.toml").write_text(
        'name = "n"\nquestion = "q"\nlabels_file = "labels.txt"\n[oracle]\nname = "grr"\nepsilon = 1\n'
    )
    assert Survey.load(tmp_path / "s.toml").labels == ("äpfel", "birnen", "kirschen")


def test_every_mistake_at_once_and_by_line():
    text = GOOD.replace('"browser" ', '"Browser!"').replace('"safari"', '"chrome"').replace("1.0", "-1")
    text = text.replace('"token"', '"anybody"') + "colour = 3\nminimum = 0\n"
    assert mistakes(text) == [
        (
            1,
            "name must be 1 to 64 of the characters a-z, 0-9, - and _, with a letter or digit at both ends, "
            "got 'Browser!'",
        ),
        (3, "labels must be all different (label 2 is label 0 again), got 'chrome'"),
        (7, "FHR: epsilon must be a positive, finite number, got -1"),
        (10, "collect.submit must be one of 'open', 'token', 'ticket', 'pass', got 'anybody'"),
        (12, "'colour' is not a rule of collecting"),
        (13, "collect.minimum must be an integer from 1 to 1000000000, got 0"),
    ]


GROUPED = GOOD.replace('"fhr"', '"grouped"')


@pytest.mark.parametrize(
    ("oracle", "expected"),
    [
        ("", [(5, "oracle.base is missing"), (5, "oracle.groups is missing")]),
        ('base = "oue"', [(5, "oracle.groups is missing")]),
        ('groups = [3, 2]\nepsilonn = 1\nbase = "x"', [(9, "'epsilonn' is not"), (10, "Grouped: base must be one of")]),
        ('base = "oue"\ngroups = [3, 3]', [(9, "Grouped: groups must be of 5 values in all, got [3, 3]")]),
        ('base = "oue"\ngroups = [3, 0, 2]', [(9, "Grouped: a size in groups must be an integer from 1 to")]),
        (
            'base = "oue"\ngroups = [4, 1]',
            [(9, "Grouped: groups has a group of one value")],
        ),
    ],
)
def test_mistakes_about_parameters_by_line(oracle, expected):
    listed = mistakes(GROUPED.replace("epsilon = 1.0", f"epsilon = 1.0\n{oracle}"))
    assert [line for line, _ in listed] == [line for line, _ in expected]
    assert all(text.startswith(start) for (_, text), (_, start) in zip(listed, expected, strict=True)), listed


def test_a_domain_that_the_oracle_refuses_has_the_line_of_the_oracle():
    assert [line for line, _ in mistakes(GOOD.replace(', "safari", "edge", "other"', ""))] == [5]


def test_mistakes_in_json_have_lines_too():
    text = json.dumps(parsed(GOOD).canonical, indent=1).replace('"fhr"', '"nope"').replace("100", "true")
    listed = mistakes(text)
    lines = text.splitlines()
    assert [lines[line - 1].strip().split(":")[0] for line, _ in listed] == ['"name"', '"minimum"']
    assert "nope" in lines[listed[0][0] - 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('name = "browser"', ""), "name is missing"),
        (("question", "#"), "question is missing"),
        (("labels", "#"), "the domain is missing: give labels, labels_file, domain_size, number or domain = 'strings'"),
        (("labels", "domain_size = 5\nlabels"), "the domain is given twice: labels, domain_size"),
        (("[oracle]", "[oracles]"), "the table [oracle] is missing, with a name and its parameters"),
        (('name = "fhr"', ""), "oracle: the name must be one of cms, exponential, fhr, "),
        (("epsilon = 1.0", ""), "oracle.epsilon is missing"),
        (("epsilon = 1.0", "epsilon = 1.0\neta = 0.5"), "'eta' is not a parameter of fhr"),
        (("epsilon = 1.0", "epsilon = 1.0\ndomain_size = 5"), "'domain_size' is not a parameter of fhr"),
        (("epsilon = 1.0", "epsilon = 1e300"), "FHR: epsilon=1e+300 is too large"),
        (('"edge"', '" edge"'), "labels must be texts of 1 to 200 characters without blanks at the ends (label 3)"),
        (('"edge"', '""'), "labels must be texts"),
        (('"edge"', "3"), "labels must be texts"),
        (('"edge"', r'"e\u0000"'), "labels must be texts"),
        (('"edge", "other"', r'"é", "é"'), "labels must be all different (label 4 is label 3 again)"),
        ((', "firefox", "safari", "edge", "other"', ""), "labels must be a list of 2 to 1000000 labels"),
        (
            (', "safari", "edge", "other"', ""),
            "FHR: with domain_size=2 a single report can reveal the value",
        ),
        (("closes = ", 'opens = "2028-01-01T00:00:00Z"\ncloses = '), "collect.closes must be after it opens"),
        (("closes = ", "opens = 2026-01-01\ncloses = "), "collect.opens must be a time with its offset"),
        (("closes = ", "opens = 5\ncloses = "), "collect.opens must be a time with its offset"),
        (("closes = ", 'origins = ["https://a.b/c"]\ncloses = '), "collect.origins must be a list of origins"),
        (("closes = ", 'origins = "https://a.b"\ncloses = '), "collect.origins must be a list of origins"),
        (("closes = ", 'origins = ["https://Example.org"]\ncloses = '), "collect.origins must be a list of origins"),
        (("closes = ", 'origins = ["https://user@a.b"]\ncloses = '), "collect.origins must be a list of origins"),
        (
            ("2027-01-01T01:00:00+01:00", '"0999-01-01T00:00:00Z"'),
            "collect.closes must be a time from 1970 on, got '0999-",
        ),
        (("2027-01-01T01:00:00+01:00", "1970-01-01T00:00:00+01:00"), "collect.closes must be a time from 1970 on, got"),
        (("2027-01-01T01:00:00+01:00", '"0001-01-01T00:00:00+01:00"'), "collect.closes must be a time with its offset"),
        (("closes = ", 'retention = "forever"\ncloses = '), "collect.retention must be one of 'raw', 'tally'"),
        (('name = "browser"', "name = browser"), "is not TOML: Invalid value"),
    ],
    ids=lambda part: part if isinstance(part, str) else None,
)
def test_mistakes(change, message):
    listed = mistakes(GOOD.replace(*change, 1))
    assert listed[0][1].startswith(message), listed
    assert all("\n" not in text for _, text in listed)


@pytest.mark.parametrize("fields", [None, [], "x", {}, {1: 2}, {"oracle": 3}, {"labels": {}}, {"collect": []}])
def test_nonsense_is_refused(fields):
    with pytest.raises(SurveyError):
        Survey.from_dict(fields)


@pytest.mark.parametrize("origin", ["https://a\ud800", "https://\ud800", "https://a:\ud800", None, ["https://a.b"]])
def test_origins_that_are_no_text(origin):
    with pytest.raises(SurveyError, match=r"collect\.origins must be a list of origins in their usual form") as error:
        Survey.from_dict({**parsed(GOOD).canonical, "collect": {"origins": [origin]}})
    assert str(error.value).isprintable()


def test_origins_and_times():
    rules = {"origins": ["https://example.org", "http://127.0.0.1:8000"], "opens": "1970-01-01T00:00:00Z"}
    survey = Survey.from_dict({**parsed(GOOD).canonical, "collect": {**rules, "closes": "9999-12-31T23:59:59Z"}})
    assert survey.collect["origins"] == rules["origins"]
    assert (survey.collect["opens"], survey.collect["closes"]) == ("1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z")
    assert len(survey.version) == 64


def deep(levels):
    inner = []
    for _ in range(levels):
        inner = [inner]
    return inner


@pytest.mark.parametrize(
    "change",
    [
        {"labels": None},
        {"name": 10**5000},
        {"name": deep(100_000)},
        {"oracle": {"name": ["grr"], "epsilon": 1}},
        {"oracle": {"name": "x" * 10**6, "epsilon": 1}},
        {"oracle": {"name": "grr", "epsilon": 10**5000}},
        {"oracle": {"name": "grr", "epsilon": deep(100_000)}},
    ],
    ids=["none", "digits", "deep", "list", "long", "epsilon", "deeper"],
)
def test_what_a_stranger_might_send_is_refused_in_a_line(change):
    with pytest.raises(SurveyError) as error:
        Survey.from_dict({**parsed(GOOD).canonical, **change})
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("path", [(), ("oracle",), ("collect",)], ids=["top", "oracle", "collect"])
def test_a_strangers_keys_are_shown_short_and_harmless(path):
    fields = {**parsed(GOOD).canonical, "collect": {}}
    inner = fields
    for key in path:
        inner = inner[key]
    inner.update({"\x1b[2J\ud800": 1, "x" * 5_000_000: 1, 10**5000: 1})
    with pytest.raises(SurveyError) as error:
        Survey.from_dict(fields)
    text = str(error.value)
    assert (len(error.value.mistakes), text.count("is not a"), len(text) < 300) == (3, 3, True)
    assert text.isprintable()
    assert r"'\x1b[2J\ud800' is not a" in text


def test_a_strangers_syntax_error_is_short():
    listed = mistakes("".join(f"[{'x' * 1_000_000}]\n" for _ in range(2)))
    assert listed[0][1].startswith("is not TOML: Cannot declare")
    assert len(listed[0][1]) < 300


def test_many_mistakes_are_counted_not_listed():
    fields = {**parsed(GOOD).canonical, "labels": ["a"] * 1_000_000}
    with pytest.raises(SurveyError) as error:
        Survey.from_dict(fields)
    assert len(error.value.mistakes) == 21
    assert str(error.value).endswith("; and 999,979 more mistakes")
    assert len(str(error.value)) < 2000


def test_what_comes_after_many_mistakes_is_still_checked():
    """Not built from parameters that are wrong, although no more is listed."""
    text = "".join(f"x{number} = 1\n" for number in range(19, -1, -1)) + GROUPED
    listed = mistakes(text)
    assert listed[-1] == (None, "and 2 more mistakes")
    assert [line for line, _ in listed[:-1]] == list(range(1, 21))
    assert mistakes(text.replace("x19 = 1\n", ""))[-1] == (None, "and 1 more mistake")


def test_lines_of_a_strangers_text_take_no_long():
    """Neither by lines times keys, nor by keys times depth: both would take minutes, or gigabytes."""
    keys = ",\n".join(f'"{number}": 1' for number in range(100_000))
    for text in ("{" + keys + "}", '{"a": ' + "[" * 500 + "{" + keys + "}" + "]" * 500 + "}"):
        started = time.process_time()
        assert mistakes(text)
        assert time.process_time() - started < 10


def test_a_number_of_too_many_digits():
    for text in ('{"name": ' + "1" * 5000 + "}", "name = " + "1" * 5000):
        assert mistakes(text) == [(None, "holds a number of too many digits")]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SurveyError, match=r"nowhere.toml: cannot be read: No such file or directory"):
        Survey.load(tmp_path / "nowhere.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SurveyError, match="is not UTF-8 text"):
        Survey.load(tmp_path / "binary.toml")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(SurveyError, match=r"deep.json: is nested too deeply"):
        Survey.load(tmp_path / "deep.json")
    with pytest.raises(SurveyError, match="labels_file must be the name of a file beside the survey's, got 3"):
        Survey.parse(re.sub(r"labels = .*", "labels_file = 3", GOOD), is_json=False, folder=tmp_path)
    with pytest.raises(SurveyError, match="labels_file must be a UTF-8 text file"):
        Survey.parse(
            GOOD.replace("labels", "labels_file", 1).replace(
                '["chrome", "firefox", "safari", "edge", "other"]', '"nope.txt"'
            ),
            is_json=False,
            folder=tmp_path,
        )


def test_a_draft_is_a_good_survey():
    cells = [['say "hi"', "back\\slash", None, "zürich", "zürich"], ["  ", "a,b"]]
    text, users = draft(cells, "draft", "What?", 1.0)
    survey = parsed(text)
    assert users == 5
    assert survey.labels == ("a,b", "back\\slash", 'say "hi"', "zürich")
    with pytest.raises(fldp.FldpError, match="at least 2 different labels are needed, got 1"):
        draft([["x", "x"]], "draft", "What?", 1.0)


@pytest.mark.parametrize(("size", "epsilon"), [(2, 1.0), (5, 1.0), (100, 1.0), (10_000, 1.0), (100, 5.0)])
def test_the_suggested_oracle_is_the_most_accurate_plain_one(size, epsilon):
    first, *others = candidates(size, epsilon)
    assert first.eta == 1
    share = 1 / size
    assert all(first.variance(1, share) <= other.variance(1, share) for other in others if other.eta == 1)
    assert np.isfinite(first.variance(1, 0))


def test_a_draft_says_what_can_be_changed():
    text, _ = draft([["no", "yes"]], "draft", "What?", 1.0)
    assert parsed(text).collect == parsed(text.partition("[collect]")[0]).collect, "it writes the defaults"
    uncommented = re.sub(r"^# (title|description|origins|opens|closes) =", r"\1 =", text, flags=re.M)
    assert parsed(uncommented).collect["closes"] == "2030-02-01T00:00:00Z"
    assert parsed(uncommented).title == "..."


def test_numbers_are_drafted_by_their_size():
    assert parsed(draft([["10", "9", "1"]], "draft", "What?", 1.0)[0]).labels == ("1", "9", "10")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([f"{k:05}" for k in range(200)], "200 different labels in 200 values look like identifiers of people"),
        (["no", "ann@example.org", "no", "no"], "1 of 2 labels look like e-mail addresses"),
    ],
)
def test_identifiers_are_not_published_by_accident(labels, message):
    with pytest.raises(fldp.FldpError, match=message) as error:
        draft([labels], "draft", "What?", 1.0)
    assert "a survey is public" in str(error.value)
    assert "ann@" not in str(error.value)
    assert len(parsed(draft([labels], "draft", "What?", 1.0, identifiers=True)[0]).labels) == len({*labels})


def test_few_people_with_different_answers_are_not_identifiers():
    assert draft([["chrome", "firefox", "edge", "safari"]], "draft", "What?", 1.0)[1] == 4


@pytest.mark.parametrize("label", ["two\nlines", "bell\a", "delete\x7fd", "x" * 201])
def test_what_cannot_be_a_label_is_named_by_its_line(tmp_path, label):
    path = tmp_path / "values.csv"
    path.write_text(f'browser\nedge\n"{label}"\n')
    with pytest.raises(fldp.FldpError, match=r"survey init: .*values.csv, line 3 has '.*; a label is one line"):
        draft(read_cells(str(path)), "draft", "What?", 1.0)


def test_what_is_drafted_from_a_file_takes_all_of_the_file(tmp_path):
    path = tmp_path / "values.csv"
    path.write_text('browser\n"  firefox "\nedge\t\nedge\n', newline="")
    asked = parsed(draft(read_cells(str(path)), "draft", "What?", 1.0)[0])
    assert [Encoder(asked.value).encode(chunk).tolist() for chunk in read_cells(str(path))] == [[1, 0, 0]]


def test_a_language_is_part_of_a_survey_that_declares_one():
    fields = {"name": "a", "question": "b", "labels": ["c", "d"], "oracle": {"name": "grr", "epsilon": 1.0}}
    plain, spoken = Survey.from_dict(fields), Survey.from_dict({**fields, "language": "pt-BR"})
    assert "language" not in plain.canonical
    assert (plain.language, spoken.language, spoken.canonical["language"]) == (None, "pt-BR", "pt-BR")
    assert plain.version != spoken.version
    assert Survey.from_dict(spoken.canonical).version == spoken.version
    for wrong in ("", "german", "de_DE", "DE", 1, None):
        with pytest.raises(SurveyError, match="language must be the tag of a language, like en, de or pt-BR"):
            Survey.from_dict({**fields, "language": wrong})


def test_a_survey_of_one_question_takes_a_text(tmp_path):
    asked = Survey.parse(GOOD, is_json=False)
    with pytest.raises(DomainError, match=r"survey browser: it asks one question, so the answer must be a text"):
        asked.record({"browser": "chrome"})
    assert repr(asked) == f"<survey browser, version {asked.version[:12]}, with FHR(epsilon=1.0, domain_size=5)>"
