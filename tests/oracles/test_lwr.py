"""LWR: its coins and laws by enumeration, what all reports of a person give away, and people whose values change."""

import functools
import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fldp
from fldp import DomainError, MergeError, ParameterError, WireError
from fldp.oracles.base.memoization import following, lasting_epsilon, steady_epsilon
from fldp.oracles.kit import analysis
from fldp.privacy.auditor import audit_histories
from fldp.randomness.coins import exp_lower
from fldp.randomness.kept_coins import KeptCoins
from fldp.randomness.word_pool import WordSource
from fldp.responder import registry
from support import naive
from support.changing_values import day_errors
from support.serving import shell

LOSS = Fraction(1, 1024)
epsilons = st.floats(math.log(1e-3), math.log(8.0)).map(math.exp)
USUAL = fldp.LWR(0.5, 8, 1.0)


@given(epsilons, st.floats(1.001, 20.0), st.integers(1, 3))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_coins_never_exceed_either_epsilon(epsilon, times, bits):
    """The second coin is the largest one that keeps epsilon: what halving finds, and one word less breaks it."""
    permanent, g = epsilon * times, 1 << bits
    assume(permanent < 40)
    coins = KeptCoins.build("LWR", epsilon, permanent, g)
    first, second = naive.kept_coins(epsilon, permanent, g)
    assert ((coins.first.keep, coins.first.other), (coins.second.keep, coins.second.other)) == (first, second)
    assert (coins.p, coins.q) == naive.kept_chances(first, second, g)
    assert coins.p + (g - 1) * coins.q == 1
    assert coins.first.p <= naive.exp_floor.__wrapped__(permanent) * coins.first.q
    assert coins.p <= naive.exp_floor.__wrapped__(epsilon) * coins.q
    assert coins.p - coins.q >= (1 - LOSS) * (exp_lower(epsilon) - 1) * coins.q
    less = (second[0] + g - 1, second[1] - 1)
    p, q = naive.kept_chances(first, less, g)
    assert p > exp_lower(epsilon) * q


@pytest.mark.parametrize("bits", [1, 2, 3])
@pytest.mark.parametrize("permanent", [0.5, 1.0, 2.0])
def test_a_report_has_the_law_of_fwr(bits, permanent):
    """Whatever is kept: p and q are those of FWR at epsilon within 2^-60, for every choice of masks and value."""
    oracle, plain = fldp.LWR(permanent / 2, 8, permanent, bits), fldp.FWR(permanent / 2, 8, 1, bits)
    assert abs(oracle.memoization.coins.p - plain.coin.p) < Fraction(1, 2**60)
    assert abs(oracle.memoization.coins.q - plain.coin.q) < Fraction(1, 2**60)
    assert oracle.variance(1, 0) == pytest.approx(plain.variance(1, 0), rel=1e-12)
    masks = [(0,) * bits, (1, 6, 3)[:bits], (7, 7, 2)[:bits]]
    for value, public in product(range(8), masks):
        law, like = analysis(oracle).law(value, public), analysis(plain).law(value, public)
        assert law.keys() == like.keys()
        assert max(abs(law[outcome] - like[outcome]) for outcome in law) < Fraction(1, 2**60)


def keep_law(oracle):
    """The law of the answers that are kept, from the realised coins alone: those to all symbols, each on its own."""
    first, every = oracle.memoization.coins.first, range(oracle._symbols)
    return {
        table: math.prod((first.p if table[s] == s else first.q for s in every), start=Fraction(1))
        for table in product(every, repeat=len(every))
    }


def told(oracle, symbols):
    """The law of the reported symbols of a history, from the realised coins alone, by all tables that can be kept."""
    second, g = oracle.memoization.coins.second, oracle._symbols
    law = dict.fromkeys(product(range(g), repeat=len(symbols)), Fraction(0))
    for table, share in keep_law(oracle).items():
        for seen in law:
            days = zip(seen, symbols, strict=True)
            law[seen] += share * math.prod(second.p if each == table[s] else second.q for each, s in days)
    return law


