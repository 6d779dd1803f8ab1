"""Surveys that are repeated weekly or monthly: what is drawn, what it is charged to, and what is kept."""

from fractions import Fraction

import pytest

from fldp import BudgetError, Limit, Limits, Participant, Responder, Spent, wire
from fldp.participant.headroom import headroom
from fldp.participant.ledger import Charge, Ledger
from fldp.participant.sqlite_store import FileStore
from fldp.participant_store import MemoryStore
from fldp.survey import Survey, SurveyError
from support.participant_surveys import asked, oracle, specification

RESPONSE = {"name": "rappor", "epsilon": 1.0, "epsilon_permanent": 2.0}
RENEWING = Limits.renewing()


def repeated(repeat="monthly", number=0, **changes):
    return specification(number, **{"collect": {"repeat": repeat}, **changes})


def strings(repeat):
    fields = {"domain": "strings", "oracle": RESPONSE, "collect": {"repeat": repeat}}
    return {key: value for key, value in specification(**fields).items() if key != "labels"}


@pytest.fixture
def today(monkeypatch):
    def set_to(day):
        monkeypatch.setattr("fldp.participant.participant._today", lambda: day)

    set_to("2026-11-16")
    return set_to


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    born = "2026-10-31"
    return MemoryStore(born=born) if request.param == "memory" else FileStore(tmp_path / "answers.db", born=born)


def test_without_a_limit_for_months_every_draw_is_charged_for_good(today, store):
    """A survey cannot switch on limits that renew: it says how often it asks, and people pay as for any other."""
    person = Participant(store)
    first = asked(person, repeated())
    again = asked(person, repeated(), "chrome")
    assert (again.report, again.key, again.repeated) == (first.report, first.key, True)
    today("2026-12-01")
    second = asked(person, repeated())
    assert not second.repeated
    assert second.key != first.key
    assert second.spent == Spent(Fraction(2), Fraction(1), 2)
    today("2027-01-01")
    with pytest.raises(BudgetError, match=r"answers on topic browser to .* an epsilon of at most 2 together, got 3"):
        asked(person, repeated())
    assert [(entry.epoch, entry.renews) for entry in person.history()] == [("2026-11", False), ("2026-12", False)]
    today("2026-11-30")  # a clock that was put back: that month has its answer
    assert asked(person, repeated()).report == first.report


def test_with_one_they_are_charged_to_their_months(today, store):
    person, seen = Participant(store, limits=RENEWING), set()
    for month in range(1, 13):
        today(f"2027-{month:02}-03")
        answer = asked(person, repeated())
        assert not answer.repeated
        assert asked(person, repeated()).key == answer.key
        seen.add(answer.key)
    assert len(seen) == 12
    assert str(person.spent()) == "epsilon 12, eta 1, 12 answers (epsilon 12 in 12 months, 1 this month)"
    assert answer.spent == person.spent()
    with pytest.raises(
        BudgetError, match="from 2027-01 to 2027-12 must have an epsilon of at most 12 together, got 13"
    ):
        asked(person, repeated(number=1))
    assert asked(person, specification(2)).spent.epsilon == 13  # lasting limits are not touched by months


def test_a_year_refuses_the_answers_in_it_and_no_others():
    """A clock was ahead, and limits were lowered since: a year that has too much already is nobody's but its own."""

    def charged(month, epsilon=1):
        cost = Spent(Fraction(epsilon), Fraction(1), 1)
        return Charge("https://a.example", "t", "0" * 64, cost, "f0", 5, f"{month}-03", epoch=month, renews=True)

    ledger = Ledger((charged("2028-01", 2),), born="2025-01-01")
    lowered = Limits(month=Limit(2, 1), year=Limit(1.5, 1))
    said = "answers to https://a.example from {} to {} must have an epsilon of at most 1.5 together, got 3"
    for month, year in {
        "2027-01": None,
        "2027-02": ("2027-02", "2028-01"),
        "2028-12": ("2028-01", "2028-12"),
        "2029-01": None,
    }.items():
        assert ledger.refusals(charged(month), lowered) == ((said.format(*year),) if year else ())


def test_a_week_has_one_answer_from_monday_to_sunday(today, store):
    person = Participant(store, limits=RENEWING)
    keys = []
    for day in ("2026-11-16", "2026-11-22", "2026-11-23"):
        today(day)
        keys.append(asked(person, repeated("weekly", oracle=oracle(epsilon=0.5))).key)
    assert keys[0] == keys[1] != keys[2]
    assert [entry.epoch for entry in person.history()] == ["2026-W47", "2026-W48"]


