"""Notions that treat values or users differently: what they demand, what they refuse and with which witness.

The last part holds the claims of docs/notions.md, each in the form in which it holds, or with a law that refutes it.
"""

import re
from fractions import Fraction
from itertools import permutations
from math import log

import numpy as np
import pytest

import fldp
from fldp import CLDP, FLDP, IDLDP, LDP, PLDP, ULDP, verify
from fldp.oracles.kit import analysis
from fldp.privacy.notions import declared, parse
from fldp.privacy.notions.uniform import ApproximateLDP
from fldp.randomness.coins import exp_lower

HALF = Fraction(1, 2)
URR = fldp.URR(1.0, 5, sensitive=[1, 3])
RING = fldp.Exponential(3.0, 6, distance="ring")
LINE = fldp.Exponential(3.0, 6, distance="line")
IDUE = fldp.IDUE(2.0, 6, budgets={0: 0.5, 4: 1.0})


def refused(law, notion):
    verification = verify(law).judge(notion)
    assert not verification.holds
    return str(verification)


@pytest.mark.parametrize("oracle", [URR, fldp.URAPPOR(1.0, 5, sensitive=[1, 3]), RING, LINE, IDUE], ids=repr)
def test_an_oracle_keeps_what_it_promises_and_hardly_less(oracle):
    """A promise with a smaller budget is refused; on a line, where sums of weights differ, with a good deal less."""
    verification = verify(oracle)
    assert verification.holds
    notion = declared(oracle)
    tighter = {
        "ULDP": lambda: ULDP(0.99, oracle.sensitive),
        "IDLDP": lambda: IDLDP(2.0, {0: 0.49, 4: 1.0}),
        "CLDP": lambda: CLDP((0.7 if oracle is LINE else 0.99) * oracle.alpha, oracle.distance, oracle.domain_size),
    }[type(notion).__name__]()
    assert not verification.judge(tighter).holds
    assert verification.judge(LDP(oracle.epsilon)).holds == (oracle.eta == 1)
    assert verification.judge(FLDP(oracle.epsilon, oracle.eta)).holds


def test_uldp_names_the_report_that_breaks_it():
    assert verify(URR).judge(ULDP(1.0, [3])).holds
    report = verify(URR).judge(ULDP(1.0, [0, 1])).report
    assert report == (None, 0)
    assert refused(URR, ULDP(1.0, [0, 1])).endswith("report 0: it reveals value 0, which is sensitive")
    two_of_three = [[HALF, 0, HALF], [HALF, HALF, 0], [0, HALF, HALF]]
    said = "report 0: it can come from 2 of 3 values, neither from all nor from one alone"
    assert refused(two_of_three, ULDP(64.0, [0])).endswith(said)
    assert verify(two_of_three).judge(FLDP(1.0, HALF)).holds
    assert refused(URR, ULDP(0.5, [1, 3])).endswith("times as likely, above e^0.5")
    assert verify(fldp.GRR(1.0, 5)).judge(ULDP(1.0, [0])).holds  # plain LDP reveals nothing


def test_uldp_of_a_law_with_public_parts_names_both():
    verification = verify(fldp.FWR(1.0, 4, 0.5, allow_exposure=True)).judge(ULDP(1.0, [0]))
    assert not verification.holds
    assert verification.report[0] is not None
    assert " with (" in str(verification)


def test_uldp_by_closed_form_is_that_by_enumeration():
    """On large domains, too; a law in closed form that does not tell what its reports leave is not judged."""
    large = fldp.URR(1.0, 5000, sensitive=[7, 4999])
    assert verify(large).holds
    assert refused(large, ULDP(1.0, [8])).endswith("a report: it reveals value 8, which is sensitive")
    assert not verify(fldp.Grouped(1.0, base="grr", groups=[400, 500])).judge(ULDP(1.0, [0])).holds
    with pytest.raises(fldp.ParameterError, match="is about reports, and this law has too many"):
        verify(fldp.FHR(1.0, 1023)).judge(ULDP(1.0, [0]))


