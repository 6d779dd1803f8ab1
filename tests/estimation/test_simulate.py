"""Both ways to a tally agree in law, jointly."""

from collections import Counter

import numpy as np
import pytest

import fldp
from fldp.conformance.checks import _chi_square_z

RUNS = 6_000
CLOSED = [fldp.RR(1.0), fldp.GRR(1.0, 3), fldp.SUE(1.0, 3), fldp.OUE(0.5, 3), fldp.OLH(1.0, 3)]


def two_samples_z(one, two):
    """The normal score of the chi-square test that two samples of outcomes have one law; rare outcomes are pooled."""
    cells, pooled = [], [0, 0]
    for outcome in one.keys() | two.keys():
        pair = one[outcome], two[outcome]
        if sum(pair) >= 30:
            cells.append(pair)
        else:
            pooled = [pooled[0] + pair[0], pooled[1] + pair[1]]
    table = np.array([*cells, pooled] if sum(pooled) else cells, float)
    expected = table.sum(axis=1, keepdims=True) / 2
    return _chi_square_z(float(((table - expected) ** 2 / expected).sum()), len(table) - 1)


def protocol(oracle, counts):
    n = int(sum(counts))
    values = np.tile(np.repeat(np.arange(len(counts)), counts), RUNS)
    reports = oracle.privatize(values, rng=1)
    return Counter(tuple(oracle.tally(reports[k * n : (k + 1) * n]).state.ravel().tolist()) for k in range(RUNS))


@pytest.mark.parametrize("oracle", CLOSED, ids=repr)
@pytest.mark.long
def test_the_joint_law_is_that_of_the_protocol(oracle):
    """Two samples of 6,000 whole tallies; false alarms below 1e-9."""
    counts = [3, 1, 0][: oracle.domain_size]
    stream = fldp.Stream(2)
    drawn = Counter(tuple(fldp.simulate(oracle, counts, rng=stream).state.tolist()) for _ in range(RUNS))
    assert two_samples_z(drawn, protocol(oracle, counts)) < 6
    if oracle.name == "grr":
        broken = Counter(tuple(sorted(state)) for state in drawn.elements())
        assert two_samples_z(broken, protocol(oracle, counts)) > 6, "the test can tell"


@pytest.mark.parametrize("oracle", [fldp.FHR(1.0, 7), fldp.FWR(1.0, 7, 0.5), fldp.HRR(1.0, 7)], ids=repr)
def test_other_oracles_run_the_protocol(oracle):
    counts = [100_000, 30_000, 20_000, 0, 0, 50_000, 1]
    done = []
    tally = fldp.simulate(oracle, counts, rng=3, progress=done.append)
    assert tally.n == sum(counts) == sum(done)
    estimate = oracle.estimate(tally)
    assert np.all(np.abs(estimate.counts - counts) < 6 * estimate.stderr)
    assert fldp.simulate(oracle, counts, rng=3) == tally
    assert fldp.simulate(oracle, counts) != tally


@pytest.mark.parametrize("oracle", [fldp.OUE(1.0, 1024), fldp.OLH(1.0, 1024), fldp.GRR(1.0, 1024)], ids=repr)
def test_a_billion_users(oracle):
    counts = np.full(1024, 10**9 // 1024)
    estimate = oracle.estimate(fldp.simulate(oracle, counts, rng=4))
    errors = (estimate.counts - counts) / estimate.stderr
    assert abs(errors.std() - 1) < 6 / np.sqrt(2 * 1024)


@pytest.mark.parametrize("counts", [[1, 2], [1.0] * 5, [-1, 0, 0, 0, 5], [0] * 5, "abc", None, [[1] * 5]])
def test_bad_counts(counts):
    with pytest.raises(fldp.ParameterError, match="simulate: counts must be"):
        fldp.simulate(fldp.GRR(1.0, 5), counts)


def test_counts_of_records_have_the_shape_of_all_answers():
    oracle = fldp.Sampled(epsilon=1.0, answers=[3, 2], views=1)
    with pytest.raises(fldp.ParameterError, match=r"counts must be integers of shape \(3, 2\), one for each record"):
        fldp.simulate(oracle, [1, 2, 3])
