"""Claims of section 4: the notion FLDP, and how it is related to others."""

from fractions import Fraction
from math import exp

import numpy as np

from fldp.experiments.paper.claims.central_model import delta, parity_seen
from fldp.experiments.paper.claims.claim import ClaimFinding, claim, settle, short
from fldp.experiments.paper.evidence import Evidence
from fldp.oracles import Grouped
from fldp.privacy.notions import FLDP, LDP
from fldp.privacy.verifier import Verification, shrink, verify

PART = "The notion"
PLAIN = ("rr", "grr", "sue", "oue", "olh", "ss", "hr", "hrr", "pgr")


@claim("lemma-1", PART, "Lemma 1: eps-LDP is a special case of FLDP, (eps, eta = 1)-FLDP.", "4.2, Lemma 1")
def lemma_1(evidence: Evidence) -> ClaimFinding:
    """Both promises are judged on the enumerated laws of all plain oracles, and of FHR, which keeps neither."""
    laws = {name: verify(shrink(evidence.oracle(name, 2 if name == "rr" else 8))) for name in (*PLAIN, "fhr")}
    both = {name: _both(evidence, law) for name, law in laws.items()}
    keeping = sum(both[name] == (True, True) for name in PLAIN)
    return settle(
        keeping == len(PLAIN) and both["fhr"] == (False, False),
        False,
        f"{keeping} of {len(PLAIN)} oracles",
        f"{keeping} of {len(PLAIN)} plain oracles keep {evidence.epsilon:g}-LDP and ({evidence.epsilon:g}, 1)-FLDP, "
        f"each by enumeration; FHR, whose eta is {laws['fhr'].eta}, keeps "
        f"{'neither' if not any(both['fhr']) else 'one of them'}.",
    )


def _both(evidence: Evidence, verified: Verification) -> tuple[bool, bool]:
    return verified.judge(LDP(evidence.epsilon)).holds, verified.judge(FLDP(evidence.epsilon, Fraction(1))).holds


@claim("lemma-2", PART, "Lemma 2: FLDP approximately satisfies (central) DP.", "4.2, Lemma 2")
def lemma_2(evidence: Evidence) -> ClaimFinding:
    """If all others hold t0, the count of t0 has the parity of n; one user's change alters it half of the time."""
    oracle = evidence.oracle("fhr", 7)
    mixed, alone = (delta(oracle, users=10_000, holders=holders, epsilon=0.1) for holders in (100, 10_000))
    sizes = [delta(oracle, users=n, holders=n, epsilon=5.0) for n in (10, 1_000, 100_000)]
    seen, false = parity_seen(evidence.oracle("fhr", 7), 1_000, evidence.evaluation.trials, evidence.stream("lemma 2"))
    return settle(
        max(sizes) < 0.01 and seen - false < 0.25,
        False,
        f"delta {max(sizes):.3g} for every n",
        "If all others hold one value, its published count shows that one user changed, with probability "
        f"{float(np.mean(sizes)):.3g}: that is the delta for 10, 1,000 and 100,000 users, even at a central epsilon "
        f"of 5. Simulated with 1,000 users: noticed in {100 * seen:.0f} % of {evidence.evaluation.trials} trials, "
        f"false alarms {100 * false:.0f} %. Only mixed data hides it: where 100 of 10,000 hold the value, delta at a "
        f"central epsilon of 0.1 is {'below 1e-9' if mixed < 1e-9 else short(mixed)} instead of {short(alone)}.",
    )


@claim(
    "grouping",
    PART,
    "The easiest way to satisfy FLDP is to divide the input into groups and to use LDP inside each.",
    "4.1",
    "attack",
)
def grouping(evidence: Evidence) -> ClaimFinding:
    """Two values of different groups share no report, so the definition's eta is 0."""
    verified = verify(_grouped(evidence))
    inside = verified.profiles[0, 1]
    return settle(
        verified.eta > 0,
        verified.eta == 0 and inside.overlap == 1,
        f"eta {verified.eta}",
        f"Two groups of 4 with GRR inside: eta {verified.eta}, delta {verified.delta}. By the definition that is "
        f"({evidence.epsilon:g}, 0)-FLDP, which promises nothing between groups; inside one, the share of common "
        f"reports is {inside.overlap}. We call it weak.",
    )


