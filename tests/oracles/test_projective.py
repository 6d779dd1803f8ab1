from fractions import Fraction

import numpy as np
import pytest

import fldp
from fldp import ParameterError
from fldp.oracles.kit import analysis
from fldp.oracles.plain import pgr
from fldp.randomness.coins import SetCoin, exp_lower


@pytest.mark.parametrize("size", [2, 10, 100, 997, 1000, 1023, 1024, 1100])
def test_rare_values_have_the_error_of_oue(size):
    """Within 3 % of OUE, in at most six bits more than a value has."""
    for epsilon in np.linspace(0.5, 5, 46).round(2).tolist():
        oracle = fldp.PGR(epsilon, size)
        assert oracle.variance(1, 0.0) <= 1.03 * fldp.OUE(epsilon, size).variance(1, 0.0)
        assert oracle.report_format.bits <= (64 * size + 63).bit_length()


@pytest.mark.parametrize(("epsilon", "size"), [(1.0, 40), (0.1, 31), (2.0, 60), (5.0, 20)])
def test_sums_have_the_variance_of_the_law(epsilon, size):
    """Values on a line and values that are not, members and others, against the law itself."""
    oracle, draw = fldp.PGR(epsilon, size), np.random.default_rng(size)
    each = np.array(
        [
            oracle.estimator.decode(oracle.tally(oracle.report_format.report(k)[None]))
            for k in range(analysis(oracle).outcomes)
        ]
    )
    shares = np.array([[float(share) for share in analysis(oracle).law(value).values()] for value in range(size)])
    counts = draw.integers(0, 50, size).astype(float)
    for members in (draw.random(size) < 0.3, draw.random(size) < 0.8, np.ones(size, bool), np.arange(size) == 3):
        total = each[:, members].sum(axis=1)
        exact = counts @ (shares @ total**2 - (shares @ total) ** 2)
        parts = oracle.variance(counts.sum(), counts)[members].sum()
        assert parts + oracle.estimator.covariance_of_sum(counts.sum(), counts, members) == pytest.approx(
            exact, abs=1e-7 * parts
        )


@pytest.mark.parametrize("inside", [1, 4, 1023, 2**20 - 1])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.7, 8.0])
def test_set_coins_leave_no_word_over(epsilon, inside):
    outside = 2 * inside + 1
    coin = SetCoin.build("PGR", epsilon, inside, outside)
    assert inside * coin.own + outside * coin.other == 2**64
    ratio = Fraction(coin.own, coin.other)
    assert (1 - Fraction(1, 1024)) * (exp_lower(epsilon) - 1) <= ratio - 1 <= exp_lower(epsilon) - 1


def test_a_domain_too_large_for_its_coin_is_refused():
    with pytest.raises(ParameterError, match=r"^PGR: epsilon=0\.01 is too small for this domain: "):
        fldp.PGR(0.01, 2**24)


@pytest.mark.parametrize("bad", [[-1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [0] * 7])
def test_a_tally_that_no_report_gives(bad):
    oracle = fldp.PGR(0.1, 7)
    assert oracle.tally_format.shape == (7,)
    assert not oracle.tally_format.check(np.array(bad), 1)


@pytest.mark.parametrize(("epsilon", "size"), [(1.0, 5), (1.0, 1024), (0.1, 40), (2.0, 300), (8.0, 257), (0.1, 2)])
def test_a_table_has_the_points_that_are_computed(epsilon, size):
    """Both ends of the words of every point, for every value up to 300 and some above."""
    oracle = fldp.PGR(epsilon, size)
    coin, values = oracle.coin, np.arange(size) if size <= 300 else np.array([0, 1, 5, 364, 700, size - 1])
    starts = [k * coin.own for k in range(coin.inside)] + [coin.keep + k * coin.other for k in range(coin.outside)]
    words = np.array(sorted({*starts, *(start - 1 for start in starts[1:]), 2**64 - 1}), np.uint64)
    chosen, each = np.repeat(values, len(words)), np.tile(words, len(values))
    computed, looked_up = oracle.report_format.empty(len(each)), oracle.report_format.empty(len(each))
    space = (np.uint64(oracle._space.order), oracle._space.dimension, np.uint64(oracle._space.rest_size))
    own, other, keep = np.uint64(coin.own), np.uint64(coin.other), np.uint64(coin.keep)
    pgr.draw_points.compiled(chosen, each, *space, own, other, keep, computed)
    inside = np.uint64(coin.inside)
    pgr.look_points_up.compiled(chosen, each, inside, own, other, keep, oracle._table, looked_up)
    assert np.array_equal(looked_up, computed)
    few = slice(0, 200)
    pgr.look_points_up(chosen[few], each[few], inside, own, other, keep, oracle._table, looked_up[few])
    assert np.array_equal(looked_up, computed)


def test_a_batch_from_a_table_equals_reports_one_by_one():
    oracle = fldp.PGR(1.0, 40)
    values = np.random.default_rng(1).integers(0, 40, 5000)
    assert oracle._has_table(len(values))
    assert not oracle._has_table(1)
    stream = fldp.Stream(3)
    single = [oracle.privatize(int(value), rng=stream).data[0] for value in values[:300]]
    assert oracle.privatize(values, rng=3).data[:300].tolist() == single


def test_no_table_for_a_domain_that_would_take_too_much_memory():
    assert not fldp.PGR(1.0, 100_000)._has_table(10**9)
