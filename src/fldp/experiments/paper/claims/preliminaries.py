"""Claims of section 3: the known oracles, as the paper describes them."""

from math import ceil, exp, log

from fldp.experiments.paper.claims.claim import ClaimFinding, claim, settle
from fldp.experiments.paper.claims.exact_moments import EXACT, moments, tiny
from fldp.experiments.paper.claims.measured_variances import agreement, measured
from fldp.experiments.paper.evidence import Evidence
from fldp.oracles.base.analysis import analysis
from fldp.privacy.verifier import verify

PART = "The known oracles"
ONE_PER_CENT = 0.01


@claim(
    "rr",
    PART,
    "RR gives a true answer with probability p = e^eps/(e^eps+1), or a random answer with probability 1 - p, "
    "to satisfy eps-LDP.",
    "3.3.1",
)
def random_response(evidence: Evidence) -> ClaimFinding:
    """A *random* answer is the true one half of the time; the *opposite* answer is what the estimator needs."""
    epsilon = evidence.epsilon
    p = exp(epsilon) / (exp(epsilon) + 1)
    literal = verify([[(1 + p) / 2, (1 - p) / 2], [(1 - p) / 2, (1 + p) / 2]])
    opposite = evidence.oracle("rr", 2)
    proof, bias = verify(opposite), moments(opposite).bias
    return settle(
        literal.epsilon <= epsilon + EXACT,
        proof.epsilon <= epsilon and bias < EXACT,
        f"epsilon {literal.epsilon:.3g}, not {epsilon:g}",
        f"Taken literally, the epsilon is {literal.epsilon:.3g} for a declared {epsilon:g}. With the opposite answer "
        f"it is {proof.epsilon:g}, and the paper's estimator is unbiased (bias {tiny(bias)}).",
    )


@claim("grr", PART, "GRR with p = e^eps/(e^eps+d-1), q = 1/(e^eps+d-1), for d values.", "3.3.2")
def generalized_response(evidence: Evidence) -> ClaimFinding:
    """The formula, and what it promises."""
    oracle = evidence.oracle("grr", 7)
    proof, bias = verify(oracle), moments(oracle).bias
    p, q = exp(evidence.epsilon) / (exp(evidence.epsilon) + 6), 1 / (exp(evidence.epsilon) + 6)
    law = analysis(oracle).law(0)
    same = max(abs(float(law[s]) - (q if s else p)) for s in range(7))
    return settle(
        proof.epsilon <= evidence.epsilon and proof.eta == 1 and bias < EXACT and same < EXACT,
        False,
        f"epsilon {proof.epsilon:g}, eta {proof.eta}",
        f"Enumerated for 7 values: epsilon {proof.epsilon:g}, eta {proof.eta}, bias {tiny(bias)}, difference from the "
        f"formula {tiny(same)}.",
    )


@claim(
    "oue",
    PART,
    "OUE provides higher utility than RAPPOR under the same eps; (c - nq)/(p - q) is unbiased.",
    "3.3.3",
    "attack",
)
def unary(evidence: Evidence) -> ClaimFinding:
    """RAPPOR without its second, instantaneous response is SUE. It is better for frequent values, and for few."""
    worst = min(_ratio(evidence, epsilon) for epsilon in evidence.evaluation.main.epsilons)
    bias = max(moments(evidence.oracle(name, 4)).bias for name in ("oue", "sue"))
    ratio, turn = _ratio(evidence, evidence.epsilon), _turn(evidence, evidence.epsilon)
    few = max((size for size in range(2, 12) if _mean_ratio(evidence, size) < 1), default=1)
    return settle(
        worst > 1 and turn >= 1 and few == 1,
        worst > 1 and bias < EXACT,
        f"worse for shares above {turn:.3g}",
        f"Variance of a rare value, basic RAPPOR divided by OUE: {ratio:.3g} at epsilon {evidence.epsilon:g}, at least "
        f"{worst:.3g} at all {len(evidence.evaluation.main.epsilons)} epsilons. But a value that more than "
        f"{turn:.3g} of all hold is estimated better by RAPPOR at epsilon {evidence.epsilon:g} "
        f"({_turn(evidence, 2.0):.3g} at 2), and so is the mean over all values where there are at most {few}. It "
        f"holds for rare values among many. Bias by enumeration {tiny(bias)}.",
    )


