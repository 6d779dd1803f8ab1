"""The coins of IDUE: exact promises, and close to the best that any unary encoding can do."""

import random
from fractions import Fraction
from itertools import product
from math import exp

import pytest

import fldp
from fldp.randomness.budget_coins import STEPS, LevelCoins, _total, best_balance
from fldp.randomness.coins import exp_lower

LEVELS = [
    ((1.0, 1.2, 2.0, 4.0), (5, 5, 5, 85)),
    ((1.0, 1.5), (10, 90)),
    ((1.0, 1.3), (50, 50)),
    ((0.5, 1.0), (1, 99)),
    ((2.0, 3.0, 6.0), (10, 10, 80)),
    ((3.0, 4.0), (10, 90)),
]


def test_every_two_values_are_within_the_smaller_budget():
    """In rational numbers, for drawn budgets; and no level falls short of what was asked by more than 1/1024."""
    chance = random.Random(7)
    for _ in range(200):
        budgets = tuple(sorted(chance.uniform(0.01, 10) for _ in range(chance.randrange(1, 5))))
        coins = LevelCoins.build("IDUE", budgets, chance.randrange(STEPS // 2, STEPS))
        for i, j in product(range(len(budgets)), repeat=2):
            ratio = coins.p(i) / coins.q(i) * (1 - coins.q(j)) / (1 - coins.p(j))
            assert ratio <= exp_lower(min(budgets[i], budgets[j]))
        least = coins.p(0) / coins.q(0) * (1 - coins.q(0)) / (1 - coins.p(0))
        assert least >= 1 + (exp_lower(budgets[0]) - 1) * Fraction(99, 100) or coins.p(0) < Fraction(1, 2)


def total(budgets, sizes, s, z):
    """The sum of the variances of rare values for two numbers of choice, straight from the definition."""
    least = exp(budgets[0])
    most_up, most_down, variance = 1 + (least - 1) * s, 1 / (1 - (1 - 1 / least) * z), 0.0
    for budget, size in zip(budgets, sizes, strict=True):
        up, down = min(most_up, exp(budget) / most_down), min(most_down, exp(budget) / most_up)
        b = (down - 1) / (up * down - 1)
        variance += size * b * (1 - b) / (up * b - b) ** 2
    return variance


@pytest.mark.parametrize(("budgets", "sizes"), LEVELS)
def test_one_number_is_as_good_as_two(budgets, sizes):
    """Within 1/1000 of the best pair of numbers, which is the best there is (opt0); and better than opt1 and opt2."""
    steps = [k / 64 for k in range(1, 64)]
    both = min(total(budgets, sizes, s, z) for s, z in product(steps, steps) if s + z >= 1)
    balance = best_balance(budgets, sizes)
    mine = total(budgets, sizes, balance / STEPS, balance / STEPS)
    assert mine <= both * 1.001
    assert mine == pytest.approx(
        _total([int(exp_lower(b) * 2**128) for b in budgets], sizes, balance) / 2**128, rel=1e-9
    )
    assert mine <= opt1(budgets, sizes)
    assert mine <= opt2(budgets, sizes) * (1 + 1e-9)


def opt1(budgets, sizes):
    """With a + b = 1: the share t of the least budget goes to the values that have more."""
    errors = []
    for k in range(500, 1000):
        steps = [min(budgets[0] * k / 1000, budget - budgets[0] * k / 1000) for budget in budgets]
        errors.append(sum(size * exp(x) / (exp(x) - 1) ** 2 for x, size in zip(steps, sizes, strict=True)))
    return min(errors)


def opt2(budgets, sizes):
    """With a = 1/2: the least b is c, and no other may be below 1 - c e^budget."""
    low, high, errors = exp(-budgets[0]) / 2, 1 / (1 + exp(budgets[0])), []
    for k in range(1, 1001):
        c = low + (high - low) * k / 1000
        bits = [max(c, 1 - c * exp(budget)) for budget in budgets]
        errors.append(sum(size * b * (1 - b) / (0.5 - b) ** 2 for b, size in zip(bits, sizes, strict=True)))
    return min(errors)


def test_equal_budgets_give_oue():
    coins, plain = LevelCoins.build("IDUE", (1.0,), 512), fldp.OUE(1.0, 4).coins
    assert best_balance((1.0,), (4,)) == 512
    assert float(coins.p(0)) == pytest.approx(float(plain.p), rel=1e-5)
    assert float(coins.q(0)) == pytest.approx(float(plain.q), rel=1e-5)


def test_idue_is_better_than_oue_with_the_least_budget():
    oracle = fldp.IDUE(4.0, 100, budgets={3: 1.0, 7: 1.0})
    plain = fldp.OUE(1.0, 100)
    assert oracle.estimator.mean_variance(1000) < 0.6 * plain.estimator.mean_variance(1000)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"budgets": {0: 2.0}}, "IDUE: a budget in budgets must be below epsilon, 2, got 2.0"),
        ({"budgets": {5: 1.0}}, "IDUE: a value in budgets must be below 5, got 5"),
        ({"budgets": {0: 1e-30}}, "IDUE: epsilon=1e-30 is too small"),
        ({"budgets": {}}, "IDUE: budgets must be a list of 1 to 100 pairs"),
        ({"balance": 511}, "IDUE: balance must be an integer from 512 to 1023, got 511"),
        ({"epsilon": 64.0}, "IDUE: epsilon=64.0 is too large"),
    ],
)
def test_bad_parameters(changed, message):
    with pytest.raises(fldp.ParameterError, match=message):
        fldp.IDUE(**({"epsilon": 2.0, "domain_size": 5, "budgets": {0: 1.0}} | changed))


def test_the_wire_has_all_that_a_client_needs():
    """The balance is on the wire, found or chosen, so that no client has to search."""
    described = fldp.wire.describe(fldp.IDUE(2.0, 5, budgets={0: 0.5}))
    assert described == {"name": "idue", "epsilon": 2.0, "domain_size": 5, "budgets": [[0, 0.5]], "balance": 628}
    assert fldp.wire.build(described) == fldp.IDUE(2.0, 5, budgets={0: 0.5})


@pytest.mark.parametrize(
    ("budgets", "told"),
    [((1.0, 64.0), "IDUE: epsilon=64.0 is too large"), ((1e-18,), "IDUE: epsilon=1e-18 is too small")],
)
def test_budgets_that_no_threshold_realises_are_refused(budgets, told):
    with pytest.raises(fldp.ParameterError, match=told):
        LevelCoins.build("IDUE", budgets, STEPS // 2)
