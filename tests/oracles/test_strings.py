"""Strings as values: what is one, candidates, estimates of them, surveys, participants, the shell."""

import json
from dataclasses import replace

import numpy as np
import pandas
import polars
import pytest

import fldp
from fldp import wire
from fldp.data.fingerprints import fingerprint, fingerprints
from fldp.errors import DomainError, MergeError, ParameterError
from fldp.oracles.base.string_oracle import listed
from fldp.oracles.kit import analysis
from fldp.participant_store import MemoryStore
from fldp.survey import Survey, SurveyError
from support.participant_surveys import ORIGIN
from support.serving import shell

ORACLE = fldp.CMS(6.0, hashes=16, width=64)
SURVEY = """\
name = "pages"
question = "Which page did you open last?"
domain = "strings"
[oracle]
name = "hcms"
epsilon = 6.0
hashes = 16
width = 64
"""
PAGES = ["https://a.example"] * 700 + ["https://b.example/ü"] * 250 + ["nul\0"] * 50


def test_fingerprints_are_those_of_the_published_hash():
    """SHA-256 of "abc" is in FIPS 180-2: ba7816bf 8f01cfea ..., read from its lowest byte, without the top bit."""
    assert fingerprint(b"abc") == 0xEACF018FBF1678BA & (2**63 - 1)
    assert fingerprints("x", "ü").tolist() == fingerprints("x", [b"\xc3\xbc"]).tolist() == [fingerprint(b"\xc3\xbc")]
    assert fingerprints("x", "\u00fc") != fingerprints("x", "u\u0308"), "nothing is normalised"


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b"],
        ("a", b"b"),
        np.array(["a", "b"]),
        np.array(["a", "b"], object),
        pandas.Series(["a", "b"], index=[7, 3]),
        polars.Series(["a", "b"]),
        iter(["a", "b"]),
    ],
    ids=lambda values: type(values).__module__ + type(values).__name__,
)
def test_forms_of_values(values):
    assert ORACLE.privatize(values, rng=1) == ORACLE.privatize(["a", "b"], rng=1)


@pytest.mark.parametrize(
    "bad",
    ["", b"", "\ud800", b"\xff", "x" * 1025, "ü" * 513, None, 7, 1.5, True, float("nan")],
    ids=["empty", "no bytes", "half", "latin", "long", "wide", "none", "int", "float", "bool", "nan"],
)
def test_what_is_not_a_value(bad):
    for values in (bad, ["good", bad]):
        with pytest.raises(DomainError, match=r"^CMS: values must be strings of 1 to 1024 bytes of UTF-8, got "):
            ORACLE.privatize(values)
    with pytest.raises(DomainError, match=r"^CMS: candidates must be "):
        ORACLE.among(["good", bad])
    assert len(ORACLE.privatize(["x" * 1024, "ü" * 512])) == 2


@pytest.mark.parametrize("bad", [[], {}, {"a"}, np.array([["a"]]), np.arange(2)], ids=repr)
def test_what_is_not_a_batch(bad):
    with pytest.raises(DomainError, match=r"^CMS: values must "):
        ORACLE.privatize(bad)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "candidates must hold at least one string, got an empty batch"),
        ("a", r"candidates must be a list of strings, got 'a' \(str\)"),
        (["a", "b", b"a"], r"candidates must be all different, got 'a' \(str\) at positions 0 and 2"),
        (None, "an estimate needs candidates, the strings to be counted"),
        (["a"] * 1_000_001, "candidates must be at most 1,000,000, got 1,000,001"),
    ],
    ids=["none", "text", "twice", "missing", "many"],
)
def test_candidates_that_are_refused(candidates, message):
    with pytest.raises(DomainError, match=f"^CMS: {message}"):
        ORACLE.estimate(ORACLE.privatize(["a"]), candidates=candidates)


def test_two_strings_of_one_fingerprint_are_refused(monkeypatch):
    monkeypatch.setattr("fldp.data.fingerprints.fingerprint", lambda data: len(data))
    with pytest.raises(DomainError, match="candidates must be all different, got 'aa'"):
        ORACLE.among(["b", "aa", "bb"])


@pytest.fixture(scope="module")
def estimate():
    tally = ORACLE.tally(ORACLE.privatize(PAGES, rng=3))
    return ORACLE.estimate(tally, candidates=["nobody", *sorted(set(PAGES))])


def test_an_estimate_of_candidates(estimate):
    assert estimate.labels == ("nobody", "https://a.example", "https://b.example/ü", "nul\0")
    assert (np.abs(estimate.counts - [0, 700, 250, 50]) < 5 * estimate.stderr).all()
    assert estimate.top(1)["value"] == [1]
    assert len(estimate.table()) == 4
    assert estimate.to_pandas()["label"][1] == "https://a.example"
    assert estimate.sum([0, 1]).stderr > 0
    assert estimate.rest.count == pytest.approx(1000 - estimate.counts.sum())


