"""Every claim of the paper comes out as it should, from numbers; and another way where the numbers are other ones."""

import re
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import log

import numpy as np
import pytest

from fldp import FHR, GRR, OUE, FldpError
from fldp.experiments.paper.claims import CLAIMS, ClaimFinding, Outcome, accuracy, notions, results
from fldp.experiments.paper.claims.central_model import delta, steps
from fldp.experiments.paper.claims.claim import Claim, claim
from fldp.experiments.paper.claims.exact_moments import moments
from fldp.experiments.paper.claims.measured_variances import agreement, measured
from fldp.experiments.paper.claims.mechanism import true_position_first
from fldp.experiments.paper.claims.panels import Panel, lead, panels, together
from fldp.experiments.paper.costs import Cost
from fldp.experiments.paper.document import PARTS
from fldp.experiments.paper.figures import PICTURES
from fldp.experiments.runner.table import Summary
from fldp.oracles import get
from fldp.oracles.kit import analysis
from fldp.privacy.bayes_attack import bayes
from fldp.privacy.verifier import verify
from support import defects, reproduction
from support.reproduction import SETTLED, changed, with_lines

HOLDS, CORRECTED, FAILS, OPEN = Outcome

OF_THE_RUN = {
    "server-work", "run-time", "datasets", "olh-unbiased",
    *(f"{metric}-{what}" for metric in ("kld", "se", "re", "ncr") for what in ("best", "trend")),
}  # fmt: skip


@pytest.fixture(scope="module")
def evidence():
    return reproduction.evidence()


def judged(name, evidence, **changes):
    return CLAIMS[name].verdict(replace(evidence, **changes))


def test_every_claim_is_tested():
    assert CLAIMS.keys() == SETTLED.keys() | OF_THE_RUN
    assert {one.part for one in CLAIMS.values()} == set(PARTS)
    assert {one.figure for one in CLAIMS.values() if one.figure} <= PICTURES.keys()


@pytest.mark.parametrize("name", SETTLED)
def test_claims_come_out_as_they_should(evidence, name):
    verdict = judged(name, evidence)
    assert verdict.outcome == SETTLED[name], verdict.evidence
    assert re.search(r"\d", verdict.number)
    assert verdict.evidence.endswith(".")
    assert len(verdict.number) < 45


def test_a_verdict_needs_a_number(evidence):
    vague = Claim("vague", PARTS[0], "x", "1", None, lambda evidence: ClaimFinding(HOLDS, "surely", "Surely."))
    with pytest.raises(FldpError, match="claim vague: what decides it must be a number, got 'surely'"):
        vague.verdict(evidence)
    with pytest.raises(FldpError, match="claim: the name 'rr' is taken"):
        claim("rr", PARTS[0], "x", "1")(lambda evidence: ClaimFinding(HOLDS, "1", "1."))


# Other oracles, other verdicts


class Mixed(FHR):
    """Half of the reports are any pair at all: then nobody is seen in the parity, and nothing is ruled out."""

    def perturb(self, values, words, out):
        super().perturb(values, words, out)
        anybody = words[:, 1] & np.uint64(1) == 1
        i = words[anybody, 0] & np.uint64(self._rows.rows - 1)
        w = words[anybody, 0] >> np.uint64(32) & np.uint64(self._rows.rows - 1)
        out["plus"][anybody], out["minus"][anybody] = i, np.where(w == 0, i ^ np.uint64(1), i ^ w)

    def law(self, value, public=None):
        rows, own = self._rows.rows, analysis(FHR(self.epsilon, self.domain_size)).law(value)
        every = {(plus, minus): Fraction(0) for plus in range(rows) for minus in range(rows) if plus != minus}
        for plus, minus in every:
            draws = 2 if plus ^ minus == 1 else 1  # a mask of 0 became one of 1
            every[plus, minus] = Fraction(draws, rows * rows) / 2 + own.get((plus, minus), 0) / 2
        return every


class Even(GRR):
    """A wrong symbol is as likely as the right one less a little."""

    @cached_property
    def estimator(self):
        right = super().estimator
        return replace(right, p=right.p + Fraction(1, 100))


class Louder(FHR):
    """The decoder divides by too little."""

    def decode(self, tally, **options):
        return 1.1 * FHR(self.epsilon, self.domain_size).estimator.decode(tally, **options)


