"""RAPPOR: both epsilons exactly, the laws of both stages, the fit, and people who are asked again and again."""

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fldp
from fldp import DomainError, MergeError, ParameterError
from fldp.oracles.base.memoization import lasting_epsilon
from fldp.oracles.kit import analysis
from fldp.oracles.strings.bloom_model import CohortCounts, Design, Solver
from fldp.oracles.strings.bloom_screening import descend
from fldp.randomness.coins import exp_lower
from fldp.randomness.two_stage_coins import StageCoins
from support import naive
from support.serving import shell

LOSS = Fraction(1, 1024)
epsilons = st.floats(math.log(1e-3), math.log(12.0)).map(math.exp)
SMALL = fldp.RAPPOR(1.0, 2.0, bits=6, hashes=2, cohorts=4)


@given(epsilons, st.floats(1.0, 20.0), st.integers(1, 6), st.none() | st.floats(0.01, 0.3))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_coins_never_exceed_either_epsilon(epsilon, times, hashes, p):
    lasting = epsilon * times
    try:
        coins = StageCoins.build("RAPPOR", epsilon, lasting, hashes=hashes, p=p)
    except ParameterError:
        assume(False)
    f, zero, one = coins.f / 2, coins.p, coins.q
    p_star, q_star = zero * (1 - f) + one * f, one * (1 - f) + zero * f
    ratio = (q_star / p_star * (1 - p_star) / (1 - q_star)) ** hashes
    lasting_ratio = ((1 - f) / f) ** (2 * hashes)
    assert (coins.ratio, coins.lasting_ratio) == (ratio, lasting_ratio)
    for computed, declared in ((ratio, epsilon), (lasting_ratio, lasting)):
        assert computed <= naive.exp_floor.__wrapped__(declared)
        assert computed - 1 >= (1 - LOSS) * (exp_lower(declared) - 1)
    assert (coins.planes, coins.flip, coins.zero, coins.one) == naive.stage_coins(epsilon, lasting, hashes, p)


@pytest.mark.parametrize(
    ("epsilon", "lasting", "hashes"), [(1e-3, 20.0, 5), (1.0, 2.0, 1), (1.0, 2.0, 2), (2.0, 12.0, 2), (12.0, 12.0, 1)]
)
def test_coins_exist_and_leave_the_least_error(epsilon, lasting, hashes):
    """No other p gives a bit that nobody sets a smaller variance than the chosen one, except for rounding."""

    def variance(coins):
        return float(coins.p_star * (1 - coins.p_star) / (coins.q_star - coins.p_star) ** 2)

    best = variance(StageCoins.build("RAPPOR", epsilon, lasting, hashes=hashes, p=None))
    for p in (1e-6, 0.01, 0.1, 0.2, 0.4, 0.6, 0.8):
        try:
            assert best <= variance(StageCoins.build("RAPPOR", epsilon, lasting, hashes=hashes, p=p)) * 1.003
        except ParameterError:
            assert p > 0.001  # with such a p, no q is large enough


def test_the_parameters_of_the_paper():
    """eps_infinity = 2 h ln((1-f/2)/(f/2)), eps_1 = h ln(q*(1-p*)/(p*(1-q*))), for f, p, q, h = 0.5, 0.5, 0.75, 2."""
    oracle = fldp.RAPPOR.published(f=0.5, p=0.5, q=0.75, hashes=2)
    p_star, q_star = 0.25 * 1.25 + 0.5 * 0.5, 0.25 * 1.25 + 0.5 * 0.75
    assert oracle.epsilon == pytest.approx(2 * math.log(q_star * (1 - p_star) / (p_star * (1 - q_star))), rel=1e-12)
    assert oracle.epsilon_permanent == pytest.approx(4 * math.log(3), rel=1e-12)
    realised = (oracle.memoization.coins.f, oracle.memoization.coins.p, oracle.memoization.coins.q)
    assert np.abs(np.array(realised, float) - [0.5, 0.5, 0.75]).max() < 2**-17


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"epsilon": 3.0}, "RAPPOR: epsilon must be at most epsilon_permanent, 2.0, got 3.0"),
        (
            {"epsilon_permanent": 64.0},
            "RAPPOR: epsilon=1.9, epsilon_permanent=64.0 cannot be realised by 64-bit sampling$",
        ),
        ({"p": 0.999}, "RAPPOR: epsilon=1.9, epsilon_permanent=2.0, p=0.999 cannot be realised by 64-bit sampling$"),
        ({"p": 1.0}, "RAPPOR: p must be a number between 0 and 1, got 1.0"),
        ({"cohorts": 3}, "RAPPOR: cohorts must be a power of two, got 3"),
        ({"bits": 1}, "RAPPOR: bits must be an integer from 2 to 4096, got 1"),
        ({"hashes": 0}, "RAPPOR: hashes must be an integer from 1 to 16, got 0"),
    ],
)
def test_parameters(fields, message):
    with pytest.raises(ParameterError, match=message.replace("(", r"\(")):
        fldp.RAPPOR(**{"epsilon": 1.9, "epsilon_permanent": 2.0, **fields})


