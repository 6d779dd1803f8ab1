"""Cells and a wave together: least squares in dense matrices, exact variances, and many runs on five populations.

Full sizes are in ``tests/acceptance``. Seeds are fixed; the false-alarm rates are those of other seeds.
"""

from math import sqrt

import numpy as np
import pytest

import fldp
from fldp.data.scale import Scale
from fldp.estimation.number_planner import NumberPlan
from fldp.estimation.number_shares import as_number
from fldp.oracles.kit import analysis
from fldp.survey.number import number_oracle
from support.number_populations import POPULATIONS, distances, numbers

SMALL = fldp.Sampled(epsilon=1.0, answers=[8], views=[[0], ["cells", 0, 2], ["wave", 0, 1]], weights=[3, 1, 4])


def laws(member):
    """The probability of every report (row) under every value, and what the report adds to the counts."""
    about, size = analysis(member), member.domain_size
    rows = {}
    for value in range(size):
        for outcome, share in about.law(value).items():
            rows.setdefault(outcome, np.zeros(size))[value] = float(share)
    data = [member.report_format.report(outcome) for outcome in rows]
    added = [member.estimator.decode(member.tally(np.array([row]))) for row in data]
    return np.array(list(rows.values())), np.array(added)


def dense(oracle, tally):
    """Generalised least squares on the decoded shares of all views, with their exact covariance at uniform shares.

    Nothing is taken from formulas of the package: covariances come from the laws, and the inverse from eigenvectors.
    """
    size = oracle.answers[0]
    information, score = np.zeros((size, size)), np.zeros(size)
    for entry, member, part in zip(oracle.design.entries, oracle.members, oracle.estimator.split(tally), strict=True):
        joined = entry[2] if entry[0] == "cells" else 1
        C = np.kron(np.eye(size // joined), np.ones(joined))
        law, added = laws(member)
        often = law.mean(axis=1)
        covariance = (added.T * often) @ added - np.outer(often @ added, often @ added)
        weight = np.linalg.pinv(covariance, rcond=1e-10) * part.n
        y = member.estimator.decode(part) / part.n
        information += C.T @ weight @ C
        score += C.T @ weight @ (y - joined / size)
    return 1 / size + np.linalg.pinv(information, rcond=1e-10) @ score


def test_shares_are_generalised_least_squares():
    draw = np.random.default_rng(1)
    counts = draw.multinomial(5000, draw.dirichlet(np.ones(8)))
    tally = SMALL.tally(SMALL.privatize(np.repeat(np.arange(8), counts), rng=2))
    number = as_number(SMALL.estimate(tally), Scale(0, 8, bins=8))
    np.testing.assert_allclose(number.frequencies, dense(SMALL, tally), atol=1e-9)


@pytest.mark.long
def test_variances_are_those_of_many_runs():
    """1,500 runs of 300 people: every CDF value and the mean. A ratio has sd 0.037, so 0.18 is 5 of them."""
    counts = np.array([90, 0, 60, 10, 80, 0, 20, 40])
    people, scale, runs = np.repeat(np.arange(8), counts), Scale(0, 8, bins=8), 1500
    reports = SMALL.privatize(np.tile(people, runs), rng=3)
    estimates, plugged = [], []
    weights = np.concatenate([np.tri(9, 8, -1)[1:-1], scale.centres[None]])
    for run in range(runs):
        tally = SMALL.tally(reports[run * len(people) : (run + 1) * len(people)])
        number = as_number(SMALL.estimate(tally), scale)
        estimates.append(weights @ number.frequencies)
        plugged.append(number.source.variances(weights, "respondents") if run < 200 else 0)
    estimates, truth = np.array(estimates), weights @ counts / counts.sum()
    z = (estimates.mean(axis=0) - truth) / (estimates.std(axis=0) / sqrt(runs))
    assert np.abs(z).max() < 5
    ratio = estimates.var(axis=0) / np.mean(plugged[:200], axis=0)
    assert np.abs(ratio - 1).max() < 0.18, ratio


@pytest.mark.parametrize("name", ["income", "zeros"])
def test_coverage_and_variance_on_populations(name):
    """20 runs of 20,000 people, 32 cells: 620 intervals that are correlated. Coverage has sd 2.5 points at most."""
    people, scale = numbers(name, 20_000), Scale(0, 1, bins=32)
    oracle, cells = number_oracle(scale, 1.0), scale.encode(people)
    truth = np.searchsorted(np.sort(people), scale.bounds[1:-1], side="left") / len(people)
    inside, squares, quantiles = [], [], []
    for run in range(20):
        number = as_number(oracle.estimate(oracle.privatize(cells, rng=run)), scale)
        error = number.cdfs[1:-1] - truth
        inside.append(np.abs(error) <= 1.959964 * number.cdf_stderr()[1:-1])
        squares.append(error**2)
        for q in (0.1, 0.5, 0.9):
            value = number.quantile(q)
            quantiles.append(value.low <= np.quantile(people, q) <= value.high)
    assert np.mean(inside) > 0.95 - 5 * 0.025
    expected = NumberPlan(32, 1.0, 1).cdf_variance
    assert np.mean(squares) * len(people) == pytest.approx(expected, rel=0.6)
    assert np.mean(quantiles) >= 0.9


def test_values_apart_keep_spikes_apart():
    """One run of 40,000: the CDF is within 0.05 everywhere, where the spike inside a cell would give 0.26."""
    people = numbers("zeros", 40_000)
    for apart, low, high in (((0.0,), 0.0, 0.05), ((), 0.2, 0.4)):
        scale = Scale(0, 1, bins=32, apart=apart)
        oracle = number_oracle(scale, 1.0)
        number = as_number(oracle.estimate(oracle.privatize(scale.encode(people), rng=1)), scale)
        assert low <= distances(number, people)[1] <= high
        assert number.n == 40_000


def test_populations_are_five():
    assert len(POPULATIONS) == 5
