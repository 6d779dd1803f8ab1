"""Frequency oracles: the mechanisms, and the registry that finds them by name."""

from fldp.oracles.flexible.fhr import FHR
from fldp.oracles.flexible.fwr import FWR, HRR
from fldp.oracles.flexible.lwr import LWR
from fldp.oracles.grouped import Grouped
from fldp.oracles.plain.grr import GRR, RR
from fldp.oracles.plain.hadamard_response import HR
from fldp.oracles.plain.olh import OLH
from fldp.oracles.plain.pgr import PGR
from fldp.oracles.plain.subset_selection import SS
from fldp.oracles.plain.unary import OUE, SUE
from fldp.oracles.plain.wave import Wave
from fldp.oracles.registry import get, get_listed, listed_names, names, register
from fldp.oracles.sampled.sampled import Sampled
from fldp.oracles.strings.count_mean_sketch import CMS, HCMS
from fldp.oracles.strings.rappor import RAPPOR
from fldp.oracles.unequal.exponential import Exponential
from fldp.oracles.unequal.idue import IDUE
from fldp.oracles.unequal.urappor import URAPPOR
from fldp.oracles.unequal.urr import URR

__all__ = [
    "CMS",
    "FHR",
    "FWR",
    "GRR",
    "HCMS",
    "HR",
    "HRR",
    "IDUE",
    "LWR",
    "OLH",
    "OUE",
    "PGR",
    "RAPPOR",
    "RR",
    "SS",
    "SUE",
    "URAPPOR",
    "URR",
    "Exponential",
    "Grouped",
    "Sampled",
    "Wave",
    "get",
    "get_listed",
    "listed_names",
    "names",
    "register",
]

for _name in __all__:
    if isinstance(_class := globals()[_name], type):
        register(_class)


def __dir__() -> list[str]:
    return [*__all__, "__doc__"]
