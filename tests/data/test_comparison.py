"""Comparisons: the promise that they make, at any number of people, and what breaks it.

With probability ``level`` no value is named that did not change, and all simultaneous intervals cover. Each test counts
failures among 400 comparisons at level 0.9. Right code fails more than 64 times with probability below 1e-4.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

import fldp
from fldp.data.comparison import Comparison, Side, compared, holm, sampling_variance
from fldp.errors import FldpError

LEVEL, COMPARISONS, MOST = 0.9, 400, 64
EVEN = np.array([0.1, 0.22, 0.15, 0.12, 0.08, 0.2, 0.06, 0.0, 0.07])
STEEP = np.array([0.9, *[0.0125] * 8])
ORACLES = [fldp.GRR(1.0, 9), fldp.GRR(4.0, 9), fldp.OUE(4.0, 9), fldp.FHR(1.0, 9), fldp.HR(1.0, 9)]
PEOPLE = [(30, 30), (30, 1000), (1000, 1000), (1000, 10**6), (10**6, 10**6)]


def drawn(oracle, shares, n, rng):
    counts = rng.multinomial(n, shares)
    return counts / n, oracle.estimate(fldp.simulate(oracle, counts, rng=int(rng.integers(1 << 60))))


def pairs(oracle, shares, people, count=COMPARISONS):
    """Draw pairs of people, and their estimates; twice the same true shares, or two different ones."""
    rng = np.random.default_rng(7)
    for _ in range(count):
        yield [drawn(oracle, each, n, rng) for each, n in zip(shares, people, strict=True)]


def uncovered(change, truth):
    low, high = change.interval(LEVEL, simultaneous=True).T
    return bool(((truth < low) | (truth > high)).any())


def skipped(oracle, people):
    """Those that draw every report one by one would take minutes for a million people."""
    return max(people) == 10**6 and oracle.estimator.draw_state(np.full(9, 1), np.random.default_rng(1)) is None


CASES = [(oracle, people) for oracle in ORACLES for people in PEOPLE if not skipped(oracle, people)]
NAMES = [f"{oracle}-{people}" for oracle, people in CASES]


@pytest.mark.parametrize(("oracle", "people"), CASES, ids=NAMES)
@pytest.mark.long
def test_no_change_of_a_population_is_named_more_often_than_promised(oracle, people):
    wrong = {"named": 0, "uncovered": 0}
    for (_, before), (_, after) in pairs(oracle, (EVEN, EVEN), people):
        change = before.compare(after, people="population")
        wrong["named"] += bool(change.significant(LEVEL).any())
        wrong["uncovered"] += uncovered(change, np.zeros(9))
    assert wrong["named"] <= MOST
    assert wrong["uncovered"] <= MOST


@pytest.mark.parametrize(("oracle", "people"), CASES, ids=NAMES)
@pytest.mark.long
def test_intervals_cover_what_changed(oracle, people):
    """Of the population, and of the respondents, whose shares are known here."""
    missed = {"population": 0, "respondents": 0}
    for (was, before), (now, after) in pairs(oracle, (STEEP, EVEN), people):
        missed["population"] += uncovered(before.compare(after, people="population"), EVEN - STEEP)
        missed["respondents"] += uncovered(before.compare(after), now - was)
    assert max(missed.values()) <= MOST, missed


@pytest.mark.parametrize("people", [(1000, 1000), (1000, 5000)], ids=str)
@pytest.mark.long
def test_it_is_not_asleep(people):
    """Nine nearly independent values at level 0.9: right code names something in fewer than 8 of 400 in 1 of 1e6."""
    oracle = fldp.FHR(1.0, 9)
    pair = (
        before.compare(after, people="population") for (_, before), (_, after) in pairs(oracle, (EVEN,) * 2, people)
    )
    assert sum(bool(change.significant(LEVEL).any()) for change in pair) >= 8


def without_holm(before, after):
    return before.compare(after, people="population").p_values


def without_sampling(before, after):
    return before.compare(after).adjusted_p_values


def at_the_estimated_share(before, after):
    """Wald's plain variance: that of a share that is 0 by chance is 0, too."""
    shares = (before.frequencies, after.frequencies)
    variances = [
        (each.stderr / each.n) ** 2 + np.clip(share, 0, 1) * (1 - np.clip(share, 0, 1)) / each.n
        for each, share in zip((before, after), shares, strict=True)
    ]
    change = compared(*map(Side, shares, variances, (before.n, after.n)))
    return Comparison(change.difference, change.stderr).adjusted_p_values


