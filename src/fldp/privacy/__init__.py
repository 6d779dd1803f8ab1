"""What a report gives away: promises, verifier, auditor, attackers, the card; and what a person has given away."""

from fldp.privacy.attack import Averaging, Guess, averaging, bayes
from fldp.privacy.audit import Audit, Finding, audit, choose_values, repeated
from fldp.privacy.card import Card, card
from fldp.privacy.elimination import Repeats, eliminate, remaining, repeats
from fldp.privacy.limits import Limit, Limits, Spent
from fldp.privacy.notions import CLDP, FLDP, IDLDP, LDP, PLDP, ULDP, ApproximateLDP, GroupedLDP, Notion
from fldp.privacy.verify import Judgement, Verification, Witness, verify

__all__ = [
    "CLDP",
    "FLDP",
    "IDLDP",
    "LDP",
    "PLDP",
    "ULDP",
    "ApproximateLDP",
    "Audit",
    "Averaging",
    "Card",
    "Finding",
    "GroupedLDP",
    "Guess",
    "Judgement",
    "Limit",
    "Limits",
    "Notion",
    "Repeats",
    "Spent",
    "Verification",
    "Witness",
    "audit",
    "averaging",
    "bayes",
    "card",
    "choose_values",
    "eliminate",
    "remaining",
    "repeated",
    "repeats",
    "verify",
]
