"""Claims of section 5.1 and 5.2.1: how FHR works, and its two theorems."""

from fractions import Fraction
from math import ceil, log2

import numpy as np

from fldp.estimation.simulate import simulate
from fldp.experiments.paper.claims.claim import ClaimFinding, claim, refute, settle
from fldp.experiments.paper.claims.exact_moments import EXACT, moments, tiny
from fldp.experiments.paper.evidence import Evidence
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle, Law
from fldp.privacy.notions import FLDP
from fldp.privacy.verifier import verify

PART = "The mechanism"
SMALL = 7  # values of the paper's rows 1 to 7 in a matrix of order 8
RUNS = 20


@claim("order", PART, "The vectors have length 2^r with r = ceil(2^(log2(|I|+1))).", "5.1, Encoding")
def order(evidence: Evidence) -> ClaimFinding:
    """The tower of two powers is a slip: r = ceil(log2(|I|+1))."""
    size = evidence.population.domain_size
    stated, right = ceil(2 ** log2(size + 1)), ceil(log2(size + 1))
    used = evidence.oracle("fhr", size).report_format.bits // 2
    return settle(
        stated == right,
        used == right,
        f"r = {right}, not {stated:,}",
        f"For {size:,} values it says r = {stated:,}, vectors of length 2^{stated}. With r = ceil(log2(|I|+1)) = "
        f"{right} there are {2**right - 1:,} rows to give them, and our code uses r = {used}.",
    )


@claim(
    "balance",
    PART,
    "Half of each row is +1; where one row is +1 or -1, any other row is half +1 and half -1; H[i, j] is the parity "
    "of i & j.",
    "5.1, Encoding",
)
def balance(evidence: Evidence) -> ClaimFinding:
    """Of the recursion, of the formula, for all pairs of rows of a matrix of order 1,024."""
    del evidence
    numbers = np.arange(1024, dtype=np.uint64)
    formula = 1 - 2 * (np.bitwise_count(numbers[:, None] & numbers) & 1).astype(np.float32)
    recursion = np.ones((1, 1), np.float32)
    for _ in range(10):
        recursion = np.kron(np.array([[1, 1], [1, -1]], np.float32), recursion)
    plus = (formula[1:] > 0).astype(np.float32)
    both = plus @ plus.T
    apart = both[~np.eye(1023, dtype=bool)]
    good = bool((plus.sum(axis=1) == 512).all() and (apart == 256).all())
    return settle(
        good and np.array_equal(formula, recursion),
        False,
        f"{int(apart.min())} of 1,024 for every two rows",
        f"Order 1,024: every one of {len(plus):,} rows has {int(plus.sum(axis=1).min())} times +1; every two of them "
        f"share {int(apart.min())} to {int(apart.max())} positions of +1, a quarter; formula and recursion agree in "
        f"{int((formula == recursion).sum()):,} of {formula.size:,} entries.",
    )


@claim(
    "message",
    PART,
    "Each user sends (index_x, x, index_y), where x is the perturbed value at the position of +1.",
    "5.1, Perturbation",
)
def message(evidence: Evidence) -> ClaimFinding:
    """The place in the message is not perturbed: the first index is always one of +1."""
    oracle = evidence.oracle("fhr", SMALL, items="paper")
    stated = verify(lambda value: true_position_first(value, 8, _kept(oracle)), domain_size=SMALL)
    ordered = verify(oracle)
    promised = FLDP(evidence.epsilon, Fraction(1, 2))
    return refute(
        stated.judge(promised).holds,
        ordered.judge(promised).holds,
        f"eta {stated.eta}, delta {stated.delta}",
        f"By enumeration of that message for {SMALL} values: epsilon {stated.epsilon:g}, eta {stated.eta}, delta "
        f"{stated.delta}; the coin is useless, and every report leaves {stated.anonymity} values instead of "
        f"{ordered.anonymity}. With the pair ordered after the flip, (position of +1, position of -1): epsilon "
        f"{ordered.epsilon:g}, eta {ordered.eta}.",
    )