def test_nothing_is_charged_in_the_first_month_of_a_ledger(today, tmp_path):
    person = Participant(FileStore(tmp_path / "answers.db", born="2026-11-30"), limits=RENEWING)
    for day in ("2026-11-30", "2026-12-31", "2020-01-01"):
        today(day)
        with pytest.raises(BudgetError, match=r"the ledger began on 2026-11-30: .* begins with 2027-01"):
            asked(person, repeated())
    assert asked(person, specification()).spent.epsilon == 1  # what lasts is not concerned
    today("2027-01-01")
    assert not asked(person, repeated(number=1)).repeated
    assert [entry.count for entry in person.refusals()] == [3]


def test_a_new_ledger_begins_today(tmp_path):
    for store in (MemoryStore(), FileStore(tmp_path / "answers.db")):
        with pytest.raises(BudgetError, match="the ledger began on "):
            asked(Participant(store, limits=RENEWING), repeated())


def test_flexible_oracles_are_not_charged_by_the_month(today, store):
    flexible = repeated(oracle=oracle("fhr"))
    with pytest.raises(BudgetError, match="must have an eta of 1, since etas multiply to nothing, got 1/2"):
        asked(Participant(store, limits=RENEWING), flexible)
    assert asked(Participant(store), flexible).spent == Spent(Fraction(1), Fraction(1, 2), 1)
    today("2026-12-01")
    with pytest.raises(BudgetError, match="an eta of at least 1/2 together, got 1/4"):
        asked(Participant(store), flexible)


def test_nor_are_they_published(today):
    with pytest.raises(SurveyError, match=r"collect.repeat must be 'once' .FHR has eta 1/2 in each of many draws"):
        Survey.from_dict(repeated("weekly", oracle=oracle("fhr"))).check_draft()
    Survey.from_dict(repeated("weekly")).check_draft()
    Survey.from_dict(specification(oracle=oracle("fhr"))).check_draft()


@pytest.mark.parametrize("limits", [Limits(), RENEWING], ids=["lasting", "renewing"])
def test_what_is_kept_is_charged_once_in_its_first_epoch(today, store, limits):
    fields, person, seen = strings("weekly"), Participant(store, limits=limits), []
    for day in ("2026-11-16", "2026-11-23", "2027-03-01"):
        today(day)
        seen.append(asked(person, fields))
        assert asked(person, fields).key == seen[-1].key
    assert len({answer.key for answer in seen}) == 3
    survey = Survey.from_dict(fields)
    cohorts = {wire.decode(answer.report, survey.oracle, survey.version).data[0, 0] for answer in seen}
    assert len(cohorts) == 1  # drawn from what was kept
    (entry,) = person.history()
    assert (entry.epoch, entry.renews, entry.cost.epsilon) == ("2026-W47", limits is RENEWING, 2)
    today("2026-11-17")
    assert asked(person, fields).key == seen[-1].key  # a clock that goes back repeats


def test_limits_are_the_callers_and_the_answer_stays(today, store):
    """Whatever limits the next program has, there is one answer in an epoch."""
    first = asked(Participant(store, limits=RENEWING), repeated())
    again = asked(Participant(store), repeated())
    assert (again.key, again.repeated) == (first.key, True)
    careful = Limits(month=Limit(0.5, 1))
    assert asked(Participant(store, limits=careful), repeated()).key == first.key
    with pytest.raises(BudgetError, match=r"in 2026-11 must have an epsilon of at most 0.5 together, got 2"):
        asked(Participant(store, limits=careful), repeated(number=1))


class Plain:
    """A book of a caller's own that was written before there were epochs."""

    def __init__(self):
        self.ledger, self.kept = Ledger(), {}

    def find(self, origin, version):
        return self.kept.get((origin, version))

    def add(self, charge, kept):
        self.ledger = Ledger((*self.ledger.charges, charge))
        self.replace(charge, kept)

    def replace(self, charge, kept):
        self.kept[charge.origin, charge.version] = kept


class Keyed(Plain):
    """One that knows epochs, and not when it began."""

    def find(self, origin, version):
        return self.find_epoch(origin, version, "")

    def find_epoch(self, origin, version, epoch):
        return self.kept.get((origin, version, epoch))

    def replace(self, charge, kept):
        self.kept[charge.origin, charge.version, charge.epoch] = kept


