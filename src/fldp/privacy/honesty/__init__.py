"""Whether reports look honest, and estimates without those that do not."""

from fldp.privacy.honesty.binomial_tests import IntegrityFinding
from fldp.privacy.honesty.integrity_tests import FALSE_ALARM, Findings, integrity
from fldp.privacy.honesty.recovery import Recovered, recover

__all__ = ["FALSE_ALARM", "Findings", "IntegrityFinding", "Recovered", "integrity", "recover"]