def test_a_sum_of_candidates_is_never_taken_for_all(estimate):
    """Of an oracle over listed values, all of them together are n exactly; of candidates, nobody knows."""
    every = estimate.sum(range(4))
    assert every.count == pytest.approx(estimate.counts.sum())
    assert every.stderr > 0


def test_repairs_keep_within_all_users(estimate):
    for method in ("clip", "norm-sub", "simplex"):
        repaired = fldp.postprocess(estimate, method)
        assert repaired.counts.min() >= 0
        assert repaired.counts.sum() <= 1000 + 1e-9
        assert repaired.labels == estimate.labels
    few = ORACLE.estimate(ORACLE.privatize(PAGES, rng=3), candidates=["https://b.example/ü"])
    assert fldp.postprocess(few, "norm-sub").counts == pytest.approx(few.counts), "250 users need not become 1,000"


def test_estimates_of_other_candidates_are_not_compared(estimate):
    assert np.all(estimate.compare(estimate).z == 0)
    other = ORACLE.estimate(ORACLE.privatize(PAGES, rng=3), candidates=["a", "b", "c", "d"])
    with pytest.raises(MergeError, match="compare needs two estimates of the same candidates"):
        estimate.compare(other)


def test_where_a_list_of_values_is_needed():
    reports = ORACLE.privatize(["a"])
    for action in (
        lambda: fldp.card(ORACLE, users=10),
        lambda: fldp.simulate(ORACLE, [1, 2]),
        lambda: fldp.audit(ORACLE),
        lambda: fldp.privacy.bayes_attack.bayes(ORACLE),
        lambda: fldp.privacy.elimination_attack.remaining(reports),
        lambda: listed("anything", ORACLE),
    ):
        with pytest.raises(ParameterError, match=r"CMS is for strings, so name candidates: oracle.among"):
            action()
    with pytest.raises(ParameterError, match="verify: the oracle must be of at least 2 values"):
        fldp.verify(ORACLE.among(["a"]))


def test_among_candidates_everything_else_works():
    among = ORACLE.among(["a", "b", "c"])
    tally = fldp.simulate(among, [600, 300, 100], rng=1)
    assert (np.abs(among.estimate(tally).counts - [600, 300, 100]) < 5 * among.estimate(tally).stderr).all()
    assert wire.decode(wire.encode(among.privatize([0, 1], rng=1))) == ORACLE.privatize(["a", "b"], rng=1)
    assert fldp.card(among, users=1000, rng=1).guess.after > 0.8
    assert fldp.audit(among, samples=1000, rng=1).holds


def test_a_survey_of_strings(tmp_path):
    path = tmp_path / "pages.toml"
    path.write_text(SURVEY)
    survey = Survey.load(path)
    assert survey.canonical["domain"] == "strings"
    assert not {"labels", "domain_size"} & survey.canonical.keys()
    assert Survey.from_dict(json.loads(json.dumps(survey.canonical))).version == survey.version
    assert survey.privatize(PAGES, rng=5) == survey.oracle.privatize(PAGES, rng=5)
    estimate = survey.estimate(survey.privatize(PAGES, rng=5), candidates=["nul\0", "nul"])
    assert estimate.labels == ("nul\0", "nul")
    with pytest.raises(DomainError, match="unknown label at position 1"):
        survey.privatize(["a", ""])
    assert Survey.from_dict({**survey.canonical, "oracle": {"name": "hcms", "epsilon": 6}}).version != survey.version


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"domain": "numbers"}, "domain must be 'strings', got 'numbers'"),
        ({"domain_size": 5}, "the domain is given twice: domain_size, domain"),
        (
            {"oracle": {"name": "grr", "epsilon": 1}},
            "must suit the domain, got 'grr', which is for values that are listed",
        ),
        ({"oracle": {"name": "cms", "epsilon": 1, "width": 3}}, "CMS: width must be a power of two, got 3"),
        ({"oracle": {"name": "cms", "epsilon": 1, "domain_size": 3}}, "a parameter of cms"),
    ],
)
def test_mistakes_in_a_survey_of_strings(change, message):
    fields = {"name": "pages", "question": "?", "domain": "strings", "oracle": {"name": "cms", "epsilon": 1}}
    assert Survey.from_dict(fields).oracle == fldp.CMS(1.0)
    with pytest.raises(SurveyError, match=message):
        Survey.from_dict({**fields, **change})


def test_labels_need_an_oracle_over_labels():
    fields = {"name": "pages", "question": "?", "labels": ["a", "b"], "oracle": {"name": "cms", "epsilon": 1}}
    with pytest.raises(SurveyError, match="'cms', which is for strings, as in domain = 'strings'"):
        Survey.from_dict(fields)


