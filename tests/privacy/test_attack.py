"""Attackers: exact against brute force, simulated against exact, and what they show is what the design says."""

import json
import platform
import subprocess
import sys
import tracemalloc
from collections import Counter
from fractions import Fraction
from itertools import product
from math import log, sqrt

import numpy as np
import pytest

import fldp
from fldp.conformance.checks import CheckError, check_likelihoods
from fldp.oracles.base.support_counts import Supports
from fldp.oracles.flexible.walsh import Walsh
from fldp.oracles.kit import Analysis, analysis
from fldp.privacy import averaging, bayes, bayes_attack, eliminate, remaining, repeats
from support import cases, naive, naive_unequal
from support.serving import run_here
from support.surveys import SURVEY

SMALL = [
    fldp.RR(1.0),
    fldp.GRR(0.5, 5),
    fldp.SUE(1.0, 4),
    fldp.OUE(2.0, 5),
    fldp.SS(1.0, 6),
    fldp.HR(1.0, 5),
    fldp.PGR(1.0, 6),
    fldp.FHR(1.0, 5),
    fldp.FHR(1.0, 7),
    fldp.HRR(1.0, 5),
    fldp.FWR(1.0, 6, 0.5, 1),
]
SIGMAS = 6.0  # two-sided, 2e-9 for a normal error


def skewed(oracle):
    """A prior with a value that nobody holds."""
    return np.arange(oracle.domain_size) ** 2


def brute_force(oracle, prior, reports=1):
    """The probability that the likeliest value is the right one, report by report, in rational arithmetic."""
    weights = [Fraction(int(weight), int(sum(prior))) for weight in prior]
    publics, total = list(analysis(oracle).publics()), Fraction(0)
    for chosen in product(publics, repeat=reports):
        laws = [[analysis(oracle).law(value, public) for public in chosen] for value in range(oracle.domain_size)]
        for outcomes in product(*(set().union(*(law[k] for law in laws)) for k in range(reports))):
            joint = list(weights)
            for value, law in enumerate(laws):
                for k, outcome in enumerate(outcomes):
                    joint[value] *= law[k].get(outcome, 0)
            total += max(joint)
    return float(total / len(publics) ** reports)


