"""Weeks, months, and limits that renew with them: the calendar and the arithmetic, against naive ones."""

from collections import Counter
from datetime import date, timedelta
from fractions import Fraction

import pytest

from fldp import Limit, Limits, ParameterError, Spent
from fldp.participant.epochs import MAX_EPOCHS, checked_day, epoch_of, first_day, last_month_of, month_of, month_text
from fldp.participant.ledger import Charge, Ledger
from fldp.participant.limits import Renewing
from support.participant_surveys import ORIGIN

OTHER = "https://other.example"
DAYS = [date(2019, 12, 1) + timedelta(days=number) for number in range(12 * 366)]


def charge(day, epsilon="1", *, repeat="monthly", origin=ORIGIN, eta=1, renews=True, number=0):
    cost = Spent(Fraction(epsilon), Fraction(eta), 1)
    return Charge(origin, "t", f"{number:064}", cost, "f0", 5, day, "t", epoch_of(repeat, day), renews)


def ledger(*charges, born="2020-01-01"):
    return Ledger(charges, born)


# --- the calendar


@pytest.mark.parametrize(("repeat", "form"), [("weekly", "%G-W%V"), ("monthly", "%Y-%m")])
def test_epochs_are_those_of_the_calendar(repeat, form):
    first = {}
    for day in DAYS:
        epoch = day.strftime(form)
        assert epoch_of(repeat, str(day)) == epoch
        first.setdefault(epoch, str(day))
    whole = {epoch: day for epoch, day in first.items() if day > "2020"}
    assert {first_day(repeat, str(day)) for day in DAYS if str(day) >= min(whole.values())} == set(whole.values())
    assert all(epoch_of(repeat, first_day(repeat, day)) == epoch for epoch, day in whole.items())


def test_a_week_counts_in_the_month_that_most_of_its_days_are_in():
    for monday in (day for day in DAYS if day.weekday() == 0):
        months = Counter(str(monday + timedelta(days=number))[:7] for number in range(7))
        assert month_text(month_of(epoch_of("weekly", str(monday)))) == months.most_common(1)[0][0]


def test_how_many_epochs_a_month_and_a_year_have():
    """Over the 400 years after which the calendar repeats."""
    thursdays = Counter()
    day = date(2000, 1, 6)
    while day.year < 2400:
        thursdays[12 * day.year + day.month - 1] += 1
        day += timedelta(days=7)
    months = [thursdays[month] for month in range(12 * 2000, 12 * 2400)]
    years = [sum(months[start : start + 12]) for start in range(len(months) - 11)]
    assert {"weekly": (max(months), max(years)), "monthly": (1, 12)} == MAX_EPOCHS


def test_nothing_that_was_answered_by_a_day_counts_later():
    latest = 0
    for day in map(str, DAYS):
        latest = max([latest, *(month_of(epoch_of(repeat, day)) for repeat in ("weekly", "monthly"))])
        assert last_month_of(day) == latest


@pytest.mark.parametrize(
    "epoch", ["2026-13", "2026-00", "2026-W54", "2026-W53x", "2025-W53", "2026", "0000-01", "२०२६-11"]
)
def test_what_is_no_epoch(epoch):
    with pytest.raises(ParameterError, match=r"^Charge: epoch must be a month or a week, such as 2026-11 or 2026-W46"):
        Charge(ORIGIN, "t", "0" * 64, Spent(Fraction(1), Fraction(1), 1), "f0", 5, "2026-11-01", "t", epoch)


@pytest.mark.parametrize("day", ["2026-W46-1", "20261116", "2026-02-30", "", None, 7])
def test_what_is_no_day(day):
    with pytest.raises(ParameterError, match=r"^FileStore: born must be a day, such as 2026-11-16, got"):
        checked_day("FileStore", "born", day)


# --- the limits


def test_limits_renew_only_where_the_person_says_so():
    assert Limits().month is None
    assert Limits.renewing() == Limits(month=Limit(2, 1))
    assert (Limits().month_total.max_epsilon, Limits().year.max_epsilon) == (4, 12)


@pytest.mark.parametrize("name", ["month", "month_total", "year"])
def test_limits_that_renew_are_of_plain_ldp(name):
    with pytest.raises(ParameterError, match=rf"^Limits: {name} must be a Limit with min_eta = 1: by the month"):
        Limits(**{name: Limit(2, 0.5)})
    with pytest.raises(ParameterError, match=rf"^Limits: {name} must be a Limit, got 2"):
        Limits(**{name: 2})


def test_a_charge_that_renews_has_an_epoch():
    with pytest.raises(ParameterError, match="renews must be false without an epoch, got True"):
        charge("2026-11-16", repeat="daily")
    assert charge("2026-11-16", repeat="daily", renews=False).epoch == ""