@pytest.mark.parametrize("bits", [1, 2])
def test_the_law_of_a_report_is_that_of_both_stages(bits):
    """Over all tables; for g = 8 there are 2^24 of them, so there over what is kept for the one symbol."""
    oracle = fldp.LWR(1.0, 8, 2.5, bits)
    for symbol in range(oracle._symbols):
        law = told(oracle, (symbol,))
        assert sum(law.values()) == 1
        for (seen,), share in law.items():
            assert share == (oracle.memoization.coins.p if seen == symbol else oracle.memoization.coins.q)


def test_the_law_with_eight_symbols():
    oracle = fldp.LWR(1.0, 8, 2.5, 3)
    first, second = oracle.memoization.coins.first, oracle.memoization.coins.second
    for symbol, seen in product(range(8), repeat=2):
        kept = ((first.p if answer == symbol else first.q, answer) for answer in range(8))
        share = sum(part * (second.p if answer == seen else second.q) for part, answer in kept)
        assert share == (oracle.memoization.coins.p if seen == symbol else oracle.memoization.coins.q)


def worst(oracle, one, two):
    """The logarithm of the largest ratio between the laws of two histories, and the ratio itself."""
    law, other = told(oracle, one), told(oracle, two)
    ratio = max(law[seen] / other[seen] for seen in law)
    return math.log(ratio), ratio


@pytest.mark.parametrize(("days", "reached"), [(2, 0.75), (4, 0.96), (8, 0.9997)])
def test_a_value_that_stays_keeps_the_permanent_epsilon(days, reached):
    """Exactly, for every number of days, and it is nearly reached; one report is far below it."""
    loss, ratio = worst(USUAL, (0,) * days, (1,) * days)
    assert ratio <= USUAL.memoization.coins.first.p / USUAL.memoization.coins.first.q <= exp_lower(1.0)
    assert reached < loss < 1


def test_a_value_that_stays_among_four_symbols():
    oracle = fldp.LWR(0.5, 8, 1.0, 2)
    for one, two in ((0, 1), (2, 1)):
        assert worst(oracle, (one,) * 2, (two,) * 2)[1] <= exp_lower(1.0)


def logs(oracle, days):
    """All histories of so many days, and the logarithms of their laws, a row each; in doubles, table by table."""
    first, second, g = oracle.memoization.coins.first, oracle.memoization.coins.second, oracle._symbols
    laws = np.zeros((g**days, g**days))
    for table in product(range(g), repeat=g):
        share = math.prod(float(first.p if table[s] == s else first.q) for s in range(g))
        one = np.array([[float(second.p if seen == table[s] else second.q) for seen in range(g)] for s in range(g)])
        laws += share * functools.reduce(np.kron, [one] * days)
    return list(product(range(g), repeat=days)), np.log(laws)


@pytest.fixture(scope="session")
def eight_days():
    return logs(USUAL, 8)


def same_pattern(one, two):
    pairs = [(a, b) for a in range(len(one)) for b in range(a)]
    return all((one[a] == one[b]) == (two[a] == two[b]) for a, b in pairs)


def test_histories_of_one_pattern_keep_the_lasting_epsilon(eight_days):
    """All 256 histories of 8 days: each has one other of its pattern, and 1.96 of 2 is reached."""
    histories, laws = eight_days
    most = 0.0
    for place, one in enumerate(histories):
        (other,) = (k for k, two in enumerate(histories) if k != place and same_pattern(one, two))
        most = max(most, float((laws[place] - laws[other]).max()))
    assert USUAL.memoization.lasting_epsilon == 2.0
    assert 1.95 < most < 2.0


def test_histories_of_one_pattern_among_four_symbols():
    oracle = fldp.LWR(0.5, 8, 1.0, 2)
    histories, laws = logs(oracle, 2)
    pairs = [(a, b) for a, b in product(range(16), repeat=2) if a != b and same_pattern(histories[a], histories[b])]
    assert max(float((laws[a] - laws[b]).max()) for a, b in pairs) <= oracle.memoization.lasting_epsilon
    ratios = analysis(oracle).lasting_ratios()["all reports of one pattern"]
    assert ratios == ((oracle.memoization.coins.first.p / oracle.memoization.coins.first.q) ** 4, 4.0)


