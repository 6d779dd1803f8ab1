"""What a report gives away: verifier, notions."""

from fldp.privacy.notions import FLDP, LDP, ApproximateLDP, GroupedLDP, Notion
from fldp.privacy.verify import Judgement, Verification, Witness, verify

__all__ = [
    "FLDP",
    "LDP",
    "ApproximateLDP",
    "GroupedLDP",
    "Judgement",
    "Notion",
    "Verification",
    "Witness",
    "verify",
]
