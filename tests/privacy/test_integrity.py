"""Integrity: honest reports pass whatever the data, exactly as often as promised; what does not pass is not honest."""

import json
import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from typer.testing import CliRunner

import fldp
from fldp import wire
from fldp.cli import app
from fldp.cli import integrity as integrity_commands  # noqa: F401 (the commands join when they are loaded)
from fldp.errors import FldpError
from fldp.oracles.base.claims import CellClaim, SumClaim
from fldp.oracles.kit import analysis
from fldp.oracles.plain.single_value import Single
from fldp.oracles.plain.unary_analysis import weight_law
from fldp.presentation import integrity
from fldp.privacy.honesty import binomial_tests, recovery
from fldp.privacy.poisoning import ATTACKS, poison
from support.defects import Subset
from support.small_oracles import SMALL as EVERY

SMALL = [oracle for oracle in EVERY if oracle.name != "grouped"]
WIDE = [
    fldp.RR(1.0),
    fldp.GRR(1.0, 20),
    fldp.SUE(1.0, 20),
    fldp.OUE(1.0, 20),
    fldp.OLH(1.0, 20),
    fldp.SS(1.0, 20),
    fldp.HR(1.0, 20),
    fldp.HR(2.0, 21, 4),
    fldp.PGR(1.0, 20),
    fldp.Wave(1.0, 20, width=3),
    fldp.HRR(1.0, 20),
    fldp.FWR(1.0, 20),
    fldp.FWR(1.0, 40, 0.25),
    fldp.FHR(1.0, 20),
    fldp.Grouped(1.0, base="hrr", groups=[9, 11]),
]
wide = pytest.mark.parametrize("oracle", WIDE, ids=map(repr, WIDE))


# ------------------------------------------------------------------------------------------------- tails and bounds


def binomial(k, n, p):
    return comb(n, k) * p**k * (1 - p) ** (n - k)


@pytest.mark.parametrize(
    ("n", "low", "high"), [(1, 0.5, 0.5), (30, 0.125, 0.375), (60, 0.03125, 0.03125), (57, 0.0, 0.875)]
)
def test_tails_are_exact_and_their_bounds_are_bounds(n, low, high):
    for k in range(n + 1):
        if n * low <= k <= n * high:
            exact = 1.0
        elif k < n * low:
            exact = float(sum(binomial(j, n, Fraction(low)) for j in range(k + 1)))
        else:
            exact = float(sum(binomial(j, n, Fraction(high)) for j in range(k, n + 1)))
        assert binomial_tests.tail(k, n, low, high) == pytest.approx(exact, rel=1e-9)
        arrays = (np.array([number]) for number in (k, n, low, high))
        assert binomial_tests.log_bounds(*arrays)[0] >= np.log(exact) - 1e-9


def test_the_bound_of_a_total_is_above_its_tail_and_near_it():
    parts = [(40, 0.5), (200, 0.1)]
    law = np.convolve(*([float(binomial(k, n, Fraction(p))) for k in range(n + 1)] for n, p in parts))
    for total in (0, 20, 39, 41, 60, 75, 120):
        finding = binomial_tests.judge_total("bits", "", total, parts)
        exact = law[total:].sum() if total > 40 else law[: total + 1].sum()
        assert 2 * exact - 1e-12 <= finding.p_value <= min(1.0, 60 * exact)


def test_the_bound_of_bennett_is_above_what_happens():
    """Sums of 50 terms that are 3 with probability 1/4 and else -1."""
    law = [float(binomial(k, 50, Fraction(1, 4))) for k in range(51)]
    for hits in range(14, 40):
        bound = binomial_tests.bennett(3 * hits - (50 - hits), 50, 3.0, 3.0)
        assert np.exp(bound) >= sum(law[hits:])


# ------------------------------------------------------------------------------------ what is said of honest reports


def laws(oracle):
    """Every report that can be, and how likely it is under each value, over all public parts."""
    publics = list(analysis(oracle).publics())
    assert analysis(oracle).publics_are_all
    for public in publics:
        under = [analysis(oracle).law(value, public) for value in range(oracle.domain_size)]
        for outcome in sorted({outcome for law in under for outcome in law}):
            row = np.array([float(law.get(outcome, 0)) / len(publics) for law in under])
            yield oracle.report_format.report(outcome, public)[None], row