@pytest.mark.parametrize(("family", "oracle"), cases.CASES.values(), ids=cases.CASES)
def test_likelihoods_on_the_whole_domain(family, oracle):
    """Where a law is too large to compare with: the supports that the decoder counts, the sums that EM adds up."""
    users = 40 if oracle.domain_size <= 65 else 8
    reports = oracle.privatize(np.arange(users) % oracle.domain_size, rng=5)
    likely = analysis(oracle).likelihoods(reports.data)
    if isinstance(oracle, fldp.Grouped):
        groups = [oracle.report_format.outcome(row)[1][0] for row in reports.data]
        possible = [np.isin(np.arange(oracle.domain_size), np.r_[oracle.estimator.runs[group]]) for group in groups]
        assert np.array_equal(likely > 0, possible)
    elif isinstance(oracle, fldp.HR):
        order, ratio = naive.order_of_hr(oracle), float(oracle.coin.q / oracle.coin.p)
        for row, report in zip(likely, reports.data.tolist(), strict=True):
            block, position = divmod(report, order)
            own = [
                v % oracle.blocks == block and not naive.odd((v // oracle.blocks + 1) & position)
                for v in range(len(row))
            ]
            np.testing.assert_allclose(row, np.where(own, 1.0, ratio), rtol=1e-12)
    elif oracle.name in naive_unequal.LIKELIHOODS:
        outcomes, values = [oracle.report_format.outcome(row)[1] for row in reports.data], range(oracle.domain_size)
        chance = naive_unequal.LIKELIHOODS[oracle.name]
        expected = np.array([[chance(oracle, value, outcome) for value in values] for outcome in outcomes])
        expected *= (likely.sum(axis=1) / expected.sum(axis=1))[:, None]
        np.testing.assert_allclose(likely, expected, rtol=1e-9)
    elif isinstance(oracle, fldp.Wave):
        outcomes = [oracle.report_format.outcome(row)[1] for row in reports.data]
        laws = [analysis(oracle).law(value) for value in range(oracle.domain_size)]
        expected = np.array([[float(law[outcome]) for law in laws] for outcome in outcomes])
        expected *= (likely.sum(axis=1) / expected.sum(axis=1))[:, None]
        np.testing.assert_allclose(likely, expected, rtol=1e-9)
    elif isinstance(oracle.estimator, Supports):
        supports = (likely == 1).sum(axis=0)
        expected = (supports - len(reports) * float(oracle.estimator.q)) / float(
            oracle.estimator.p - oracle.estimator.q
        )
        np.testing.assert_allclose(oracle.estimator.decode(oracle.tally(reports)), expected, rtol=1e-9, atol=1e-9)
        assert len(np.unique(likely)) == 2
    else:
        assert isinstance(oracle.estimator, Walsh)
        positions, coefficients = oracle.estimator.characters(reports.data)
        odd = np.bitwise_count(positions[:, :, None] & oracle.estimator.items) & 1
        sums = 1 + (coefficients[:, :, None] * (1.0 - 2.0 * odd)).sum(axis=1)
        np.testing.assert_allclose(likely / likely.max(axis=1)[:, None], sums / sums.max(axis=1)[:, None], atol=1e-9)


@pytest.mark.parametrize("oracle", [*SMALL, fldp.OLH(1.0, 5)], ids=repr)
def test_likelihoods_of_an_oracle_without_a_formula(oracle):
    data = oracle.privatize(np.arange(60) % oracle.domain_size, rng=5).data
    own, from_law = analysis(oracle).likelihoods(data), Analysis.likelihoods(analysis(oracle), data)
    np.testing.assert_allclose(own / own.sum(axis=1)[:, None], from_law / from_law.sum(axis=1)[:, None], atol=1e-12)


@pytest.mark.parametrize("oracle", SMALL, ids=repr)
def test_bayes_is_exact_on_small_domains(oracle):
    for prior in (None, np.ones(oracle.domain_size, np.int64), skewed(oracle)):
        weights = np.ones(oracle.domain_size, int) if prior is None else prior
        guess = bayes(oracle, prior)
        assert (guess.exact, guess.stderr) == (True, 0)
        assert guess.before == pytest.approx(weights.max() / weights.sum(), abs=1e-12)
        assert guess.after == pytest.approx(brute_force(oracle, weights), abs=1e-12)
    least = oracle.anonymity
    assert least <= bayes(oracle).left <= oracle.domain_size
    assert (bayes(oracle).left == pytest.approx(oracle.domain_size)) == (oracle.eta == 1)


def test_bayes_in_closed_form():
    grr, fhr, oue = fldp.GRR(1.0, 50), fldp.FHR(1.0, 31), fldp.OUE(1.0, 10)
    assert bayes(grr).after == pytest.approx(float(grr.estimator.p), abs=1e-12)
    assert bayes(fhr).after == pytest.approx(float((31 * fhr.coin.p + fhr.coin.q) * 4 / 32**2), abs=1e-12)
    blank = float((1 - oue.coins.q) ** 10)  # a report without any bit set
    expected = float(oue.coins.p / oue.coins.q) * (1 - blank) + float((1 - oue.coins.p) / (1 - oue.coins.q)) * blank
    assert bayes(oue).gain == pytest.approx(expected, abs=1e-12)


def simulated(monkeypatch, oracle, prior=None, draws=20_000):
    monkeypatch.setattr(bayes_attack, "enumerable", lambda oracle: False)
    guess = bayes(oracle, prior, draws=draws, rng=3)
    monkeypatch.undo()
    assert not guess.exact
    return guess


@pytest.mark.parametrize("oracle", SMALL, ids=repr)
def test_simulation_agrees_with_enumeration(monkeypatch, oracle):
    """22 comparisons with the exact success, and as many of plain guesses: all below 1e-7 in total."""
    for prior in (None, skewed(oracle)):
        exact, guess = bayes(oracle, prior), simulated(monkeypatch, oracle, prior)
        assert abs(guess.after - exact.after) <= SIGMAS * guess.stderr + 1e-12
        shares = bayes_attack.checked_prior("test", oracle, prior)
        values = np.random.default_rng(4).choice(oracle.domain_size, 20_000, p=shares)
        guesses = (analysis(oracle).likelihoods(oracle.privatize(values, rng=4).data) * shares).argmax(axis=1)
        error = sqrt(exact.after * (1 - exact.after) / len(values))
        assert abs((guesses == values).mean() - exact.after) <= SIGMAS * error


class HalfTheRatio(fldp.OUE):
    """The attacker forgets that a bit that is not set speaks, too."""

    def likelihoods(self, data):
        bits = np.unpackbits(data, axis=1, count=self.domain_size, bitorder="little")
        return np.where(bits, float(self.coins.p), float(self.coins.q))


class Swapped(fldp.GRR):
    """The attacker takes what is likely for unlikely."""

    def likelihoods(self, data):
        return 1 / analysis(fldp.GRR(self.epsilon, self.domain_size)).likelihoods(data)


@pytest.mark.parametrize("oracle", [HalfTheRatio(2.0, 5), Swapped(0.5, 5)], ids=["half", "swapped"])
def test_wrong_likelihoods_are_noticed(monkeypatch, oracle):
    exact, guess = bayes(oracle), simulated(monkeypatch, oracle)
    assert abs(guess.after - exact.after) > 10 * SIGMAS * guess.stderr
    with pytest.raises(CheckError, match=r"check_likelihoods: .* in proportion to"):
        check_likelihoods(oracle, 0)


def test_how_much_a_report_helps_is_what_the_design_says():
    """Section 3: at epsilon 1 a guess gets 2.9 times better by FHR, by OUE of the same error (epsilon 2.03) 4.3."""
    fhr, oue = bayes(fldp.FHR(1.0, 1023), rng=1), bayes(fldp.OUE(2.03, 1023), rng=1)
    assert [round(guess.gain, 1) for guess in (fhr, oue)] == [2.9, 4.3]
    assert all(SIGMAS * guess.stderr / guess.before < 0.02 for guess in (fhr, oue))
    assert (fhr.left, oue.left) == (512, 1023)


def test_memory_is_bounded_and_chunks_do_not_matter(monkeypatch):
    oracle, heard = fldp.FWR(1.0, 100, 0.5), []
    whole = bayes(oracle, draws=500, rng=9, progress=heard.append)
    monkeypatch.setattr(bayes_attack, "CELLS", 700)
    assert bayes(oracle, draws=500, rng=9) == whole
    assert sum(heard) == 500
    tracemalloc.start()
    bayes(fldp.FHR(1.0, 1 << 20), draws=3, rng=9)
    assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
    tracemalloc.stop()


LEAKY = [
    fldp.FHR(0.01, 1023),
    fldp.FHR(8.0, 600),
    fldp.FHR(1.0, 64),
    fldp.FHR(1.0, 100, items="paper", allow_exposure=True),
    fldp.FWR(0.01, 1000, 0.5),
    fldp.FWR(2.0, 64, 0.25),
    fldp.FWR(1.0, 300, 0.125, allow_exposure=True),
]


@pytest.mark.parametrize("oracle", [*LEAKY, fldp.FWR(1.0, 20), fldp.HRR(1.0, 16)], ids=repr)
def test_elimination_and_filtering_leave_the_same_values(oracle):
    """Also of reports that no single value can have produced."""
    for count in (0, 1, 2, 5, 9, 40):
        value = 7 * count % oracle.domain_size
        reports = oracle.privatize([value] * max(1, count), rng=count)[:count]
        left = remaining(reports)
        assert value in left
        np.testing.assert_array_equal(eliminate(reports), left)
        strangers = oracle.privatize(np.arange(max(1, count)) % oracle.domain_size, rng=count)[:count]
        np.testing.assert_array_equal(eliminate(strangers), remaining(strangers))
    assert (len(left) == 1) == (oracle.eta < 1)
    assert (len(remaining(strangers)) == 0) == (oracle.eta < 1)


def test_only_parities_are_eliminated():
    reports = fldp.GRR(1.0, 5).privatize([1])
    assert len(remaining(reports)) == 5
    with pytest.raises(fldp.ParameterError, match="eliminate: reports must be of FHR, FWR or another"):
        eliminate(reports)


def enumerated_repeats(oracle, most):
    """The probability that a value is known after each number of reports, by all sets of values that can be left."""
    publics, values = list(analysis(oracle).publics()), range(oracle.domain_size)
    known = np.zeros(most + 1)
    laws = [[analysis(oracle).law(value, public) for public in publics] for value in values]
    for mine in laws:
        leaves = Counter()
        for k, law in enumerate(mine):
            for outcome, share in law.items():
                leaves[sum(1 << value for value in values if outcome in laws[value][k])] += float(share)
        states = Counter({2**oracle.domain_size - 1: 1.0})
        for count in range(most + 1):
            known[count] += sum(share for left, share in states.items() if left.bit_count() == 1)
            after = Counter()
            for (left, share), (more, part) in product(states.items(), leaves.items()):
                after[left & more] += share * part / len(publics)
            states = after
    return known / oracle.domain_size


@pytest.mark.parametrize(
    "oracle",
    [
        fldp.FHR(1.0, 2, allow_exposure=True),
        fldp.FHR(1.0, 3, allow_exposure=True),
        fldp.FHR(1.0, 4),
        fldp.FHR(1.0, 7),
        fldp.FHR(1.0, 7, items="paper"),
        fldp.FHR(1.0, 8),
        fldp.FHR(1.0, 15),
        fldp.FWR(1.0, 8, 0.5, 1),
        fldp.FWR(1.0, 8, 0.25, 1),
        fldp.Grouped(1.0, base="grr", groups=(2, 3)),
        fldp.Grouped(1.0, base="hr", groups=(1, 3, 1), allow_exposure=True),
    ],
    ids=repr,
)
def test_the_formula_is_the_law(oracle):
    curve = repeats(oracle)
    assert curve.exact
    np.testing.assert_allclose(padded(curve.known, 21), enumerated_repeats(oracle, 20), atol=1e-12)


def assert_shares(shares, law, trials):
    """Shares of trials keep the law: by Bernstein's inequality each one fails with a chance below 1e-9."""
    odds = log(2e9)
    reach = odds / 3 + np.sqrt(odds**2 / 9 + 2 * odds * trials * law * (1 - law))
    assert (abs(shares - law) * trials <= reach).all()


def padded(known, length):
    return np.concatenate([known, np.full(length, known[-1])])[:length]


@pytest.mark.parametrize(
    "oracle",
    [
        fldp.FHR(1.0, 5),
        fldp.FHR(1.0, 6),
        fldp.FHR(1.0, 4, items="paper", allow_exposure=True),
        fldp.FWR(1.0, 5, 0.5, 1, allow_exposure=True),
        fldp.FWR(1.0, 6, 0.25, 1, allow_exposure=True),
    ],
    ids=repr,
)
def test_simulated_repeats_keep_the_law(oracle):
    heard = []
    curve = repeats(oracle, trials=5000, rng=6, progress=heard.append)
    assert (curve.exact, curve.trials, sum(heard)) == (False, 5000, 5000)
    assert_shares(padded(curve.known, 21), enumerated_repeats(oracle, 20), 5000)


@pytest.mark.parametrize("oracle", [fldp.FHR(1.0, 1023), fldp.FWR(1.0, 256, 0.25)], ids=repr)
def test_real_reports_keep_the_formula(monkeypatch, oracle):
    exact = repeats(oracle)
    monkeypatch.setattr(type(analysis(oracle)), "identified", lambda self: None)
    curve = repeats(oracle, trials=1000, rng=8)
    assert not curve.exact
    assert_shares(padded(curve.known, 40), padded(exact.known, 40), 1000)
    monkeypatch.setattr(type(analysis(oracle)), "identified", lambda self: [0.0, *exact.known])
    with pytest.raises(AssertionError):  # that of a report more
        assert_shares(padded(curve.known, 40), padded(repeats(oracle).known, 40), 1000)


def test_how_many_reports_are_needed_is_what_the_design_says():
    """Section 3: about r + 1.6 on average, median 11, 99 % within 17, for d = 1023."""
    curve = repeats(fldp.FHR(1.0, 1023))
    assert (curve.within(0.5), curve.within(0.99), curve.exact) == (11, 17, True)
    assert curve.mean == pytest.approx(10 + 1.6067 - 2.0**-9, abs=1e-3)


@pytest.mark.parametrize("make", [lambda e: fldp.FHR(e, 600), lambda e: fldp.FWR(e, 600, 0.5, 2)], ids=["fhr", "fwr"])
def test_epsilon_does_not_matter(make):
    """The same words give the same masks, so the number of reports is the same in every trial."""
    low, high = (repeats(make(epsilon), trials=300, rng=2) for epsilon in (0.01, 8.0))
    np.testing.assert_array_equal(low.known, high.known)
    assert low.within(0.99) < 20


def test_plain_ldp_is_never_certain():
    curve = repeats(fldp.OUE(8.0, 1023))
    assert (curve.within(0.5), curve.mean, curve.exact) == (None, None, True)


@pytest.mark.parametrize(("oracle", "reports"), [(fldp.RR(1.0), 5), (fldp.HR(1.0, 3), 3), (fldp.FHR(1.0, 4), 2)])
def test_averaging_agrees_with_enumeration(oracle, reports):
    """Six comparisons, each failing once in 5e8 draws of the seed."""
    for prior in (None, skewed(oracle) + 1):
        heard = []
        curve = averaging(oracle, prior, most=reports, trials=4000, rng=5, progress=heard.append)
        weights = np.ones(oracle.domain_size, int) if prior is None else prior
        exact = brute_force(oracle, weights, reports)
        assert curve.reports[-1] == reports
        assert abs(curve.success[-1] - exact) <= SIGMAS * curve.stderr[-1] + 1e-12
        assert sum(heard) == 4000 * reports


def test_new_answers_add_up_and_the_same_one_does_not():
    """FHR jumps, OUE of the same epsilon climbs, and a memoized report stays where it was."""
    fhr, oue = fldp.FHR(1.0, 255), fldp.OUE(1.0, 255)
    jumps, climbs = (averaging(oracle, most=16, trials=300, rng=4).success for oracle in (fhr, oue))
    assert jumps[-1] > 0.99
    assert climbs[-1] < 0.5
    assert np.all(np.diff(jumps) > -0.02)
    for oracle in (fhr, oue):
        values = np.arange(200)
        once = oracle.privatize(values, rng=3)
        likely = analysis(oracle).likelihoods(once.data)
        np.testing.assert_array_equal((likely**50).argmax(axis=1), likely.argmax(axis=1))
        same = fldp.Reports.concatenate([once[3]] * 50)
        np.testing.assert_array_equal(remaining(same), remaining(once[3]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda o: bayes(o, [1, 2]),
            r"bayes: prior must be 5 numbers, one for each value, got 'int64 of shape \(2,\)'",
        ),
        (
            lambda o: bayes(o, [[1], [1, 2]]),
            r"bayes: prior must be 5 numbers, one for each value, got \[\[1\], \[1, 2\]\]",
        ),
        (lambda o: bayes(o, [[1], 1, 1, 1, 1]), "bayes: prior must be 5 numbers, one for each value"),
        (lambda o: bayes(o, draws=1), "bayes: draws must be an integer from 2 to "),
        (lambda o: bayes(o, "abcde"), "bayes: prior must be 5 numbers, one for each value"),
        (lambda o: bayes(o, [0] * 5), "bayes: prior must be finite, at least 0, and not 0 everywhere, got 0.0"),
        (lambda o: bayes(o, [1, 1, 1, 1, -1]), "bayes: prior must be finite, at least 0, and not 0 everywhere, got -1"),
        (lambda o: averaging(o, [1, 1, 1, 1, np.nan]), "averaging: prior must be finite"),
        (lambda o: averaging(o, most=0), "averaging: most must be an integer from 1 to 1048576, got 0"),
        (lambda o: averaging(o, trials=1), "averaging: trials must be an integer from 2 to "),
        (lambda o: repeats(o, trials=1.5), "repeats: trials must be an integer from 2 to "),
        (lambda o: repeats(o).within(1), "Repeats: share must be a number between 0 and 1, got 1"),
        (
            lambda o: bayes(fldp.HRR(1.0, 1 << 25)),
            "bayes: domain_size must be an integer from 2 to 16777216, got 33554",
        ),
        (lambda o: bayes(fldp.OLH(1.0, 5), draws=0), "bayes: draws must be an integer from 2 to "),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(fldp.ParameterError, match=message):
        call(fldp.FHR(1.0, 5))


@pytest.mark.parametrize("oracle", [fldp.RR(1.0), fldp.FHR(1.0, 6), fldp.OLH(1.0, 5)], ids=repr)
def test_numbers_of_numpy_are_numbers(oracle):
    """The same findings, and plain integers in them, which JSON can say."""
    most, trials = np.int64(5), np.uint8(200)
    curve = averaging(oracle, most=most, trials=trials, rng=1)
    plain = averaging(oracle, most=5, trials=200, rng=1)
    assert curve.success.tolist() == plain.success.tolist()
    assert bayes(oracle, draws=trials, rng=1) == bayes(oracle, draws=200, rng=1)
    ended = repeats(oracle, trials=trials, rng=1)
    assert ended.known.tolist() == repeats(oracle, trials=200, rng=1).known.tolist()
    assert json.dumps([curve.trials, curve.reports.tolist(), ended.trials])


def test_the_shell_shows_what_an_attacker_gets():
    text = run_here("attack", "--oracle", "fhr", "--epsilon", "1", "--domain", "1023", "--draws", "300").stdout.decode()
    for part in (
        "at least 512 of 1,023 remain possible",
        "right in 0.0978 %",
        "times as often (standard error",
        "at least 512 of 1,023, 512.0 on average",
        "after 11 independent reports in the median, 99 % within 17 (exact), whatever epsilon is",
        "repeats that same answer stays at one report",
    ):
        assert part in text
    plain = run_here(
        "attack", "--oracle", "oue", "--epsilon", "1", "--domain", "9", "--repeats", "5", "--draws", "99"
    ).stdout
    assert b"never: no number of reports" in plain
    assert b"(exact)" in plain


def test_the_shell_for_machines_and_as_a_picture(tmp_path):
    (tmp_path / "survey.toml").write_text(SURVEY)
    (tmp_path / "values.csv").write_text("browser\n" + "chrome\n" * 8 + "edge\n" * 2 + "lynx\n")
    command = ("attack", "--survey", "survey.toml", "--json", "--repeats", "6", "--draws", "500")
    done = run_here(*command, "--prior", "values.csv", "--plot", "p.png", cwd=tmp_path)
    facts, oracle = json.loads(done.stdout), fldp.FHR(3.0, 5)
    assert b"1 of 11 dropped: 1 unknown\n" in done.stderr
    assert (facts["eta"], facts["anonymity"], facts["known"]["trials"]) == (0.5, 2, 500)
    guess = bayes(oracle, [8, 0, 0, 2, 0])
    assert facts["one_report"] == {
        "before": guess.before,
        "after": guess.after,
        "gain": guess.gain,
        "left": guess.left,
        "exact": True,
        "stderr": 0.0,
    }
    curve = averaging(oracle, [8, 0, 0, 2, 0], most=6, trials=500, rng=0)
    assert [row["success"] for row in facts["averaging"]] == curve.success.tolist()
    assert {row["repeated"] for row in facts["averaging"]} == {guess.after}
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    plain = json.loads(run_here(*command, cwd=tmp_path).stdout)
    assert plain["one_report"]["before"] == 0.2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "fldp: name an oracle"),
        (("--oracle", "rr", "--epsilon", "1", "--plot", "p.gif"), "fldp: the ending of --plot must be one of"),
        (("--oracle", "rr", "--epsilon", "1", "--repeats", "0"), "fldp: --repeats must be an integer from 1"),
        (
            ("--oracle", "rr", "--epsilon", "1", "--draws", "0"),
            "fldp: --draws must be an integer from 2 to 1073741824, got 0",
        ),
        (
            ("--oracle", "rr", "--epsilon", "1", "--draws", "1"),
            "fldp: --draws must be an integer from 2 to 1073741824, got 1",
        ),
        (("--oracle", "rr", "--epsilon", "1", "--draws", "-5"), "fldp: --draws must be an integer from 2"),
        (("--oracle", "rr", "--epsilon", "1", "--column", "x"), "fldp: --column needs --prior"),
        (("--oracle", "rr", "--epsilon", "1", "--prior", "nowhere"), "nowhere: cannot be read"),
    ],
)
def test_bad_use_of_the_shell(arguments, message):
    text = run_here("attack", *arguments, code=2).stderr.decode()
    assert text.startswith(message)
    assert text.count("\n") == 1


