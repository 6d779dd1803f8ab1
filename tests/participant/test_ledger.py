from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce
from math import inf, nan, nextafter
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fldp
from fldp import Limit, Limits, ParameterError, Spent
from fldp.oracles.base.frequency_oracle import MAX_VALUES
from fldp.participant.ledger import Charge, Ledger, Refusals
from fldp.support.exact_numbers import decimal, number_text

HALF = Fraction(1, 2)
WIDE = Limit(1000, 0, 1000)


def charge(
    epsilon=1.0, eta=1, *, origin="https://a.example", topic="t", labels="f0", size=5, day="2026-11-01", name=""
):
    return Charge(origin, topic, "0" * 64, Spent(decimal(epsilon), Fraction(eta), 1), labels, size, day, name)


def filled(*charges):
    return Ledger(tuple(charges))


def test_composition_adds_epsilons_and_multiplies_etas():
    total = sum([Spent(Fraction(1), HALF, 1), Spent(Fraction(2), Fraction(1, 4), 1)], Spent())
    assert total == Spent(Fraction(3), Fraction(1, 8), 2)


@pytest.mark.parametrize("oracle", [fldp.GRR(0.3, 9), fldp.FHR(0.3, 9), fldp.FWR(0.3, 1024, eta=0.25)], ids=repr)
def test_what_an_oracle_costs(oracle):
    assert Spent.on(oracle) == Spent(Fraction(3, 10), oracle.eta, 1)


def test_an_epsilon_counts_as_it_is_written():
    ten = sum([Spent.on(fldp.GRR(0.1, 5))] * 10, Spent())
    assert ten.epsilon == 1
    assert reduce(add, [0.1] * 10) < 1 < sum([Fraction(0.1)] * 10)  # what floats and doubles would say
    assert not list(Limit(1.0, 0).breaches(ten))
    assert list(Limit(0.3, 0).breaches(sum([Spent.on(fldp.GRR(0.1, 5))] * 3, Spent()))) == []


def test_the_least_bit_too_much_is_too_much():
    nine = sum([Spent.on(fldp.GRR(0.1, 5))] * 9, Spent())
    assert not list(Limit(1.0, 0).breaches(nine + Spent.on(fldp.GRR(0.1, 5))))
    assert list(Limit(1.0, 0).breaches(nine + Spent.on(fldp.GRR(nextafter(0.1, 1), 5))))
    large = Spent(Fraction(10**16), Fraction(1), 1)  # beside it, 1e-9 is nothing in floats
    assert list(Limit(10**16, 0).breaches(large + Spent(decimal(1e-9), Fraction(1), 1)))
    assert list(Limit(1, Fraction(1, 3)).breaches(Spent(Fraction(1), Fraction(1, 3) - Fraction(1, 10**30), 1)))


@given(st.lists(st.floats(1e-12, 700, exclude_min=True), min_size=1, max_size=30))
def test_sums_are_exact_and_never_far_from_the_doubles(epsilons):
    spent = sum((Spent(decimal(epsilon), Fraction(1), 1) for epsilon in epsilons), Spent())
    with localcontext(prec=1000):
        assert Decimal(spent.epsilon.numerator) / spent.epsilon.denominator == sum(Decimal(repr(e)) for e in epsilons)
    doubles = sum(map(Fraction, epsilons))
    assert abs(spent.epsilon - doubles) <= doubles / 2**53


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_what_a_message_says_is_the_number(number):
    assert Fraction(number_text(number)) == number