UNEVEN = [
    fldp.URR(1.0, 5, sensitive=[1, 3]),
    fldp.URAPPOR(1.0, 5, sensitive=[1, 3]),
    fldp.IDUE(epsilon=3.0, domain_size=5, budgets={3: 1.0}),
]


@pytest.mark.parametrize("oracle", [*SMALL, *UNEVEN], ids=repr)
def test_what_the_tests_take_for_honest_is_so_for_every_value_and_tight(oracle):
    """Each cell of each test, from every single report, weighed by the law: its chance lies within what it claims.

    Where a cell has trials of its own, that is so given that it has one. And the claims are not too wide: at each end
    of each test is the chance of some cell under some value.
    """
    seen = {}

    def record(test, claim, counts, trials, low, high, name=None):
        del claim, name
        counts = np.asarray(counts, np.float64)
        each = [np.broadcast_to(np.asarray(number, np.float64), counts.shape) for number in (trials, low, high)]
        hits, tries, _, _ = seen.setdefault(
            test, (np.zeros((*counts.shape, d)), np.zeros((*counts.shape, d)), *each[1:])
        )
        hits += counts[..., None] * chance
        tries += each[0][..., None] * chance

    d, about = oracle.domain_size, analysis(oracle)
    for data, row in laws(oracle):
        chance = row
        for claim in (*about.honest_tally(oracle.tally(data)), *about.honest_reports(data)):
            if isinstance(claim, CellClaim):
                record(*claim)
    assert seen
    for test, (hits, tries, low, high) in seen.items():
        share = np.divide(hits, tries, out=np.full(hits.shape, np.nan), where=tries > 1e-12)
        assert np.nanmin(share - low[..., None]) == pytest.approx(0, abs=1e-9), test
        assert np.nanmax(share - high[..., None]) == pytest.approx(0, abs=1e-9), test


@pytest.mark.parametrize("oracle", UNEVEN[1:], ids=repr)
def test_what_a_report_adds_to_all_estimates_has_the_bounds_that_are_claimed(oracle):
    """From every single report, weighed by the law: the mean 1 for every value, and bounds that some value attains."""
    told, chances = [], []
    for data, row in laws(oracle):
        told += [claim for claim in analysis(oracle).honest_tally(oracle.tally(data)) if isinstance(claim, SumClaim)]
        chances.append(row)
    added, chances = np.array([claimed[2] for claimed in told]) - 1, np.array(chances)
    assert added @ chances == pytest.approx(np.zeros(oracle.domain_size), abs=1e-9)
    _, _, _, n, variance, (above, below) = told[0]
    assert (n, variance) == (1, pytest.approx((added**2 @ chances).max()))
    if oracle.name == "idue":
        assert (above, below) == (pytest.approx(added.max()), pytest.approx(-added.min()))
    else:  # it names one value at most, and the bound is that of all
        assert above > added.max() and below == pytest.approx(-added.min())  # noqa: PT018


def test_the_tail_of_a_sum_is_bounded_by_how_far_a_term_can_lie_on_that_side():
    """Terms of 0 or 10 with mean 1, so 9 above or 1 below it: the exact binomial tails are below the p-values."""
    n, variance, most = 400, 9.0, (9.0, 1.0)
    chances = [math.comb(n, k) * 0.1**k * 0.9 ** (n - k) for k in range(n + 1)]
    for hits, tail in ((80, sum(chances[80:])), (12, sum(chances[:13]))):
        p_value = binomial_tests.judge_sum("total", "", 10.0 * hits, n, variance, most).p_value
        excess, side = abs(10 * hits - n), most[hits < 40]
        assert p_value == pytest.approx(2 * math.exp(binomial_tests.bennett(excess, n, variance, side)))
        assert tail < p_value < 1e-3


PAIRED = [oracle for oracle in SMALL if not isinstance(oracle, fldp.GRR | fldp.RR | fldp.HR | fldp.PGR | fldp.Wave)]


