"""Private collection of statistics under local differential privacy, and under its flexible relative FLDP."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fldp.support.display import drawn_by

if TYPE_CHECKING:
    from fldp.client import AsyncClient, Client
    from fldp.conformance.checks import CheckError, check_oracle
    from fldp.data.comparison import Comparison
    from fldp.data.estimate import Estimate, Total
    from fldp.data.postprocess import postprocess
    from fldp.data.reports import Reports, Tally
    from fldp.errors import (
        BudgetError,
        CollectorError,
        DomainError,
        FldpError,
        MergeError,
        ParameterError,
        WireError,
    )
    from fldp.estimation.combine import Combined, combine
    from fldp.estimation.planner import Plan, plan
    from fldp.estimation.population import PopulationShares, population
    from fldp.estimation.power import people_needed, power_of
    from fldp.estimation.question_planner import questions
    from fldp.estimation.simulate import simulate
    from fldp.oracles import (
        CMS,
        FHR,
        FWR,
        GRR,
        HCMS,
        HR,
        HRR,
        IDUE,
        LWR,
        OLH,
        OUE,
        PGR,
        RAPPOR,
        RR,
        SS,
        SUE,
        URAPPOR,
        URR,
        Exponential,
        Grouped,
        Sampled,
        Wave,
    )
    from fldp.oracles.base.frequency_oracle import FrequencyOracle
    from fldp.oracles.base.oracle import Oracle
    from fldp.oracles.base.string_oracle import StringOracle
    from fldp.oracles.sampled.tables import Tables
    from fldp.participant.participant import Answer, Participant
    from fldp.privacy import (
        CLDP,
        FLDP,
        IDLDP,
        LDP,
        PLDP,
        ULDP,
        ApproximateLDP,
        Attack,
        Audit,
        Card,
        Findings,
        GroupedLDP,
        Judgement,
        Limit,
        Limits,
        Notion,
        Recovered,
        Shuffled,
        Spent,
        Verification,
        Witness,
        attack,
        audit,
        card,
        integrity,
        poison,
        recover,
        shuffled,
        verify,
    )
    from fldp.randomness.stream import Stream
    from fldp.responder.responder import Responder
    from fldp.search.heavy_hitters import heavy_hitters
    from fldp.search.results import HeavyHitters, Hitter
    from fldp.search.rounds import Round, Search
    from fldp.survey.number import number
    from fldp.survey.survey import Survey

__version__ = "0.1.0"

__all__ = [
    "CLDP",
    "CMS",
    "FHR",
    "FLDP",
    "FWR",
    "GRR",
    "HCMS",
    "HR",
    "HRR",
    "IDLDP",
    "IDUE",
    "LDP",
    "LWR",
    "OLH",
    "OUE",
    "PGR",
    "PLDP",
    "RAPPOR",
    "RR",
    "SS",
    "SUE",
    "ULDP",
    "URAPPOR",
    "URR",
    "Answer",
    "ApproximateLDP",
    "AsyncClient",
    "Attack",
    "Audit",
    "BudgetError",
    "Card",
    "CheckError",
    "Client",
    "CollectorError",
    "Combined",
    "Comparison",
    "DomainError",
    "Estimate",
    "Exponential",
    "Findings",
    "FldpError",
    "FrequencyOracle",
    "Grouped",
    "GroupedLDP",
    "HeavyHitters",
    "Hitter",
    "Judgement",
    "Limit",
    "Limits",
    "MergeError",
    "Notion",
    "Oracle",
    "ParameterError",
    "Participant",
    "Plan",
    "PopulationShares",
    "Recovered",
    "Reports",
    "Responder",
    "Round",
    "Sampled",
    "Search",
    "Shuffled",
    "Spent",
    "Stream",
    "StringOracle",
    "Survey",
    "Tables",
    "Tally",
    "Total",
    "Verification",
    "Wave",
    "WireError",
    "Witness",
    "attack",
    "audit",
    "card",
    "check_oracle",
    "combine",
    "heavy_hitters",
    "integrity",
    "number",
    "people_needed",
    "plan",
    "poison",
    "population",
    "postprocess",
    "power_of",
    "questions",
    "recover",
    "shuffled",
    "simulate",
    "verify",
]

_PACKAGES = (
    "client",
    "distributed",
    "oracles",
    "parquet",
    "participant_store",
    "privacy",
    "telemetry",
    "vectors",
    "wire",
)

_HOMES = {
    "fldp.client": "AsyncClient Client",
    "fldp.conformance.checks": "CheckError check_oracle",
    "fldp.data.comparison": "Comparison",
    "fldp.data.estimate": "Estimate Total",
    "fldp.data.postprocess": "postprocess",
    "fldp.data.reports": "Reports Tally",
    "fldp.errors": "BudgetError CollectorError DomainError FldpError MergeError ParameterError WireError",
    "fldp.estimation.combine": "Combined combine",
    "fldp.estimation.planner": "Plan plan",
    "fldp.estimation.population": "PopulationShares population",
    "fldp.estimation.power": "people_needed power_of",
    "fldp.estimation.question_planner": "questions",
    "fldp.estimation.simulate": "simulate",
    "fldp.oracles": (
        "CMS FHR FWR GRR HCMS HR HRR IDUE LWR OLH OUE PGR RAPPOR RR SS SUE URAPPOR URR Exponential Grouped Sampled Wave"
    ),
    "fldp.oracles.base.frequency_oracle": "FrequencyOracle",
    "fldp.oracles.base.oracle": "Oracle",
    "fldp.oracles.base.string_oracle": "StringOracle",
    "fldp.oracles.sampled.tables": "Tables",
    "fldp.participant.participant": "Answer Participant",
    "fldp.privacy": (
        "CLDP FLDP IDLDP LDP PLDP ULDP ApproximateLDP Attack Audit Card Findings GroupedLDP Judgement Limit Limits "
        "Notion Recovered Shuffled Spent Verification Witness attack audit card integrity poison recover shuffled "
        "verify"
    ),
    "fldp.randomness.stream": "Stream",
    "fldp.responder.responder": "Responder",
    "fldp.search.heavy_hitters": "heavy_hitters",
    "fldp.search.results": "HeavyHitters Hitter",
    "fldp.search.rounds": "Round Search",
    "fldp.survey.number": "number",
    "fldp.survey.survey": "Survey",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_ROOMS = frozenset(
    {
        *("cli", "client", "collector", "conformance", "data", "distributed", "errors", "estimation", "experiments"),
        *("interface", "issuer", "numerics", "oblivious", "oracles", "parquet", "participant", "participant_store"),
        *("passes", "presentation", "privacy", "randomness", "relay", "responder", "search", "support", "survey"),
        *("telemetry", "vectors", "wire"),
    }
)


def __getattr__(name: str) -> Any:
    """Load what is asked for on first use: all of it takes a second, and no program needs all."""
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    elif name in _ROOMS:
        value = import_module(f"fldp.{name}")
    else:
        raise AttributeError(f"module 'fldp' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__version__", *_PACKAGES])


drawn_by(lambda: import_module("fldp.presentation.result_display"))
