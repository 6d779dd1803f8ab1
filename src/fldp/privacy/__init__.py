"""What a mechanism gives away: verified from its law, not from its documentation."""

from fldp.privacy.attack import Averaging, Guess, averaging, bayes
from fldp.privacy.elimination import Repeats, eliminate, remaining, repeats
from fldp.privacy.verify import Verification, Witness, verify

__all__ = [
    "Averaging",
    "Guess",
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