@pytest.mark.parametrize("oracle", [*PAIRED, *UNEVEN[1:]], ids=repr)
def test_scores_of_pairs_have_mean_0_whatever_the_value_and_are_1_for_fakes(oracle):
    values = np.arange(oracle.domain_size)
    mean = square = 0.0
    for data, chance in laws(oracle):
        scores = analysis(oracle).pairs(oracle.tally(data), data, values)
        sums = np.where(np.eye(len(values)), 0.0, scores.sums)
        assert sums.max() <= scores.most + 1e-9
        mean, square = mean + sums[..., None] * chance, square + sums[..., None] ** 2 * chance
    assert np.abs(mean).max() < 1e-9
    apart = ~np.eye(len(values), dtype=bool)
    worst = (square.max(axis=2) / scores.variance)[apart]
    assert worst.max() == pytest.approx(1)
    fake = poison(oracle, [1, 2], 10, rng=1)
    sums = analysis(oracle).pairs(oracle.tally(fake), fake.data, np.array([1, 2])).sums
    assert sums[0, 1] == pytest.approx(10)


def test_the_law_of_the_weights_is_that_of_the_bits():
    oracle = fldp.OUE(1.0, 4)
    for value in range(4):
        law = np.zeros(5)
        for bits, chance in analysis(oracle).law(value).items():
            law[bits.bit_count()] += float(chance)
        assert weight_law(4, float(oracle.estimator.p), float(oracle.estimator.q)) == pytest.approx(law)


# ------------------------------------------------------------------------------------------- false alarms, and power


def population(kind, size, n):
    """Data of every kind: all the same value, the first or the last, all alike, and very unequal."""
    if kind < 2:
        return np.full(n, kind * (size - 1))
    return np.arange(n) % size if kind == 2 else np.minimum(np.random.default_rng(n).geometric(0.3, n) - 1, size - 1)


@wide
def test_honest_reports_are_rarely_called_dishonest(oracle):
    """80 collections at a false-alarm rate of 0.05, which bounds it from above.

    Flagged on average are 4 or fewer; 13 or more have a chance of 1.2e-4, so of all 14 oracles 2e-3, once and for all:
    the seeds are fixed.
    """
    alarms = sum(
        not fldp.integrity(
            oracle.privatize(population(seed % 4, oracle.domain_size, 300), rng=seed), false_alarm=0.05
        ).passed
        for seed in range(80)
    )
    assert alarms <= 12


STRINGS = [
    fldp.CMS(1.0, hashes=8, width=16),
    fldp.HCMS(1.0, hashes=4, width=16),
    fldp.RAPPOR(1.0, 2.0, bits=16, cohorts=4),
]


@pytest.mark.parametrize("oracle", STRINGS, ids=repr)
def test_reports_of_strings(oracle):
    """Honest ones pass: of 40 collections at a rate of 0.05, 9 or more fail with a chance of 3e-4. Others do not."""
    people = [["a"] * 300, ["b", "c"] * 150, [f"{k}" for k in range(300)]]
    honest_reports = [oracle.privatize(people[seed % 3], rng=seed) for seed in range(40)]
    findings = [fldp.integrity(reports, false_alarm=0.05) for reports in honest_reports]
    assert sum(not one.passed for one in findings) < 9
    assert findings[0].findings
    same = fldp.Reports(oracle, np.repeat(honest_reports[0].data[:1], 300, axis=0))
    assert not fldp.integrity(same).passed
    assert not fldp.integrity(oracle.tally(same)).passed


def test_people_who_report_every_day_are_no_alarm():
    """The same kept bits, reported anew 60 times: far from independent, and honest."""
    oracle = fldp.RAPPOR(1.0, 2.0, bits=16, cohorts=4)
    kept = oracle.memoization.keep(["a", "b"] * 20, rng=3)
    days = fldp.Reports.concatenate([oracle.memoization.respond(kept, rng=day) for day in range(60)])
    assert fldp.integrity(days).passed


SEEN = {
    "SUE": ("pairs",),
    "OUE": ("pairs",),
    "IDUE": ("pairs",),
    "URAPPOR": ("pairs",),
    "OLH": ("pairs", "total"),
    "SS": ("pairs",),
    "HR": ("symbols",),
    "PGR": ("supports",),
    "Wave": ("outputs",),
    "HRR": ("masks", "parities", "pairs"),
    "FWR": ("masks", "parities", "pairs"),
    "FHR": ("masks", "positions", "unused parities", "pairs"),
}
POWER = [
    cls(1.0, 40) for cls in (fldp.GRR, fldp.SUE, fldp.OUE, fldp.OLH, fldp.SS, fldp.HR, fldp.PGR, fldp.HRR, fldp.FHR)
]
POWER += [
    fldp.Wave(1.0, 40, width=5),
    fldp.FWR(1.0, 40),
    fldp.FWR(1.0, 40, 0.5),
    fldp.IDUE(3.0, 40, budgets={11: 1.0, 22: 2.0}),
]
POWER += [fldp.URAPPOR(1.0, 40, sensitive=[11, 22, 33, 38])]