def true_position_first(value: int, rows: int, p: Fraction) -> Law:
    """Return the law of the message as the paper words it: true position of +1, its noisy sign, true position of -1.

    >>> sum(true_position_first(0, 8, Fraction(3, 4)).values())
    Fraction(1, 1)
    """
    odd = [((value + 1) & i).bit_count() & 1 for i in range(rows)]
    places = [(x, y) for x in range(rows) for y in range(rows) if not odd[x] and odd[y]]
    return {(x, sign, y): (p if sign > 0 else 1 - p) / len(places) for x, y in places for sign in (1, -1)}


def _kept(oracle: FrequencyOracle) -> Fraction:
    """Return the probability that a report is not swapped, from its law."""
    law = analysis(oracle).law(0)
    return max(law.values()) / (max(law.values()) + min(law.values()))


@claim("theorem-1", PART, "Theorem 1: the corrected estimate is unbiased.", "5.2.1, Theorem 1", "variance")
def theorem_1(evidence: Evidence) -> ClaimFinding:
    """By enumeration, and in a simulation of the first dataset."""
    bias = moments(evidence.oracle("fhr", SMALL), decoder="paper").bias
    people = evidence.population
    oracle = evidence.oracle("fhr", people.domain_size)
    stream = evidence.stream("theorem 1")
    tallies = (simulate(oracle, people.counts, rng=stream) for _ in range(RUNS))
    mean = np.mean([oracle.estimate(tally, decoder="paper").counts for tally in tallies], axis=0)
    spread = np.sqrt(oracle.variance(people.n, people.counts, decoder="paper") / RUNS)
    score = float(np.mean(((mean - people.counts) / spread) ** 2))
    reach = 5 * np.sqrt(2 / people.domain_size)
    return settle(
        bias < EXACT and abs(score - 1) < reach,
        False,
        f"bias {tiny(bias)}",
        f"Bias {tiny(bias)} for {SMALL} values, by enumeration of all reports. On {people.name}, {RUNS} runs: the "
        f"squared difference of mean and truth is {score:.3f} times what chance gives (1 within {reach:.2f}).",
    )


@claim("theorem-2", PART, "Theorem 2: FHR satisfies (eps, eta = 0.5)-FLDP.", "5.2.1, Theorem 2", "attack")
def theorem_2(evidence: Evidence) -> ClaimFinding:
    """By enumeration of the implemented law; and what the promise leaves out."""
    size = evidence.population.domain_size
    promised = FLDP(evidence.epsilon, Fraction(1, 2))
    small, large = verify(evidence.oracle("fhr", SMALL, items="paper")), verify(evidence.oracle("fhr", size))
    return settle(
        small.judge(promised).holds and large.judge(promised).holds,
        False,
        f"epsilon {large.epsilon:g}, eta {large.eta}",
        f"Enumerated for {SMALL} values: epsilon {small.epsilon:g}, eta {small.eta} by number and {small.eta_mass} "
        f"by probability; for {size:,} values: {large.epsilon:g}, {large.eta} and {large.eta_mass}. As ordinary LDP "
        f"that is delta = {large.delta}: every report rules out values for certain, up to {size - large.anonymity:,} "
        f"of {size:,}, whatever epsilon is.",
    )


@claim(
    "ranges",
    PART,
    "There are d^2/4 outputs for each item, and d^2/8 in the intersection of two ranges, d the length of the vector.",
    "5.2.1, Theorem 2",
)
def ranges(evidence: Evidence) -> ClaimFinding:
    """The two orders of a pair are different outputs."""
    oracle = evidence.oracle("fhr", SMALL, items="paper")
    one, other = analysis(oracle).law(0), analysis(oracle).law(1)
    own, shared = len(one), len(one.keys() & other.keys())
    return settle(
        (own, shared) == (16, 8),
        (own, shared) == (32, 16) and Fraction(shared, own) == Fraction(1, 2),
        f"{own} and {shared}, not 16 and 8",
        f"Counted for vectors of length 8: {own} outputs (d^2/2) and {shared} in common (d^2/4), where it says 16 "
        f"and 8. Eta is {Fraction(shared, own)} either way.",
    )
