"""What a crowd adds: never below the exact law of all reports together, and what is told of it."""

import json
import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fldp
from fldp.numerics.excess_of_sum import mean_excess
from fldp.numerics.word_kernels import keyed_hash, multiply_high
from fldp.oracles.base.blanket import two_levels
from fldp.oracles.kit import analysis
from fldp.oracles.shuffle_privacy import crowd_of, stands_out
from fldp.presentation.card import as_text
from fldp.survey import Survey
from support.commands import run_here
from support.small_oracles import SMALL

PLAIN = [oracle for oracle in SMALL if oracle.eta == 1 and analysis(oracle).blanket() is not None]


def laws_of(oracle):
    """The exact law of one report of each value, public randomness included."""
    publics = list(analysis(oracle).publics())
    assert analysis(oracle).publics_are_all
    return [
        {(k, o): p / len(publics) for k, q in enumerate(publics) for o, p in analysis(oracle).law(v, q).items()}
        for v in range(oracle.domain_size)
    ]


def together(laws, people):
    """The exact law of what the reports of people are as a heap, without their order."""
    outcomes = sorted({outcome for law in laws for outcome in law}, key=repr)
    heaps = {(0,) * len(outcomes): 1.0}
    for person in people:
        chances, grown = [float(laws[person].get(outcome, 0)) for outcome in outcomes], defaultdict(float)
        for heap, mass in heaps.items():
            for k, chance in enumerate(chances):
                if chance:
                    grown[(*heap[:k], heap[k] + 1, *heap[k + 1 :])] += mass * chance
        heaps = grown
    return heaps


def exact_delta(oracle, n, epsilon):
    """The largest hockey-stick divergence of two heaps that differ in one person, over all others and all pairs."""
    laws, worst = laws_of(oracle), 0.0
    for others in combinations_with_replacement(range(oracle.domain_size), n - 1):
        heaps = [together(laws, (value, *others)) for value in range(oracle.domain_size)]
        for one in heaps:
            for other in heaps:
                excess = sum(max(0.0, mass - math.exp(epsilon) * other.get(heap, 0.0)) for heap, mass in one.items())
                worst = max(worst, excess)
    return worst


@pytest.mark.parametrize(
    ("oracle", "most"),
    [
        (fldp.RR(1.0), 8),
        (fldp.RR(3.0), 5),
        (fldp.GRR(1.0, 3), 5),
        (fldp.GRR(2.0, 4), 3),
        (fldp.OUE(1.0, 2), 4),
        (fldp.SUE(1.0, 2), 4),
        (fldp.OUE(2.0, 3), 2),
        (fldp.SS(0.5, 4), 3),
        (fldp.HR(1.0, 3), 3),
        (fldp.HR(2.0, 4, 2), 2),
        (fldp.PGR(1.0, 3), 3),
        (fldp.HRR(1.0, 3), 3),
        (fldp.FWR(1.0, 2), 3),
    ],
    ids=repr,
)
def test_never_below_exact_enumeration(oracle, most):
    blanket = analysis(oracle).blanket()
    for n in range(1, most + 1):
        for epsilon in (0.1, 0.3, 0.6):
            exact, bound = exact_delta(oracle, n, epsilon), blanket.delta(math.exp(epsilon), n)
            assert exact * (1 - 1e-9) <= bound <= 2.6 * exact + 1e-9


def blanket_of_law(laws, x, y):
    """The classes of the largest blanket, from enumerated laws: masses by how likely reports are under two values."""
    masses = Counter()
    for outcome in {outcome for law in laws for outcome in law}:
        least = min(law[outcome] for law in laws)
        masses[float(laws[x][outcome] / least), float(laws[y][outcome] / least)] += float(least)
    return {(round(own, 9), round(other, 9)): mass for (own, other), mass in masses.items()}


@pytest.mark.parametrize("oracle", PLAIN, ids=repr)
def test_the_blanket_is_that_of_the_enumerated_law(oracle):
    """Apart from reports that support all values, such as all bits set: they could be in the blanket even more."""
    laws, blanket = laws_of(oracle), analysis(oracle).blanket()
    pairs = list(combinations(range(oracle.domain_size), 2))
    classes = [blanket_of_law(laws, *pair) for pair in pairs]
    told = {(round(float(c.own), 9), round(float(c.other), 9)): float(c.mass) for c in blanket.classes if c.mass}
    apart = {key: mass for key, mass in told.items() if key[0] != key[1]}
    worst = max(classes, key=lambda masses: sum(mass for key, mass in masses.items() if key[0] != key[1]))
    assert {key: worst[key] for key in apart} == pytest.approx(apart, rel=1e-9)
    gamma = sum(worst.values())
    assert float(blanket.gamma) <= gamma * (1 + 1e-12)
    tells_nothing = any(len({law[outcome] for law in laws}) == 1 for outcome in laws[0])
    assert tells_nothing or float(blanket.gamma) == pytest.approx(gamma, rel=1e-9)