@pytest.mark.parametrize("oracle", POWER, ids=repr)
def test_a_tenth_of_fakes_shows_where_it_can(oracle):
    """Maximal gain shows in all but GRR, where it cannot; honest reports of a chosen value never do."""
    users = oracle.privatize(population(3, 40, 9000), rng=2)
    for attack in ATTACKS[:2]:
        fake = poison(oracle, [11, 22, 33, 37], 1000, attack=attack, rng=4)
        findings = fldp.integrity(fldp.Reports.concatenate([users, fake]))
        flagged = {one.test for one in findings.flagged}
        assert flagged >= set(SEEN.get(oracle.title, ()) if attack == "maximal-gain" else ()), attack
        assert findings.passed == (attack == "random-item" or oracle.title == "GRR")
    assert any("by their choice" in words or "of their choice" in words for words in findings.blind)


@pytest.mark.parametrize("oracle", [fldp.URAPPOR(1.0, 40, sensitive=range(20)), POWER[-2]], ids=repr)
def test_reports_that_were_drawn_uniformly_show_in_the_sum(oracle):
    users = oracle.privatize(population(3, 40, 9000), rng=2)
    fake = poison(oracle, [11], 1000, attack="random-report", rng=4)
    findings = fldp.integrity(oracle.tally(fldp.Reports.concatenate([users, fake])))
    assert "total" in [one.test for one in findings.flagged]


def test_more_names_than_there_can_be_show():
    oracle = fldp.URR(1.0, 40, sensitive=[3, 7])
    users = oracle.privatize(np.arange(9000) % 30 + 10, rng=2)
    findings = fldp.integrity(fldp.Reports.concatenate([users, poison(oracle, np.arange(10, 40), 1000, rng=4)]))
    assert "names" in [one.test for one in findings.flagged]


def test_grr_shows_fakes_where_nobody_holds_a_value_any_more():
    oracle = fldp.GRR(1.0, 5)
    users = oracle.privatize(np.zeros(9000, int), rng=2)
    findings = fldp.integrity(fldp.Reports.concatenate([users, poison(oracle, [0], 1000, rng=3)]))
    assert [one.test for one in findings.flagged] == ["supports"]
    assert "name their targets outright" in " ".join(findings.blind)


@pytest.mark.parametrize("oracle", UNEVEN[:2], ids=repr)
def test_fakes_that_name_a_value_do_not_show_and_that_is_said(oracle):
    reports = oracle.privatize(np.arange(900) % 5, rng=1)
    data = np.repeat(oracle.report_format.report({"urr": 0, "urappor": (0, 1)}[oracle.name])[None], 100, axis=0)
    findings = fldp.integrity(fldp.Reports.concatenate([reports, fldp.Reports(oracle, data)]))
    assert findings.passed
    assert "name their targets outright" in " ".join(findings.blind)


def test_with_tickets_nothing_shows_and_less_is_gained():
    oracle = fldp.OLH(1.0, 40)
    fake = poison(oracle, [11, 22, 33], 300, tickets=True, rng=4)
    users = oracle.privatize(population(3, 40, 9000), rng=2)
    assert fldp.integrity(fldp.Reports.concatenate([users, fake])).passed


def test_seeds_that_come_twice_and_seeds_that_are_not_drawn():
    oracle = fldp.OLH(1.0, 10)
    data = oracle.privatize(population(2, 10, 500), rng=1).data.copy()
    data["seed"][:2] = data["seed"][2]
    assert [one.test for one in fldp.integrity(fldp.Reports(oracle, data)).flagged] == ["repeats"]
    data["seed"] = np.arange(500)
    assert "seeds" in [one.test for one in fldp.integrity(fldp.Reports(oracle, data)).flagged]


