"""Laws of counts: tails against enumeration, and intervals that cover by the exact law."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from fldp.numerics.bounded_laws import Bounded, normal_tail
from fldp.numerics.count_laws import CountLaw, Observed, ScoreLaw, support_law

CHANCES = [(0.5, 0.27), (0.73, 0.5), (0.95, 0.5), (0.6, 0.05), (0.4, 0.0), (0.0008, 0.0003)]


def binomials(n, count, p, q):
    """The law of a sum of two binomials, by adding reports one by one."""
    law = np.array([1.0])
    for chance in [p] * count + [q] * (n - count):
        law = np.convolve(law, [1 - chance, chance])
    return law


def leaking(epsilon, leaked, symbols):
    """The law of an estimate of FHR and FWR, from its description: leak and response agree, only the leak, or none."""
    p = math.exp(epsilon) / (math.exp(epsilon) + symbols - 1)
    gap = p - 1 / symbols
    noisy, exact = (symbols - 1) / symbols**2 / gap**2 / leaked, 1 / (leaked - 1)
    weight = exact / (exact + noisy)
    both, leak = (weight * (hit - 1 / symbols) / gap + 1 - weight for hit in (1, 0))
    other = [(both, 1 / leaked / symbols), (leak, (1 - 1 / symbols) / leaked), (-(1 - weight) * exact, 1 - 1 / leaked)]
    return CountLaw(ScoreLaw.of((both, p), (leak, 1 - p)), ScoreLaw.of(*other))


def all_sums(score, n):
    """Every sum of n scores with its chance."""
    sums = {}
    for numbers in product(range(n + 1), repeat=len(score.values) - 1):
        last = n - sum(numbers)
        if last >= 0:
            every = (*numbers, last)
            ways = math.factorial(n) / math.prod(map(math.factorial, every))
            total = float(np.dot(every, score.values))
            sums[total] = sums.get(total, 0) + ways * math.prod(
                float(chance) ** number for chance, number in zip(score.chances, every, strict=True)
            )
    return np.array(list(sums)), np.array(list(sums.values()))


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize(("p", "q"), CHANCES)
def test_the_tails_of_two_binomials(n, p, q):
    """Exact by transform; within 7 % by the saddlepoint, where a report in ten or more supports, or many do."""
    law, sums = support_law(p, q), np.arange(1, n + 1)
    for count in (0, 1, n // 3, n):
        exact = binomials(n, count, p, q)[::-1].cumsum()[::-1][1:]
        assert law.exact_at_least(sums, np.full(n, count), n) == pytest.approx(exact, abs=1e-13)
        seen = (exact > 1e-7) & (exact < 0.3)
        near = law.at_least(sums.astype(float), np.full(n, float(count)), np.full(n, float(n)))
        if n * q > 0.1 or not q:
            assert near[seen] == pytest.approx(exact[seen], rel=0.07)


@pytest.mark.parametrize("tail", [0.025, 1e-5])
@pytest.mark.parametrize(("p", "q"), CHANCES)
def test_intervals_of_binomials_are_exact(p, q, tail):
    """They go from the first to the last count that has both tails at each sum, where any has."""
    n = 40
    seen = Observed.of(support_law(p, q), np.arange(n + 1.0), float(n), n)
    low, high = seen._ends(seen.sums, seen.trials, tail * (1 + 1e-9))
    laws = np.array([binomials(n, count, p, q) for count in range(n + 1)])
    above, below = laws[:, ::-1].cumsum(axis=1)[:, ::-1], laws.cumsum(axis=1)
    possible = (above >= tail) & (below >= tail)
    for k in np.flatnonzero(possible.any(axis=0)).tolist():
        counts = np.flatnonzero(possible[:, k])
        assert (low[k], high[k]) == (counts[0], counts[-1]), k


@pytest.mark.parametrize("law", [leaking(0.4, 2, 2), leaking(1.0, 2, 4), leaking(3.0, 2, 2), leaking(1.0, 4, 4)])
@pytest.mark.parametrize("count", [0, 1, 5, 15, 30])
def test_intervals_of_three_scores_miss_no_more_than_they_say(law, count):
    """FHR and FWR with 30 reports: the exact chance of missing the count, on both sides, is at most as asked."""
    own, one = all_sums(law.own, count)
    other, two = all_sums(law.other, 30 - count)
    sums, chances = (own[:, None] + other).ravel(), np.outer(one, two).ravel()
    for tail in (0.025, 1e-3, 1e-5):
        counts, trials = np.full(len(sums), float(count)), np.full(len(sums), 30.0)
        for missed in (law.at_least(sums, counts, trials), law.at_most(sums, counts, trials)):
            assert chances[missed < tail].sum() <= 1.08 * tail


@pytest.mark.parametrize("law", [leaking(1.0, 2, 2), leaking(2.0, 4, 8), support_law(0.5, 0.27)])
def test_p_values_are_exact(law):
    """The tail of a value that nobody holds, against all sums of 30 scores."""
    sums, chances = all_sums(law.other, 30)
    exact = np.array([chances[sums >= each - 1e-9].sum() for each in sums])
    p_values = Observed.of(law, sums, 30.0, 30).p_values(np.ones(len(sums)))
    checked = exact < 0.15
    assert p_values[checked] == pytest.approx(exact[checked], rel=1e-6, abs=1e-15)


def test_many_values_are_interpolated():
    law, chance = support_law(0.5, 0.27), np.random.default_rng(1)
    sums = chance.binomial(10**6, 0.27, 3000).astype(float)
    seen = Observed.of(law, sums, 1e6, 10**6)
    some = Observed.of(law, sums[:50], 1e6, 10**6)
    for one, two in zip(seen._ends(*seen._knots[:2], 0.025), (0, 0), strict=True):
        assert two == 0
        assert seen._spread_out(one).shape == sums.shape
    many, few = (each.interval(0.05, each.means(each.sums, each.trials), each.null) for each in (seen, some))
    for one, two in zip(many, few, strict=True):
        assert one[:50] == pytest.approx(two, abs=1.0), "a thousandth of an error"
    assert seen.p_values(seen.null)[:50] == pytest.approx(some.p_values(some.null), rel=0.01)


def test_bounded_laws_have_the_larger_error_and_a_jump():
    law = Bounded.of(np.array([3.0, -3.0, 3.0]), np.array([1.0, 1.0, 3.0]), 0.0)
    assert law.p_values(np.array([2.0, 2.0, 1.0])) == pytest.approx(normal_tail(np.array([1.5, -1.5, 1.0])))
    jumping = Bounded.of(np.array([4 + 16 / 6]), 1.0, 1.0)
    assert jumping.p_values(np.ones(1)) == pytest.approx(normal_tail(np.array([4.0])))
    low, high = jumping.interval(0.05, np.zeros(1), np.ones(1))
    assert -low == high == pytest.approx(np.array([1.959964 + 1.959964**2 / 6]))


def test_the_upper_end_has_the_error_of_a_count_there():
    """With a variance of ``1 + 2 c`` at a count ``c``, the upper end is as many of its own errors away from 0."""
    law = Bounded.of(np.zeros(2), 0.0)
    steep = replace(law, slope=2.0).moved(3)
    low, high = steep.interval(0.05, np.zeros(2), np.ones(2))
    assert high / np.sqrt(1 + 2 * high) == pytest.approx(1.959964)
    assert low == pytest.approx(-1.959964)
    assert steep.values.tolist() == [3, 4]
