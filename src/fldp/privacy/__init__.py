"""What a report gives away: promises, the verifier, attackers."""

from fldp.privacy.attack import Averaging, Guess, averaging, bayes
from fldp.privacy.elimination import Repeats, eliminate, remaining, repeats
from fldp.privacy.notions import FLDP, LDP, ApproximateLDP, GroupedLDP, Notion
from fldp.privacy.verify import Judgement, Verification, Witness, verify

__all__ = [
    "FLDP",
    "LDP",
    "ApproximateLDP",
    "Averaging",
    "GroupedLDP",
    "Guess",
    "Judgement",
    "Notion",
    "Repeats",
    "Verification",
    "Witness",
    "averaging",
    "bayes",
    "eliminate",
    "remaining",
    "repeats",
    "verify",
]