def _turn(evidence: Evidence, epsilon: float) -> float:
    """Return the share from which on basic RAPPOR has less variance: both variances are lines in the share."""
    sue, oue = (evidence.oracle(name, 1023, epsilon) for name in ("sue", "oue"))
    rare, held = (float(sue.variance(1, share) - oue.variance(1, share)) for share in (0.0, 1.0))
    return rare / (rare - held) if held < 0 else 1.0


def _mean_ratio(evidence: Evidence, size: int) -> float:
    """Return the mean variance of basic RAPPOR over all values, divided by OUE's."""
    one, other = (evidence.oracle(name, size).estimator.mean_variance(1) for name in ("sue", "oue"))
    return float(one / other)


def _ratio(evidence: Evidence, epsilon: float) -> float:
    one, other = (evidence.oracle(name, 1023, epsilon).variance(1, 0) for name in ("sue", "oue"))
    return float(one / other)


@claim(
    "olh-symbols",
    PART,
    "OLH hashes to g symbols, the optimal choice is g = ceil(eps+1), with p = 0.5 and q = 1/g.",
    "3.3.4",
)
def olh_symbols(evidence: Evidence) -> ClaimFinding:
    """The optimum is near e^eps + 1, where p is near 1/2; p is e^eps/(e^eps+g-1)."""
    epsilon = evidence.epsilon
    best, stated = analysis(evidence.oracle("olh", 1023)).outcomes, ceil(epsilon + 1)
    ratio = _variance(epsilon, stated) / _variance(epsilon, best)
    larger = ceil(2.0 + 1)
    optimal = all(_variance(epsilon, best) <= _variance(epsilon, g) for g in range(2, 200))
    return settle(
        best == stated,
        optimal and best in (int(exp(epsilon) + 1), ceil(exp(epsilon) + 1)),
        f"g = {best}, not {stated}",
        f"At epsilon {epsilon:g} the stated g is {stated}, for which p = 0.5 equals q = 1/g and the estimator "
        f"divides by zero. With the right p it has {ratio:.3g} times the variance of the optimum, g = {best}, next "
        f"to e^eps + 1 = {exp(epsilon) + 1:.3g}. At epsilon 2, p = 0.5 among the stated {larger} symbols is an "
        f"epsilon of {log(larger - 1):.2f}.",
    )


def _variance(epsilon: float, symbols: int) -> float:
    """Return the variance of OLH for a rare value and one user."""
    power = exp(epsilon)
    return (power + symbols - 1) ** 2 / ((power - 1) ** 2 * (symbols - 1))


@claim("olh-variance", PART, "For OLH and OUE, the optimal variance is 4 eps/(eps+1)^2.", "5.2.2", "variance")
def known_variance(evidence: Evidence) -> ClaimFinding:
    """The formula lacks two exponentials and has a sign wrong: 4 e^eps/(e^eps-1)^2."""
    epsilon = evidence.epsilon
    stated, right = 4 * epsilon / (epsilon + 1) ** 2, 4 * exp(epsilon) / (exp(epsilon) - 1) ** 2
    exact = float(evidence.oracle("oue", 1023).variance(1, 0))
    agreements = {name: agreement(measured(evidence, name)) for name in ("OUE", "OLH")}
    listing = " and ".join(f"{name} {each}" for name, each in agreements.items())
    return settle(
        abs(exact / stated - 1) < ONE_PER_CENT,
        abs(exact / right - 1) < ONE_PER_CENT and all(each.good for each in agreements.values()),
        f"{exact:.3g}, not {stated:.3g}",
        f"At epsilon {epsilon:g} it says {stated:.3g} for each user; 4 e^eps/(e^eps-1)^2 is {right:.3g}, and OUE has "
        f"{exact:.3g}. Measured divided by theory: {listing}.",
    )