def test_that_a_value_changes_is_covered_by_no_epsilon_of_it(eight_days):
    """Not by the lasting epsilon, and not even by that of eight fresh reports; only by the second coin alone."""
    _, laws = eight_days
    most = max(float((laws[k] - laws).max()) for k in range(len(laws)))
    second = math.log(USUAL.memoization.coins.second.p / USUAL.memoization.coins.second.q)
    assert second == pytest.approx(1.18, abs=0.005)
    assert most == pytest.approx(4.33, abs=0.01)
    assert 8 * USUAL.epsilon < most < 8 * second


@pytest.mark.parametrize(
    ("permanent", "bits", "shown"),
    [(0.5, 1, 0.27), (1.0, 1, 0.30), (2.0, 1, 0.40), (0.5, 2, 0.57), (2.0, 2, 0.63)],
)
def test_how_likely_a_change_shows(permanent, bits, shown):
    """By going through all tables and pairs of symbols: what is kept for the two differs, and they differ."""
    oracle = fldp.LWR(permanent / 2, 100, permanent, bits)
    law, g = keep_law(oracle), oracle._symbols
    seen = sum(
        share * Fraction(1, g * g) * (table[one] != table[two])
        for table, share in law.items()
        for one, two in product(range(g), repeat=2)
    )
    assert seen == oracle.memoization.change_visible
    assert float(seen) == pytest.approx(shown, abs=0.006)


def test_promises():
    oracle = fldp.LWR(0.5, 20, 1.0)
    assert (bool(following(oracle)), lasting_epsilon(oracle), steady_epsilon(oracle)) == (True, 2.0, 1.0)
    rappor = fldp.RAPPOR(0.5, 1.0)
    assert (bool(following(rappor)), lasting_epsilon(rappor), steady_epsilon(rappor)) == (False, 1.0, 1.0)
    assert rappor.memoization.change_visible == 0
    assert fldp.GRR(1.0, 5).memoization is None
    verified = fldp.verify(oracle)
    assert verified.holds
    assert {name: round(epsilon, 9) for name, epsilon in verified.lasting.items()} == {
        "all reports of a value that stays": 1.0,
        "all reports of one pattern": 2.0,
    }


def test_a_broken_permanent_promise_is_found(monkeypatch):
    """A first coin of epsilon 1.1 where 1 is declared: one report is as declared, all together are not."""
    oracle = fldp.LWR(0.5, 8, 1.0)
    coins = KeptCoins.build("LWR", 0.5, 1.1, 2)
    monkeypatch.setattr(type(oracle), "_coins", property(lambda self: coins))
    verified = fldp.verify(oracle)
    assert verified.judgement.holds
    assert not verified.holds


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"epsilon": 2.0}, "LWR: epsilon must be below epsilon_permanent, 2.0, which all reports share, got 2.0"),
        ({"epsilon_permanent": 64.0}, "LWR: epsilon=64.0 is too large for this domain"),
        ({"epsilon": 1e-30}, "LWR: epsilon=1e-30 is too small for this domain"),
        ({"hash_bits": 4}, "LWR: hash_bits must be an integer from 1 to 3, got 4"),
        ({"domain_size": 1}, "LWR: domain_size must be an integer from 2 to"),
    ],
)
def test_parameters(fields, message):
    parameters = {"epsilon": 1.0, "epsilon_permanent": 2.0, "domain_size": 9, **fields}
    with pytest.raises(ParameterError) as caught:
        fldp.LWR(**parameters)
    assert str(caught.value).startswith(message)
    with pytest.raises(ParameterError) as caught:
        fldp.Responder.from_dict({"name": "lwr", **parameters})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("bits", [1, 2, 3])
def test_the_two_stages_are_privatize(bits):
    """What is kept and then answered from the same words is what privatize gives; masks never change."""
    oracle = fldp.LWR(0.7, 300, 1.5, bits)
    values = np.arange(50) * 5
    words = fldp.Stream(4).words(50 * oracle.words).reshape(50, oracle.words)
    kept = oracle._basis_format.empty(50)
    oracle._keep(np.ascontiguousarray(words[:, : oracle._keep_words]), kept)
    reports = oracle.report_format.empty(50)
    oracle._respond(kept, values, np.ascontiguousarray(words[:, oracle._keep_words :]), reports)
    assert (reports == oracle.privatize(values, rng=4).data).all()
    assert [oracle.report_format.outcome(row) for row in reports] == naive.privatize(oracle, values, words.reshape(-1))
    stages = oracle.memoization
    mine = stages.keep(50, rng=5)
    days = [stages.respond(mine, values, rng=day) for day in (6, 7)]
    assert days[0] != days[1]
    for answer in days:
        assert oracle.report_format.check(answer.data).all()
        assert all((answer.data[f"mask{j}"] == mine.data[f"mask{j}"]).all() for j in range(bits))
    assert stages.respond(mine[3], values[3], rng=6) == stages.respond(mine[3], [values[3]], rng=6)


