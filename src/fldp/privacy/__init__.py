"""Privacy analysis: notions, verifier, auditor, attacks, poisoning, integrity tests, privacy card, limits."""

from fldp.oracles.shuffle_privacy import Shuffled, shuffled
from fldp.participant.limits import Limit, Limits, Spent
from fldp.privacy.attacker import Attack, attack
from fldp.privacy.auditor import Audit, Finding, audit, choose_values, repeated
from fldp.privacy.bayes_attack import Averaging, Guess, averaging, bayes
from fldp.privacy.elimination_attack import Repeats, eliminate, remaining, repeats
from fldp.privacy.honesty import Findings, Recovered, integrity, recover
from fldp.privacy.notions import CLDP, FLDP, IDLDP, LDP, PLDP, ULDP, ApproximateLDP, GroupedLDP, Notion
from fldp.privacy.poisoning import gain, leverage, poison
from fldp.privacy.privacy_card import Card, card
from fldp.privacy.verifier import Judgement, Verification, Witness, verify

__all__ = [
    "CLDP",
    "FLDP",
    "IDLDP",
    "LDP",
    "PLDP",
    "ULDP",
    "ApproximateLDP",
    "Attack",
    "Audit",
    "Averaging",
    "Card",
    "Finding",
    "Findings",
    "GroupedLDP",
    "Guess",
    "Judgement",
    "Limit",
    "Limits",
    "Notion",
    "Recovered",
    "Repeats",
    "Shuffled",
    "Spent",
    "Verification",
    "Witness",
    "attack",
    "audit",
    "averaging",
    "bayes",
    "card",
    "choose_values",
    "eliminate",
    "gain",
    "integrity",
    "leverage",
    "poison",
    "recover",
    "remaining",
    "repeated",
    "repeats",
    "shuffled",
    "verify",
]


def __dir__() -> list[str]:
    return [*__all__, "__doc__"]
