"""Every claim of the paper, as data: what it says, where, and a function of the evidence that judges it."""

from fldp.experiments.paper.claims import accuracy, costs, mechanism, notions, preliminaries, protection, results
from fldp.experiments.paper.claims.claim import CLAIMS, Claim, ClaimFinding, Outcome, Verdict

__all__ = [
    "CLAIMS",
    "Claim",
    "ClaimFinding",
    "Outcome",
    "Verdict",
    "accuracy",
    "costs",
    "mechanism",
    "notions",
    "preliminaries",
    "protection",
    "results",
]