def test_the_published_order_of_p_and_q():
    with pytest.raises(ParameterError, match=r"RAPPOR: q must be above p, 0.75, got 0.5"):
        fldp.RAPPOR.published(p=0.75, q=0.5)


def response_law(oracle, kept):
    """The law of a report given the bits that are kept, from the realised p and q alone."""
    p, q = oracle.memoization.coins.p, oracle.memoization.coins.q
    law = {}
    for bits in product((0, 1), repeat=oracle.bits):
        share = Fraction(1)
        for place, bit in enumerate(bits):
            one = q if kept >> place & 1 else p
            share *= one if bit else 1 - one
        law[sum(bit << place for place, bit in enumerate(bits))] = share
    return law


def keep_law(oracle, mark, cohort):
    """The law of the permanent response: every bit of the filter is flipped with probability f/2, each on its own."""
    own, flip, law = analysis(oracle)._sets(mark)[cohort], oracle.memoization.coins.f / 2, {}
    for bits in range(1 << oracle.bits):
        flipped = sum((bits >> place & 1) != (place in own) for place in range(oracle.bits))
        law[bits] = flip**flipped * (1 - flip) ** (oracle.bits - flipped)
    return law


@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_the_law_of_a_report_is_that_of_both_stages(hashes):
    oracle = fldp.RAPPOR(1.0, 2.5, bits=4, hashes=hashes, cohorts=2)
    for mark, cohort in product((3, 4), range(2)):
        law = dict.fromkeys(range(16), Fraction(0))
        for kept, share in keep_law(oracle, mark, cohort).items():
            for report, part in response_law(oracle, kept).items():
                law[report] += share * part
        assert law == analysis(oracle).law(mark, cohort)
        assert sum(law.values()) == 1


@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_both_epsilons_by_enumeration(hashes):
    """Over many pairs, whose filters share bits or set fewer: never above the bound, which disjoint filters attain."""
    oracle = fldp.RAPPOR(1.0, 2.5, bits=7, hashes=hashes, cohorts=1)
    coins, seen = oracle.memoization.coins, set()
    assert coins.ratio <= exp_lower(1.0)
    assert coins.lasting_ratio <= exp_lower(2.5)
    sets = {mark: analysis(oracle)._sets(mark)[0] for mark in range(14)}
    assert {len(bits) for bits in sets.values()} >= {max(1, hashes - 1), hashes}
    laws = {mark: (analysis(oracle).law(mark, 0), keep_law(oracle, mark, 0)) for mark in sets}
    for one, two in product(sets, repeat=2):
        different = len(sets[one] ^ sets[two])
        for law, other, most in zip(laws[one], laws[two], (coins.ratio, coins.lasting_ratio), strict=True):
            ratio = max(law[bits] / other[bits] for bits in law)
            assert ratio <= most
            assert (ratio == most) == (different == 2 * hashes)
        seen.add(different)
    assert seen >= {0, 2 * hashes}


def test_debiased_bits_are_unbiased_exactly():
    """Over the law of a report, its debiased bits are those of the Bloom filter, as rationals; a tally has the same."""
    p, q = SMALL.memoization.coins.p_star, SMALL.memoization.coins.q_star
    for mark, cohort in product(range(6), range(4)):
        means = [Fraction(0)] * 6
        for bits, share in analysis(SMALL).law(mark, cohort).items():
            for place in range(6):
                means[place] += share * ((bits >> place & 1) - p) / (q - p)
        assert means == [int(place in analysis(SMALL)._sets(mark)[cohort]) for place in range(6)]
    reports = [
        SMALL.report_format.report(0b100101, 2),
        SMALL.report_format.report(0b000100, 2),
        SMALL.report_format.report(0b111111, 0),
    ]
    evidence = SMALL._filters.evidence(SMALL.tally(np.array(reports)))
    assert evidence.sizes.tolist() == [1, 0, 2, 0]
    debiased = [[float((ones - size * p) / (q - p)) for ones in row] for row, size in COUNTS]
    np.testing.assert_allclose(evidence.bits, debiased, rtol=1e-12)


