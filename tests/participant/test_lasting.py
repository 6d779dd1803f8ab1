"""Answers that are kept in two stages: charged once, reported daily, never drawn anew."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fldp import BudgetError, FldpError, Participant, Spent, WireError, wire
from fldp.oracles.kit import analysis
from fldp.participant.sqlite_store import FileStore
from fldp.participant.stored_answer import StoredAnswer, StoredDailyAnswer
from fldp.participant_store import MemoryStore
from fldp.survey import Survey, SurveyError
from support.participant_surveys import ORIGIN, asked, specification

RESPONSE = {"name": "rappor", "epsilon": 1.0, "epsilon_permanent": 2.0}
STEADY = {"name": "rappor", "epsilon": 2.0, "epsilon_permanent": 2.0}  # hardly any noise in the second stage


def strings(**changes):
    fields = {"domain": "strings", "oracle": RESPONSE, "collect": {"repeat": "daily"}, **changes}
    return {key: value for key, value in specification(**fields).items() if key != "labels"}


@pytest.fixture
def today(monkeypatch):
    def set_to(day):
        monkeypatch.setattr("fldp.participant.participant._today", lambda: day)

    set_to("2026-11-01")
    return set_to


def read(answer, fields):
    survey = Survey.from_dict(fields)
    return wire.decode(answer.report, survey.oracle, survey.version)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_new_report_each_day_at_no_further_cost(today, tmp_path, kind):
    store, fields = MemoryStore() if kind == "memory" else tmp_path / "answers.db", strings()
    first = asked(Participant(store), fields)
    assert not first.repeated
    assert first.spent == Spent(Fraction(2), Fraction(1), 1)
    again = asked(Participant(store), fields, "chrome")
    assert (again.report, again.key, again.repeated) == (first.report, first.key, True)
    seen = [first]
    for day in ("2026-11-02", "2026-11-05", "2027-01-01"):
        today(day)
        answer = asked(Participant(store), fields)
        same = asked(Participant(store), fields)
        assert not answer.repeated
        assert (same.report, same.key, same.repeated) == (answer.report, answer.key, True)
        assert answer.spent == first.spent
        seen.append(answer)
    assert len({answer.report for answer in seen}) == len({answer.key for answer in seen}) == 4
    assert len({read(answer, fields).data[0, 0] for answer in seen}) == 1  # the cohort is for good
    assert [charge.day for charge in Participant(store).history()] == ["2026-11-01"]
    today("2026-11-30")
    back = asked(Participant(store), fields)
    assert (back.report, back.key, back.repeated) == (seen[-1].report, seen[-1].key, True)


def test_the_permanent_noise_is_the_same_every_day(today):
    """With hardly any noise in the second stage all days agree: 128 bits differ in one report of 4,000."""
    participant, fields = Participant(MemoryStore()), strings(oracle=STEADY)
    reports = []
    for day in range(1, 6):
        today(f"2026-11-{day:02}")
        reports.append(read(asked(participant, fields), fields).data)
    assert all((report == reports[0]).all() for report in reports)


def test_what_is_kept_is_no_truth(today, tmp_path):
    """The file has the bits after the first stage: not the label, not its Bloom filter, and not what was sent."""
    path, fields = tmp_path / "answers.db", strings()
    answer = asked(Participant(path), fields, "a-rare-value")
    assert b"a-rare-value" not in path.read_bytes()
    survey = Survey.from_dict(fields)
    with FileStore(path).exclusive() as book:
        lasting = StoredDailyAnswer.verified(book.find(ORIGIN, survey.version))
    cohort, kept = survey.oracle.report_format.outcome(
        wire.decode(lasting.permanent, survey.oracle, survey.version).data[0]
    )
    truth = analysis(survey.oracle)._sets(int(analysis(survey.oracle).as_values("a-rare-value")[0]))[cohort]
    assert kept != sum(1 << bit for bit in truth)
    assert (cohort, kept) != survey.oracle.report_format.outcome(read(answer, fields).data[0])
    assert lasting.last.report == answer.report


def test_asked_once_only_the_report_is_charged_and_kept(today):
    fields = strings(collect={})
    store = MemoryStore()
    first = asked(Participant(store), fields)
    assert first.spent == Spent(Fraction(1), Fraction(1), 1)
    with store.exclusive() as book:
        assert StoredAnswer.verified(book.find(ORIGIN, Survey.from_dict(fields).version)).report == first.report
    today("2026-12-01")
    again = asked(Participant(store), fields)
    assert (again.report, again.key, again.repeated) == (first.report, first.key, True)


def test_the_limits_are_about_the_permanent_epsilon(today):
    """A topic may cost 2: a second version keeps another response, and is refused; repeats of the first are not."""
    participant = Participant(MemoryStore())
    asked(participant, strings())
    with pytest.raises(BudgetError, match="must have an epsilon of at most 2 together, got 4"):
        asked(participant, strings(question="And now?"))
    with pytest.raises(BudgetError, match=r"must have an epsilon of at most 2 together, got 2\.5"):
        asked(Participant(MemoryStore()), strings(oracle={**RESPONSE, "epsilon_permanent": 2.5}))
    today("2026-11-02")
    assert not asked(participant, strings()).repeated


def test_a_closed_survey_gets_the_last_report_again(today):
    participant = Participant(MemoryStore())
    fields = strings(collect={"repeat": "daily", "closes": "2999-01-01T00:00:00Z"})
    first = asked(participant, fields)
    today("2026-11-02")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fldp.participant.participant._closed", lambda survey: ("it has closed",))
        again = asked(participant, fields)
    assert (again.report, again.repeated) == (first.report, True)
    assert not asked(participant, fields).repeated


def test_many_threads_draw_one_report_a_day(today, tmp_path):
    path, fields = tmp_path / "answers.db", strings()
    asked(Participant(path), fields)
    today("2026-11-02")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: asked(Participant(path), fields), range(8)))
    assert len({(answer.report, answer.key) for answer in answers}) == 1
    assert [answer.repeated for answer in answers].count(False) == 1


def test_damage_is_seen(today):
    store, fields = MemoryStore(), strings()
    asked(Participant(store), fields)
    (place, stored), *_ = store._kept.items()
    for bad in (
        stored[:-1],
        b"",
        stored[:60] + bytes([stored[60] ^ 1]) + stored[61:],
        StoredAnswer.with_new_key(b"x").with_checksum,
    ):
        store._kept[place] = bad
        with pytest.raises(FldpError, match="the stored answer to survey browser is damaged"):
            asked(Participant(store), fields)


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_only_what_was_stored_is_read(data):
    with pytest.raises(WireError):
        StoredDailyAnswer.verified(data)
    stored = StoredDailyAnswer(data, "2026-11-01", StoredAnswer.with_new_key(data))
    assert StoredDailyAnswer.verified(stored.with_checksum) == stored
    with pytest.raises(WireError):
        StoredDailyAnswer.verified(stored.with_checksum[:-1] + bytes([stored.with_checksum[-1] ^ 1]))


def test_the_rule_of_a_survey():
    daily, once = Survey.from_dict(strings()), Survey.from_dict(strings(collect={"repeat": "once"}))
    assert (daily.daily, once.daily) == (True, False)
    assert once.version == Survey.from_dict(strings(collect={})).version != daily.version
    assert Survey.from_dict(daily.canonical).version == daily.version
    for changes, message in (
        (
            {"collect": {"repeat": "hourly"}},
            "collect.repeat must be 'once', 'daily', 'weekly' or 'monthly', got 'hourly'",
        ),
        ({"collect": {"repeat": ["daily"]}}, "collect.repeat must be 'once', 'daily', 'weekly' or 'monthly'"),
        (
            {"oracle": {"name": "cms", "epsilon": 1}},
            "'once', 'weekly' or 'monthly', since CMS keeps nothing that a day's report could be made of, got 'daily'",
        ),
    ):
        with pytest.raises(SurveyError) as caught:
            Survey.from_dict(strings(**changes))
        assert message in str(caught.value)
