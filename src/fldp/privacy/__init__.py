"""What a mechanism gives away: verified from its law, not from its documentation."""

from fldp.privacy.verify import Verification, Witness, verify

__all__ = ["Verification", "Witness", "verify"]