def test_idldp_takes_the_smaller_budget_of_a_pair():
    notion = IDLDP(2.0, {0: 0.5, 4: 1.0})
    every = {pair: notion.demand(*pair).epsilon for pair in permutations(range(6), 2)}
    assert {every[0, 4], every[0, 1], every[4, 0]} == {0.5}
    assert {every[4, 1], every[3, 4]} == {1.0}
    assert every[1, 2] == 2.0
    assert refused(fldp.OUE(1.0, 6), notion).startswith("2-ID-LDP with 2 smaller budgets does not hold: values 0 and 1")
    assert verify(fldp.OUE(0.5, 6)).judge(notion).holds


@pytest.mark.parametrize(("size", "budgets"), [(300, {0: 0.5, 299: 1.0}), (70, {k: 0.5 + k / 200 for k in range(20)})])
def test_idldp_by_closed_form(size, budgets):
    """Pairs of every kind are looked at, between levels, too: a smaller budget of one value in the middle is seen."""
    oracle = fldp.IDUE(2.0, size, budgets=budgets)
    assert verify(oracle).holds
    assert not verify(oracle).judge(IDLDP(2.0, {**budgets, size - 5: 0.3})).holds
    assert verify(fldp.OUE(0.3, size)).judge(IDLDP(2.0, {**budgets, size - 5: 0.3})).holds
    assert not verify(fldp.OUE(0.31, size)).judge(IDLDP(2.0, {**budgets, size - 5: 0.3})).holds


def test_cldp_demands_more_of_neighbours():
    assert [CLDP(0.5).demand(2, other).epsilon for other in (3, 0, 6)] == [0.5, 1.0, 2.0]
    assert CLDP(0.5, "ring", 6).demand(5, 0).epsilon == 0.5
    assert refused(fldp.GRR(1.0, 6), CLDP(0.5)).startswith("0.5-CLDP on a line does not hold: values 0 and 1")
    assert verify(fldp.GRR(0.5, 6)).judge(CLDP(0.5)).holds
    assert not verify(LINE).judge(CLDP(0.6, "ring", 6)).holds  # ends of a line are neighbours on a ring
    for steps in range(1, 400):  # a product that is rounded up would promise too much
        assert Fraction(CLDP(0.1).demand(0, steps).epsilon) <= Fraction(0.1) * steps


def test_cldp_of_a_law_in_closed_form():
    assert not verify(fldp.OUE(1.0, 60)).judge(CLDP(0.9)).holds
    assert verify(fldp.OUE(1.0, 60)).judge(CLDP(1.0)).holds
    with pytest.raises(fldp.ParameterError, match=r"is judged on at most 1024 values of such a law"):
        verify(fldp.OUE(1.0, 3000)).judge(CLDP(1.0))


def test_pldp_is_about_a_family():
    family = [fldp.GRR(0.5, 3), fldp.OLH(2.0, 3)]
    verification = verify(family)
    assert verification.judge(PLDP([0.5, 2.0], 3)).holds
    assert verification.judge(PLDP([0.6, 2.1], 3)).holds
    assert refused(family, PLDP([0.4, 2.0], 3)).endswith("above e^0.4")
    assert "values 0 (budget 1) and 1 (budget 1)" in refused(family, PLDP([0.5, 1.0], 3))
    assert not verification.judge(LDP(2.0)).holds  # the budget of a report is not hidden
    with pytest.raises(fldp.ParameterError, match="PLDP: budgets must be of laws of 2 values each, 6 in all"):
        verification.judge(PLDP([0.5, 2.0], 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ULDP(1.0, []), "ULDP: sensitive must be a list of 1 to 256 different values"),
        (lambda: ULDP(1.0, [1, 1]), "ULDP: sensitive must be a list of 1 to 256 different values"),
        (lambda: ULDP(1.0, "ab"), "ULDP: sensitive must be a list of 1 to 256 different values"),
        (lambda: ULDP(1.0, [True]), "ULDP: a value in sensitive must be an integer"),
        (lambda: IDLDP(1.0, {0: 2.0}), "IDLDP: budgets must be at most epsilon, 1"),
        (lambda: IDLDP(1.0, [[0, 0.5], [0, 0.6]]), "IDLDP: budgets must be a list of 1 to 100 pairs"),
        (lambda: IDLDP(1.0, [0.5]), "IDLDP: budgets must be a list of 1 to 100 pairs"),
        (lambda: IDLDP(1.0, {0: -1}), "IDLDP: a budget in budgets must be a positive, finite number, got -1"),
        (lambda: CLDP(0.5, "moon"), "CLDP: distance must be one of 'line', 'ring', got 'moon'"),
        (lambda: CLDP(0.5, "ring"), "CLDP: domain_size must be an integer"),
        (lambda: CLDP(65.0), "CLDP: alpha must be at most 64, got 65.0"),
        (lambda: PLDP([], 3), r"PLDP: budgets must be a list of budgets, got \[\]"),
        (lambda: PLDP([1.0, 0], 3), "PLDP: a budget must be a positive, finite number, got 0"),
        (lambda: verify(URR).judge(ULDP(1.0, [9])), r"ULDP: sensitive must be values below 5, got \[9\]"),
        (lambda: verify(URR).judge(IDLDP(1.0, {9: 0.5})), "IDLDP: budgets must be of values below 5"),
        (lambda: verify(URR).judge(CLDP(1.0, "ring", 9)), "CLDP: domain_size must be 5, as in the law, got 9"),
    ],
)
def test_bad_notions(make, message):
    with pytest.raises(fldp.ParameterError, match=message):
        make()