def test_a_tiny_epsilon_is_none_in_a_crowd():
    assert fldp.shuffled(fldp.SS(0.0002, 5000), 100_000).epsilon == 0


def test_two_values_share_a_symbol_of_olh_in_one_seed_of_g():
    """By 2^18 seeds; false alarms below 1e-6 by the normal approximation."""
    oracle = fldp.OLH(1.0, 10)
    seeds = np.random.default_rng(1).integers(2**64, size=1 << 18, dtype=np.uint64)
    one, other = (multiply_high(keyed_hash(seeds, np.uint64(value)), np.uint64(oracle._symbols)) for value in (2, 7))
    share, expected = float((one == other).mean()), 1 / oracle._symbols
    assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / len(seeds))


@pytest.mark.parametrize("hashes", [1, 2, 3])
@pytest.mark.long
def test_the_blanket_of_rappor_is_that_of_its_worst_two_strings(hashes):
    """Strings that share bits, or set fewer, are never worse than the pair that the blanket is made of."""
    oracle = fldp.RAPPOR(epsilon=1.0, epsilon_permanent=2.0, bits=8, hashes=hashes, cohorts=2)
    strings = [f"text {k}" for k in range(12)]
    laws, blanket, deltas = laws_of(oracle.among(strings)), analysis(oracle).blanket(), []
    for pair in combinations(range(len(strings)), 2):
        classes = blanket_of_law(laws, *pair)
        own, other = (np.array([key[side] for key in classes]) for side in (0, 1))
        masses = np.array(list(classes.values()))
        deltas.append(mean_excess(masses, own - 1.2 * other, float(np.abs(own - other).max()) or 1.0, 10))
    assert max(deltas) <= blanket.delta(1.2, 10) * 1.001


def test_sketches_are_their_response_where_strings_do_not_collide():
    for oracle in (fldp.CMS(epsilon=1.0, hashes=2, width=4), fldp.HCMS(epsilon=1.0, hashes=2, width=4)):
        inner = analysis(oracle._sketch.response).blanket()
        assert analysis(oracle).blanket() == inner == analysis(oracle.among(["a", "b"])).blanket()


@pytest.mark.parametrize(("share", "epsilon"), [(Fraction(1, 10), 0.05), (Fraction(1, 2), 0.2)])
def test_the_sum_is_that_of_all_ways_to_draw_it(share, epsilon):
    """150 people, every number of each class: the lattice adds less than half a percent."""
    n, R, E = 150, math.e, math.exp(epsilon)
    blanket = two_levels(Fraction(R), share, Fraction(0))
    up, down, _, rest = (float(each.mass) for each in blanket.classes)
    logs = np.cumsum(np.concatenate([[0.0], np.log(np.arange(1, n + 1))]))
    a, b, c = np.meshgrid(*(np.arange(n + 1),) * 3, indexing="ij", sparse=True)
    left = n - a - b - c
    idle = 1 - up - down - rest
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = logs[n] - logs[a] - logs[b] - logs[c] - logs[np.maximum(left, 0)]
        chance = chance + a * np.log(up) + b * np.log(down) + np.where(c == 0, 0.0, c * np.log(max(rest, 1e-300)))
        chance = chance + np.maximum(left, 0) * np.log(idle)
    total = a * (R - E) + b * (1 - E * R) + c * (1 - E)
    exact = float(np.where(left >= 0, np.exp(chance) * np.maximum(total, 0), 0.0).sum()) / n
    assert exact <= blanket.delta(E, n) <= exact * 1.005