COUNTS = [([1] * 6, 1), ([0] * 6, 0), ([1, 0, 2, 0, 0, 1], 2), ([0] * 6, 0)]


def test_the_two_stages_are_privatize():
    """What is kept and then answered from the same words is what privatize gives; a cohort never changes."""
    oracle = fldp.RAPPOR(1.0, 2.0, bits=70, cohorts=512)
    words = [f"w{k % 5}" for k in range(50)]
    drawn = fldp.Stream(4).words(50 * oracle.words).reshape(50, oracle.words)
    kept = np.empty((50, *oracle.report_format.shape), np.uint8)
    oracle._keep(analysis(oracle).as_values(words), drawn[:, : oracle._keep_words], kept)
    reports = np.empty_like(kept)
    oracle._respond(kept, drawn[:, oracle._keep_words :], reports)
    assert (reports == oracle.privatize(words, rng=4).data).all()
    naively = naive.privatize(oracle, words, drawn.reshape(-1))
    assert [oracle.report_format.outcome(row) for row in reports] == naively
    mine = oracle.memoization.keep(words, rng=5)
    for answer in (oracle.memoization.respond(mine, rng=6), oracle.memoization.respond(mine, rng=7)):
        assert (answer.data[:, :2] == mine.data[:, :2]).all()
        assert oracle.report_format.check(answer.data).all()
        assert (answer.data != mine.data).any(axis=1).all()
    one = oracle.memoization.respond(mine[3], rng=6)
    assert one == oracle.memoization.respond(mine[3], rng=6)
    with pytest.raises(MergeError, match="what is kept must be of"):
        SMALL.memoization.respond(mine)


def test_other_oracles_keep_nothing_but_their_report():
    oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    assert lasting_epsilon(oracle) == oracle.epsilon
    assert oracle.memoization is None
    assert lasting_epsilon(SMALL) == SMALL.epsilon_permanent


def test_bad_states_and_reports():
    with pytest.raises(DomainError, match="reports add up to this state"):
        fldp.Tally(SMALL, np.ones((4, 7), np.int64), 3)
    with pytest.raises(DomainError, match="reports add up to this state"):
        fldp.Tally(SMALL, np.eye(4, 7, 1, np.int64), 0)
    for bad in ([4, 0], [0, 64]):
        with pytest.raises(DomainError, match="can produce"):
            SMALL.tally(np.array([bad], np.uint8))


# ---------------------------------------------------------------------------------------------------------------------


def population(oracle, n, values, seed):
    """Zipf-like counts of strings, and one answer that everybody keeps."""
    shares = 1 / np.arange(1, values + 1) ** 1.2
    held = np.random.default_rng(seed).choice(values, n, p=shares / shares.sum())
    return np.bincount(held, minlength=values), oracle.memoization.keep([f"w{k}" for k in held], rng=seed)


def tally_of(oracle, kept, times, seed):
    return sum(oracle.tally(oracle.memoization.respond(kept, rng=fldp.Stream(seed).child(day))) for day in range(times))


@pytest.mark.parametrize(
    ("epsilon", "lasting", "listed", "times", "dispersed"),
    [
        (5.0, 10.0, range(60), 1, False),  # all that people hold
        (3.0, 6.0, range(20, 60), 1, True),  # without the most frequent ones
        (1.0, 2.0, range(40), 6, True),  # everybody reports six times
    ],
)
@pytest.mark.long
def test_intervals_cover(epsilon, lasting, listed, times, dispersed):
    """Over 30 choices of hash functions and noise, 95 % intervals cover in 95 %; so do those of the rest.

    Estimates of one run are nearly uncorrelated, so misses are binomial. Limits are at 5 standard deviations of that:
    for the counts a false alarm in about a million, for the 30 rests at most 8 misses, in about 90,000.
    """
    misses, rests, excess = 0, 0, []
    for seed in range(30):
        oracle = fldp.RAPPOR(epsilon, lasting, bits=32, cohorts=16, hash_seed=seed)
        counts, kept = population(oracle, 4000, 60, seed)
        estimate = oracle.estimate(tally_of(oracle, kept, times, seed), candidates=[f"w{k}" for k in listed])
        low, high = estimate.interval(0.95).T / times
        misses += int(((counts[listed] < low) | (counts[listed] > high)).sum())
        low, high = np.array(estimate.rest.interval(0.95)) / times
        rests += not low <= 4000 - counts[listed].sum() <= high
        excess.append(estimate.basis.context["dispersion"])
    trials = 30 * len(listed)
    assert abs(misses / trials - 0.05) < 5 * math.sqrt(0.05 * 0.95 / trials)
    assert rests <= 8
    assert (np.mean(excess) > 1.2) == dispersed


