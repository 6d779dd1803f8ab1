"""FWR: privacy by enumeration, scattering, variance and correlation."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import fldp
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.flexible import fwr_items
from fldp.oracles.kit import analysis


@pytest.mark.parametrize(("leaks", "bits"), [(k, m) for k in range(4) for m in range(1, 5 - k)])
@pytest.mark.parametrize("size", range(2, 9))
def test_privacy_is_exactly_what_is_declared(leaks, bits, size):
    oracle = fldp.FWR(1.0, size, Fraction(1, 2**leaks), bits, allow_exposure=True)
    verification = fldp.verify(oracle)
    assert verification.holds
    assert verification.epsilon == 1.0
    assert verification.eta == verification.eta_mass == Fraction(1, 2**leaks)
    assert verification.delta == 1 - Fraction(1, 2**leaks)
    if fwr_items.bits_of(size) * leaks <= 8:
        assert verification.anonymity >= oracle.anonymity


def least(domain_size, seed):
    used = np.zeros(1 << fwr_items.bits_of(domain_size), np.int64)
    used[fwr_items.scatter(np.arange(domain_size), domain_size, seed)] = 1
    assert used.sum() == domain_size
    bias = walsh_hadamard(used)[1:]
    sides = np.concatenate([domain_size - bias, domain_size + bias]) // 2
    return int(sides[sides > 0].min())


@pytest.mark.parametrize("domain_size", [d for d in range(3, 256) if d & (d - 1)])
@pytest.mark.long
def test_the_table_holds_the_best_of_256_seeds(domain_size):
    smallest = [least(domain_size, seed) for seed in range(256)]
    assert fwr_items._SEEDS[domain_size - 2] == int(np.argmax(smallest))
    assert fwr_items.anonymity(domain_size, 1) == max(smallest)
    assert domain_size < 64 or max(smallest) >= 0.4 * domain_size


@pytest.mark.parametrize("domain_size", [*range(256, 3000, 37), 257, 513, 1023, 1025, 4097, 65_537, 2**20 + 1])
def test_larger_domains_need_no_table(domain_size):
    assert fwr_items.anonymity(domain_size, 1) == least(domain_size, 0)
    assert fwr_items.anonymity(domain_size, 1) >= 0.4 * domain_size


@pytest.mark.parametrize("domain_size", [12, 16, 23, 40, 64])
def test_the_bound_for_two_parities(domain_size):
    items = fwr_items.scatter(np.arange(domain_size), domain_size).tolist()
    rows = 1 << fwr_items.bits_of(domain_size)
    odd = np.array([[(mask & item).bit_count() & 1 for item in items] for mask in range(rows)])
    smallest = domain_size
    for one, two in combinations(range(rows), 2):
        cells = np.bincount(2 * odd[one] + odd[two], minlength=4)
        smallest = min(smallest, int(cells[cells > 0].min()))
    assert 1 <= fwr_items.anonymity(domain_size, 2) <= smallest


def test_exposure_has_to_be_asked_for():
    for size, eta in ((2, 0.5), (3, 0.5), (5, 0.5), (4, 0.25), (1024, 2**-10)):
        with pytest.raises(
            fldp.ParameterError,
            match=f"with domain_size={size}, eta={eta} a single report can reveal the value",
        ):
            fldp.FWR(0.3, size, eta)
        assert fldp.FWR(0.3, size, eta, allow_exposure=True).anonymity == 1
    assert fldp.FWR(1.0, 2).anonymity == 2
    assert fldp.FWR(1.0, 1024, 0.25).anonymity == 256


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"eta": 0.3}, "FWR: eta must be 1, 1/2, 1/4, ... (the nearest are 1/2 and 1/4), got 0.3"),
        ({"eta": 0.99}, "FWR: eta must be 1, 1/2, 1/4, ... (the nearest are 1 and 1/2), got 0.99"),
        ({"eta": 0}, "FWR: eta must be 1, 1/2, 1/4, ... down to 1/4096, got 0"),
        ({"eta": 2}, "FWR: eta must be 1, 1/2, 1/4, ... down to 1/4096, got 2"),
        ({"eta": True}, "FWR: eta must be 1, 1/2, 1/4, ... down to 1/4096, got True"),
        ({"eta": float("nan")}, "FWR: eta must be 1, 1/2, 1/4, ... down to 1/4096, got nan"),
        ({"eta": None}, "FWR: eta must be 1, 1/2, 1/4, ... down to 1/4096, got None"),
        ({"hash_bits": 9}, "FWR: hash_bits must be an integer from 1 to 8, got 9"),
        ({"hash_bits": 0}, "FWR: hash_bits must be an integer from 1 to 8, got 0"),
        ({"eta": 2**-10, "hash_bits": 3}, "FWR: eta must be at least 1/512 with 3 hash bits, got Fraction(1, 1024)"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(fldp.ParameterError) as error:
        fldp.FWR(1.0, 100_000, **parameters)
    assert str(error.value) == message


def test_hrr_is_fwr_with_one_hash_bit():
    hrr, fwr = fldp.HRR(0.3, 100), fldp.FWR(0.3, 100, hash_bits=1)
    values = np.arange(100)
    assert np.array_equal(hrr.privatize(values, rng=1).data, fwr.privatize(values, rng=1).data)
    with pytest.raises(fldp.ParameterError, match=r"HRR: eta must be 1; FWR has others, got 0.5"):
        fldp.HRR(1.0, 100, 0.5)
    with pytest.raises(fldp.ParameterError, match="HRR: hash_bits must be 1, got 2"):
        fldp.HRR(1.0, 100, 1, 2)


def test_said_or_not_the_best_hash_bits_are_the_same_oracle():
    assert fldp.FWR(1.0, 100, 0.5, 2) == fldp.FWR(1.0, 100, 0.5)
    assert fldp.FWR(1.0, 100, Fraction(1, 2)).parameters == {"epsilon": 1.0, "domain_size": 100, "eta": 0.5}


def test_variances_are_those_of_the_design():
    rows = [(0.4, 0.5, 1, 0.928), (1.0, 0.5, 2, 0.649), (2.0, 0.5, 3, 0.266), (3.0, 0.5, 4, 0.101), (1.0, 1, 2, 3.69)]
    for epsilon, eta, bits, variance in rows:
        oracle = fldp.FWR(epsilon, 1023, eta)
        assert oracle._bits == bits
        assert oracle.variance(1, 0) == pytest.approx(variance, rel=3e-3)
    ratios = [
        fldp.FHR(e, 1023).variance(1, 0, decoder="paper") / fldp.FWR(e, 1023, 0.5).variance(1, 0) for e in (0.4, 3)
    ]
    assert ratios[0] == pytest.approx(13.8, abs=0.1)
    assert min(ratios) > 2.8


def test_estimates_of_different_values_are_uncorrelated():
    """2,000 runs, all pairs of 8 values: correlations within 6 standard errors of 0; false alarms below 1e-7."""
    oracle, runs = fldp.FWR(1.0, 8, 0.5), 2000
    counts = np.array([60, 20, 10, 5, 5, 0, 0, 0])
    values = np.tile(np.repeat(np.arange(8), counts), runs)
    reports = oracle.privatize(values, rng=4)
    estimates = np.array([oracle.estimate(oracle.tally(reports[k * 100 : (k + 1) * 100])).counts for k in range(runs)])
    correlation = np.corrcoef(estimates.T) - np.eye(8)
    assert np.abs(correlation).max() < 6 / np.sqrt(runs)


@pytest.mark.parametrize(
    "row",
    [(8, 0, 0, 0), (0, 0, 0, 8), (0, 1, 1, 1), (3, 1, 1, 9)],
    ids=["mask too large", "too many parities", "an odd parity of nothing", "bits too large"],
)
def test_impossible_reports(row):
    oracle = fldp.FWR(1.0, 8, 0.5)
    with pytest.raises(fldp.DomainError, match="FWR: reports must be ones"):
        oracle.tally(np.array([row], oracle.report_format.dtype))


def test_a_domain_too_large_to_look_at_is_refused():
    """A header that a stranger sends must not make anybody go through two thousand million values."""
    with pytest.raises(
        fldp.ParameterError, match="domain_size must be at most 4194304, or a power of two, where eta is"
    ):
        fldp.FWR(1.0, 2**31 - 1, 0.5)
    assert fldp.FWR(1.0, 2**30, 0.5).anonymity == 2**29
    assert fldp.FWR(1.0, 2**31 - 1).eta == 1


@pytest.mark.parametrize("cells", [1 << 20, 64, 7])
def test_only_possible_reports_are_accepted_where_exposure_is_allowed(monkeypatch, cells):
    """Every bit pattern: what passes the check is what some value can produce, however many are checked at a time."""
    monkeypatch.setattr("fldp.oracles.flexible.fwr._MAX_CELLS", cells)
    oracle = fldp.FWR(1.0, 5, 0.25, 1, allow_exposure=True)
    rows = np.array(
        [(*masks, bits) for masks in product(range(8), repeat=3) for bits in range(8)], oracle.report_format.dtype
    )
    good = oracle.report_format.check(rows)
    assert np.array_equal(good, (analysis(oracle).likelihoods(rows) > 0).any(axis=1))
    assert 0 < good.sum() < len(rows)
