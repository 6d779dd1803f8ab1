"""Points of PGR by 16 bits and a turn: the law in rationals by enumeration, and real batches."""

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from math import sqrt

import numpy as np
import pytest

import fldp
from fldp.numerics.projective_geometry import opposite
from fldp.oracles.kit import analysis
from fldp.oracles.plain import turned_points
from fldp.oracles.plain.turned_points import TurnedPoints
from fldp.oracles.plain.weighted_draws import NUMBERS, WORDS

EVERY = [(1.0, 5), (1.0, 13), (0.1, 40), (2.0, 60), (8.0, 31), (0.1, 2)]
SOME = [(1.0, 1024), (8.0, 257), (2.0, 300)]


class Scripted:
    """A stream that hands out words it was given."""

    def __init__(self, *parts):
        self.parts = list(parts)

    def words(self, count):
        words = self.parts.pop(0)
        assert len(words) == count
        return words


def by_numbers(points, value):
    """How many of the 2^16 numbers each point has; in plain Python and compiled."""
    numbers, values = np.arange(NUMBERS, dtype=np.uint16), np.full(NUMBERS, value)
    constants = points._table, points._limit, points._turns, points._points
    missing, out = np.empty(NUMBERS, np.intp), np.empty(NUMBERS, np.uint16)
    count = turned_points.turn.compiled(values, numbers, *constants, missing, out)
    limit = NUMBERS - count
    assert missing[:count].tolist() == list(range(limit, NUMBERS))
    few, again = slice(limit - 50, limit + 3), np.empty(NUMBERS, np.uint16)
    turned_points.turn(values[few], numbers[few], *constants, missing, again[few])
    assert np.array_equal(again[limit - 50 : limit], out[limit - 50 : limit])
    return np.bincount(out[:limit], minlength=points.space.size).tolist()