@pytest.mark.parametrize(
    ("broken", "oracle", "people"),
    [
        (without_holm, fldp.FHR(1.0, 9), (1000, 1000)),
        (without_sampling, fldp.GRR(4.0, 9), (1000, 1000)),
        (at_the_estimated_share, fldp.GRR(4.0, 9), (30, 1000)),
    ],
)
@pytest.mark.long
def test_what_is_broken_is_caught(broken, oracle, people):
    covered = sum(
        bool((broken(before, after) <= 1 - LEVEL).any())
        for (_, before), (_, after) in pairs(oracle, (EVEN, EVEN), people)
    )
    assert covered > MOST


def test_an_interval_without_zero_is_always_significant():
    """Bonferroni refutes nothing that Holm does not, and Holm may refute more."""
    rng = np.random.default_rng(3)
    more = 0
    for _ in range(200):
        change = Comparison(rng.normal(0, 0.3, 6), np.full(6, 0.1), rng.uniform(5, 500, 6), 0.01)
        low, high = change.interval(LEVEL, simultaneous=True).T
        named = change.significant(LEVEL)
        clear = (low > 0) | (high < 0)
        assert not (clear & ~named).any()
        more += int((named & ~clear).sum())
    assert more > 0


def test_one_by_one_intervals_and_p_values_agree():
    change = Comparison(np.linspace(-0.9, 0.9, 99), np.full(99, 0.2), 12.0, 0.01)
    low, high = change.interval(LEVEL).T
    assert (((low > 0) | (high < 0)) == (change.p_values < 1 - LEVEL)).all()


def test_student():
    """Quantiles of t from tables: 97.5 % and 99.5 % with 10 and 30 degrees of freedom."""
    for degrees, t, p in ((10, 2.228, 0.05), (10, 3.169, 0.01), (30, 2.042, 0.05), (30, 2.750, 0.01)):
        assert Comparison(np.array([t]), np.ones(1), degrees).p_values[0] == pytest.approx(p, rel=0.02)


def test_fewer_degrees_of_freedom_than_one_count_as_one():
    none, one, two = (Comparison(np.full(1, 3.0), np.ones(1), degrees).p_values[0] for degrees in (0.1, 1, 2))
    assert none == one > two
    assert one == pytest.approx(math.erfc(9 / 11 * math.sqrt(math.log(10) / 2)))  # Wallace's formula


def test_a_jump_counts_as_bernstein_has_it():
    """What lies ``z stderr + z^2 jump / 6`` away is ``z`` standard errors away, and an interval reaches as far."""
    z, stderr, jump = np.array([0.5, 1.0, 1.96, 3.0]), 0.05, 0.12
    away = z * stderr + z**2 * jump / 6
    change = Comparison(away, np.full(4, stderr), jump=jump)
    assert change.p_values == pytest.approx([math.erfc(each / math.sqrt(2)) for each in z], rel=1e-6)
    for number, each in enumerate(z):
        low = change.interval(math.erf(each / math.sqrt(2)))[number, 0]
        assert low == pytest.approx(0, abs=1e-7)


def test_a_p_value_of_exactly_the_level_is_significant():
    change = Comparison(np.full(1, 0.01), np.full(1, 0.02))
    p_value = float(change.adjusted_p_values[0])
    assert 0.5 < p_value < 1  # so that 1 - p_value is exact
    assert change.significant(1 - p_value).all()
    assert not change.significant(1 - p_value + 1e-12).any()


def test_few_people_have_wide_intervals_that_are_numbers():
    change = Comparison(np.array([0.1, 1.2]), np.ones(2), np.ones(2), 0.5)
    assert change.interval(0.999, simultaneous=True) == pytest.approx(np.array([[-1, 1], [-1, 1.2]]))
    one = fldp.GRR(1.0, 2)
    lonely = [one.estimate(fldp.Tally(one, state, 1)) for state in ([1, 0], [0, 1])]
    assert np.isfinite(lonely[0].compare(lonely[1], people="population").interval()).all()
    assert not lonely[0].compare(lonely[1]).significant().any()