@claim("sfldp", PART, "FHR satisfies SFLDP (a stronger FLDP, used and never defined).", "4.1, 6.2, 7")
def strong(evidence: Evidence) -> ClaimFinding:
    """We take strong to mean that every two values share reports."""
    verified = verify(evidence.oracle("fhr", 7))
    weak = verify(_grouped(evidence))
    return settle(
        False,
        verified.strong and not weak.strong,
        f"eta {verified.eta}, above 0",
        "The paper has 0 definitions of it. If strong means eta above 0, which grouping lacks, FHR satisfies it: "
        f"every two of 7 values share {verified.eta} of their reports, by enumeration.",
    )


def _grouped(evidence: Evidence) -> Grouped:
    return Grouped(epsilon=evidence.epsilon, base="grr", groups=(4, 4))


@claim("special-cases", PART, "CLDP and ID-LDP are special cases of FLDP.", "4.2")
def special_cases(evidence: Evidence) -> ClaimFinding:
    """They give every pair of values a budget of its own; FLDP has one epsilon for all."""
    epsilon = evidence.epsilon
    a = exp(-epsilon)
    ends, middle = [1, a * (1 - a), a * a], [a, 1 - a, a]
    condensed = verify((np.array([ends, middle, ends[::-1]]) / (1 + a)).tolist())
    near, far = (float(np.log(float(condensed.profiles[0, other].ratio))) for other in (1, 2))
    alike = verify(evidence.oracle("grr", 3, far))
    other_near = float(np.log(float(alike.profiles[0, 1].ratio)))
    one_epsilon = near < far and not condensed.judge(FLDP((near + far) / 2, Fraction(1))).holds
    return settle(
        not one_epsilon,
        False,
        f"epsilon {near:.3g} and {far:.3g} in one law",
        f"The geometric law on 3 values in a row is condensed LDP: epsilon {near:.3g} between neighbours, {far:.3g} "
        f"between the ends. The least epsilon of an FLDP that allows it is {condensed.epsilon:.3g}, which also "
        f"allows a law with {other_near:.3g} between neighbours. A single epsilon cannot say it; a budget for every "
        "pair could.",
    )


@claim(
    "hidden",
    PART,
    "Any item is hidden in a group that is part of the domain; FHR balances this with accuracy.",
    "4.1, 5.1",
    "attack",
)
def hidden(evidence: Evidence) -> ClaimFinding:
    """The paper's rows, t = v + 1, can leave much less than half of the domain; the last rows do not."""
    sizes = {name: size for name, (_, size) in evidence.datasets.items()}
    paper = {size: _left_by_papers_rows(evidence, size) for size in sizes.values()}
    ours = {size: evidence.oracle("fhr", size).anonymity for size in sizes.values()}
    least = _left_by_papers_rows(evidence, 1024)
    listing = "; ".join(
        f"{short(paper[size])} of {size:,} on {name} with the paper's rows, {short(ours[size])} with ours"
        for name, size in sizes.items()
    )
    return settle(
        least > 1 and all(paper[size] >= 0.4 * size for size in paper),
        all(ours[size] >= 0.4 * size for size in ours),
        f"{least} value left of 1,024" if least == 1 else f"{least} values left of 1,024",
        f"The least number of values that a report leaves possible: {listing}. With the paper's rows and 1,024 values "
        f"it can be {least}: that report gives the value away.",
    )


def _left_by_papers_rows(evidence: Evidence, size: int) -> int:
    return evidence.oracle("fhr", size, items="paper", allow_exposure=True).anonymity