def by_places(points, value):
    """The point that each place with words of the second draw has: at both ends of its words, by ``sample``."""
    ends = list(accumulate(points.more_shares))
    places = [place for place, share in enumerate(points.more_shares) if share]
    words = np.array([[ends[place] - points.more_shares[place], ends[place] - 1] for place in places], np.uint64)
    none = np.full(-(-2 * len(places) // 4) * 4, NUMBERS - 1, np.uint16).view(np.uint64)  # numbers without a place
    out = np.empty(2 * len(places), np.uint16)
    points.sample(np.full(out.size, value), Scripted(none, words.reshape(-1)), out)
    first, last = out.reshape(-1, 2).T
    assert np.array_equal(first, last)
    return dict(zip(places, first.tolist(), strict=True))


def law(points, value):
    """What the three draws together give to each point."""
    total = [Fraction(count, NUMBERS) for count in by_numbers(points, value)]
    second = Fraction(NUMBERS - sum(points.shares), NUMBERS)
    third, every = second * Fraction(WORDS - sum(points.more_shares), WORDS), sum(points.still_lacking) or 1
    for place, point in by_places(points, value).items() if second else ():
        total[point] += second * Fraction(points.more_shares[place], WORDS)
    for place, lack in enumerate(points.still_lacking):
        total[int(points._points[place + points._turns[value]])] += third * Fraction(lack, every)
    return total


@pytest.mark.parametrize(("epsilon", "size"), EVERY)
def test_the_law_of_every_value_is_exact(epsilon, size):
    oracle = fldp.PGR(epsilon, size)
    for value in range(size):
        expected = analysis(oracle).law(value)
        assert law(oracle._turned, value) == [expected[point] for point in range(oracle._space.size)]


@pytest.mark.parametrize(("epsilon", "size"), SOME)
def test_the_law_of_some_values_of_many_is_exact(epsilon, size):
    """Also where the law is too large for its analysis: each opposite point has the words of its own."""
    oracle, values = fldp.PGR(epsilon, size), np.array([0, size // 3, size - 1])
    own, other = Fraction(oracle.coin.own, WORDS), Fraction(oracle.coin.other, WORDS)
    inside = opposite(values, np.arange(oracle._space.size), oracle._space)
    for value, row in zip(values, inside, strict=True):
        assert law(oracle._turned, value) == [own if is_opposite else other for is_opposite in row]


def test_the_third_draw_is_of_what_is_still_lacking(monkeypatch):
    points = fldp.PGR(1.0, 40)._turned
    last = sum(points.more_shares)
    assert last < WORDS
    lacking = [place for place, lack in enumerate(points.still_lacking) if lack]
    asked = iter([sum(points.still_lacking[:place]) for place in lacking])
    monkeypatch.setattr("fldp.oracles.plain.weighted_draws.secrets.randbelow", lambda below: next(asked))
    drawn = points._more_draws(len(lacking), Scripted(np.full(len(lacking), WORDS - 1, np.uint64)))
    assert drawn.tolist() == lacking


@pytest.mark.parametrize("planted", ["a turn", "a word"])
def test_a_turn_or_a_word_that_is_off_by_one_is_another_law(planted):
    oracle = fldp.PGR(1.0, 13)
    expected = [analysis(oracle).law(7)[point] for point in range(oracle._space.size)]
    points = TurnedPoints(oracle._space, oracle.coin)
    assert law(points, 7) == expected
    if planted == "a turn":
        points._turns[7] = (points._turns[7] + 1) % oracle._space.size
    else:
        points = TurnedPoints(oracle._space, replace(oracle.coin, other=oracle.coin.other + 1))
    assert law(points, 7) != expected


def statistic(counts, expected, draws):
    """Pearson's, and its quantile for a false alarm in 10^9, by Wilson and Hilferty's cube (z = 6)."""
    free = len(expected) - 1
    most = free * (1 - 2 / (9 * free) + 6 * sqrt(2 / (9 * free))) ** 3
    return sum((counts[point] - draws * float(p)) ** 2 / (draws * float(p)) for point, p in expected.items()), most


@pytest.mark.parametrize("oracle", [fldp.PGR(1.0, 5), fldp.PGR(1.0, 40), fldp.PGR(2.0, 60)], ids=repr)
@pytest.mark.parametrize("planted", [False, True])
def test_batches_of_secure_randomness_have_the_law(oracle, planted, monkeypatch):
    """200,000 reports of one value: a false alarm in 10^9; the set of the next value is found."""
    value, draws = 3, 200_000
    if planted:
        shifted = TurnedPoints(oracle._space, oracle.coin)
        vars(shifted)["_turns"] = np.roll(oracle._turned._turns, 1)
        monkeypatch.setitem(vars(oracle), "_turned", shifted)
    reports = oracle.privatize(np.full(draws, value)).data
    measured, most = statistic(np.bincount(reports, minlength=oracle._space.size), analysis(oracle).law(value), draws)
    assert (measured < most) is not planted


def test_values_of_a_batch_have_their_own_laws():
    """Each of 40 values 50,000 times, in mixed order: a false alarm in 10^7."""
    oracle = fldp.PGR(1.0, 40)
    values = np.random.default_rng(1).permutation(np.repeat(np.arange(40), 50_000))
    reports = oracle.privatize(values).data
    for value in range(40):
        counts = np.bincount(reports[values == value], minlength=oracle._space.size)
        measured, most = statistic(counts, analysis(oracle).law(value), 50_000)
        assert measured < most


def test_small_batches_and_large_spaces_are_drawn_by_words():
    oracle = fldp.PGR(1.0, 40)
    assert oracle._sampler(oracle._space.size - 1) is None
    assert oracle._sampler(100_000) is not None
    assert fldp.PGR(1.0, 100_000)._sampler(10**9) is None


def test_classes_of_others_are_drawn_by_their_own_perturb():
    class Silent(fldp.PGR):
        def perturb(self, values, words, out):
            out[:] = 0

    assert not Silent(1.0, 9).privatize(np.arange(9).repeat(1000)).data.any()