def test_what_a_tally_shows_is_a_part_of_what_the_reports_show():
    oracle = fldp.FHR(1.0, 20)
    reports = oracle.privatize(population(3, 20, 500), rng=1)
    whole, part = fldp.integrity(reports), fldp.integrity(oracle.tally(reports))
    assert set(part.findings) <= set(whole.findings)
    assert (whole.source, part.source) == ("reports", "tally")
    assert "this is their tally" in part.blind[-1]


MADE_UP = [fldp.HRR(1.0, 9), fldp.FWR(1.0, 9, 0.5), fldp.FHR(1.0, 9)]


@pytest.mark.parametrize("oracle", MADE_UP, ids=repr)
def test_a_tally_that_no_reports_have_is_not_honest(oracle):
    """Whoever merges tallies can make them up: then more or fewer reports agree with an item than there are."""
    tally = oracle.tally(oracle.privatize([0] * 100, rng=1))
    assert fldp.integrity(tally).passed
    state = tally.state.copy()
    state[0] = 0
    state[0, 1:5] = [100, -100, 100, -100]
    findings = fldp.integrity(fldp.Tally(oracle, state, 100))
    assert findings.p_value == 0
    assert not findings.passed


def test_a_parity_that_no_reports_have_is_not_honest():
    """Every report changes the products of its parities together."""
    oracle = fldp.FWR(1.0, 9, 0.5)
    state = oracle.tally(oracle.privatize([0] * 100, rng=1)).state.copy()
    state[1, 1:3] += [1, -1]
    assert fldp.integrity(fldp.Tally(oracle, state, 100)).p_value == 0


def test_a_tally_that_is_known_is_not_counted_again():
    oracle = fldp.OLH(1.0, 9)
    reports = oracle.privatize([1] * 200, rng=1)
    tally = oracle.tally(reports)
    assert fldp.integrity(reports, tally=tally) == fldp.integrity(reports)
    for other in (oracle.tally(reports[:100]), fldp.OLH(2.0, 9).tally(fldp.OLH(2.0, 9).privatize([1] * 200, rng=1))):
        with pytest.raises(FldpError, match="integrity: the tally must belong to the 200 reports"):
            fldp.integrity(reports, tally=other)


def test_nothing_of_nothing_and_of_strangers():
    oracle = fldp.OUE(1.0, 9)
    empty = fldp.integrity(fldp.Tally.empty(oracle))
    assert (empty.passed, empty.p_value, empty.findings) == (True, 1.0, ())

    class Stranger(fldp.HR):
        """An oracle of somebody else, of a family that is known here."""

    assert fldp.integrity(Stranger(1.0, 6).privatize([0] * 50, rng=1)).findings
    assert [one.test for one in fldp.integrity(Subset(1.0, 4).privatize([0] * 50, rng=1)).findings] == ["supports"]
    unknown = fldp.integrity(fldp.Tally(Single(1.0, 1), np.zeros(0, int), 50))
    assert unknown.passed
    assert any("nothing is known here about honest reports of Single" in words for words in unknown.blind)
    with pytest.raises(FldpError, match="integrity: the source must be reports or a tally, got list"):
        fldp.integrity([1, 2])
    with pytest.raises(FldpError, match="false_alarm"):
        fldp.integrity(oracle.privatize([1]), false_alarm=0)


# ---------------------------------------------------------------------------------------------------------- recovery

VISIBLE = [fldp.SUE(1.0, 40), fldp.OUE(1.0, 40), fldp.OLH(1.0, 40), fldp.SS(1.0, 40), fldp.HRR(1.0, 40)]
VISIBLE += [fldp.FWR(1.0, 40, 0.5), fldp.FHR(1.0, 40), fldp.IDUE(3.0, 40, budgets={11: 1.0, 22: 2.0})]
VISIBLE += [fldp.URAPPOR(1.0, 40, sensitive=[11, 22, 33, 38])]


