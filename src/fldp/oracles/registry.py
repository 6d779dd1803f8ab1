"""The registry of oracles: from their names on the wire to their classes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from fldp.errors import ParameterError
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.record_oracle import RecordOracle
from fldp.oracles.base.string_oracle import StringOracle

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OracleClass = TypeVar("OracleClass", bound=type[Oracle])

_classes: dict[str, type[Oracle]] = {}


def register(cls: OracleClass) -> OracleClass:
    """Make an oracle of your own known by its name; also usable as a class decorator.

    A package can do without the call by naming its class in the entry point group ``fldp.oracles``.

    >>> from fldp import GRR
    >>> register(GRR) is GRR
    True
    """
    if not (isinstance(cls, type) and issubclass(cls, FrequencyOracle | StringOracle | RecordOracle)):
        raise ParameterError(
            f"register: the oracle must be a subclass of FrequencyOracle, StringOracle or RecordOracle, got {cls!r}"
        )
    if _classes.setdefault(cls.name, cls) is not cls:
        raise ParameterError(f"register: the name must be free, got {cls.name!r} of {_classes[cls.name].__name__}")
    return cls


def built_in() -> list[type[Oracle]]:
    """Return the classes of this package."""
    return [cls for cls in _classes.values() if cls.__module__.startswith(f"{__package__}.")]


def names() -> list[str]:
    """Return the names of all oracles.

    >>> "fhr" in names()
    True
    """
    return sorted({*_classes, *_installed()})


def listed_names() -> list[str]:
    """Return the names of the oracles over values that can be listed.

    >>> sorted({*names()} - {*listed_names()})
    ['cms', 'hcms', 'rappor', 'sampled']
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


def examples(cls: type[Oracle]) -> list[Oracle]:
    """Return the oracles of a class that have test vectors.

    >>> examples(get("rr"))
    [RR(epsilon=1.0), RR(epsilon=0.1)]
    """
    return [cls(**each) if isinstance(each, Mapping) else cls(*each) for each in getattr(cls, "examples", ())]


def get_listed(name: str) -> type[FrequencyOracle]:
    """Return the class of an oracle over values that can be listed; one over strings is refused.

    >>> get_listed("cms")
    Traceback (most recent call last):
    fldp.errors.ParameterError: CMS: is for strings, not for values that are listed
    """
    cls = get(name)
    if not issubclass(cls, FrequencyOracle):
        what = "strings" if issubclass(cls, StringOracle) else "records of several answers"
        raise ParameterError(f"{cls.__name__}: is for {what}, not for values that are listed")
    return cls