@pytest.mark.parametrize("bits", [1, 2, 3])
@pytest.mark.parametrize("size", [2, 300, 1 << 16])
def test_one_person_without_numpy_keeps_and_reports_the_same(bits, size):
    """From the same words, the responder keeps the same bytes, and reports the same from them, as the batch does."""
    oracle = fldp.LWR(0.7, size, 1.5, bits)
    rows = fldp.Stream(8).words(20 * oracle.words).reshape(20, oracle.words)
    second = oracle.memoization.coins.second
    rows[:4, -1] = [0, second.keep - 1, second.keep, 2**64 - 1]
    for row in rows:
        script = iter(row.tolist())
        response = registry.response("lwr", oracle.parameters, source=WordSource(lambda: next(script), None))  # noqa: B023
        basis = response.keep()
        kept = oracle._basis_format.empty(1)
        oracle._keep(row[None, : oracle._keep_words].copy(), kept)
        assert fldp.oracles.flexible.lwr.Bases(oracle, kept).to_bytes() == basis
        report = response.following(basis)(size // 2)
        reports = oracle.report_format.empty(1)
        oracle._respond(oracle.memoization.basis(basis).data, np.array([size // 2]), row[None, -1:].copy(), reports)
        assert report == reports[0].item()


def test_what_is_kept_depends_on_no_value():
    """Drawn without one, and of the masks and answers that the law says: a chi-squared test, 1 in a million."""
    oracle = fldp.LWR(0.5, 4, 1.0)
    kept = oracle.memoization.keep(20_000, rng=3)
    seen = np.bincount(kept.data["mask0"].astype(int) * 4 + kept.data["bits"], minlength=16)
    first = oracle.memoization.coins.first
    shares = {0: first.p * first.q, 2: first.p * first.p, 1: first.q * first.q, 3: first.q * first.p}
    expected = np.array([float(shares[table]) / 4 * 20_000 for _ in range(4) for table in range(4)])
    assert (((seen - expected) ** 2 / expected).sum()) < 59.9  # 15 degrees of freedom


def test_bytes_that_are_kept():
    oracle = fldp.LWR(0.5, 1000, 1.0, 2)
    kept = oracle.memoization.keep(3, rng=1)
    assert [len(kept[k].to_bytes()) for k in range(3)] == [4] * 3  # 2 masks of 10 bits, 4 answers of 2
    assert all(oracle.memoization.basis(kept[k].to_bytes()) == kept[k] for k in range(3))
    with pytest.raises(DomainError, match="a single basis, got 3"):
        kept.to_bytes()
    responder = fldp.Responder(oracle)
    for bad, why in ((b"", "4 bytes"), (bytes(5), "4 bytes"), (b"\xff" * 4, "zeros")):
        with pytest.raises(WireError, match=why):
            oracle.memoization.basis(bad)
        with pytest.raises(WireError, match="4 bytes that end in zeros"):
            responder.following(bad)
    with pytest.raises(MergeError, match="what is kept must be of"):
        USUAL.memoization.respond(kept, [1, 2, 3])
    with pytest.raises(DomainError, match="a value for each of 3 bases, got 2"):
        oracle.memoization.respond(kept, [1, 2])
    with pytest.raises(DomainError):
        oracle.memoization.respond(kept, [1, 2, 1000])


def test_check_oracle():
    for bits in (1, 2):
        fldp.check_oracle(fldp.LWR(0.5, 12, 1.0, bits))


def test_the_error_of_a_day_is_that_of_the_formula():
    """Of people a fifth of whom change their value each day, on every day; ``make acceptance`` has it at full size.

    5,120 nearly uncorrelated squared errors have a mean within 2 % in two of three cases; 10 % are 5 of these.
    """
    ratios = day_errors(fldp.LWR(0.5, 64, 1.0), people=2_000, runs=20, days=4)
    assert np.abs(ratios - 1).max() < 0.2  # 1,280 a day: 4 % each
    assert abs(ratios.mean() - 1) < 0.1


@pytest.mark.parametrize("bits", [1, 2])
def test_the_mean_of_several_days_has_the_error_of_the_formula(bits):
    """Of a rare value and people who stay: V(permanent) + (V(one day) - V(permanent)) / days, exactly, as rationals."""
    oracle = fldp.LWR(0.5, 8, 1.0, bits)
    first, second, g = oracle.memoization.coins.first, oracle.memoization.coins.second, oracle._symbols
    gap, law = oracle.memoization.coins.p - Fraction(1, g), {}
    for held, other, answer in product(range(g), repeat=3):  # symbols of the value that is held, and of the rare one
        share = Fraction(1, g * g) * (first.p if answer == held else first.q)
        agrees = second.p if answer == other else second.q
        law[agrees] = law.get(agrees, Fraction(0)) + share
    mean = sum(share * agrees for agrees, share in law.items())
    kept = sum(share * (agrees - mean) ** 2 for agrees, share in law.items()) / gap**2
    each = sum(share * agrees * (1 - agrees) for agrees, share in law.items()) / gap**2
    assert mean == Fraction(1, g)
    assert kept == Fraction(g - 1, g * g) / (first.p - Fraction(1, g)) ** 2  # FWR's at epsilon_permanent
    assert float(kept + each) == pytest.approx(oracle.variance(1, 0), rel=1e-12)
    plain = [fldp.FWR(epsilon, 8, 1, bits).variance(1, 0) for epsilon in (1.0, 0.5)]
    for days in (2, 8):
        assert float(kept + each / days) == pytest.approx(plain[0] + (plain[1] - plain[0]) / days, rel=1e-9)


def test_audit_of_one_day_and_of_eight():
    """The honest one is accused in at most one audit of 10,000; eight days show more than one day may."""
    oracle = fldp.LWR(0.5, 4, 1.0)
    one = fldp.audit(oracle, samples=6000, confidence=0.9999, rng=1)
    assert one.holds
    eight = audit_histories(oracle, samples=6000, confidence=0.9999, rng=1)
    assert eight.holds
    assert eight.claim.epsilon == 1.0
    assert oracle.epsilon < eight.epsilon_lower_bound < 1.0


def test_an_audit_of_histories_accuses_who_keeps_nothing():
    """A client that draws its table anew each day: every report is perfect, and eight are not."""
    oracle, noise = fldp.LWR(0.5, 4, 1.0), fldp.Stream(7)

    def forgetful(values):
        return np.stack([oracle.privatize(values, rng=noise).data for _ in range(8)], axis=1)

    assert not audit_histories(oracle, client=forgetful, samples=6000, rng=1).holds
    with pytest.raises(ParameterError, match="GRR is answered once, and the report is repeated"):
        audit_histories(fldp.GRR(1.0, 4), samples=400)


def test_the_same_people_every_day_are_not_accused():
    """Masks that are kept are not uniform: nothing is claimed of them. Sixty days of 200 people, 1 in 100."""
    oracle = fldp.LWR(0.5, 8, 1.0)
    kept, held = oracle.memoization.keep(200, rng=1), np.arange(200) % 8
    days = fldp.Reports.concatenate([oracle.memoization.respond(kept, held, rng=day) for day in range(60)])
    findings = fldp.integrity(days)
    assert findings.passed
    assert any("people keep theirs" in each for each in findings.blind)
    fakes = np.zeros(12_000, oracle.report_format.dtype)
    assert not fldp.integrity(fldp.Reports(oracle, fakes)).passed


SURVEY = """
name = "theme"
question = "Which theme?"
labels = ["light", "dark", "system"]
[oracle]
name = "lwr"
epsilon = 0.5
epsilon_permanent = 1.0
[collect]
repeat = "daily"
"""


def test_the_card_names_both_epsilons_and_how_likely_a_change_shows(tmp_path):
    path = tmp_path / "theme.toml"
    path.write_text(SURVEY)
    card = json.loads(shell("card", "--survey", path, "--users", 1000, "--seed", 1, "--json")[0])
    said = " ".join(card["words"]["If you answered again and again"])
    assert "another that stays: epsilon 1, however many there are" in said
    assert "whose hashes change in the same pattern: epsilon 2, 2 times 1. Your device is charged that, once." in said
    assert "No epsilon covers whether and when your answer changed. However long" in said
    assert "with a probability of 30.3" in said
    told = {name: round(number, 3) for name, number in card["following"].items()}
    assert told == {"epsilon_permanent": 1.0, "lasting_epsilon": 2.0, "change_visible": 0.303}
    assert card["crowd"] is None
    assert card["eta"] == 1


def test_the_shell_verifies_plans_and_audits_whole_histories(tmp_path):
    path = tmp_path / "theme.toml"
    path.write_text(SURVEY)
    facts = json.loads(shell("verify", "--survey", path, "--json")[0])
    assert facts["verdict"] == "holds"
    assert facts["epsilon of all reports of one pattern"] == pytest.approx(2)
    planned = json.loads(shell("plan", "--survey", path, "--users", 1000, "--json")[0])
    assert [row["lasting_epsilon"] for row in planned["rows"]] == [2.0, 4.0, 8.0]
    assert [row["recommended"] for row in planned["rows"]] == [True, False, False]
    assert "shows with probability 0.30" in planned["reason"]
    options = ("--survey", path, "--samples", 2000, "--confidence", 0.9999, "--days", 8)
    said, _ = shell("audit", *options)
    assert "all reports of one person on 8 days, whose value stays; together they claim epsilon 1." in said
    _, error = shell("audit", "--oracle", "grr", "--epsilon", 1, "--domain", 4, "--days", 8, code=2)
    assert "GRR is answered once, and the report is repeated" in error


def test_the_plan_for_people_who_are_asked_again():
    """One hash bit up to an epsilon of 1; above, two, whose total is twice as large, where that is better."""
    asked = {"domain_size": 100, "users": 10_000}
    assert fldp.plan(**asked, epsilon=1.0, epsilon_permanent=2.0).recommended.oracle == fldp.LWR(1.0, 100, 2.0)
    assert fldp.plan(**asked, epsilon=1.5, epsilon_permanent=3.0).recommended.oracle == fldp.LWR(1.5, 100, 3.0, 2)
    plan = fldp.plan(**asked, epsilon=0.5, epsilon_permanent=1.0)
    assert {row.crowd for row in plan.rows} == {None}  # it hides one report of a person, not all
    row = plan.recommended
    assert row.users_needed(0.01) == math.ceil(row.oracle.variance(1, 0) / 0.01**2)
    needed = row.epsilon_needed(0.03)
    assert fldp.LWR(needed, 100, 1.0).variance(1, 0) / 10_000 <= 0.03**2
    for more in ({"eta": 0.5}, {"sensitive": [3]}):
        with pytest.raises(ParameterError, match="asked again and again"):
            fldp.plan(**asked, epsilon=0.5, epsilon_permanent=1.0, **more)
    assert "lwr" in fldp.plan(**asked, epsilon=0.5).skipped


@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.long
def test_the_responder_is_audited_over_eight_days(tmp_path, forgets):
    """One that forgets what it keeps is accused; the honest one in at most one audit of 10,000."""
    path = tmp_path / "theme.toml"
    path.write_text(SURVEY)
    survey = fldp.Survey.load(path)
    responder = fldp.Responder(survey)

    def history(label):
        mine = responder.following(responder.keep())
        return [(responder.following(responder.keep()) if forgets else mine)(label) for _ in range(8)]

    def client(values):
        rows = [report for value in values for report in history(survey.labels[value])]
        return survey.oracle._answered(*rows).data.reshape(len(values), 8)

    result = audit_histories(survey.oracle, client=client, values=[0, 1], samples=20_000, confidence=0.9999, rng=1)
    assert result.holds is not forgets


def test_bases_are_a_sequence_that_shows_itself():
    oracle = fldp.LWR(epsilon=1.0, epsilon_permanent=2.0, domain_size=8)
    kept = oracle.memoization.keep(5, rng=1)
    assert repr(kept) == f"<5 bases of {oracle!r}>"
    assert kept[1:3] == oracle.memoization.keep(5, rng=1)[1:3] != kept[2:4]
    assert kept[-1] == kept[4:]
    assert kept != kept.data.tolist()
