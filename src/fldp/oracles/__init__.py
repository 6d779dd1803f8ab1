"""The oracles, by name."""

from typing import TYPE_CHECKING, TypeVar

from fldp.base import Oracle
from fldp.errors import ParameterError
from fldp.oracle import FrequencyOracle
from fldp.oracles.fhr import FHR
from fldp.oracles.fwr import FWR, HRR
from fldp.oracles.grouped import Grouped
from fldp.oracles.grr import GRR, RR
from fldp.oracles.hadamard import HR
from fldp.oracles.hashing import OLH
from fldp.oracles.projective import PGR
from fldp.oracles.sketch import CMS, HCMS
from fldp.oracles.subset import SS
from fldp.oracles.unary import OUE, SUE
from fldp.string_oracle import StringOracle

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "CMS",
    "FHR",
    "FWR",
    "GRR",
    "HCMS",
    "HR",
    "HRR",
    "OLH",
    "OUE",
    "PGR",
    "RR",
    "SS",
    "SUE",
    "Grouped",
    "get",
    "get_listed",
    "listed_names",
    "names",
    "register",
]

OracleClass = TypeVar("OracleClass", bound=type[Oracle])

_registry: dict[str, type[Oracle]] = {
    cls.name: cls for cls in (RR, GRR, SUE, OUE, OLH, HRR, FHR, FWR, SS, HR, PGR, Grouped, CMS, HCMS)
}


def register(cls: OracleClass) -> OracleClass:
    """Make an oracle of your own known by its name; also usable as a class decorator.

    A package can do without the call by naming its class in the entry point group ``fldp.oracles``.

    >>> register(GRR) is GRR
    True
    """
    if not (isinstance(cls, type) and issubclass(cls, FrequencyOracle | StringOracle)):
        raise ParameterError(f"register: the oracle must be a subclass of FrequencyOracle or StringOracle, got {cls!r}")
    if _registry.setdefault(cls.name, cls) is not cls:
        raise ParameterError(f"register: the name must be free, got {cls.name!r} of {_registry[cls.name].__name__}")
    return cls


def names() -> list[str]:
    """Return the names of all oracles.

    >>> names()
    ['cms', 'fhr', 'fwr', 'grouped', 'grr', 'hcms', 'hr', 'hrr', 'olh', 'oue', 'pgr', 'rr', 'ss', 'sue']
    """
    return sorted({*_registry, *_installed()})


def listed_names() -> list[str]:
    """Return the names of the oracles over values that can be listed.

    >>> sorted({*names()} - {*listed_names()})
    ['cms', 'hcms']
    """
    return [name for name in names() if issubclass(get(name), FrequencyOracle)]


def _installed() -> "dict[str, EntryPoint]":
    """Return what other packages offer; looked up when it is needed, since the search is slow."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group="fldp.oracles")}


def get(name: str) -> type[Oracle]:
    """Return the class of an oracle.

    >>> get("fhr")(epsilon=1.0, domain_size=7)
    FHR(epsilon=1.0, domain_size=7)
    """
    if name not in _registry:
        offered = _installed()
        if name in offered:
            loaded: type[Oracle] = register(offered[name].load())
            return loaded
        raise ParameterError(f"oracle: the name must be one of {', '.join(names())}, got {name!r}")
    return _registry[name]


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