def test_the_formula():
    oracle = fldp.GRR(2.0, 4)
    before, after = (oracle.estimate(fldp.Tally(oracle, state, 100)) for state in ([70, 20, 5, 5], [20, 70, 5, 5]))
    noise, change = before.compare(after), before.compare(after, people="population")
    assert noise.stderr == pytest.approx(np.hypot(before.stderr / 100, after.stderr / 100))
    added = sampling_variance(before.counts, 100) + sampling_variance(after.counts, 100)
    assert change.stderr == pytest.approx(np.sqrt(noise.stderr**2 + added))
    z = 2.4977  # of 1 - 0.05/4/2
    share = (np.clip(before.counts, 0, 100) + z**2 / 2) / (100 + z**2)
    assert sampling_variance(before.counts, 100) == pytest.approx(share * (1 - share) / 100, rel=1e-4)
    assert change.continuity == 0.01
    sampled = [sampling_variance(each.counts, 100) for each in (before, after)]
    spread = sum(variance**2 for variance in sampled) / 99  # the law of the noise is known
    assert change.degrees == pytest.approx(change.stderr**4 / spread)
    assert (noise.degrees > 1e9).all()


@pytest.mark.parametrize("oracle", [fldp.HRR(2.0, 4), fldp.GRR(2.0, 4), fldp.FHR(2.0, 4)], ids=repr)
def test_a_change_is_judged_by_the_error_without_any(oracle):
    """At a difference of 0 the error is that of the shares of both sides together, as the oracle states it."""
    before, after = (oracle.estimate(fldp.simulate(oracle, each, rng=3)) for each in ([9, 9, 9, 3], [90, 90, 60, 60]))
    change = before.compare(after)
    pooled = np.clip((before.counts + after.counts) / 330, 0, 1)
    expected = sum(np.asarray(oracle.estimator.variance(n, pooled * n)) / n**2 for n in (30, 300))
    assert change.stderr**2 + change.slope * np.abs(change.difference) == pytest.approx(expected)


def test_a_slope_leaves_intervals_and_p_values_in_agreement():
    """A variance that grows on the way to no change moves that end alone; one that shrinks moves both."""
    ends = {}
    for slope in (-0.03, 0.0, 0.03):
        change = Comparison(np.linspace(-0.9, 0.9, 99), np.full(99, 0.2), continuity=0.01, slope=slope)
        low, high = ends[slope] = change.interval(LEVEL).T
        assert (((low > 0) | (high < 0)) == (change.p_values < 1 - LEVEL)).all()
        assert change.p_values[30] == pytest.approx(change.p_values[-31])
    up = slice(60, None)
    assert (ends[0.03][0][up] < ends[0.0][0][up]).all()
    assert (ends[-0.03][0][up] > ends[0.0][0][up]).all()
    assert (ends[0.03][1][up] == ends[0.0][1][up]).all()
    assert (ends[-0.03][1][up] >= ends[0.0][1][up]).all()


def test_one_value_alone_is_allowed_for_as_one():
    z = 1.959964  # of 1 - 0.05/2, not of several values at once
    share = z**2 / 2 / (100 + z**2)
    assert sampling_variance(np.zeros(1), 100) == pytest.approx(share * (1 - share) / 100, rel=1e-4)


def test_adjusted_p_values():
    assert holm(np.array([0.04, 0.01, 0.03, 0.9])) == pytest.approx([0.09, 0.04, 0.09, 0.9])
    assert holm(np.array([0.6, 0.7])).tolist() == [1.0, 1.0]
    assert holm(np.array([])).tolist() == []


def test_labels_are_names_alone_where_all_values_are_listed():
    oracle = fldp.GRR(2.0, 3)
    est = oracle.estimate(fldp.Tally(oracle, [5, 3, 2], 10))
    assert (est.compare(replace(est, labels=("a", "b", "c"))).difference == 0).all()


def test_people_are_respondents_or_a_population():
    oracle = fldp.GRR(2.0, 3)
    est = oracle.estimate(fldp.Tally(oracle, [5, 3, 2], 10))
    with pytest.raises(FldpError, match="people must be one of 'respondents', 'population'"):
        est.compare(est, people="everybody")
    assert math.isclose(est.compare(est).p_values.min(), 1.0)