@pytest.mark.parametrize("oracle", VISIBLE, ids=repr)
def test_the_honest_counts_come_back(oracle):
    """The standardised errors of all values are as large as those of honest estimates: below 4.5, on average near 1.

    False alarm: 3e-4 for each oracle, with a fixed seed.
    """
    values, targets = population(3, 40, 19_000), [11, 22, 33]
    fake = poison(oracle, targets, 1000, rng=4)
    source = fldp.Reports.concatenate([oracle.privatize(values, rng=3), fake])
    recovery = fldp.recover(source, fldp.integrity(source))
    truth = np.bincount(values, minlength=40)
    assert set(targets) <= set(recovery.targets)
    assert abs(recovery.fakes - 1000) < 4.5 * recovery.fakes_stderr
    errors = (recovery.counts - truth) / recovery.stderr
    assert np.abs(errors).max() < 4.5
    assert 0.4 < np.mean(errors**2) < 2
    before = (recovery.whole.counts - truth)[targets] / recovery.whole.stderr[targets]
    assert before.min() > 5
    assert (recovery.method, recovery.biased, recovery.n) == ("attack-removed", True, round(20_000 - recovery.fakes))
    low, high = recovery.interval(0.99).T
    assert ((low < truth) & (truth < high)).mean() > 0.8
    total = recovery.sum(targets)
    assert abs(total.count - truth[targets].sum()) < 4.5 * total.stderr
    assert total.count == pytest.approx(recovery.counts[targets].sum())


@pytest.mark.parametrize("oracle", VISIBLE[:4], ids=repr)
def test_what_a_fake_adds_is_what_fakes_add(oracle):
    """Of fakes alone: exactly, all values together, where a fake has a known number of bits."""
    targets = np.array([11, 22, 33])
    tally = oracle.tally(poison(oracle, targets, 2000, rng=4))
    each, added = recovery.fake_mean(oracle, targets, tally, 2000, {}), oracle.estimator.decode(tally) / 2000
    assert each[targets] == pytest.approx(added[targets])
    assert each.sum() == pytest.approx(added.sum(), abs=1e-9 if oracle.title != "OLH" else 1.0)


def test_a_tally_of_fhr_is_enough_and_targets_may_be_known():
    oracle, targets = fldp.FHR(1.0, 40), [11, 22, 37]
    source = fldp.Reports.concatenate([oracle.privatize([0] * 9000, rng=3), poison(oracle, targets, 900, rng=4)])
    blind, told = fldp.recover(oracle.tally(source)), fldp.recover(source, targets=targets)
    assert blind.fakes == pytest.approx(told.fakes, rel=0.2)
    assert told.targets == (11, 22, 37)


@pytest.fixture(scope="session")
def recovered():
    oracle, values = fldp.OUE(1.0, 40), np.arange(20_000) % 7
    users, fakes = oracle.privatize(values, rng=7), poison(oracle, [11, 22, 33], 2000, rng=7)
    recovery = fldp.recover(fldp.Reports.concatenate([users, fakes]))
    assert recovery.targets == (11, 22, 33)
    return recovery, oracle.estimate(oracle.privatize(values, rng=8))


def test_what_is_made_of_recovered_estimates_does_not_bring_the_fakes_back(recovered):
    """Targets, which nobody honest holds, and all values: at 4.5 standard errors, 4e-4 by chance, with fixed seeds."""
    recovery, others = recovered
    targets = list(recovery.targets)
    assert not recovery.found()[targets].any()
    assert recovery.found()[:7].all()
    assert np.abs(recovery.compare(others).z).max() < 4.5
    for method in ("norm-sub", "simplex", "clip"):
        fixed = fldp.postprocess(recovery, method)
        assert (fixed.counts[targets] < 4.5 * recovery.stderr[targets]).all(), method
        assert fixed.biased
        assert fixed.interval() == pytest.approx(np.clip(recovery.interval(), 0, recovery.n))
        assert fixed.sum([0, 1]).original == recovery.sum([0, 1])
    assert fldp.postprocess(recovery, "simplex").counts.sum() == pytest.approx(recovery.n)
    assert (
        repr(recovery)
        == f"<attack-removed (biased) estimate of 40 values from {recovery.n} reports of {recovery.oracle!r}>"
    )


def test_all_honest_users_together_are_all_but_the_fakes(recovered):
    """How many users there are is counted; how many of them are fakes is estimated, and is all that is taken off."""
    recovery, _ = recovered
    total = recovery.sum(range(40))
    assert (total.count, total.stderr) == pytest.approx((22_000 - recovery.fakes, recovery.fakes_stderr))
    assert abs(total.count - 20_000) < 4.5 * total.stderr


