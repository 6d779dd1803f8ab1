"""The audit of a black box: from its outputs alone, at a stated confidence."""

from fldp.privacy.audit.judge import Finding
from fldp.privacy.audit.run import CONFIDENCE, SAMPLES, Audit, audit, choose_values, repeated, values_of

__all__ = ["CONFIDENCE", "SAMPLES", "Audit", "Finding", "audit", "choose_values", "repeated", "values_of"]
