"""Metrics by hand, by loops written from the paper, and at their edges."""

import math
from statistics import median

import numpy as np
import pytest

import fldp
from fldp.experiments.runner import metrics
from fldp.experiments.runner.metrics import top

REAL = [400, 300, 200, 100, 0]
MADE = [380.0, 200.0, 250.0, 150.0, 20.0]


def value(name, estimated, real, k):
    return metrics.get(name).function(estimated, real, k)


def divergence(p, q):
    """D_f(q || p) of the paper with f(x) = x log x: the integral of f(dP/dQ) dQ."""
    return sum(b * (a / b) * math.log(a / b) for a, b in zip(p, q, strict=True))


def test_kld_is_the_papers_formula_on_the_top_k():
    p, q = [4 / 9, 3 / 9, 2 / 9], [380 / 830, 200 / 830, 250 / 830]
    assert value("kld", MADE, REAL, 3) == pytest.approx((divergence(p, q) + divergence(q, p)) / 2, rel=1e-12)
    assert value("kld", REAL, REAL, 3) == 0
    assert value("kld", [2 * c for c in REAL], REAL, 3) == pytest.approx(0), "only shares within the top k count"


def test_kld_counts_an_estimate_below_one_user_as_one():
    p, q = [4 / 7, 3 / 7], [399 / 400, 1 / 400]
    expected = (divergence(p, q) + divergence(q, p)) / 2
    for low in (-50.0, 0.0, 0.5, 1.0):
        assert value("kld", [399.0, low, 0, 0, 0], REAL, 2) == pytest.approx(expected, rel=1e-12)
    assert value("kld", [399.0, 2.0, 0, 0, 0], REAL, 2) < expected
    assert math.isfinite(value("kld", [-1.0] * 5, REAL, 3))


def test_relative_error_is_a_median_over_the_true_top():
    assert value("re", MADE, REAL, 3) == pytest.approx(median([20 / 400, 100 / 300, 50 / 200]))
    assert value("re", MADE, REAL, 2) == pytest.approx((20 / 400 + 100 / 300) / 2)
    assert value("re", [0.0] * 5, REAL, 4) == 1
    assert value("re", [-400.0, 0, 0, 0, 0], REAL, 1) == 2


def test_squared_error_is_over_the_intersection():
    both = [20, 50]  # the top 2 of the estimate are 0 and 2, those of the truth 0 and 1
    assert value("se", MADE, REAL, 2) == pytest.approx((both[0] / 1000) ** 2)
    assert value("se", MADE, REAL, 3) == pytest.approx((0.02**2 + 0.1**2 + 0.05**2) / 3)
    assert math.isnan(value("se", [0, 0, 9, 9, 0], REAL, 2)), "an empty intersection has no mean"


def test_normalized_cumulative_rank():
    assert value("ncr", REAL, REAL, 4) == 1
    assert value("ncr", MADE, REAL, 2) == pytest.approx(2 / 3), "found the first of two: 2 of 2 + 1"
    assert value("ncr", [9, 0, 8, 7, 0], REAL, 3) == pytest.approx((3 + 1) / 6)
    assert value("ncr", [0, 0, 0, 9, 9], REAL, 2) == 0
    assert value("ncr", [1, 2, 3, 0, 0], REAL, 3) == 1, "the order among those found does not matter"


def test_f1():
    assert value("f1", MADE, REAL, 2) == 0.5
    assert value("f1", [0, 0, 0, 9, 9], REAL, 2) == 0


def test_errors_over_all_values():
    errors = np.array([20, 100, 50, 50, 20]) / 1000
    for k in (1, 5):
        assert value("mse", MADE, REAL, k) == pytest.approx((errors**2).mean())
        assert value("l1", MADE, REAL, k) == pytest.approx(errors.sum())
        assert value("max", MADE, REAL, k) == pytest.approx(0.1)


