"""Specifications that are not what they claim to be, or ask for too much work: refused before anything is spent."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fldp
from fldp import BudgetError, DomainError, FldpError, ParameterError, Participant, WireError, wire
from fldp.participant.participant import MAX_VALUES
from fldp.participant_store import MemoryStore
from fldp.survey import Survey
from support.participant_surveys import asked, oracle, specification, yes


@pytest.fixture
def participant():
    return Participant(MemoryStore())


def test_the_version_is_computed_anew(participant):
    survey = Survey.from_dict(specification())
    assert not asked(participant, specification(), version=survey.version).repeated
    other = Survey.from_dict(specification(1)).version
    for claimed in (other, survey.version.upper(), "", 7, "x" * 10**6):
        with pytest.raises(WireError, match=f"the version of survey browser must be {survey.version}, got") as error:
            asked(Participant(MemoryStore()), specification(), version=claimed)
        assert len(str(error.value)) < 300


def test_a_survey_is_what_it_says_not_what_it_holds(participant):
    """A Survey is made anew: neither a changed cache nor an oracle of another size is believed."""
    survey = Survey.from_dict(specification())
    survey.__dict__["version"] = "0" * 64
    assert wire.decode(asked(participant, survey).report, survey=Survey.from_dict(specification()).version)
    odd = Survey(name="odd", question="?", oracle=fldp.GRR(1.0, 9), labels=("a", "b", "c"))
    assert wire.decode(asked(participant, odd, "c").report).oracle == fldp.GRR(1.0, 3)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        (specification(oracle=oracle("nope")), ParameterError),
        (specification(oracle=oracle(["olh"])), ParameterError),
        (specification(oracle=oracle("x" * 10**6)), ParameterError),
        (specification(oracle=oracle("olh", float("nan"))), ParameterError),
        (specification(oracle=oracle("olh", 10**5000)), ParameterError),
        (specification(oracle=oracle("olh", -1)), ParameterError),
        (specification(oracle=oracle("fhr", eta=1)), ParameterError),
        (specification(oracle=oracle("grouped")), ParameterError),
        (specification(oracle=oracle("grouped", base="oue")), ParameterError),
        (specification(collect={"origins": ["https://a\ud800"]}), ParameterError),
        (specification(collect={"closes": "0999-01-01T00:00:00Z"}), ParameterError),
        (specification(labels=["firefox"] * 2), ParameterError),
        (specification(labels=["firefox"]), ParameterError),
        (specification(name=10**5000), ParameterError),
        (specification(surprise=1), ParameterError),
        ({}, ParameterError),
        ([], ParameterError),
        (None, ParameterError),
        ("{}", ParameterError),
    ],
)
def test_bad_surveys_cost_nothing(participant, fields, error):
    with pytest.raises(error) as caught:
        asked(participant, fields)
    assert "\n" not in str(caught.value)
    assert participant.history() == ()


@pytest.mark.parametrize("label", ["", "x" * 1025, "\ud800", None, 1, ["firefox"], ["firefox", "chrome"], b"firefox"])
def test_labels_that_no_survey_may_have(participant, label):
    with pytest.raises(DomainError, match="participant: the label must be a text of 1 to 1024 bytes"):
        asked(participant, specification(), label)
    assert participant.history() == participant.refusals() == ()


@pytest.mark.parametrize("label", ["lynx", "Firefox", "fire\0fox", "e\u0301", "__proto__"])
def test_labels_that_this_survey_lacks_get_an_answer_like_any_other(participant, label):
    """A refusal would tell the server."""
    answer, other = asked(participant, specification(), label), asked(Participant(MemoryStore()), specification())
    assert (answer.repeated, answer.notices, answer.spent) == (other.repeated, other.notices, other.spent)
    assert len(answer.report) == len(other.report)
    assert [charge.version for charge in participant.history()] == [Survey.from_dict(specification()).version]
    assert participant.refusals() == ()


@pytest.mark.parametrize(
    ("fields", "options", "error"),
    [
        (specification(oracle=oracle("nope")), {}, ParameterError),
        (specification(), {"version": "0" * 64}, WireError),
        (specification(oracle=oracle("olh", 9)), {}, BudgetError),
        (specification(labels=["a", "b"]), {}, BudgetError),
        (specification(labels=["a", "b"]), {"confirm": lambda notices: False}, BudgetError),
        (specification(), {"labels": ["firefox", "chrome"]}, BudgetError),
        (specification(collect={"closes": "2001-01-01T00:00:00Z"}), {}, BudgetError),
    ],
)
def test_refusals_are_counted_by_origin(participant, fields, options, error):
    for _ in range(2):
        with pytest.raises(error):
            asked(participant, fields, **options)
    with pytest.raises(error):
        asked(participant, fields, origin="https://other.example", **options)
    asked(participant, specification(1))
    assert [(entry.origin, entry.count) for entry in participant.refusals()] == [
        ("https://collector.example", 2),
        ("https://other.example", 1),
    ]
    participant.count_refusal(origin="https://OTHER.example:443/")
    assert participant.refusals()[1].count == 2
    assert len(participant.history()) == 1


@pytest.mark.parametrize("name", [*fldp.oracles.listed_names()])
@pytest.mark.parametrize("size", [MAX_VALUES + 1, 2**31 - 1, 2**31, 10**5000], ids=["above", "most", "more", "long"])
def test_domains_that_would_take_too_much(participant, name, size):
    fields = {**specification(oracle=oracle(name, **({"eta": 0.25} if name == "fwr" else {}))), "domain_size": size}
    del fields["labels"]
    with pytest.raises(ParameterError, match="participant: the number of values must be at most 1048576, got"):
        asked(participant, fields, "7")
    assert participant.history() == ()


def test_reports_that_would_take_too_much(participant):
    fields = {**specification(oracle=oracle("ss", 0.5)), "domain_size": MAX_VALUES}
    del fields["labels"]
    with pytest.raises(ParameterError, match="the number of bits of a report must be at most 1048576, got 79"):
        asked(participant, fields, "7")
    fields["oracle"] = oracle("fwr", eta=0.5)
    assert not asked(participant, fields, "7").repeated


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["fhr", "grr", "a"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("name", "question", "topic", "labels", "domain_size", "oracle", "collect", "format", "title", "other")
WITHIN = (("oracle", "name"), ("oracle", "epsilon"), ("oracle", "eta"), ("collect", "opens"), ("collect", "origins"))


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3), st.dictionaries(st.sampled_from(WITHIN), JSON))
def test_any_json_is_answered_or_refused(changes, deeper):
    fields = {**specification(), "collect": {}, **changes}
    for (table, key), value in deeper.items():
        if isinstance(fields[table], dict):
            fields[table] = {**fields[table], key: value}
    participant, refused = Participant(MemoryStore()), None
    try:
        asked(participant, fields, confirm=yes)
    except FldpError as error:
        refused = str(error)
    assert len(participant.history()) == (refused is None)
    assert "\n" not in (refused or "")


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"opens": "2999-01-01T00:00:00Z"}, "survey browser must be open, and opens at 2999-01-01T00:00:00Z"),
        (
            {"closes": "2001-01-01T00:00:00Z"},
            "survey browser must be open, and closed at 2001-01-01T00:00:00Z",
        ),
        ({"opens": "2001-01-01T00:00:00Z", "closes": "2999-01-01T00:00:00Z"}, None),
    ],
)
def test_a_survey_that_is_not_open(participant, rules, reason):
    fields = specification(collect=rules)
    if reason is None:
        assert not asked(participant, fields).repeated
    else:
        with pytest.raises(BudgetError, match=f"^participant: {reason}$"):
            asked(participant, fields)
        assert participant.history() == ()


def test_an_answer_can_be_sent_again_after_the_end(participant, monkeypatch):
    """A repeat costs nothing, and the collector knows what it takes."""
    fields = specification(collect={"closes": "2999-01-01T00:00:00Z"})
    first = asked(participant, fields)
    monkeypatch.setattr("fldp.participant.participant._closed", lambda survey: ("closed",))
    assert asked(participant, fields).report == first.report