class Shelf:
    def __init__(self, book):
        self.book = book

    def exclusive(self):
        return self

    def __enter__(self):
        return self.book

    def __exit__(self, *error):
        return None


def test_a_store_that_knows_no_epochs_is_told_so(today):
    person = Participant(Shelf(Plain()))
    assert not asked(person, specification()).repeated
    assert asked(person, specification()).repeated
    with pytest.raises(BudgetError, match=r"survey browser is repeated, which this store cannot keep: give find_epoch"):
        asked(person, repeated())


def test_a_store_that_does_not_know_its_age_renews_nothing(today):
    book = Keyed()
    assert not asked(Participant(Shelf(book)), repeated()).repeated
    assert asked(Participant(Shelf(book)), repeated()).repeated
    with pytest.raises(BudgetError, match="does not say when its ledger began"):
        asked(Participant(Shelf(book), limits=RENEWING), repeated(number=1))


# --- the survey


def test_versions_of_surveys_that_exist_are_the_same():
    plain = Survey.from_dict(specification())
    assert "repeat" not in plain.canonical["collect"]
    assert (plain.repeat, plain.keeps, plain.daily) == ("once", False, False)
    once = Survey.from_dict(specification(collect={"repeat": "once"}))
    assert once.version == plain.version
    versions = {Survey.from_dict(repeated(repeat)).version for repeat in ("weekly", "monthly")}
    assert len(versions | {plain.version}) == 3


@pytest.mark.parametrize("repeat", ["weekly", "monthly"])
def test_a_survey_says_how_often_it_asks(repeat):
    survey = Survey.from_dict(repeated(repeat))
    assert survey.canonical["collect"]["repeat"] == repeat
    assert (survey.repeat, survey.keeps, survey.daily) == (repeat, False, False)
    assert Survey.from_dict(strings(repeat)).keeps
    assert Survey.from_dict(survey.canonical).version == survey.version
    assert len(Responder.from_dict(survey.canonical).encode("firefox")) > 0  # draws; a ledger says whether


def test_a_search_asks_everybody_once():
    fields = specification(domain="strings", search={"users": 10**6}, collect={"repeat": "weekly"})
    del fields["labels"]
    with pytest.raises(SurveyError, match=r"collect.repeat must be 'once' in a search"):
        Survey.from_dict(fields)


def test_headroom_counts_periods():
    room = headroom(Survey.from_dict(repeated("weekly", oracle=oracle(epsilon=0.2))))
    assert (room.on_topic, room.period, room.in_a_month, room.in_a_year) == (10, "week", 5, 53)
    room = headroom(Survey.from_dict(repeated()))
    assert (room.on_topic, room.period, room.in_a_month, room.in_a_year) == (2, "month", 1, 12)
    ever = "people can answer it in 2 months, ever (epsilon 1, eta 1 each)"
    assert room.sentence == f"{ever}; with limits by the month, in 12 months of a year"
    assert headroom(Survey.from_dict(strings("weekly"))).period == ""


def test_months_are_withdrawn_together_and_none_comes_after(today, store):
    person, version = Participant(store, limits=RENEWING), Survey.from_dict(repeated()).version
    sent = [asked(person, repeated())]
    today("2026-12-01")
    sent.append(asked(person, repeated()))
    origin = person.history()[0].origin
    taken = person.withdraw(version, origin=origin)
    assert {answer.key for answer in taken} == {answer.key for answer in sent}
    for day in ("2026-12-01", "2027-01-01"):
        today(day)
        with pytest.raises(BudgetError, match="was withdrawn, and cannot be given again"):
            asked(person, repeated())
    assert len(person.history()) == 2


def test_a_value_is_followed_by_the_week_at_one_charge(today, store):
    """Another report of another label in each week, made of one basis, charged to the month of the first."""
    fields = repeated("weekly", oracle={"name": "lwr", "epsilon": 0.5, "epsilon_permanent": 1.0})
    person = Participant(store, limits=RENEWING)
    first = asked(person, fields, "chrome")
    assert asked(person, fields, "edge").key == first.key
    today("2026-11-23")
    second = asked(person, fields, "firefox")
    assert (second.repeated, second.key != first.key) == (False, True)
    asked_of = Survey.from_dict(fields)
    masks = {
        wire.decode(each.report, asked_of.oracle, asked_of.version).data.tolist()[0][0] for each in (first, second)
    }
    assert len(masks) == 1
    (charge,) = person.history()
    assert (charge.epoch, charge.renews, charge.cost.epsilon) == ("2026-W47", True, Fraction(2))