@pytest.mark.long
def test_selection_keeps_what_is_frequent_and_names_nothing_else():
    """Of 1,000 candidates four are held by many. A run names a wrong one with probability 0.05; 7 of 20 do in 3e-5.

    A value held by 2,500 is more than 8 standard errors away from 0 on either half.
    """
    named, missed, excess = 0, 0, []
    words = [f"w{k}" for k in range(1000)]
    frequent = words[7:1000:250]
    for seed in range(20):
        oracle = fldp.RAPPOR(3.0, 6.0, bits=64, cohorts=8, hash_seed=seed)
        tally = oracle.tally(oracle.privatize(np.repeat(frequent, 2500), rng=seed))
        estimate = oracle.estimate(tally, candidates=words, method="select")
        chosen = {estimate.labels[k] for k in np.flatnonzero(estimate.found(0.95))}
        named += bool(chosen - set(frequent))
        missed += len(set(frequent) - chosen)
        excess.append(len(estimate.counts) - len(frequent))
    assert named <= 6
    assert missed == 0
    assert 5 < np.mean(excess) < 60  # 30 pass by chance on average


def test_selection_edges():
    oracle = fldp.RAPPOR(1.0, 2.0, bits=16, cohorts=1)
    reports = oracle.privatize(["a"] * 100, rng=1)
    with pytest.raises(ParameterError, match="method 'select' needs at least 2 cohorts, got 1"):
        oracle.estimate(reports, candidates=["a", "b"], method="select")
    with pytest.raises(ParameterError, match="method must be one of 'linear', 'select', 'bayes', got 'em'"):
        oracle.estimate(reports, candidates=["a", "b"], method="em")
    with pytest.raises(DomainError, match=r"candidates must be at most 15 to be fitted together, got 16"):
        oracle.estimate(reports, candidates=[str(k) for k in range(16)])
    with pytest.raises(ParameterError, match="estimate has no option 'decoder'"):
        oracle.estimate(reports, candidates=["a"], decoder="full")
    tiny = fldp.RAPPOR(1.0, 2.0, bits=2, hashes=1, cohorts=2)
    with pytest.raises(DomainError, match="cannot be told apart"):
        tiny.estimate(tiny.privatize(["a"], rng=1), candidates=["a", "b", "c"])
    nobody = fldp.RAPPOR(1.0, 2.0)
    estimate = nobody.estimate(nobody.privatize(["x"] * 20, rng=1), candidates=["a", "b"], method="select")
    assert len(estimate.counts) >= 1


def test_the_lasso_is_where_no_count_can_be_moved():
    """The conditions of Karush, Kuhn and Tucker, from dense matrices."""
    rng = np.random.default_rng(1)
    positions = np.array([[rng.choice(12, 2, replace=False) for _ in range(30)] for _ in range(4)], np.int16)
    design = Design(positions, 12, 8, 1.0, 1.0)
    left, counts, penalty = rng.normal(0, 3, (4, 12)), np.zeros(30), 1.5
    matrix = np.concatenate(list(design), axis=1)
    kept = left.copy()
    descend.compiled(positions, kept, design.base, 1 / 8, penalty, counts)
    slope = matrix @ (left.reshape(-1) - counts @ matrix) - penalty * np.sqrt((matrix**2).sum(axis=1))
    assert (counts > 0).any()
    assert (counts >= 0).all()
    assert np.abs(slope[counts > 0]).max() < 1e-4
    assert slope.max() < 1e-4


