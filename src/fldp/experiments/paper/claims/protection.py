"""Claims about what is protected, against whom, and how strongly: sections 3.2, 3.3.4, 4.1 and 5.2.2."""

from fractions import Fraction
from math import exp

from fldp.experiments.paper.claims.claim import ClaimFinding, claim, refute, settle
from fldp.experiments.paper.claims.measured_variances import agreement, measured
from fldp.experiments.paper.evidence import Evidence
from fldp.privacy.elimination_attack import repeats
from fldp.privacy.notions import LDP
from fldp.privacy.verifier import verify

SIZES = (3, 7, 15)


@claim(
    "threat-model",
    "The notion",
    "The most stringent attacker has access to all users' transmitted data and to the mechanism, except for the target "
    "user; it cannot infer the true value from what the target sends.",
    "3.2",
    "attack",
)
def threat_model(evidence: Evidence) -> ClaimFinding:
    """Each report is an exact linear equation over GF(2): one halves the domain, a few determine the value."""
    size = evidence.population.domain_size
    oracle = evidence.oracle("fhr", size)
    known = repeats(oracle, trials=200, rng=evidence.stream("threat model"))
    median = known.within(0.5)
    return settle(
        oracle.anonymity == size,
        False,
        f"{oracle.anonymity:,} of {size:,} values left",
        f"One report of FHR leaves {oracle.anonymity:,} of {size:,} values at least, at every epsilon, by an equation "
        f"without noise; {median} fresh reports determine the value in half of all cases. Plain LDP leaves all.",
    )


@claim(
    "olh-unbiased",
    "The known oracles",
    "OLH: (c(t) - n/g)/(p - 1/g) is an unbiased estimate.",
    "3.3.4",
    "variance",
)
def olh_unbiased(evidence: Evidence) -> ClaimFinding:
    """A bias would show in the mean squared error, which is then larger than the variance."""
    ratios = agreement(measured(evidence, "OLH"))
    return settle(
        ratios.good,
        False,
        f"squared error / variance {ratios.ratio:.4f}",
        f"With the p of the code, e^eps/(e^eps+g-1). Mean squared error divided by the variance of an unbiased "
        f"estimate: {ratios}. That p = 0.5 is another claim (see olh-symbols).",
    )


@claim(
    "group-of-all",
    "The notion",
    "With a group that is the whole domain, FLDP by groups is LDP.",
    "4.1",
)
def group_of_all(evidence: Evidence) -> ClaimFinding:
    """One group of all values, by enumeration."""
    verified = verify(evidence.oracle("grr", 8))  # a single group is the oracle inside it
    return settle(
        verified.eta == 1 and verified.judge(LDP(evidence.epsilon)).holds,
        False,
        f"eta {verified.eta}",
        f"One group of 8 values with GRR inside: eta {verified.eta}, epsilon {verified.epsilon:g}, by enumeration.",
    )


@claim(
    "group-size",
    "The notion",
    "The intensity of protection is controlled not only by eps but also by the size of the group.",
    "4.1",
    "eta",
)
def group_size(evidence: Evidence) -> ClaimFinding:
    """FHR, the mechanism of the paper, has no such parameter; FWR has one, eta."""
    etas = {verify(evidence.oracle("fhr", size)).eta for size in SIZES}
    knob = [verify(evidence.oracle("fwr", 8, eta=eta, allow_exposure=True)).eta for eta in (0.5, 0.25)]
    listing = ", ".join(map(str, sorted(etas)))
    return refute(
        len(etas) > 1,
        knob == [Fraction(1, 2), Fraction(1, 4)],
        f"eta {listing} for {SIZES[0]} to {SIZES[-1]} values",
        f"FHR has no parameter for it: eta is {listing} for {', '.join(map(str, SIZES))} values, by enumeration. "
        f"FWR, which has one, keeps eta {knob[0]} and {knob[1]} as asked.",
    )


@claim(
    "lost-above-2",
    "Its accuracy",
    "Generally, the protection is lost when eps is greater than 2.",
    "5.2.2",
)
def lost_above_two(evidence: Evidence) -> ClaimFinding:
    """Plain LDP bounds a guess by e^eps/(e^eps+d-1): among many values it is still nearly blind at 2."""
    size = evidence.population.domain_size
    before, after = 1 / size, exp(2.0) / (exp(2.0) + size - 1)
    left = evidence.oracle("fhr", size, 0.1).anonymity
    return settle(
        after > 0.5,
        False,
        f"{100 * after:.2g} % right at epsilon 2",
        f"Under plain LDP with epsilon 2 the best guess among {size:,} equally likely values is right in at most "
        f"{100 * after:.2g} % of all cases, instead of {100 * before:.2g} %. For FHR no epsilon is small enough: at "
        f"0.1, a report still rules out all but {left:,} values.",
    )