def test_a_participant_answers_with_a_string():
    fields = {"name": "pages", "question": "?", "domain": "strings", "oracle": {"name": "hcms", "epsilon": 1}}
    participant, survey = fldp.Participant(MemoryStore()), Survey.from_dict(fields)
    first = participant.answer(survey, "https://a.example", origin=ORIGIN)
    again = participant.answer(survey, "https://a.example", origin=ORIGIN)
    assert first.report == again.report
    assert wire.decode(first.report, survey.oracle, survey.version).oracle == survey.oracle
    with pytest.raises(DomainError, match=r"1 to 1024 bytes \(not shown\)"):
        participant.answer(Survey.from_dict({**fields, "name": "other"}), "x" * 1025, origin=ORIGIN)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "pages.toml").write_text(SURVEY)
    (tmp_path / "pages.csv").write_text("page\n" + "".join(f"{page}\n" for page in PAGES[:950]))
    (tmp_path / "candidates.txt").write_text("https://a.example\n\nhttps://b.example/ü\nnobody\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_shell_from_strings_to_estimates(folder):
    shell("privatize", "pages.csv", "--survey", "pages.toml", "-o", "reports.fldp")
    shell("privatize", "pages.csv", "--survey", "pages.toml", "-o", "reports.parquet")
    shell("tally", "reports.fldp", "-o", "one.fldp")
    shell("tally", "reports.parquet", "-o", "two.fldp")
    shell("merge", "one.fldp", "two.fldp", "-o", "both.fldp")
    options = ("--survey", "pages.toml", "--candidates", "candidates.txt")
    out, _ = shell("estimate", "both.fldp", *options, "--json")
    rows = {row["label"]: row for row in json.loads(out)["rows"]}
    for page, count in (("https://a.example", 1400), ("https://b.example/ü", 500), ("nobody", 0)):
        assert abs(rows[page]["count"] - count) < 5 * rows[page]["stderr"]
    assert json.loads(out)["n"] == 1900
    assert shell("estimate", "both.fldp", "--candidates", "candidates.txt", "--json")[0] == out
    assert "all strings" in shell("inspect", "both.fldp")[0]
    assert "strings" in shell("survey", "check", "pages.toml")[0]
    assert "6-LDP holds" in shell("verify", "--survey", "pages.toml")[0]
    assert "3 strings" in shell("verify", *options)[0]
    assert "Which page" in shell("card", *options, "--users", "1000", "--seed", "1")[0]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("verify --oracle cms --epsilon 1 --domain 5", "fldp: the oracle cms has no --domain"),
        (
            "verify --oracle grr --epsilon 1 --domain 5 --candidates candidates.txt",
            "fldp: --candidates is for oracles over",
        ),
        ("attack --survey pages.toml", "fldp: HCMS is for strings, so name candidates"),
        ("audit --survey pages.toml", "fldp: HCMS is for strings, so name candidates"),
        ("plan --survey pages.toml --users 9 --eta 1", "fldp: a plan for strings takes --survey, --users and --json"),
        ("verify --survey pages.toml --candidates nowhere.txt", "nowhere.txt"),
    ],
)
def test_bad_use_of_strings_is_one_line(folder, command, message):
    _, beside = shell(*command.split(), code=2)
    assert beside.startswith(message)
    assert beside.count("\n") == 1


def test_laws_of_strings_are_asked_for_with_what_they_depend_on():
    small = fldp.RAPPOR(epsilon=1.0, epsilon_permanent=2.0, bits=4, hashes=1, cohorts=2)
    with pytest.raises(fldp.ParameterError, match="public must be the cohort that the law is conditional on, got None"):
        analysis(small).law(0)
    large = fldp.RAPPOR(epsilon=1.0, epsilon_permanent=2.0, bits=64, hashes=2, cohorts=8)
    with pytest.raises(fldp.ParameterError, match=r"the law has 2\^64 outcomes, too many to enumerate"):
        analysis(large).law(0, 0)


def test_an_estimate_needs_reports():
    with pytest.raises(fldp.DomainError, match="GRR: an estimate needs a tally or reports, got list"):
        fldp.GRR(1.0, 4).estimate([1, 2])
    with pytest.raises(fldp.ParameterError, match=r"answers must be a list of 1 to .* numbers of answers, got 5"):
        fldp.Sampled(epsilon=1.0, answers=5, views=1)
    with pytest.raises(fldp.DomainError, match=r"records must be rows of shape \('users', 2\), got shape \(1, 3\)"):
        fldp.Sampled(epsilon=1.0, answers=[2, 2], views=1).record_code.encode([[0, 0, 0]])


def test_an_oracle_among_candidates_is_one_over_strings_with_its_epsilon():
    few = fldp.CMS(epsilon=1.0, hashes=4, width=16).among(["tea", "coffee"])
    other = replace(few, epsilon=0.5)
    assert other.base == replace(few.base, epsilon=0.5)
    with pytest.raises(ParameterError, match="base must be an oracle over strings"):
        replace(few, base=fldp.GRR(1.0, 4))
    records = listed("card", fldp.Sampled(epsilon=1.0, answers=[3, 2], views=1))
    assert repr(records).endswith("records)")