def test_a_month_is_full_to_the_last_decimal():
    tenths = [charge("2026-11-16", "1/10", number=number) for number in range(20)]
    limits = Limits.renewing()
    assert ledger(*tenths[:19]).refusals(tenths[19], limits) == ()
    (reason,) = ledger(*tenths).refusals(charge("2026-11-30", "1/1000000000000"), limits)
    assert reason == f"answers to {ORIGIN} in 2026-11 must have an epsilon of at most 2 together, got 2.000000000001"
    assert ledger(*tenths).refusals(charge("2026-12-01", "2"), limits) == ()
    assert ledger(*tenths).refusals(charge("2026-10-31", "2"), limits) == ()  # a clock that was put back


def test_a_week_is_charged_to_the_month_of_its_thursday():
    november = ledger(charge("2026-11-02", "2"))
    assert november.refusals(charge("2026-11-30", "2", repeat="weekly"), Limits.renewing()) == ()
    (reason,) = ledger(charge("2026-12-24", "1")).refusals(
        charge("2026-11-30", "1.1", repeat="weekly"), Limits.renewing()
    )
    assert reason == f"answers to {ORIGIN} in 2026-12 must have an epsilon of at most 2 together, got 2.1"


def test_all_origins_share_a_month():
    spent = ledger(charge("2026-11-16", "2"), charge("2026-11-16", "1.5", origin=OTHER))
    third = "https://third.example"
    assert spent.refusals(charge("2026-11-17", "0.5", origin=third), Limits.renewing()) == ()
    assert spent.refusals(charge("2026-11-17", "0.6", origin=third), Limits.renewing()) == (
        "all answers in 2026-11 must have an epsilon of at most 4 together, got 4.1",
    )


def test_a_year_is_any_twelve_months():
    """A clock that is put back must not open a window that later answers have closed."""
    limits = Limits(month=Limit(9, 1), month_total=Limit(9, 1), year=Limit(3, 1))
    spent = ledger(charge("2026-06-15", "1"), charge("2027-05-15", "1"))
    for day in ("2026-06-20", "2026-12-24", "2027-05-20"):
        assert spent.refusals(charge(day, "1"), limits) == ()
        (reason,) = spent.refusals(charge(day, "1.5"), limits)
        assert (
            reason == f"answers to {ORIGIN} from 2026-06 to 2027-05 must have an epsilon of at most 3 together, got 3.5"
        )
    assert spent.refusals(charge("2026-05-31", "2"), limits) == ()
    assert spent.refusals(charge("2027-06-01", "2"), limits) == ()
    assert spent.refusals(charge("2026-06-20", "1.5", origin=OTHER), limits) == ()


def test_what_lasts_and_what_renews_do_not_count_in_each_other():
    lasting, renewing = charge("2026-11-16", "2", renews=False), charge("2026-11-16", "2", number=1)
    limits = Limits.renewing()
    assert ledger(lasting).refusals(renewing, limits) == ()
    assert ledger(renewing).refusals(lasting, limits) == ()
    assert ledger(lasting).refusals(charge("2026-12-16", "1", renews=False), limits) == (
        f"answers on topic t to {ORIGIN} must have an epsilon of at most 2 together, got 3",
    )


def test_etas_of_months_would_multiply_to_nothing():
    (reason,) = ledger().refusals(charge("2026-11-16", eta="1/2"), Limits.renewing())
    assert reason.endswith("must have an eta of 1, since etas multiply to nothing, got 1/2")


@pytest.mark.parametrize(
    ("born", "first"),
    [
        ("2026-11-01", "2026-12"),
        ("2026-11-29", "2026-12"),
        ("2026-11-30", "2027-01"),  # its week counts in December, so something may be charged to December already
        ("2099-01-01", "2099-02"),  # a clock that was ahead
    ],
)
def test_a_young_ledger_says_nothing(born, first):
    young = ledger(born=born)
    begins = f"the ledger began on {born}: what is charged by the month begins with {first}"
    year, month = map(int, first.split("-"))
    opens = date(year, month, 1)
    for day in (opens - timedelta(days=1), opens - timedelta(days=8), date(2026, 11, 1)):
        assert young.refusals(charge(str(day)), Limits.renewing()) == (begins,)
    assert young.refusals(charge(str(opens)), Limits.renewing()) == ()
    assert young.refusals(charge("2026-11-01", renews=False), Limits.renewing()) == ()


def test_a_ledger_that_does_not_know_its_age_renews_nothing():
    (reason,) = ledger(born="").refusals(charge("2026-11-16"), Limits.renewing())
    assert reason == "nothing can be charged by the month in a store that does not say when its ledger began (born)"


def test_what_was_spent_is_said_with_all_months():
    lasting = charge("2026-05-01", "1/2", renews=False)
    months = [charge(f"2026-{month:02}-10", number=month) for month in range(5, 12)]
    spent = ledger(lasting, *months).spent(origin=ORIGIN, today="2026-11-16")
    assert spent.renewing == Renewing(Fraction(7), 7, Fraction(1))
    assert str(spent) == "epsilon 7.5, eta 1, 8 answers (epsilon 7 in 7 months, 1 this month)"
    later = ledger(*months).spent(today="2026-12-01")
    assert str(later) == "epsilon 7, eta 1, 7 answers (epsilon 7 in 7 months, nothing this month)"
    assert str(ledger(lasting).spent()) == "epsilon 0.5, eta 1, 1 answer"
