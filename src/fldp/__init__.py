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
from fldp.participant import Answer, Participant
from fldp.plan import Plan, plan
from fldp.postprocess import postprocess
from fldp.privacy import Limit, Limits, Spent, Verification, Witness, verify
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
    "Answer",
    "BudgetError",
    "CheckError",
    "CollectorError",
    "Comparison",
    "DomainError",
    "Estimate",
    "FldpError",
    "FrequencyOracle",
    "Limit",
    "Limits",
    "MergeError",
    "ParameterError",
    "Participant",
    "Plan",
    "Reports",
    "Spent",
    "Stream",
    "Tally",
    "Total",
    "Verification",
    "WireError",
    "Witness",
    "check_oracle",
    "plan",
    "postprocess",
    "simulate",
    "verify",
]
