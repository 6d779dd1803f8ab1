"""What Grouped promises beyond the table: exact totals, the base's variance inside a group, and that it says weak."""

from fractions import Fraction

import numpy as np
import pytest

import fldp
from fldp.oracles.exposure import exposure
from fldp.oracles.grouped import BASES
from fldp.oracles.kit import analysis


def grouped(base="oue", groups=(3, 40, 2), epsilon=1.0, **more):
    return fldp.Grouped(epsilon, base=base, groups=groups, **more)


def values_of(counts):
    return np.repeat(np.arange(len(counts)), counts)


@pytest.mark.parametrize("base", sorted(set(BASES) - {"rr"}))
def test_totals_of_groups_are_exact(base):
    oracle = grouped(base, (5, 3, 1), allow_exposure=True)
    estimate = oracle.estimate(oracle.privatize([0] * 10 + [4] * 7 + [6] * 5 + [8] * 3))
    assert estimate.totals == (17, 5, 3)
    assert estimate.counts[8] == 3
    for members, total in ((range(5), 17), (range(5, 8), 5), ([8], 3), (range(9), 25)):
        assert estimate.sum(members) == fldp.Total(total, 0.0)
    mixed, inside = estimate.sum([0, 8]), estimate.sum([0])
    assert mixed.count == inside.count + 3
    assert mixed.stderr == inside.stderr


def test_the_error_is_that_of_the_base_with_the_users_of_the_group():
    oracle = grouped()
    counts = np.zeros(45, np.int64)
    counts[[0, 10, 44]] = 400, 9000, 600
    estimate = oracle.estimate(fldp.simulate(oracle, counts, rng=5))
    for users, size, value in ((400, 3, 1), (9000, 40, 20), (600, 2, 43)):
        assert estimate.stderr[value] == pytest.approx(
            fldp.OUE(1.0, size).variance(users, np.clip(estimate.counts[value], 0, users)) ** 0.5
        )
    assert oracle.variance(10_000, counts)[0] == fldp.OUE(1.0, 3).variance(400, 400)
    assert oracle.variance(10_000, 0.0) == fldp.OUE(1.0, 2).variance(10_000, 0.0)


def test_both_ways_to_simulate_agree():
    """Mean and variance of the estimate of one value over 400 runs, drawn and by protocol; false alarms below 1e-6."""
    oracle, counts = grouped("grr", (3, 4)), np.array([50, 20, 30, 5, 0, 45, 150])
    drawn = [oracle.estimate(fldp.simulate(oracle, counts, rng=seed)).counts for seed in range(400)]
    reports = oracle.privatize(np.tile(values_of(counts), 400), rng=3)
    told = [oracle.estimate(reports[k : k + 300]).counts for k in range(0, len(reports), 300)]
    variance = oracle.variance(300, counts)
    for estimates in (np.array(drawn), np.array(told)):
        assert (np.abs(estimates.mean(axis=0) - counts) < 6 * np.sqrt(variance / 400)).all()
        assert (np.abs(estimates.var(axis=0) / variance - 1) < 6 * np.sqrt(2 / 400)).all()


def test_post_processing_keeps_the_totals():
    oracle = grouped()
    estimate = oracle.estimate(oracle.privatize([0] * 100 + [44] * 50))
    for method in ("norm-sub", "simplex"):
        repaired = fldp.postprocess(estimate, method)
        assert [repaired.counts[run].sum() for run in oracle.estimator.runs] == pytest.approx([100, 0, 50])


def test_it_is_weak_and_says_so():
    verification = fldp.verify(grouped("grr", (3, 4)))
    assert (verification.eta, verification.eta_mass, verification.delta, verification.anonymity) == (0, 0, 1, 3)
    assert verification.holds
    assert verification.epsilon <= 1
    assert exposure(grouped()).startswith("Weak FLDP, eta 0: some values share no report")
    assert grouped().eta == Fraction(0)