@pytest.mark.parametrize(
    ("name", "oracles", "outcome"),
    [
        ("theorem-1", {"fhr": defects.FlippedSign}, FAILS),
        ("theorem-1", {"fhr": defects.OffByOneRow}, FAILS),
        ("theorem-2", {"fhr": defects.TruePositionFirst}, FAILS),
        ("message", {"fhr": defects.TruePositionFirst}, FAILS),
        ("ranges", {"fhr": defects.TruePositionFirst}, FAILS),
        ("variance", {"fhr": Louder}, FAILS),
        ("variance-bound", {"fhr": Louder}, FAILS),
        ("lemma-1", {"oue": FHR}, FAILS),
        ("lemma-1", {"fhr": OUE}, FAILS),
        ("lemma-2", {"fhr": Mixed}, HOLDS),
        ("grr", {"grr": Even}, FAILS),
        ("grr", {"grr": OUE}, FAILS),
        ("oue", {"oue": get("sue"), "sue": OUE}, FAILS),
        ("communication", {"fhr": get("hrr")}, FAILS),
        ("large-epsilon", {"fhr": type("Exact", (FHR,), {"variance": lambda self, n, count, **how: 0.0 * n})}, FAILS),
        ("best-below-1.76", {"oue": get("hrr")}, FAILS),
        (
            "sfldp",
            {"fhr": type("Apart", (FHR,), {"law": lambda self, value, public=None: {value: Fraction(1)}})},
            FAILS,
        ),
    ],
)
def test_another_oracle_gets_another_verdict(evidence, name, oracles, outcome):
    verdict = judged(name, evidence, oracles=oracles)
    assert verdict.outcome == outcome, verdict.evidence


def test_the_lemma_on_the_largest_error_can_hold(evidence, monkeypatch):
    monkeypatch.setattr(accuracy, "_largest_errors", lambda evidence: np.array([10.0, 20.0]))
    assert judged("lemma-3", evidence).outcome is HOLDS
    monkeypatch.setattr(accuracy, "_largest_errors", lambda evidence: np.array([1e9, 1e9]))
    assert judged("lemma-3", evidence).outcome is FAILS