@pytest.mark.parametrize(
    "notion", [PLDP([0.5, 2.0], 3), CLDP(0.5), CLDP(0.5, "ring", 6), ULDP(1.0, [0, 3]), IDLDP(2.0, {0: 0.5, 3: 1.5})]
)
def test_notions_are_read_as_they_are_written(notion):
    texts = {
        "PLDP": "PLDP([0.5, 2], 3)",
        "CLDP": "CLDP(1/2, line)" if notion == CLDP(0.5) else "CLDP(0.5, ring, 6)",
        "ULDP": "ULDP(1, [3, 0])",
        "IDLDP": "IDLDP(2, {3: 1.5, 0: 0.5})",
    }
    assert parse(texts[type(notion).__name__]) == notion


# --------------------------------------------------------------------------------------------- claims about notions


def laws(seed, count=200):
    """Random laws of 4 values over 6 reports, some of them impossible, in whole numbers."""
    chance = np.random.default_rng(seed)
    for _ in range(count):
        weights = chance.integers(1, 30, (4, 6)) * (chance.random((4, 6)) < chance.choice([0.6, 0.9, 1.0]))
        weights[:, 0] += weights.sum(axis=1) == 0
        yield [[Fraction(int(weight), int(row.sum())) for weight in row] for row in weights]


def test_ldp_is_fldp_with_eta_1():
    """For every law and epsilon the two promises hold or fail together."""
    seen = set()
    for law in laws(1):
        verification = verify(law)
        for epsilon in (0.5, 2.0, 4.0):
            assert verification.judge(LDP(epsilon)).holds == verification.judge(FLDP(epsilon, 1)).holds
            seen.add(verification.judge(LDP(epsilon)).holds)
    assert seen == {True, False}


def test_cldp_and_idldp_are_not_special_cases_of_fldp():
    """One epsilon that allows the law of an oracle allows another law that breaks what the oracle promises."""
    for oracle in (LINE, IDUE):
        least = verify(oracle).epsilon
        other = fldp.GRR(least, 6)
        assert verify(oracle).judge(FLDP(least, 1)).holds
        assert verify(other).judge(FLDP(least, 1)).holds
        assert not verify(other).judge(declared(oracle)).holds


def test_every_cldp_or_idldp_law_is_fldp_with_the_largest_budget_and_eta_1():
    """The form in which it holds: as a promise, FLDP with eta 1 is weaker than both."""
    for oracle, most in ((LINE, 3.0), (RING, 3.0), (IDUE, 1.0)):
        assert verify(oracle).judge(FLDP(most, 1)).holds  # IDUE: twice the least budget, 0.5, is less than epsilon


def test_fldp_is_no_special_case_of_them_either():
    """They let no report rule anything out, whatever the budgets."""
    for notion in (CLDP(16.0), IDLDP(64.0, {0: 63.0}), ULDP(64.0, [0]), LDP(64.0)):
        assert not verify(fldp.FHR(1.0, 4)).judge(notion).holds


