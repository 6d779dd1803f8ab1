"""Claims of section 5.2.2: the error of FHR."""

from math import exp, log, sqrt

import numpy as np

from fldp.estimation.expected_error import least_where
from fldp.estimation.simulate import simulate
from fldp.experiments.paper.claims.claim import ClaimFinding, claim, refute, settle, short
from fldp.experiments.paper.claims.exact_moments import EXACT, moments, tiny
from fldp.experiments.paper.claims.measured_variances import agreement, measured
from fldp.experiments.paper.evidence import Evidence
from fldp.experiments.runner.specification import PAPER
from fldp.numerics.types import Floats

PART = "Its accuracy"
CROSSOVER = log(3 + sqrt(8))
BETA = 0.05
RUNS = 40


def correction(epsilon: float) -> float:
    """Return c = (e^eps+1)/(e^eps-1).

    >>> round(correction(1.0), 3)
    2.164
    """
    return (exp(epsilon) + 1) / (exp(epsilon) - 1)


@claim(
    "variance",
    PART,
    "The variance of an estimate is c^2/2 n + (c^2/2 - 1) n_t, with c = (e^eps+1)/(e^eps-1).",
    "5.2.2, variance",
    "variance",
)
def variance(evidence: Evidence) -> ClaimFinding:
    """By enumeration, and by the mean squared error of all tallies of the main experiment."""
    c = correction(evidence.epsilon)
    off = moments(evidence.oracle("fhr", 7), decoder="paper").difference(own=c * c - 1, other=c * c / 2)
    ratios = agreement(measured(evidence, "FHR, paper"))
    return settle(
        off < EXACT and ratios.good,
        False,
        f"measured / formula {ratios.ratio:.4f}",
        f"Enumerated for 7 values: equal, difference {tiny(off)}. Measured divided by this formula: {ratios}.",
    )


@claim(
    "variance-bound",
    PART,
    "The variance is at most c^2/2 n.",
    "5.2.2, variance",
    "variance",
)
def variance_bound(evidence: Evidence) -> ClaimFinding:
    """The term that is dropped, (c^2/2 - 1) n_t, is positive below ln(3 + sqrt 8)."""
    c, large = correction(evidence.epsilon), correction(2.0)
    largest, above = (
        float(moments(evidence.oracle("fhr", 7, epsilon), decoder="paper").variance.max())
        for epsilon in (evidence.epsilon, 2.0)
    )
    users, trials = 2_000, evidence.evaluation.trials
    oracle, stream = evidence.oracle("fhr", 7), evidence.stream("variance bound")
    everyone = np.zeros(users, np.int64)
    counts = [oracle.estimate(oracle.privatize(everyone, rng=stream), decoder="paper").counts[0] for _ in range(trials)]
    simulated = float(np.var(counts, ddof=1)) / users
    return refute(
        largest <= c * c / 2 + EXACT,
        above <= large * large / 2 + EXACT,
        f"{largest:.3g}, above {c * c / 2:.3g}",
        f"At epsilon {evidence.epsilon:g} the bound is {c * c / 2:.3g} for each user. A value that everybody holds "
        f"has c^2 - 1 = {largest:.3g} by enumeration, {simulated:.3g} +- {simulated * sqrt(2 / (trials - 1)):.2g} in "
        f"{trials} runs of {users:,} users. It takes n_t = 0, or c^2/2 <= 1: epsilon of at least {CROSSOVER:.4g}. "
        f"It is false at {_below(evidence)} of the {len(evidence.evaluation.main.epsilons)} epsilons.",
    )


def _below(evidence: Evidence) -> int:
    return sum(epsilon < CROSSOVER for epsilon in evidence.evaluation.main.epsilons)


@claim(
    "lemma-3",
    PART,
    "Lemma 3: with probability 1 - beta, the largest error is O(sqrt(log(1/beta))/(eps sqrt n)); in its proof |w - "
    "w'| <= 2.",
    "5.2.2, Lemma 3",
    "users",
)
def lemma_3(evidence: Evidence) -> ClaimFinding:
    """Its own inequality is for one value; the largest error over d values needs log(d/beta), and 1 + c for 2."""
    people, c = evidence.population, correction(evidence.epsilon)
    largest = _largest_errors(evidence)
    spread = people.n * c * c / 2 + max(c * c / 2 - 1, 0) * int(people.counts.max())
    stated, right = bernstein(spread, 2, log(2 / BETA)), bernstein(spread, 1 + c, log(2 * people.domain_size / BETA))
    beyond, beyond_right = (float(np.mean(largest > bound)) for bound in (stated, right))
    return refute(
        beyond <= BETA,
        beyond_right <= BETA,
        f"exceeded in {100 * beyond:.0f} % of runs, not {100 * BETA:g} %",
        f"|w - w'| reaches 1 + c = {1 + c:.3g} at epsilon {evidence.epsilon:g}. The inequality of the proof with "
        f"beta = {BETA:g} gives {short(stated)} users on {people.name}; the largest error over "
        f"{people.domain_size:,} values exceeded it in {100 * beyond:.0f} % of {RUNS} runs. With 1 + c, and "
        f"log({people.domain_size:,}/beta) for that many values, it is {short(right)}, exceeded in "
        f"{100 * beyond_right:.0f} %. Frequencies are these divided by n, which the lemma mixes up.",
    )


