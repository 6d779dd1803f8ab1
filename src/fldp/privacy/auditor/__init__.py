"""Audits: statistical tests of a black box, from its outputs alone, at a stated confidence."""

from fldp.privacy.auditor.auditor import CONFIDENCE, SAMPLES, Audit, audit, choose_values, repeated, values_of
from fldp.privacy.auditor.histories import audit_histories
from fldp.privacy.auditor.judge import Finding

__all__ = [
    "CONFIDENCE",
    "SAMPLES",
    "Audit",
    "Finding",
    "audit",
    "audit_histories",
    "choose_values",
    "repeated",
    "values_of",
]
