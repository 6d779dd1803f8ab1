"""Private collection of statistics under local differential privacy, and under its flexible relative FLDP."""

from fldp.base import Oracle
from fldp.checks import CheckError, check_oracle
from fldp.client import AsyncClient, Client
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
from fldp.oracles import CMS, FHR, FWR, GRR, HCMS, HR, HRR, OLH, OUE, PGR, RR, SS, SUE, Grouped
from fldp.participant import Answer, Participant
from fldp.plan import Plan, plan
from fldp.postprocess import postprocess
from fldp.privacy import (
    FLDP,
    LDP,
    ApproximateLDP,
    Audit,
    Card,
    GroupedLDP,
    Judgement,
    Limit,
    Limits,
    Notion,
    Spent,
    Verification,
    Witness,
    audit,
    card,
    verify,
)
from fldp.reports import Reports, Tally
from fldp.simulate import simulate
from fldp.stream import Stream
from fldp.string_oracle import StringOracle
from fldp.survey import Survey

__version__ = "0.1.0"

__all__ = [
    "CMS",
    "FHR",
    "FLDP",
    "FWR",
    "GRR",
    "HCMS",
    "HR",
    "HRR",
    "LDP",
    "OLH",
    "OUE",
    "PGR",
    "RR",
    "SS",
    "SUE",
    "Answer",
    "ApproximateLDP",
    "AsyncClient",
    "Audit",
    "BudgetError",
    "Card",
    "CheckError",
    "Client",
    "CollectorError",
    "Comparison",
    "DomainError",
    "Estimate",
    "FldpError",
    "FrequencyOracle",
    "Grouped",
    "GroupedLDP",
    "Judgement",
    "Limit",
    "Limits",
    "MergeError",
    "Notion",
    "Oracle",
    "ParameterError",
    "Participant",
    "Plan",
    "Reports",
    "Spent",
    "Stream",
    "StringOracle",
    "Survey",
    "Tally",
    "Total",
    "Verification",
    "WireError",
    "Witness",
    "audit",
    "card",
    "check_oracle",
    "plan",
    "postprocess",
    "simulate",
    "verify",
]
