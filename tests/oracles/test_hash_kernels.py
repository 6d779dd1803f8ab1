"""The kernels of hashed strings: machine code, plain Python and NumPy do the same, also where hash functions agree."""

import numpy as np
import pytest

import fldp
from fldp.numerics.kernels import U64
from fldp.oracles.kit import analysis
from fldp.oracles.strings.hash_kernels import add_moments, distinct, multiply_at, share_bits

CROWDED = fldp.RAPPOR(1.0, 2.0, bits=5, hashes=3, cohorts=8)  # most candidates set a bit twice
LISTED = CROWDED.among(map(str, range(12)))
PLACES = distinct(CROWDED._filters.bits_of(LISTED.marks))
SETS = [[frozenset(row) - {-1} for row in cohort] for cohort in PLACES.tolist()]


def ways(kernel):
    """The forms in which a kernel runs."""
    return {"machine code": kernel.compiled, "Python": kernel, "NumPy": kernel._by_numpy}


def test_candidates_set_bits_twice():
    assert (PLACES < 0).any()
    assert (PLACES >= 0).all(axis=2).any()


@pytest.mark.parametrize("way", ways(multiply_at))
def test_a_report_weighs_every_bit_of_a_candidate_once(way):
    cohorts, table = np.array([3, 0, 3, 7]), np.random.default_rng(1).uniform(0.5, 2, (4, 5))
    out = np.empty((4, 12))
    ways(multiply_at)[way](table, CROWDED._filters.seeds[cohorts], LISTED.marks, U64(5), out)
    right = [[table[i, sorted(own)].prod() for own in SETS[j]] for i, j in enumerate(cohorts)]
    np.testing.assert_allclose(out, right, rtol=1e-14)


@pytest.mark.parametrize("oracle", [fldp.CMS(2.0, 4, 8), fldp.HCMS(2.0, 4, 8)], ids=lambda oracle: oracle.title)
def test_the_likelihood_of_a_candidate_in_a_sketch_is_that_of_its_bucket(oracle):
    listed = oracle.among(map(str, range(20)))
    data = listed.privatize(np.arange(20).repeat(3), rng=1).data
    rows, responses = oracle._sketch.split(data)
    buckets = np.array([oracle._sketch.buckets(int(mark)) for mark in listed.marks])[:, rows].T
    inside = analysis(oracle._sketch.response).likelihoods(responses)
    assert (analysis(listed).likelihoods(data) == np.take_along_axis(inside, buckets, axis=1)).all()


@pytest.mark.parametrize("way", ways(share_bits))
def test_bits_that_two_candidates_share(way):
    out = np.zeros((12, 12), np.int64)
    ways(share_bits)[way](PLACES, 5, out)
    right = [[sum(len(cohort[v] & cohort[w]) for cohort in SETS) for w in range(12)] for v in range(12)]
    assert out.tolist() == np.tril(right).tolist()


def test_the_normal_matrix_is_the_products_of_the_coefficients():
    design = CROWDED._filters.design(LISTED.marks)
    np.testing.assert_allclose(design.normal(), sum(rows @ rows.T for rows in design), rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("way", ways(add_moments))
def test_what_reports_add_to_estimates(way):
    design, weights = CROWDED._filters.design(LISTED.marks), np.random.default_rng(2).normal(size=(3, 12))
    own, sums = np.zeros((3, 12)), np.zeros((3, 2))
    ways(add_moments)[way](weights, PLACES, 5, design.base, 1 / 8, 0.7, own, sums)
    right, right_sums = np.zeros((3, 12)), np.zeros((3, 2))
    for rows in design:
        each, centred = weights @ rows, 8 * rows
        right += 0.7 * each**2 @ (centred + design.base).T + (each @ centred.T) ** 2
        right_sums += np.column_stack([(each**2).sum(axis=1), each.sum(axis=1) ** 2])
    np.testing.assert_allclose(own, right, rtol=1e-11)
    np.testing.assert_allclose(sums, right_sums, rtol=1e-11)
