"""What a mechanism gives away: verified from its law, not from its documentation. What a person has given away."""

from fldp.privacy.limits import Limit, Limits, Spent
from fldp.privacy.verify import Verification, Witness, verify

__all__ = ["Limit", "Limits", "Spent", "Verification", "Witness", "verify"]