def test_inside_a_group_the_base_protects():
    """The law of a value is the base's, so all that is known of the base holds inside the group."""
    oracle, base = grouped("oue", (3, 4)), fldp.OUE(1.0, 4)
    for value in range(4):
        assert {report[2]: share for report, share in analysis(oracle).law(3 + value).items()} == analysis(base).law(
            value
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": (3, 1)}, "groups has a group of one value, which every report of it publishes in clear; give each"),
        (
            {"groups": (1, 1), "allow_exposure": True},
            "groups must be a list with at least one group of 2 or more values",
        ),
        ({"groups": (5,)}, "groups must be a list of 2 to 256 sizes"),
        ({"groups": [2] * 257}, "groups must be a list of 2 to 256 sizes"),
        ({"groups": "32"}, "groups must be a list of 2 to 256 sizes"),
        ({"groups": [2**30, 2**31 - 1]}, "at most 2147483647 values in all"),
        ({"groups": (3, 0)}, "a size in groups must be an integer from 1 to 2147483647, got 0"),
        ({"groups": (3, 2.0)}, "a size in groups must be an integer"),
        ({"groups": (3, 2), "domain_size": 6}, r"groups must be of 6 values in all, got \[3, 2\]"),
        ({"base": "fhr"}, "base must be one of 'grr', 'hr', 'hrr', 'oue', 'pgr', 'rr', 'ss', 'sue', got 'fhr'"),
        ({"base": fldp.OLH}, "base must be one of"),
        ({"base": "rr"}, r"RR: domain_size must be 2 \(GRR takes more\), got 3"),
    ],
)
def test_what_is_refused(change, message):
    with pytest.raises(fldp.ParameterError, match=message):
        fldp.Grouped(**{"epsilon": 1.0, "base": "grr", "groups": (3, 2), **change})


def test_numbers_of_all_kinds():
    assert grouped(groups=np.array([3, 40, 2])) == grouped() == grouped(allow_exposure=True)
    for groups in (np.array(5), b"\x03\x02", {3: 2}, None):
        with pytest.raises(fldp.ParameterError, match="groups must be a list of 2 to 256 sizes"):
            grouped(groups=groups)
    assert fldp.HR(1.0, 8, blocks=np.int64(2)) == fldp.HR(1.0, 8, 2)


def test_the_base_may_be_a_class():
    assert grouped(fldp.OUE) == grouped("oue")
    assert grouped().parameters == {"epsilon": 1.0, "domain_size": 45, "base": "oue", "groups": [3, 40, 2]}


def test_reports_with_something_hidden_in_them_are_refused():
    oracle = grouped("grr", (3, 100))
    rows = oracle.privatize([0, 0], rng=1).data.copy()
    assert oracle.report_format.check(rows).all()
    for bits in (0b1000, 0b10000000):  # the group and its symbol take the lowest three bits
        bad = rows.copy()
        bad[1, 0] |= bits
        assert oracle.report_format.check(bad).tolist() == [True, False]
    with pytest.raises(fldp.DomainError, match="reports must be ones that"):
        fldp.Reports(grouped("grr", (3, 3, 3)), np.array([[0b11]], np.uint8))


def test_tallies_that_do_not_add_up_are_refused():
    oracle = grouped("grr", (2, 3))
    assert fldp.Tally(oracle, [3, 1, 2, 1, 0, 1, 0], 4).n == 4
    for state in ([3, 1, 2, 1, 1, 1, 0], [2, 1, 2, 1, 0, 1, 0], [-1, 5, 0, 0, 0, 1, 0]):
        with pytest.raises(fldp.DomainError, match="reports add up to this state"):
            fldp.Tally(oracle, state, 4)


def test_many_groups_fit_into_a_header():
    oracle = grouped("grr", (8_000_000,) * 256)
    with pytest.raises(fldp.WireError, match="too large to be trusted"):
        fldp.wire.decode(fldp.wire.encode(oracle.privatize([0, 7])))
    assert len(fldp.wire.decode(fldp.wire.encode(oracle.privatize([0, 7])), oracle)) == 2


def test_what_the_tests_of_integrity_cannot_see_is_said():
    oracle = fldp.Grouped(epsilon=1.0, groups=[3, 5], base="grr")
    first, *rest = analysis(oracle).blind()
    assert first == "fakes that choose a group: the sizes of the groups are data"
    assert tuple(rest) == analysis(oracle.members[1]).blind()
