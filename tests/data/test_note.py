"""The note of an estimate: where reports are too few, and how many would do."""

import json
import math

import numpy as np
import pytest

import fldp
from fldp.data.anytime_estimate import watch
from fldp.data.comparison import z_score
from fldp.data.estimate import GOOD_REACH, MAX_REACH, Estimate
from fldp.presentation import tables

LISTED = [
    fldp.GRR(1.0, 5),
    fldp.OUE(1.0, 50),
    fldp.OLH(2.0, 20),
    fldp.SS(1.0, 12),
    fldp.HR(1.0, 12),
    fldp.PGR(1.0, 12),
    fldp.FHR(1.0, 7),
    fldp.URR(1.0, 9, sensitive=[0, 1, 2]),
    fldp.IDUE(2.0, 6, budgets=[(0, 1.0)]),
    fldp.Grouped(epsilon=1.0, base="grr", groups=[3, 4]),
]
STRINGS = [fldp.CMS(2.0), fldp.HCMS(2.0), fldp.RAPPOR(epsilon=1.0, epsilon_permanent=4.0)]


def estimated(oracle, n, rng=3):
    if isinstance(oracle, fldp.StringOracle):
        reports = oracle.privatize(["yes", "yes", "no", "maybe"] * (n // 4), rng=rng)
        return oracle.estimate(reports, candidates=["yes", "no", "maybe"])
    return oracle.estimate(oracle.privatize(np.arange(n) % min(oracle.domain_size, 4), rng=rng))


@pytest.mark.parametrize("oracle", [*LISTED, *STRINGS], ids=repr)
def test_few_reports_are_noted_with_a_number_that_would_do(oracle):
    few = estimated(oracle, 20)
    assert few.reach == z_score(0.95) * few.stderr.max() / 20 > MAX_REACH
    assert few.note.startswith(f"20 reports are too few: at epsilon {oracle.epsilon:g} they tell ")
    assert few.note.endswith(" would give ±5 points.")
    needed = few.reports_needed()
    plenty = estimated(oracle, 4 * math.ceil(needed / 4))
    assert plenty.note is None
    assert plenty.reach < 1.5 * GOOD_REACH, "the shares of few people are guesses, so the number is about right"


@pytest.mark.parametrize("oracle", LISTED, ids=repr)
def test_the_number_follows_from_the_exact_variance(oracle):
    few = estimated(oracle, 200)
    needed = few.reports_needed(0.05)
    shares = (
        np.clip(few.counts, 0, np.repeat(few.totals, [len(few.counts[run]) for run in oracle.estimator.runs])) / 200
    )
    totals = [total * needed / 200 for total in few.totals]
    variances = oracle.estimator.variances(shares * needed, totals)
    assert z_score(0.95) * math.sqrt(max(variances)) / needed == pytest.approx(0.05, rel=0.02)


def test_the_bound():
    for error, noted in ((MAX_REACH / z_score(0.95) * 1.001, True), (MAX_REACH / z_score(0.95) * 0.999, False)):
        estimate = Estimate(fldp.RR(1.0), np.array([500.0, 500.0]), np.array([1.0, 1000 * error]), 1000)
        assert (estimate.note is not None) == noted
        assert (fldp.postprocess(estimate, "clip").note is not None) == noted, "post-processing makes no reports"


def test_words():
    one = Estimate(fldp.RR(0.5), np.array([3.0, -2.0]), np.array([4.0, 4.0]), 1)
    assert (
        one.note
        == "1 report is too few: at epsilon 0.5 it tells nothing about shares; about 25,000 would give ±5 points."
    )
    assert one.reports_needed(100.0) == 1
    with pytest.raises(fldp.ParameterError, match="reach must be"):
        one.reports_needed(0)


def test_every_output_has_it():
    few, enough = estimated(LISTED[0], 20), estimated(LISTED[0], 20_000)
    assert tables.estimate_notes(few)[0] == few.note == json.loads(tables.as_json(few, 0.95, None))["note"]
    assert few.note in str(few)
    assert few.note in few._repr_html_()
    assert "note" not in json.loads(tables.as_json(enough, 0.95, None))
    assert "too few" not in str(enough)


@pytest.mark.parametrize("simultaneous", [False, True])
def test_the_note_of_intervals_for_every_look_is_about_these_intervals(simultaneous):
    oracle = fldp.GRR(1.0, 9)
    watched = watch(oracle.estimate(fldp.Tally(oracle, [200] * 5 + [50] * 4, 1200)), 10_000, simultaneous=simultaneous)
    low, high = watched.interval(0.95).T
    assert watched.reach == pytest.approx((high - low).max() / 2 / 1200)
    assert f"±{100 * watched.reach:.0f} points" in watched.note
    needed = watched.reports_needed(0.05)
    grown = Estimate(oracle, watched.counts * needed / 1200, watched.stderr * (needed / 1200) ** 0.5, needed)
    later = watch(grown, 10_000, simultaneous=simultaneous)
    assert later.reach == pytest.approx(0.05, rel=1e-3)