def test_the_exposing_rows_can_be_harmless(evidence, monkeypatch):
    monkeypatch.setattr(notions, "_left_by_papers_rows", lambda evidence, size: size // 2)
    assert judged("hidden", evidence).outcome is HOLDS


# Wrong tables, other verdicts


def test_wrong_variances_are_noticed(evidence):
    louder = changed(evidence.main, value=lambda row: row["value"] * (1.3 if row["metric"] == "mse" else 1))
    for name in ("variance", "olh-variance"):
        assert judged(name, evidence, main=louder).outcome is FAILS
    only_oue = changed(evidence.main, value=lambda row: row["value"] / (3 if row["oracle"] == "oue" else 1))
    assert judged("best-below-1.76", evidence, main=only_oue).outcome is FAILS


@pytest.mark.parametrize("metric", ["kld", "se", "re", "ncr"])
def test_panels_that_are_plain_to_see(evidence, metric):
    name = f"{metric}-best"
    flat = with_lines(evidence, lambda e: 0.3 - 0.1 * e, lambda e: 0.6 - 0.1 * e)
    assert CLAIMS[name].verdict(flat).outcome is HOLDS
    worse = with_lines(evidence, lambda e: 0.6 - 0.1 * e, lambda e: 0.3 - 0.1 * e)
    assert CLAIMS[name].verdict(worse).outcome is FAILS
    crossing = with_lines(evidence, lambda e: 0.4 - 0.01 * e, lambda e: 0.6 - 0.12 * e)
    most = metric in ("se", "re")  # where the paper says no more than most
    assert CLAIMS[name].verdict(crossing).outcome is (HOLDS if most else CORRECTED)
    level = with_lines(evidence, lambda e: 0.3 - 0.1 * e, lambda e: 0.3 - 0.1 * e)
    assert CLAIMS[name].verdict(level).outcome is OPEN


@pytest.mark.parametrize("metric", ["kld", "se", "re", "ncr"])
def test_trends_that_are_plain_to_see(evidence, metric):
    name = f"{metric}-trend"
    falling = with_lines(evidence, lambda e: 0.5 - 0.1 * e, lambda e: 0.6 - 0.1 * e)
    assert CLAIMS[name].verdict(falling).outcome is (CORRECTED if metric == "re" else HOLDS)
    rising = with_lines(evidence, lambda e: 0.1 + 0.1 * e, lambda e: 0.6 - 0.1 * e)
    assert CLAIMS[name].verdict(rising).outcome is FAILS


def test_the_wild_top_100_of_the_paper(evidence):
    """RE falls at the top 20 and 50 and goes up and down at the top 100: what the paper says of it."""
    table = changed(
        evidence.main,
        k=lambda row: {10: 20, 20: 100}.get(row["k"], row["k"]),
        value=lambda row: (0.5 - 0.1 * row["epsilon"] if row["k"] == 10 else row["epsilon"]) + 0.001 * row["run"],
    )
    spec = replace(evidence.evaluation, main=replace(evidence.evaluation.main, top=(20, 100)))
    assert judged("re-trend", evidence, main=table, evaluation=spec).outcome is HOLDS


def test_a_panel_counts_points_and_leads(evidence):
    drawn = panels(with_lines(evidence, lambda e: 0.4 - 0.01 * e, lambda e: 0.6 - 0.12 * e), "kld")
    assert [(panel.dataset, panel.k) for panel in drawn] == [(name, k) for name in ("step", "power") for k in (10, 20)]
    for panel in drawn:
        assert (panel.best, panel.points) == (2, 3)
        assert panel.below > 50
        assert panel.above < -10
    assert lead(Summary((), 1.0, 0.3, 9), Summary((), 2.0, 0.4, 16)) == pytest.approx(1 / np.sqrt(0.02))
    assert lead(Summary((), 1.0, np.nan, 1), Summary((), 2.0, 0.4, 16)) == 0
    assert together([[1, 3], [2, 3]]) == pytest.approx(3 / np.sqrt(2))
    assert Panel("kld", "x", 20, 9, 9, None, 1.0).outcome is OPEN


def test_the_papers_totals(evidence):
    def of(totals):
        rows = [["x"] * 5 + [1.0, 1.0, 0, "mse", 0, 1.0, 0, 0]] * len(totals)
        rows = [[name, *row[1:11], n, size] for row, (name, (n, size)) in zip(rows, totals.items(), strict=True)]
        return judged("datasets", evidence, main=type(evidence.main).of(rows)).outcome

    assert of(results.TOTALS) is HOLDS
    assert of(results.TOTALS | {"brown": (1_013_320, 49_797)}) is CORRECTED
    assert of(results.TOTALS | {"brown": (2_013_320, 49_797)}) is FAILS
    assert of({"zipf": (593_358, 1_023)}) is OPEN


# Costs


def costs(**seconds):
    """Return costs with these seconds of the client; the server takes a tenth of them."""
    costs = (Cost(get(name)(1.0, 127), 1000, t, t / 10, t / 100, t / 100) for name, t in seconds.items())
    return tuple(costs)


def test_the_shortest_run_time(evidence):
    fast = costs(fhr=0.1, olh=5.0, oue=2.0, sue=2.0, grr=0.05)
    verdict = judged("run-time", evidence, costs=fast)
    assert (verdict.outcome, verdict.number) == (HOLDS, "20 times as fast as the next")
    assert "Of all 5 timed, 1 took less time" in verdict.evidence
    assert judged("run-time", evidence, costs=costs(fhr=3.0, olh=5.0, oue=2.0, sue=2.0)).outcome is FAILS
    assert judged("run-time", evidence, costs=costs(fhr=3.0)).outcome is OPEN


def test_the_servers_work(evidence):
    usual = costs(fhr=0.1, olh=5.0, oue=2.0)
    assert judged("server-work", evidence, costs=usual).outcome is CORRECTED
    constant = tuple(replace(cost, tally_tenth=cost.tally) for cost in usual)
    assert judged("server-work", evidence, costs=constant).outcome is HOLDS
    assert judged("server-work", evidence, costs=(*constant[:1], *usual[1:])).outcome is OPEN
    assert judged("server-work", evidence, costs=usual[:1]).outcome is OPEN


def test_the_shortest_report(evidence):
    four = costs(fhr=1.0, olh=1.0, oue=1.0, sue=1.0)
    assert judged("communication-table", evidence, costs=four).outcome is HOLDS
    assert judged("communication-table", evidence, costs=four + costs(grr=1.0)).outcome is CORRECTED
    assert judged("communication-table", evidence, costs=four[:2]).outcome is OPEN


# What the judges stand on


def test_moments_of_one_report():
    for oracle in (FHR(1.0, 7), FHR(0.5, 6), GRR(2.0, 5)):
        moments_of = moments(oracle, **({"decoder": "paper"} if oracle.estimator.decoders else {}))
        assert moments_of.bias < 1e-12
        options = {"decoder": "paper"} if oracle.estimator.decoders else {}
        own, other = oracle.variance(1, 1, **options), oracle.variance(1, 0, **options)
        assert moments_of.difference(own, other) < 1e-12
        assert moments_of.difference(own * 1.01, other) > 0.009
    assert moments(defects.FlippedSign(1.0, 7)).bias == pytest.approx(2)


def test_the_true_position_first():
    """The same law as that of the planted defect, and as the paper's message is worded."""
    oracle = defects.TruePositionFirst(1.0, 7, items="paper")
    for value in range(7):
        law = {(x, int(sign > 0), y): p for (x, sign, y), p in true_position_first(value, 8, oracle.coin.p).items()}
        assert law == analysis(oracle).law(value)
    verification = verify(lambda value: true_position_first(value, 8, Fraction(3, 4)), domain_size=7)
    assert (verification.epsilon, verification.eta, verification.delta, verification.anonymity) == (
        0.0,
        Fraction(1, 4),
        Fraction(3, 4),
        2,
    )


def test_the_published_count_in_the_central_view():
    oracle = FHR(1.0, 7)
    own, other = steps(oracle)
    assert own == pytest.approx([float(oracle.coin.q), 0, float(oracle.coin.p)])
    assert other == pytest.approx([0.25, 0.5, 0.25])
    for n in (3, 50, 5000):
        assert delta(oracle, users=n, holders=n, epsilon=10.0) == pytest.approx(0.5, abs=1e-9)
    # two users by hand: one holds the value for sure, the other did and then does not
    p, e = float(oracle.coin.p), np.exp(0.1)
    before = np.array([(1 - p) ** 2, 0, 2 * p * (1 - p), 0, p * p])
    after = np.convolve([1 - p, 0, p], [0.25, 0.5, 0.25])
    expected = max(np.maximum(before - e * after, 0).sum(), np.maximum(after - e * before, 0).sum())
    assert delta(oracle, users=2, holders=2, epsilon=0.1) == pytest.approx(expected, abs=1e-12)
    mixed = [delta(oracle, users=10_000, holders=100, epsilon=epsilon) for epsilon in (0.0, 0.05, 0.1)]
    assert mixed == sorted(mixed, reverse=True)
    assert mixed[2] < 1e-9 < mixed[0]


def test_measured_variances_are_beside_their_theory(evidence):
    rows = measured(evidence, "FHR, paper")
    assert [(row.dataset, row.epsilon) for row in rows[:3]] == [("step", 0.4), ("step", 1.0), ("step", 2.0)]
    assert rows[1].theory == pytest.approx(FHR(1.0, 127).variance(1, 1 / 127, decoder="paper"))
    assert rows[1].value == pytest.approx(
        40_000 * evidence.main.where(dataset="step", series="FHR, paper", epsilon=1.0, metric="mse")["value"].mean()
    )
    assert agreement(rows).good
    assert not agreement([replace(row, value=2 * row.value) for row in rows]).good
    assert agreement(rows).tallies == 2 * 3 * 6


def test_bernsteins_inequality_solves_its_equation():
    for variance, most, beta in ((1e6, 2.0, 0.05), (100.0, 3.2, 1e-4)):
        x = accuracy.bernstein(variance, most, log(2 / beta))
        assert 2 * np.exp(-(x**2) / (2 * variance + 2 / 3 * most * x)) == pytest.approx(beta)


def test_matches_have_the_same_error(evidence):
    assert [(match.weak.oracle.name, match.decoder) for match in evidence.matches] == [
        ("fhr", "full"), ("fhr", "paper"), ("fwr", "linear"),
    ]  # fmt: skip
    for match in evidence.matches:
        assert match.plain.errors["linear"] == pytest.approx(match.weak.errors[match.decoder], rel=0.02)
        assert match.plain.oracle.eta == 1
    guess = bayes(evidence.matches[0].weak.oracle, draws=4000, rng=1)
    assert guess.gain == pytest.approx(evidence.matches[0].weak.blind.gain, rel=0.1)