TABLE = [  # (oracle, people, epsilon of the crowd), delta 1e-6, and 1e-9 at 10^9
    *((fldp.OUE(1.0, 10), n, e) for n, e in ((10**3, 0.103), (10**4, 0.030), (10**5, 0.0085), (10**6, 0.0024))),
    *((fldp.GRR(1.0, 10), n, e) for n, e in ((10**3, 0.080), (10**4, 0.023), (10**5, 0.0066), (10**6, 0.0019))),
    *((fldp.OUE(2.0, 10), n, e) for n, e in ((10**3, 0.270), (10**5, 0.0228), (10**9, 2.7e-4))),
    *((fldp.GRR(2.0, 10), n, e) for n, e in ((10**3, 0.273), (10**5, 0.0231), (10**9, 2.7e-4))),
    *((fldp.OUE(4.0, 10), n, e) for n, e in ((10**3, 0.94), (10**4, 0.279), (10**6, 0.0236), (10**9, 9.3e-4))),
    *((fldp.HRR(4.0, 10), n, e) for n, e in ((10**3, 1.34), (10**4, 0.285), (10**6, 0.0236), (10**9, 9.3e-4))),
]


@pytest.mark.parametrize(("oracle", "n", "epsilon"), TABLE)
def test_the_table_of_crowds(oracle, n, epsilon):
    shuffled_epsilon = fldp.shuffled(oracle, n, delta=1e-6 if n < 10**9 else 1e-9, honest=1).epsilon
    digits = len(f"{epsilon:g}".replace(".", "").lstrip("0").partition("e")[0])
    assert shuffled_epsilon == pytest.approx(
        epsilon, abs=0.51 * 10 ** (math.floor(math.log10(epsilon)) - digits + 1), rel=0.01
    )


PEOPLE = st.integers(3, 24).map(lambda power: int(10 ** (power / 3)))


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([fldp.GRR, fldp.OUE, fldp.SS, fldp.HRR]), st.floats(0.1, 6.0), PEOPLE, st.floats(-10, -4))
@pytest.mark.long
def test_more_people_less_epsilon_and_more_delta_never_tell_more(family, epsilon, n, power):
    oracle, delta = family(epsilon, 20), 10**power
    shuffled_epsilon = fldp.shuffled(oracle, n, delta=delta, honest=1).epsilon
    slack = 1.002
    assert 0 < shuffled_epsilon <= epsilon
    assert fldp.shuffled(oracle, 3 * n, delta=delta, honest=1).epsilon <= shuffled_epsilon * slack
    assert fldp.shuffled(oracle, n, delta=3 * delta, honest=1).epsilon <= shuffled_epsilon * slack
    assert fldp.shuffled(family(epsilon * 0.9, 20), n, delta=delta, honest=1).epsilon <= shuffled_epsilon * slack


def test_honest_people_count_and_nobody_else():
    oracle = fldp.RR(1.0)
    alone, gamma = fldp.shuffled(oracle, 2000, delta=1e-6, honest=1), float(analysis(oracle).blanket().gamma)
    assert fldp.shuffled(oracle, 4000, delta=1e-6) == fldp.Shuffled(alone.epsilon, 1e-6, 4000, 0.5, gamma)
    assert fldp.shuffled(oracle, 10**6).delta == 0.1 / 500_000
    assert fldp.shuffled(oracle, 100).delta == 1e-6
    assert fldp.shuffled(oracle, 1, honest=1).epsilon == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("oracle", [fldp.FHR(1.0, 3), fldp.FWR(1.0, 4, 0.5, 1, allow_exposure=True)], ids=repr)
def test_with_eta_below_one_a_crowd_adds_nothing(oracle):
    """A report that nobody else can give stands out: delta is 1 - eta for every number of people and every epsilon."""
    laws = laws_of(oracle)
    for n in (1, 2, 3) if oracle.name == "fhr" else (1, 2):
        one, other = together(laws, (0,) + (1,) * (n - 1)), together(laws, (1,) * n)
        for epsilon in (1.0, 3.0, 10.0):
            excess = sum(max(0.0, mass - math.exp(epsilon) * other.get(heap, 0.0)) for heap, mass in one.items())
            assert excess == pytest.approx(float(1 - oracle.eta), abs=1e-12)
    with pytest.raises(fldp.ParameterError, match="adds nothing: if everybody else gave the same answer"):
        fldp.shuffled(oracle, 10**6)