def test_numbers_of_every_kind():
    assert decimal(np.float64(0.1)) == decimal(0.1) == Fraction(1, 10)
    assert decimal(np.int64(3)) == decimal(3) == 3
    assert decimal(10**30 + 1) == 10**30 + 1
    assert Limit(Fraction(1, 3), Fraction(1, 3)).max_epsilon == Fraction(1, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Limit(0, 1), "Limit: max_epsilon must be a positive, finite number, got 0"),
        (lambda: Limit(inf, 1), "Limit: max_epsilon must be a positive, finite number, got inf"),
        (lambda: Limit("1", 1), "Limit: max_epsilon must be a positive, finite number, got '1'"),
        (lambda: Limit(1, -0.1), "Limit: min_eta must be a number from 0 to 1, got -0.1"),
        (lambda: Limit(1, 2), "Limit: min_eta must be a number from 0 to 1, got 2"),
        (lambda: Limit(1, nan), "Limit: min_eta must be a number from 0 to 1, got nan"),
        (lambda: Limit(1, True), "Limit: min_eta must be a number from 0 to 1, got True"),
        (lambda: Limit(1, 1, 0), "Limit: max_answers must be an integer from 1 to 1000000, got 0"),
        (lambda: Limits(topic=(1, 1)), r"Limits: topic must be a Limit, got \(1, 1\)"),
        (lambda: Limits(min_anonymity=0), "Limits: min_anonymity must be an integer from 1 to 2147483647, got 0"),
        (lambda: Limits(min_labels=2.0), "Limits: min_labels must be an integer from 1 to 2147483647, got 2.0"),
        (lambda: Spent(Fraction(0), HALF, 1), "Spent: epsilon must be a positive, finite number, got"),
        (lambda: Spent(Fraction(-1), HALF, 0), "Spent: epsilon must be a positive, finite number, got"),
        (lambda: Spent(Fraction(1), Fraction(2), 1), "Spent: eta must be a number from 0 to 1, got"),
    ],
)
def test_limits_that_are_none(make, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        make()


def test_the_defaults_are_those_of_the_documents():
    limits = Limits()
    assert (limits.topic.max_epsilon, limits.topic.min_eta, limits.topic.max_answers) == (2, HALF, 100)
    assert (limits.origin.max_epsilon, limits.origin.min_eta, limits.origin.max_answers) == (4, Fraction(1, 4), 100)
    assert (limits.total.max_epsilon, limits.total.min_eta, limits.total.max_answers) == (8, Fraction(1, 16), 1000)
    assert (limits.min_anonymity, limits.min_labels) == (2, 3)


def test_each_scope_counts_its_own():
    ledger = filled(
        charge(1, HALF),
        charge(2, topic="u"),
        charge(4, HALF, origin="https://b.example"),
        charge(8, HALF, origin="https://b.example", topic="u"),
    )
    assert ledger.spent(origin="https://a.example", topic="t") == Spent(Fraction(1), HALF, 1)
    assert ledger.spent(origin="https://a.example") == Spent(Fraction(3), HALF, 2)
    assert ledger.spent(topic="u") == Spent(Fraction(10), HALF, 2)
    assert ledger.spent() == Spent(Fraction(15), Fraction(1, 8), 4)
    assert ledger.spent(origin="https://c.example") == Spent()


@pytest.mark.parametrize("scope", ["topic", "origin", "total"])
@pytest.mark.parametrize(
    ("limit", "cost", "rule"),
    [
        (Limit(2, 0), (1.5, 1), "an epsilon of at most 2 together, got 2.5"),
        (Limit(100, HALF), (1.0, HALF), "an eta of at least 1/2 together, got 1/4"),
        (Limit(100, Fraction(1, 10**9)), (1.0, 0), "an eta of at least 1e-9 together, got 0"),
        (Limit(100, 0, 1), (1.0, 1), "a number of at most 1, got 2"),
    ],
)
def test_every_limit_refuses_by_itself(scope, limit, cost, rule):
    ledger = filled(charge(1, HALF))
    limits = Limits(**{"topic": WIDE, "origin": WIDE, "total": WIDE, scope: limit})
    who = {
        "topic": "answers on topic t to https://a.example",
        "origin": "answers to https://a.example",
        "total": "all answers",
    }
    assert ledger.refusals(charge(*cost), limits) == (f"{who[scope]} must have {rule}",)


@pytest.mark.parametrize(
    ("scope", "other"),
    [
        ("topic", {"topic": "u"}),
        ("topic", {"origin": "https://b.example"}),
        ("origin", {"origin": "https://b.example"}),
    ],
)
def test_other_scopes_do_not_count(scope, other):
    limits = Limits(**{"topic": WIDE, "origin": WIDE, "total": WIDE, scope: Limit(1, HALF, 1)})
    assert filled(charge(1, HALF)).refusals(charge(1, HALF), limits)
    assert not filled(charge(1, HALF)).refusals(charge(1, HALF, **other), limits)


def test_all_reasons_are_given():
    assert len(Ledger().refusals(charge(100, 0), Limits())) == 6


def test_notices():
    assert Ledger().notices(charge(size=3), Limits()) == ()
    assert Ledger().notices(charge(size=2), Limits()) == ("it has 2 labels, fewer than 3",)
    ledger = filled(charge(), charge(labels="f1", size=2, day="2026-11-02"))
    assert ledger.notices(charge(labels="f1"), Limits()) == ()
    changed = ledger.notices(charge(), Limits())
    assert changed == ("its labels have changed since 2026-11-02: 2 then, 5 now",)
    texts = ledger.notices(charge(labels="f2", size=MAX_VALUES), Limits())
    assert texts == ("its labels have changed since 2026-11-02: 2 then, any text now",)
    assert ledger.notices(charge(topic="u", labels="f2"), Limits()) == ()
    assert ledger.notices(charge(origin="https://b.example", labels="f2"), Limits()) == ()


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        ({"name": "n", "topic": "t"}, {"name": "n", "topic": "t"}, True),
        ({"name": "n", "topic": "t"}, {"name": "n", "topic": "u"}, True),  # another topic
        ({"name": "n", "topic": "t"}, {"name": "m", "topic": "t"}, True),  # another name
        ({"name": "n", "topic": "n"}, {"name": "m", "topic": "n"}, True),
        ({"name": "n", "topic": "t"}, {"name": "t", "topic": "u"}, True),  # a topic that becomes a name
        ({"name": "", "topic": "n"}, {"name": "n", "topic": "u"}, True),  # a ledger that was written without names
        ({"name": "", "topic": "t"}, {"name": "", "topic": "u"}, False),
        ({"name": "n", "topic": "t"}, {"name": "m", "topic": "u"}, False),  # a new survey
        ({"name": "n", "topic": "t"}, {"name": "n", "topic": "t", "origin": "https://b.example"}, False),
    ],
)
def test_labels_are_compared_by_name_and_by_topic(before, now, changed):
    ledger = filled(charge(**before), charge(name="other", topic="other", labels="f2"))
    assert bool(ledger.notices(charge(labels="f1", **now), Limits())) == changed
    assert ledger.notices(charge(labels="f0", **now), Limits()) == ()


