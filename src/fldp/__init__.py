"""Private collection of statistics under local differential privacy, and under its flexible relative FLDP."""

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
from fldp.oracles import FHR, FWR, GRR, HR, HRR, OLH, OUE, PGR, RR, SS, SUE, Grouped
from fldp.participant import Answer, Participant
from fldp.plan import Plan, plan
from fldp.postprocess import postprocess
from fldp.privacy import (
    FLDP,
    LDP,
    ApproximateLDP,
    Audit,
    Card,
    Findings,
    GroupedLDP,
    Judgement,
    Limit,
    Limits,
    Notion,
    Recovered,
    Spent,
    Verification,
    Witness,
    audit,
    card,
    integrity,
    poison,
    recover,
    verify,
)
from fldp.reports import Reports, Tally
from fldp.simulate import simulate
from fldp.stream import Stream
from fldp.survey import Survey

__version__ = "0.1.0"

__all__ = [
    "FHR",
    "FLDP",
    "FWR",
    "GRR",
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
    "Findings",
    "FldpError",
    "FrequencyOracle",
    "Grouped",
    "GroupedLDP",
    "Judgement",
    "Limit",
    "Limits",
    "MergeError",
    "Notion",
    "ParameterError",
    "Participant",
    "Plan",
    "Recovered",
    "Reports",
    "Spent",
    "Stream",
    "Survey",
    "Tally",
    "Total",
    "Verification",
    "WireError",
    "Witness",
    "audit",
    "card",
    "check_oracle",
    "integrity",
    "plan",
    "poison",
    "postprocess",
    "recover",
    "simulate",
    "verify",
]
