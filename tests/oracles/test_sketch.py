"""CMS and HCMS: their moments over noise, choice and hash functions, exactly and by simulation; what breaks is seen."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest

import fldp
from fldp import wire
from fldp.conformance.checks import FALSE_ALARM, _check_errors
from fldp.data.reports import Tally
from fldp.errors import DomainError, ParameterError
from fldp.oracles import get
from fldp.oracles.kit import analysis
from support import naive

each_sketch = pytest.mark.parametrize("cls", [fldp.CMS, fldp.HCMS])
WORDS = [f"word {k}" for k in range(12)]
HALF = {"HCMS": [((3, 3), 1)]}  # signs of so many reports are even in sum, or odd
COUNTS = np.array([300, 150, 80, 40, 20, 10, 0, 0, 0, 0, 0, 0])


def bucket_moments(response):
    """The mean of a report's estimates of all buckets, and of their products, for each bucket that it can be of."""
    size, publics = response.domain_size, list(analysis(response).publics())
    first, second = np.zeros((size, size)), np.zeros((size, size, size))
    for bucket, drawn in product(range(size), publics):
        for outcome, share in analysis(response).law(bucket, drawn).items():
            decoded = response.estimator.decode(response.tally(response.report_format.report(outcome, drawn)[None]))
            first[bucket] += float(share) * decoded / len(publics)
            second[bucket] += float(share) * np.outer(decoded, decoded) / len(publics)
    return first, second


def exact_moments(oracle, counts):
    """Go through all hash functions: the mean and covariance of the estimates, and the mean of the squared cells."""
    k, m, users = oracle.hashes, oracle.width, np.array(counts)
    assert analysis(oracle._sketch.response).publics_are_all
    first, second = bucket_moments(oracle._sketch.response)
    every = np.array(list(product(range(m), repeat=k * len(users)))).reshape(
        -1, k, len(users)
    )  # buckets of all strings
    own, one, two = every[:, :, :, None], every[:, :, None, :], every[:, :, None, :, None]
    means = first[own, one].mean(axis=1)  # of a report of each string, about each string
    products = second[own[..., None], two, every[:, :, None, None, :]].mean(axis=1)
    inside = np.einsum("v,hvab->hab", users, products - means[..., :, None] * means[..., None, :])
    cell, square = first[every] / k, np.diagonal(second, axis1=1, axis2=2)[every] / k
    energy = np.einsum("v,hjvl->h", users, square - cell**2) + (np.einsum("v,hjvl->hjl", users, cell) ** 2).sum((1, 2))
    totals, scale = np.einsum("v,hva->ha", users, means), m / (m - 1)
    covariance = (np.cov(totals.T, ddof=0) + inside.mean(axis=0)) * scale**2
    return (totals.mean(axis=0) - users.sum() / m) * scale, covariance, float(energy.mean())


@each_sketch
@pytest.mark.parametrize(
    ("hashes", "width", "counts"), [(1, 2, (5, 2, 0)), (2, 2, (4, 3, 1)), (1, 4, (5, 2, 0)), (2, 4, (4, 3, 1))]
)
def test_moments_over_all_hash_functions(cls, hashes, width, counts):
    """Mean, variance, variance of a sum, and the mean of the estimated squares, with nothing drawn at random."""
    oracle, n = cls(1.5, hashes, width), sum(counts)
    mean, covariance, cells = exact_moments(oracle, counts)
    np.testing.assert_allclose(mean, counts, atol=1e-9)
    variances = oracle.variance(n, np.array(counts, float))
    np.testing.assert_allclose(variances, np.diag(covariance), rtol=1e-9)
    assert oracle.estimator._squares(n, cells) == pytest.approx(sum(c * c for c in counts))
    for members in ([True, True, False], [False, True, True], [True, True, True]):
        chosen = np.array(members)
        total = variances[chosen].sum() + oracle.estimator.covariance_of_sum(n, np.array(counts, float), chosen)
        assert total == pytest.approx(covariance[np.ix_(chosen, chosen)].sum(), rel=1e-9)


@pytest.fixture(scope="session", params=["cms", "hcms"])
def drawn(request):
    """Estimates from 300 sketches with other hash functions each, two of three users holding what is asked for."""
    values = np.repeat(WORDS, COUNTS).tolist()
    oracles = [fldp.oracles.get(request.param)(2.0, 4, 8, hash_seed=seed) for seed in range(300)]
    return oracles[0], [
        oracle.estimate(oracle.privatize(values, rng=oracle.hash_seed), candidates=WORDS[1:8]) for oracle in oracles
    ]


def test_simulated_estimates_have_the_declared_moments(drawn):
    """With the hash functions that are really used. False alarm: 1e-9 over all candidates, twice."""
    oracle, estimates = drawn
    n, truth = int(COUNTS.sum()), COUNTS[1:8].astype(float)
    variance = oracle.variance(n, truth, squares=float((COUNTS**2).sum()))
    errors = (np.array([one.counts for one in estimates]) - truth) / np.sqrt(variance)
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * len(truth)))
    for word, each in zip(WORDS[1:8], errors.T, strict=True):
        _check_errors(oracle.among(WORDS), word, each, limit)


