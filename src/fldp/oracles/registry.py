"""The registry of oracles: from their names on the wire to their classes."""

from typing import TYPE_CHECKING, TypeVar

from fldp.errors import ParameterError
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import StringOracle
from fldp.oracles.flexible.fhr import FHR
from fldp.oracles.flexible.fwr import FWR, HRR
from fldp.oracles.grouped import Grouped
from fldp.oracles.plain.grr import GRR, RR
from fldp.oracles.plain.hadamard_response import HR
from fldp.oracles.plain.olh import OLH
from fldp.oracles.plain.pgr import PGR
from fldp.oracles.plain.subset_selection import SS
from fldp.oracles.plain.unary import OUE, SUE
from fldp.oracles.strings.count_mean_sketch import CMS, HCMS
from fldp.oracles.strings.rappor import RAPPOR
from fldp.oracles.unequal.exponential import Exponential
from fldp.oracles.unequal.idue import IDUE
from fldp.oracles.unequal.urappor import URAPPOR
from fldp.oracles.unequal.urr import URR

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OracleClass = TypeVar("OracleClass", bound=type[Oracle])

_PLAIN: tuple[type[Oracle], ...] = (RR, GRR, SUE, OUE, OLH, SS, HR, PGR)
_FLEXIBLE: tuple[type[Oracle], ...] = (FHR, FWR, HRR, Grouped)
_UNEQUAL: tuple[type[Oracle], ...] = (URR, URAPPOR, IDUE, Exponential)
_STRINGS: tuple[type[Oracle], ...] = (CMS, HCMS, RAPPOR)
_classes: dict[str, type[Oracle]] = {cls.name: cls for cls in (*_PLAIN, *_FLEXIBLE, *_UNEQUAL, *_STRINGS)}


def register(cls: OracleClass) -> OracleClass:
    """Make an oracle of your own known by its name; also usable as a class decorator.

    A package can do without the call by naming its class in the entry point group ``fldp.oracles``.

    >>> register(GRR) is GRR
    True
    """
    if not (isinstance(cls, type) and issubclass(cls, FrequencyOracle | StringOracle)):
        raise ParameterError(f"register: the oracle must be a subclass of FrequencyOracle or StringOracle, got {cls!r}")
    if _classes.setdefault(cls.name, cls) is not cls:
        raise ParameterError(f"register: the name must be free, got {cls.name!r} of {_classes[cls.name].__name__}")
    return cls


def names() -> list[str]:
    """Return the names of all oracles.

    >>> "fhr" in names()
    True
    """
    return sorted({*_classes, *_installed()})


def listed_names() -> list[str]:
    """Return the names of the oracles over values that can be listed.

    >>> sorted({*names()} - {*listed_names()})
    ['cms', 'hcms', 'rappor']
    """
    return [name for name in names() if issubclass(get(name), FrequencyOracle)]


def _installed() -> "dict[str, EntryPoint]":
    """Return the entry points of other packages; looked up only when needed, since the search is slow."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group="fldp.oracles")}


def get(name: str) -> type[Oracle]:
    """Return the class of an oracle.

    >>> get("fhr")(epsilon=1.0, domain_size=7)
    FHR(epsilon=1.0, domain_size=7)
    """
    if name not in _classes:
        installed = _installed()
        if name in installed:
            cls: type[Oracle] = register(installed[name].load())
            return cls
        raise ParameterError(f"oracle: the name must be one of {', '.join(names())}, got {name!r}")
    return _classes[name]


def get_listed(name: str) -> type[FrequencyOracle]:
    """Return the class of an oracle over values that can be listed; one over strings is refused.

    >>> get_listed("cms")
    Traceback (most recent call last):
    fldp.errors.ParameterError: CMS: is for strings, not for values that are listed
    """
    cls = get(name)
    if not issubclass(cls, FrequencyOracle):
        raise ParameterError(f"{cls.__name__}: is for strings, not for values that are listed")
    return cls