def test_each_decoder_has_its_own_fakes():
    """What a fake adds depends on the decoder. False alarm: 80 comparisons at 4.5, 5e-4, with a fixed seed."""
    oracle, values, targets = fldp.FHR(1.0, 40), np.arange(20_000) % 7, [11, 22, 33]
    source = fldp.Reports.concatenate([oracle.privatize(values, rng=3), poison(oracle, targets, 2000, rng=4)])
    for decoder in oracle.estimator.decoders:
        recovery = fldp.recover(source, decoder=decoder)
        assert set(targets) <= set(recovery.targets)
        assert np.abs((recovery.counts - np.bincount(values, minlength=40)) / recovery.stderr).max() < 4.5
    with pytest.raises(FldpError, match="method"):
        fldp.recover(source, method="adaptive")  # not a sum over reports, so nothing can be taken off


def test_where_nothing_shows_nothing_is_taken_off():
    oracle = fldp.OUE(1.0, 20)
    recovery = fldp.recover(oracle.privatize([3] * 2000, rng=7))
    assert (recovery.targets, recovery.fakes) == ((), 0.0)
    assert (recovery.counts == recovery.whole.counts).all()
    assert "no fakes" in recovery.assumption


def test_what_cannot_be_recovered_says_so():
    grr, oue = fldp.GRR(1.0, 5), fldp.OUE(1.0, 5)
    with pytest.raises(
        FldpError, match="recover: the source must show which fakes support several values, got reports"
    ):
        fldp.recover(grr.privatize([1, 2, 3]))
    with pytest.raises(FldpError, match="got a tally of OUE"):
        fldp.recover(oue.tally(oue.privatize([1, 2, 3])))
    with pytest.raises(FldpError, match="recover: targets must be two values or more, got 1"):
        fldp.recover(oue.privatize([1, 2, 3]), targets=[1])


def test_a_set_whose_estimates_do_not_hold_the_fakes_is_not_blamed(monkeypatch):
    """Any set of values with the differences of the targets has their masks. Estimates tell which one is meant."""
    oracle, targets = fldp.HRR(1.0, 64), [5, 17, 33]
    source = fldp.Reports.concatenate([oracle.privatize([0] * 20_000, rng=3), poison(oracle, targets, 1000, rng=4)])
    assert set(targets) <= set(fldp.recover(source).targets)
    monkeypatch.setattr(recovery, "_SLACK", -1e9)
    assert fldp.recover(source).targets == ()


# -------------------------------------------------------------------------------------------------------- the shell


def shell(*arguments, code=0):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    return done.stdout


def test_the_shell(tmp_path):
    oracle = fldp.OUE(1.0, 20)
    users = oracle.privatize([9] * 4000, rng=2)
    both = fldp.Reports.concatenate([users, poison(oracle, [1, 2, 3], 500, rng=4)])
    good, bad, tally = (tmp_path / name for name in ("good", "bad", "tally"))
    good.write_bytes(wire.encode(users))
    bad.write_bytes(wire.encode(both))
    tally.write_bytes(wire.encode_tally(oracle.tally(users)))
    said = shell("integrity", good)
    assert "Nothing odd was found in 4,000 reports." in said
    assert "Not visible here:" in said
    assert "NOT HONEST" not in said
    assert json.loads(shell("integrity", tally, "--json"))["source"] == "tally"
    said = shell("integrity", bad, "--recover", code=1)
    assert "cannot all be honest" in said
    assert "fakes, for: 1, 2, 3." in said
    facts = json.loads(shell("integrity", bad, "--recover", "--json", code=1))
    assert facts.keys() - {"recovered"} == integrity.facts(fldp.integrity(both)).keys()
    assert [row["test"] for row in facts["tests"] if row["flagged"]] == ["pairs"]
    assert facts["recovered"]["method"] == "attack-removed"
    assert facts["recovered"]["targets"] == ["1", "2", "3"]
    assert facts["recovered"]["assumption"].endswith("fakes each support all of 3 values, and vary all else at random")


def test_every_conclusion_is_a_sentence():
    for claim in ("every value is", "all masks are", "no two values are", "reports have"):
        odd = fldp.Findings(
            fldp.RR(1.0), 10, "reports", (binomial_tests.IntegrityFinding("t", f"{claim} so", "here: 3", 1e-9),), 0.001
        )
        words = integrity.conclusion(odd)
        assert words.startswith(f"These 10 reports cannot all be honest. In honest ones {claim} so; here: here: 3.")
    assert "to less than one in a million honest surveys" in words
