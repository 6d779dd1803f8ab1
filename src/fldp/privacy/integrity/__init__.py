"""Whether reports look honest, and estimates without those that do not."""

from fldp.privacy.integrity.finding import Finding
from fldp.privacy.integrity.recovery import Recovered, recover
from fldp.privacy.integrity.run import FALSE_ALARM, Findings, integrity

__all__ = ["FALSE_ALARM", "Finding", "Findings", "Recovered", "integrity", "recover"]
