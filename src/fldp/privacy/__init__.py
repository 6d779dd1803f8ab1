"""What a mechanism gives away: verified from its law, or audited from its outputs, never from its documentation."""

from fldp.privacy.audit import Audit, Finding, audit, choose_values, repeated
from fldp.privacy.verify import Verification, Witness, verify

__all__ = ["Audit", "Finding", "Verification", "Witness", "audit", "choose_values", "repeated", "verify"]