def test_the_sentences():
    assert "with probability 0.75 that yours differs" in stands_out(fldp.FWR(1.0, 64, 0.25))
    assert "for certain that yours differs" in stands_out(fldp.Grouped(1.0, base="hrr", groups=[3, 4]))
    text = as_text(fldp.card(fldp.OUE(1.0, 10), users=1_000_000, rng=1), width=400)
    assert (
        "For somebody who sees only published totals of at least 1,000,000 answers, of which at least half were given "
        "honestly: epsilon 0.0041, delta 2e-7. For the collector itself: epsilon 1." in text
    )
    assert "can subtract two looks" in text
    text = as_text(fldp.card(fldp.FHR(1.0, 10), users=1_000_000, rng=1), width=400)
    assert "Being one of many adds nothing" in text
    assert "published totals of" not in text


@pytest.mark.parametrize(
    "oracle",
    [fldp.URR(1.0, 10, sensitive=[1]), fldp.IDUE(2.0, 5, budgets={0: 1.0}), fldp.Exponential(1.0, 5, distance="line")],
    ids=repr,
)
def test_other_notions_say_nothing_of_a_crowd(oracle):
    with pytest.raises(fldp.ParameterError, match=r"adds nothing|of plain epsilon-LDP only"):
        fldp.shuffled(oracle, 10**6)
    assert crowd_of(oracle, 10**6) is None


BASE = {"name": "q", "question": "?", "labels": ["a", "b", "c"], "oracle": {"name": "hrr", "epsilon": 1.0}}
DERIVED = {**BASE, "collect": {"submit": "ticket", "derive": True}}
DAILY = {
    **{key: BASE[key] for key in ("name", "question")},
    "domain": "strings",
    "oracle": {"name": "rappor", "epsilon": 1.0, "epsilon_permanent": 2.0},
    "collect": {"repeat": "daily"},
}


def test_nothing_is_told_where_the_contract_forbids_it():
    assert crowd_of(fldp.RR(1.0), 1999) is None  # fewer than 1,000 honest people
    assert crowd_of(fldp.RR(1.0), 2000) is not None
    assert crowd_of(fldp.HRR(8.0, 100), 2000) is None  # epsilon is not even halved
    assert fldp.card(Survey.from_dict(BASE), users=10_000, rng=1).crowd is not None
    assert fldp.card(Survey.from_dict(DERIVED), users=10_000, rng=1).crowd is None
    rows = {row.oracle.name: row for row in fldp.plan(domain_size=10, users=10_000, epsilon=1.0).rows}
    assert rows["fhr"].crowd is None
    assert rows["grr"].crowd_epsilon == fldp.shuffled(fldp.GRR(1.0, 10), 10_000).epsilon


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"reports": 0}, "reports must be an integer from 1"),
        ({"reports": 10, "delta": 1e-13}, "delta must be a number from 1e-12 to 0.5"),
        ({"reports": 10, "honest": 1.5}, "honest must be a number from 0 to 1"),
        ({"reports": 10, "honest": 0.05}, "leaves at least one honest person"),
    ],
)
def test_bad_questions(options, wrong):
    with pytest.raises(fldp.ParameterError, match=wrong):
        fldp.shuffled(fldp.RR(1.0), **options)


def shuffle(*options, code=0):
    done = run_here("shuffle", *options, code=code)
    return " ".join((done.stdout or done.stderr).decode().split())


@pytest.mark.long
def test_the_command(tmp_path):
    said = shuffle("--oracle", "oue", "--epsilon", 1, "--domain", 10, "--reports", 10**6, "--plot", tmp_path / "c.svg")
    assert "epsilon 0.0041, delta 2e-7. For the collector itself: epsilon 1." in said
    assert "not for the collector, nor for its database" in said
    assert "eta 1 epsilon, for the collector 1.0 epsilon, for totals 0.00" in said
    assert (tmp_path / "c.svg").stat().st_size > 1000
    told = json.loads(shuffle("--oracle", "rr", "--epsilon", 1, "--reports", 100, "--json"))
    assert not told["stated"]
    assert told["words"][0].startswith("Too few to speak of a crowd")
    refused = shuffle("--oracle", "fhr", "--epsilon", 1, "--domain", 10, "--reports", 10**6, code=2)
    assert "Being one of many adds nothing" in refused


@pytest.mark.parametrize(("survey", "words"), [(DERIVED, "Tickets decide"), (DAILY, "again and again")])
def test_the_command_says_nothing_of_a_survey_that_forbids_it(survey, words, tmp_path):
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(survey))
    assert words in shuffle("--survey", path, "--reports", 10**6)