def _largest_errors(evidence: Evidence) -> Floats:
    """Return the largest error of a count over all values, in each of some runs on the first dataset."""
    people, stream = evidence.population, evidence.stream("lemma 3")
    oracle = evidence.oracle("fhr", people.domain_size)
    tallies = (simulate(oracle, people.counts, rng=stream) for _ in range(RUNS))
    errors = (oracle.estimate(tally, decoder="paper").counts - people.counts for tally in tallies)
    return np.array([float(np.abs(error).max()) for error in errors])


def bernstein(variance: float, most: float, logarithm: float) -> float:
    """Return the deviation of a sum that Bernstein's inequality allows, given the variance and the largest term.

    >>> round(bernstein(100.0, 0.0, log(40)), 1)
    27.2
    """
    linear = 2 / 3 * most * logarithm
    return (linear + sqrt(linear**2 + 8 * logarithm * variance)) / 2


@claim(
    "best-below-1.76",
    PART,
    "FHR performs best when eps < ln(sqrt 8 + 3) = 1.76; it has the smallest variance within a reasonable range.",
    "5.2.2, 5.2.3",
    "variance",
)
def best_below(evidence: Evidence) -> ClaimFinding:
    """Against OUE, for rare values; a promise of eta 1/2 is compared with one of eta 1."""
    crossover = least_where(
        lambda epsilon: _rare(evidence, "fhr", epsilon) >= _rare(evidence, "oue", epsilon), 0.1, 8.0
    )
    below, above = _sides(evidence)
    right = abs(crossover - CROSSOVER) < 0.001 and all(below) and not any(above)
    like_for_like = evidence.oracle("fhr", 1023).eta == evidence.oracle("oue", 1023).eta
    epsilon = evidence.epsilon
    full, same, plain = (
        float(evidence.oracle(name, 1023, **parameters).variance(1, 0))
        for name, parameters in (("fhr", {}), ("fwr", {"eta": 0.5}), ("oue", {}))
    )
    return settle(
        right and like_for_like,
        right,
        f"crossover {crossover:.4g}; eta 1/2 against 1",
        f"The variances for rare values cross at epsilon {crossover:.4g}. Measured, FHR was below OUE and OLH at "
        f"{sum(below)} of {len(below)} points below it, and at {sum(above)} of {len(above)} above. But that compares "
        f"eta 1/2 with eta 1. At epsilon {epsilon:g}, of the variances with eta 1/2, the paper's decoder has "
        f"{_rare(evidence, 'fhr', epsilon):.3g}, the full decoder of the same reports {full:.3g}, FWR {same:.3g}; "
        f"OUE, with eta 1, {plain:.3g}.",
    )


def _rare(evidence: Evidence, name: str, epsilon: float) -> float:
    oracle = evidence.oracle(name, 1023, epsilon)
    return float(oracle.variance(1, 0, **({"decoder": "paper"} if oracle.estimator.decoders else {})))


def _sides(evidence: Evidence) -> tuple[list[bool], list[bool]]:
    """Return for each point below and above the crossover whether the measured variance of FHR was the least."""
    values = {
        name: {(row.dataset, row.epsilon): row.value for row in measured(evidence, name)}
        for name in ("FHR, paper", "OUE", "OLH")
    }
    least = {key: value < min(values["OUE"][key], values["OLH"][key]) for key, value in values["FHR, paper"].items()}
    below = [won for (_, epsilon), won in least.items() if epsilon < CROSSOVER]
    return below, [won for (_, epsilon), won in least.items() if epsilon > CROSSOVER]


@claim(
    "large-epsilon",
    PART,
    "Because of sampling, the real frequency cannot be obtained when eps is very large.",
    "6.2, Summary",
    "variance",
)
def large_epsilon(evidence: Evidence) -> ClaimFinding:
    """The variance of the paper's decoder ends at n/2."""
    paper, full = (float(evidence.oracle("fhr", 1023, 16.0).variance(1, 0, decoder=name)) for name in ("paper", "full"))
    family = float(evidence.oracle("fwr", 1023, 16.0, eta=0.5).variance(1, 0))
    return settle(
        paper > 0.4,
        False,
        f"variance {paper:.3g} n at epsilon 16",
        f"At epsilon 16 the variance of a rare value is still {paper:.3g} for each user with the paper's decoder, "
        f"{full:.3g} with the full one; FWR with eta 1/2 comes down to {short(family)}.",
    )


@claim(
    "reasonable-range",
    PART,
    "Only cases where eps is larger than 2 are discussed in academia; the actual budget is usually less than 2.",
    "5.2.2",
)
def reasonable_range(evidence: Evidence) -> ClaimFinding:
    """The two halves contradict each other: it is meant the other way round."""
    del evidence
    epsilons = PAPER.epsilons
    larger = sum(epsilon > 2 for epsilon in epsilons)
    return settle(
        larger > 0,
        False,
        f"{larger} of {len(epsilons)} above 2",
        f"Of the paper's own epsilons, {min(epsilons):g} to {max(epsilons):g}, {larger} of {len(epsilons)} are "
        "larger than 2. It is meant the other way round: those up to 2 are discussed.",
    )