def test_pairwise_budgets_with_overlap_hold_them_all():
    """A demand for every pair says LDP, FLDP, CLDP, ID-LDP and PLDP; ULDP says one thing more, about reports."""
    for notion in (LDP(1.0), FLDP(1.0, HALF), CLDP(0.5), IDLDP(2.0, {0: 1.0}), PLDP([1.0, 2.0], 2)):
        assert not notion.looks_at_reports
    assert ULDP(1.0, [0]).looks_at_reports
    assert verify(fldp.FHR(1.0, 4)).judge(FLDP(1.0, 0)).holds  # all that ULDP demands of pairs


def test_uldp_is_fldp():
    """Any law that keeps ULDP is FLDP with the same epsilon, and shares at least e^-epsilon of the probability."""
    kept = 0
    for oracle in (fldp.URR(e, 6, sensitive=s) for e in (0.1, 1.0, 4.0) for s in ([0], [1, 4], [0, 1, 2, 3, 4])):
        verification = verify(oracle)
        assert verification.judge(ULDP(oracle.epsilon, oracle.sensitive)).holds
        assert verification.eta_mass >= 1 / exp_lower(oracle.epsilon)
        assert verification.judge(FLDP(oracle.epsilon, min(verification.eta, verification.eta_mass))).holds
        kept += 1
    for law in laws(2):
        verification = verify(law)
        epsilon = max(verification.epsilon, 0.01)
        if verification.judge(ULDP(epsilon, [0])).holds:
            assert verification.eta_mass >= 1 / exp_lower(epsilon)
            kept += 1
    assert kept > 30


def test_minid_ldp_is_bounded_by_twice_the_least_budget():
    """For any two values go by way of the one with the least budget: the gain of larger budgets ends there."""
    for budgets in ({0: 0.5}, {0: 0.25, 3: 0.4}):
        oracle = fldp.IDUE(8.0, 6, budgets=budgets, balance=1000)
        assert 1.8 * min(budgets.values()) < verify(oracle).epsilon <= 2 * min(budgets.values())


def test_a_budget_that_is_chosen_by_the_value_gives_it_away():
    """PLDP protects the value given the budget: if holders of 0 choose the small one, the choice says it."""
    careful, bold = (fldp.GRR(epsilon, 3) for epsilon in (0.5, 2.0))
    chosen = [
        {(k == 0, report): share for report, share in analysis(careful if k == 0 else bold).law(k).items()}
        for k in range(3)
    ]
    assert verify(chosen).eta == 0
    assert not verify(chosen).judge(LDP(64.0)).holds


def test_the_picture_has_the_budgets_of_its_laws():
    from fldp.experiments.paper.figures.notions import draw, panels

    drawn = draw()
    tables = dict(zip([panel.name for panel in panels()], drawn.axes[len(panels()) :], strict=True))
    assert {text.get_text() for text in tables["LDP"].texts} == {"1"}
    assert {text.get_text() for text in tables["PLDP"].texts} == {"0.5", "2"}
    assert {text.get_text() for text in tables["FLDP"].texts} == {"1\n50 %"}
    condensed = sorted(float(text.get_text()) for text in tables["CLDP"].texts)
    assert condensed[-1] == pytest.approx(1.5, abs=0.01)
    assert len({text.get_text() for text in tables["ID-LDP"].texts}) == 2
    assert log(2) < condensed[-1]


@pytest.mark.parametrize("share", [None, "half", float("nan"), -0.1, 1.5, 2**1024])
def test_a_share_is_a_number_from_0_to_1(share):
    with pytest.raises(fldp.ParameterError, match="ApproximateLDP: delta must be a number from 0 to 1"):
        ApproximateLDP(1.0, share)


def test_a_delta_that_is_not_kept_is_named():
    told = ApproximateLDP(0.5, 0.01)
    assert not fldp.verify(fldp.GRR(1.0, 4), notion=told).holds
    profile = analysis(fldp.GRR(1.0, 4)).profile()
    assert re.fullmatch(r"delta at epsilon 0\.5 is 0\.\d+, above 0\.01", told.demand(0, 1).refusal(profile))