def test_the_fit_of_a_perfect_tally_is_the_truth():
    """With every bit at its mean, the counts come back whatever they are, and nothing is dispersed."""
    rng = np.random.default_rng(2)
    positions = rng.integers(0, 32, (8, 50, 2)).astype(np.int16)
    design, truth = Design(positions, 32, 8, 4.0, 3.0), rng.integers(0, 1000, 50).astype(float)
    n = int(truth.sum())
    rows = np.array([truth @ row for row in design])
    evidence = CohortCounts(rows + design.base * n / 8, np.full(8, n / 8))
    solver = Solver.of("RAPPOR", design)
    np.testing.assert_allclose(solver.solve(evidence), truth, atol=1e-6)
    assert solver.dispersion(n, truth, evidence) == 1
    assert solver.largest_variance(n, 0.0) >= solver.variances(n, np.zeros(50)).max()


def test_what_strangers_add_is_the_mean_over_all_hash_functions():
    """Every filter that a string of three hash functions can have, in each of two cohorts."""
    positions = np.random.default_rng(3).integers(0, 4, (2, 3, 3)).astype(np.int16)
    design = Design(positions, 4, 2, 5.0, 3.0)
    solver, expected = Solver.of("RAPPOR", design), np.zeros(3)
    for rows in design:
        weights = solver.inverse @ rows
        for chosen in product(range(4), repeat=3):
            bits = np.isin(np.arange(4), chosen)
            noise = weights**2 @ np.where(bits, 5.0, 3.0)
            expected += (noise + (weights @ (bits - design.base)) ** 2) / 4**3 / 2
    np.testing.assert_allclose(solver.variances(1, np.zeros(3)), expected, rtol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------

ASKED = fldp.RAPPOR(0.5, 1.6, bits=8, hashes=1, cohorts=1)


def test_the_shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("values.csv").write_text("page\n" + "a\nb\na\n" * 300)
    Path("listed.txt").write_text("a\nb\nc\n")
    oracle = ("--oracle", "rappor", "--epsilon", "4", "--epsilon-permanent", "8", "--bits", "32", "--cohorts", "8")
    shell("privatize", "values.csv", *oracle, "-o", "reports.fldp")
    out, _ = shell("estimate", "reports.fldp", "--candidates", "listed.txt", "--json")
    printed = json.loads(out)
    assert [row["label"] for row in printed["rows"]] == ["a", "b", "c"]
    assert sum(row["count"] for row in printed["rows"]) + printed["rest"]["count"] == pytest.approx(900)
    choosing = ("estimate", "reports.fldp", "--candidates", "listed.txt", "--method", "select")
    assert json.loads(shell(*choosing, "--json")[0])["options"] == {"held_out": True}
    assert "None of these candidates: " in shell(*choosing)[0]
    out, _ = shell("card", *oracle, "--candidates", "listed.txt", "--users", "1000")
    assert "epsilon 8, however many there are" in " ".join(out.split())
    _, error = shell("verify", *oracle[:4], code=2)
    assert error == "fldp: the oracle rappor needs --epsilon-permanent\n"


def steady(values):
    kept = ASKED.memoization.keep(list(values))
    return lambda: ASKED.memoization.respond(kept)


def forgetful(values):
    return lambda: ASKED.privatize(list(values))


def averaged(enrol, times):
    """All that a person is seen to answer, as the number of ones in each place: what somebody who averages looks at."""

    def ask(values):
        answer = enrol(values)
        return sum(np.unpackbits(answer().data, axis=1, bitorder="little").astype(np.int64) for _ in range(times))

    return ask


@pytest.mark.parametrize("view", [averaged, fldp.privacy.repeated], ids=["averaged", "as they are"])
@pytest.mark.long
def test_many_reports_keep_the_permanent_epsilon(view):
    """An honest client is accused in at most one audit of 10,000; together they do show more than one report may."""
    options = {"epsilon": ASKED.epsilon_permanent, "values": ("a", "c"), "samples": 4000, "confidence": 0.9999}
    assert analysis(ASKED)._sets(int(analysis(ASKED).as_values("a")[0])) != analysis(ASKED)._sets(
        int(analysis(ASKED).as_values("c")[0])
    )
    honest = fldp.audit(view(steady, 25), **options, rng=1)
    assert honest.holds
    assert ASKED.epsilon < honest.epsilon_lower_bound < ASKED.epsilon_permanent
    assert not fldp.audit(view(forgetful, 25), **options, rng=1).holds