def test_simulated_sums_and_the_rest(drawn):
    """The sum of all candidates, with their covariances. False alarm: 1e-9."""
    oracle, estimates = drawn
    n, truth = int(COUNTS.sum()), COUNTS[1:8].astype(float)
    every = np.ones(7, np.bool_)
    variance = oracle.variance(n, truth, squares=float((COUNTS**2).sum())).sum()
    variance += oracle.estimator.covariance_of_sum(n, truth, every)
    errors = (np.array([one.sum(range(7)).count for one in estimates]) - truth.sum()) / np.sqrt(variance)
    _check_errors(oracle.among(WORDS), "the sum", errors, NormalDist().inv_cdf(1 - FALSE_ALARM / 2))
    assert estimates[0].rest.count == pytest.approx(n - estimates[0].counts.sum())
    assert estimates[0].rest.stderr == estimates[0].sum(range(7)).stderr


def test_standard_errors_need_no_truth(drawn):
    """They know the squares of all counts from the tally alone. Of 2,100 intervals, 5 % miss; more than 8 % never."""
    _, estimates = drawn
    missed = [(one.counts - COUNTS[1:8]) / one.stderr for one in estimates]
    assert 0.03 < (np.abs(missed) > 1.96).mean() < 0.08
    squares = [one.basis.context["squares"] for one in estimates]
    assert np.mean(squares) == pytest.approx((COUNTS**2).sum(), rel=0.1)


@each_sketch
def test_wide_sketches_equal_naive_loops(cls):
    """Widths that no law is enumerated at: the same reports, bit for bit, and the same estimates."""
    oracle = cls(3.0, 512, 128, hash_seed=9)
    values = [WORDS[k % 5] for k in range(40)]
    reports = oracle.privatize(values, rng=11)
    listed = oracle.among(WORDS)
    expected = naive.privatize(listed, [k % 5 for k in range(40)], fldp.Stream(11).words(40 * oracle.words))
    assert [oracle.report_format.outcome(row) for row in reports.data] == expected
    estimate = oracle.estimate(reports, candidates=WORDS)
    np.testing.assert_allclose(estimate.counts, naive.estimate(listed, expected), rtol=1e-9, atol=1e-7)
    assert wire.decode(wire.encode(reports)) == reports
    likely = analysis(listed).likelihoods(reports.data)
    ratio = float(fldp.verify(listed).ratio)
    own = likely[np.arange(40), np.arange(40) % 5] / likely.min(axis=1)
    assert set(own.round(6)) <= {1.0, round(ratio, 6)}
    assert own.mean() > 0.7 * ratio


@each_sketch
def test_the_profile_is_what_enumeration_finds(cls):
    oracle = cls(1.0, 4, 4).among(WORDS[:6])
    verification = fldp.verify(oracle)
    assert verification.holds
    for pair, profile in verification.profiles.items():
        assert analysis(oracle).profile(*pair) == profile


def test_a_verifier_finds_strings_that_differ():
    """With two buckets and one hash function, most pairs collide, and a colliding pair would prove nothing."""
    for seed in range(5):
        oracle = fldp.CMS(1.0, 1, 2, hash_seed=seed)
        assert analysis(oracle).resized(8).domain_size == 2, "there are no more laws than buckets"
        assert fldp.verify(oracle).epsilon == pytest.approx(1.0, abs=1e-3)


@each_sketch
def test_states_that_no_reports_give(cls):
    oracle = cls(1.0, 4, 4)
    state = oracle.tally(oracle.privatize(WORDS, rng=1)).state
    for cell, change in (((0, 0), 1), ((0, 0), -1), ((1, 1), 99), ((2, 2), -99), *HALF.get(cls.__name__, ())):
        wrong = state.copy()
        wrong[cell] += change
        with pytest.raises(DomainError, match="reports add up to this state"):
            Tally(oracle, wrong, 12)
    with pytest.raises(DomainError, match="reports add up to this state"):
        Tally(oracle, state, 13)


@each_sketch
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 1}, "width must be at least 2, got 1"),
        ({"width": 12}, "width must be a power of two, got 12"),
        ({"hashes": 0}, "hashes must be an integer from 1 to 65536, got 0"),
        ({"hashes": 65536, "width": 65536}, "hashes must be at most 16777216 divided by width, got 65536"),
        ({"hash_seed": 2**53}, f"hash_seed must be an integer from 0 to {2**53 - 1}"),
        ({"epsilon": 1e-300}, "epsilon=1e-300 is too small for this domain: 64-bit sampling cannot realise it"),
    ],
)
def test_parameters_that_are_refused(cls, change, message):
    with pytest.raises(ParameterError, match=f"^{cls.__name__}: {message}"):
        replace(cls(1.0), **change)


def test_the_realised_coins_debias():
    """CMS flips bits as SUE does, HCMS its one bit as HRR does: exact rationals, and never above epsilon."""
    for oracle, ratio in ((fldp.CMS(1.0, 2, 4), 1), (fldp.HCMS(1.0, 2, 4), 1)):
        verification = fldp.verify(oracle)
        assert Fraction(1) < verification.ratio <= fldp.randomness.coins.exp_lower(ratio)


@pytest.mark.parametrize("name", ["cms", "hcms"])
def test_a_law_is_conditional_on_the_hash_function(name):
    oracle = get(name)(1.0, 2, 2)
    with pytest.raises(ParameterError, match="public must be the hash function that the law is conditional on"):
        analysis(oracle).law(0)