@pytest.mark.parametrize(
    "fields",
    [
        (7, 1, "2026-11-01"),
        ("https://a.example", -1, "d"),
        ("https://a.example", True, "d"),
        ("https://a.example", 1, 7),
    ],
)
def test_refusals_that_are_none(fields):
    with pytest.raises(ParameterError, match=r"^Refusals: "):
        Refusals(*fields)


def test_what_was_spent_counts_at_most_two_million_answers():
    """Two ledgers of the largest limit add up to it; a stored number beyond that is damage."""
    assert Spent(Fraction(1), answers=2_000_000).answers == 2_000_000
    with pytest.raises(ParameterError, match="answers must be an integer from 0 to 2000000, got 2000001"):
        Spent(Fraction(1), answers=2_000_001)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"origin": 1}, "Charge: origin must be text, got 1"),
        ({"size": "2"}, "Charge: size must be an integer, got '2'"),
        ({"renews": True}, "Charge: renews must be false without an epoch, got True"),
        ({"epoch": "2026-13"}, "2026-13"),
    ],
)
def test_a_charge_is_checked(change, message):
    fields = {"origin": "https://a.example", "topic": "t", "version": "v", "cost": Spent(), "labels": "l", "size": 2}
    with pytest.raises(fldp.FldpError, match=message):
        Charge(**{**fields, "day": "2026-01-01", **change})


def test_the_usual_limits_are_the_promised_ones():
    """People rely on them: a change is one of what a person gives away at most."""
    half, whole = Fraction(1, 2), Fraction(1)
    usual = Limits()
    assert usual.topic == Limit(2, half, 100)
    assert usual.origin == Limit(4, half**2, 100)
    assert usual.total == Limit(8, half**4, 1000)
    assert (usual.min_anonymity, usual.min_labels, usual.month) == (2, 3, None)
    assert Limits.renewing().month == Limit(2, whole, 100)
    assert usual.month_total == Limits.renewing().month_total == Limit(4, whole, 1000)
    assert usual.year == Limits.renewing().year == Limit(12, whole, 1000)