def test_coverage():
    oracle = fldp.OUE(1.0, 4)
    estimate = fldp.Estimate(oracle, np.array([400.0, 300, 200, 100]), np.full(4, 10.0), 1000)
    reach = 10 * 1.959964
    assert value("coverage", estimate, [400 + reach - 0.01, 300 + reach + 0.01, 200 - reach + 0.01, 0], 4) == 0.5
    with pytest.raises(fldp.ParameterError, match="metric coverage: the estimate must be an Estimate, which has int"):
        value("coverage", [1, 2], [1, 2], 2)


def test_k_beyond_the_values_that_anybody_holds():
    """Nobody holds value 4, so the true top has four at most, and so has the estimated one."""
    for name in ("kld", "re", "se", "ncr", "f1"):
        assert value(name, MADE, REAL, 99) == value(name, MADE, REAL, 4)
    assert value("ncr", [400, 300, 200, 0, 100], REAL, 5) == pytest.approx(9 / 10)


def test_ties_do_not_follow_the_order_of_the_values():
    """In most datasets the frequent values come first; to know nothing must not look like knowing them."""
    real, nothing = np.arange(1000, 0, -1), np.zeros(1000)
    assert value("ncr", nothing, real, 100) < 0.25
    assert value("f1", nothing, real, 100) < 0.25
    assert value("ncr", nothing, real[::-1], 100) < 0.25
    assert sorted(top(nothing, 1000).tolist()) == list(range(1000))


def test_ties_are_settled_alike_on_both_sides():
    """So the truth itself is a perfect estimate, ties at the limit or not."""
    for real in ([5, 5, 5, 5, 5, 5], [9, 5, 5, 5, 1, 1], [3, 3, 0, 0, 0, 3]):
        for k in range(1, 8):
            assert value("ncr", real, real, k) == value("f1", real, real, k) == 1
            assert value("se", real, real, k) == value("re", real, real, k) == value("kld", real, real, k) == 0


def test_the_top_agrees_with_sorting():
    rng = np.random.default_rng(1)
    for size in (1, 2, 50, 1000):
        counts = rng.normal(size=size)
        for k in (1, 2, size // 2 or 1, size, size + 5):
            assert top(counts, k).tolist() == np.argsort(-counts)[:k].tolist()


def test_an_estimate_and_its_counts_measure_the_same():
    oracle = fldp.FHR(1.0, 5)
    estimate = oracle.estimate(fldp.simulate(oracle, REAL, rng=1))
    for name in ("kld", "re", "se", "ncr", "f1", "mse", "l1", "max"):
        assert value(name, estimate, REAL, 3) == value(name, estimate.counts, REAL, 3)


@pytest.mark.parametrize(
    ("estimated", "real", "k", "message"),
    [
        ([1, 2], [1, 2, 3], 1, "metric: the estimate must be counts of the 3 values of the truth, got (2,)"),
        ([[1, 2]], [[1, 2]], 1, "metric: the estimate must be counts of the 1 values of the truth, got (1, 2)"),
        ([1, 2], [0, 0], 1, "metric: the truth must be counts of at least one user, got np.float64(0.0)"),
        ([1, 2], [1, 2], 0, "metric: k must be at least 1, got 0"),
    ],
)
def test_bad_input(estimated, real, k, message):
    with pytest.raises(fldp.ParameterError) as error:
        value("kld", estimated, real, k)
    assert str(error.value) == message


def test_the_registry():
    with pytest.raises(fldp.ParameterError, match=r"metric: the name must be one of .*kld.*, got 'nope'"):
        metrics.get("nope")
    with pytest.raises(fldp.ParameterError, match="metric: the name 'kld' is taken by fldp"):
        metrics.metric("kld")(lambda estimate, truth, k: 0.0)
    assert {"kld", "re", "se", "ncr", "f1", "mse", "l1", "max", "coverage"} <= set(metrics.names())
    assert [metrics.get(name).lower_is_better for name in ("kld", "se", "re", "ncr")] == [True, True, True, False]
