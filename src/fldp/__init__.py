"""Private collection of statistics under local differential privacy, and under its flexible relative FLDP."""

from fldp.checks import CheckError, check_oracle
from fldp.errors import (
    BudgetError,
    CollectorError,
    DomainError,
    FldpError,
    MergeError,
    ParameterError,
    WireError,
)
from fldp.estimate import Comparison, Estimate, Total
from fldp.oracle import FrequencyOracle
from fldp.oracles import FHR, FWR, GRR, HR, HRR, OLH, OUE, PGR, RR, SS, SUE
from fldp.plan import Plan, plan
from fldp.postprocess import postprocess
from fldp.privacy import Audit, Verification, Witness, audit, verify
from fldp.reports import Reports, Tally
from fldp.simulate import simulate
from fldp.stream import Stream

__version__ = "0.1.0"

__all__ = [
    "FHR",
    "FWR",
    "GRR",
    "HR",
    "HRR",
    "OLH",
    "OUE",
    "PGR",
    "RR",
    "SS",
    "SUE",
    "Audit",
    "BudgetError",
    "CheckError",
    "CollectorError",
    "Comparison",
    "DomainError",
    "Estimate",
    "FldpError",
    "FrequencyOracle",
    "MergeError",
    "ParameterError",
    "Plan",
    "Reports",
    "Stream",
    "Tally",
    "Total",
    "Verification",
    "WireError",
    "Witness",
    "audit",
    "check_oracle",
    "plan",
    "postprocess",
    "simulate",
    "verify",
]