def test_results_of_attacks_show_themselves():
    oracle = fldp.FHR(1.0, 7)
    guesses = averaging(oracle, most=4, trials=20, rng=1)
    assert repr(guesses) == f"<guesses after up to 4 reports of {oracle!r}, 20 trials>"
    frame = guesses.to_pandas()
    assert frame["reports"].tolist() == guesses.reports.tolist()
    assert frame["success"].tolist() == guesses.success.tolist()
    known = repeats(oracle)
    assert repr(known) == f"<reports of {oracle!r} until one value is left: {known.within(0.5)} in the median>"


def test_only_leaked_parities_can_be_eliminated():
    with pytest.raises(fldp.ParameterError, match="reports must be of FHR, FWR or another oracle that leaks parities"):
        eliminate(fldp.GRR(1.0, 5).privatize([1], rng=1))


FAULTS = """
import resource
import fldp
from fldp.privacy.bayes_attack import averaging
from fldp.oracles.base.string_oracle import listed
oracle = listed("test", fldp.CMS(epsilon=1.0), [f"value{k}" for k in range(1023)])
averaging(oracle, most=2, trials=300, rng=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
averaging(oracle, most=30, trials=300, rng=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators keep or return memory by other rules")
def test_batches_of_an_attack_get_the_memory_of_earlier_ones():
    """About 2 MiB for each of 60 batches, or 30,000 pages, if the system had to give it anew."""
    run = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 5000
