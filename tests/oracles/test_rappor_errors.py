"""The errors that RAPPOR states, against tallies drawn from their law: cohorts by lot, then every bit of each."""

from functools import cache

import numpy as np
import pytest

import fldp
from support.promises import LEVEL, concentrated, counted, most_broken

RUNS = 600
ALARM = 1e-6
ORACLE = fldp.RAPPOR(2.0, 4.0, cohorts=16)
SURE = fldp.RAPPOR(6.0, 12.0)  # all noise is of holders, whose bit is a fair coin
VALUES = 100
SUMS = (range(1), range(VALUES // 2), range(VALUES))


def even(n, d):
    """As many people for each value."""
    return np.bincount(np.arange(n) % d, minlength=d)


@cache
def bits_set(oracle, d):
    """The bits that each candidate sets in each cohort, as ones."""
    listed = oracle.among(map(str, range(d)))
    bits = np.zeros((oracle.cohorts, d, oracle.bits), np.int64)
    np.put_along_axis(bits, oracle._filters.bits_of(listed.marks).astype(np.int64), 1, axis=2)
    return bits


def drawn(oracle, truth, chance):
    """Draw a tally without making reports: who is in which cohort, then how often each of its bits is set."""
    bits = bits_set(oracle, len(truth))
    people = chance.multinomial(truth, np.full(oracle.cohorts, 1 / oracle.cohorts)).T
    set_bits, sizes = np.einsum("jv,jvi->ji", people, bits), people.sum(axis=1, keepdims=True)
    p, q = float(oracle.memoization.coins.p_star), float(oracle.memoization.coins.q_star)
    seen = chance.binomial(set_bits, q) + chance.binomial(sizes - set_bits, p)
    return fldp.Tally(oracle, np.concatenate([sizes, seen], axis=1), int(truth.sum()))


def surveys(oracle, truth, seed, runs=RUNS):
    """Estimates of one population, asked again and again."""
    candidates, chance = [str(value) for value in range(len(truth))], np.random.default_rng(seed)
    return [oracle.estimate(drawn(oracle, truth, chance), candidates=candidates) for _ in range(runs)]


@pytest.mark.parametrize("n", [30, 100, 300, 1000, 10**5])
@pytest.mark.parametrize("population", [concentrated, even])
def test_stated_errors_are_those_of_simulations(population, n):
    """A mean square of 600 errors has an error of 6 % itself; seeds are fixed.

    Counts that were cut to n together stated 0.57 of the variance of the candidate of most people, of 30 reports.
    """
    truth = population(n, VALUES)
    estimates = surveys(ORACLE, truth, n)
    squares = np.mean([(each.counts - truth) ** 2 for each in estimates], axis=0)
    stated = np.mean([each.stderr**2 for each in estimates], axis=0)
    assert stated[0] == pytest.approx(squares[0], rel=0.2)
    assert stated[1:].mean() == pytest.approx(squares[1:].mean(), rel=0.12)
    assert (stated / squares).min() > 0.75
    result = counted(estimates, truth)
    assert max(result.false_finds, result.missed) < most_broken(RUNS, 1 - LEVEL, ALARM)
    assert result.worst < most_broken(RUNS, 1 - LEVEL, ALARM / VALUES)


@pytest.mark.parametrize("n", [30, 300, 10**5])
@pytest.mark.parametrize("population", [concentrated, even])
def test_sums_state_the_error_of_simulations(population, n):
    """The same for one candidate, for half of them and for all, whose number the tally does not know.

    The mean square of 100 errors has an error of 14 % itself; seeds are fixed.
    """
    truth = population(n, VALUES)
    estimates = surveys(ORACLE, truth, 10 + n, 100)
    for members in SUMS:
        totals = [each.sum(members) for each in estimates]
        square = np.mean([(each.count - truth[members].sum()) ** 2 for each in totals])
        assert np.mean([each.stderr**2 for each in totals]) == pytest.approx(square, rel=0.5)


@pytest.mark.parametrize("population", [concentrated, even])
def test_intervals_hold_where_all_noise_is_of_holders(population):
    """An error at the estimate is too small where chance made the estimate small: the upper end has its own error."""
    truth = population(30, 10)
    result = counted(surveys(SURE, truth, 5), truth)
    assert result.worst < most_broken(RUNS, 1 - LEVEL, ALARM / 10)


@pytest.mark.parametrize("n", [30, 1000])
def test_what_is_watched_holds_with_the_stated_error(n):
    """One look of many: the interval of every look is wider than that of one."""
    truth = concentrated(n, VALUES)
    estimates = surveys(ORACLE, truth, 20 + n)
    wrong = [~inside(each.interval(LEVEL, anytime=1000), truth) for each in estimates]
    assert np.sum(wrong, axis=0).max() < most_broken(RUNS, 1 - LEVEL, ALARM / VALUES)


def test_comparisons_of_one_population_find_no_change():
    truth = concentrated(300, VALUES)
    estimates = surveys(ORACLE, truth, 7)
    changed = [
        (one.compare(two).adjusted_p_values <= 1 - LEVEL).any()
        for one, two in zip(estimates[::2], estimates[1::2], strict=True)
    ]
    assert sum(changed) < most_broken(RUNS // 2, 1 - LEVEL, ALARM)


def inside(ends, truth):
    return (ends[:, 0] <= truth) & (truth <= ends[:, 1])
