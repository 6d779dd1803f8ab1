"""Members of oracles that moved into values that they hold: how to read and define them under the old names."""

import warnings
from abc import ABC
from collections.abc import Callable, Collection
from dataclasses import MISSING, fields
from functools import cached_property, partial
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fldp.data.formats import ReportFormat, TallyFormat

if TYPE_CHECKING:
    from fldp.oracles.base.oracle import Oracle

T = TypeVar("T")
AnyOracle = TypeVar("AnyOracle", bound="Oracle")

_STATISTICS = ("decode", "mean_variance", "variances", "covariance_of_sum", "draw_state", "least_variances")
_CHOICES = ("decoders", "methods")
_STAGES = ("keep", "respond", "basis", "lasting_epsilon", "change_visible", "follows", "coins")
_ANSWERS = (
    *("law", "outcomes", "publics", "publics_are_all", "check_enumerable", "likelihoods", "profile", "overlaps"),
    *("leaves", "sample_values", "resized", "promise", "plain_values", "unprotected", "server_work"),
)

# The old name of each member: where it is now, and its name there.
_MOVED = {
    "report_dtype": ("report_format", "dtype"),
    "report_shape": ("report_format", "shape"),
    "report_bits": ("report_format", "bits"),
    "field_bits": ("report_format", "fields"),
    "field_widths": ("report_format", "widths"),
    "check": ("report_format", "check"),
    "outcome": ("report_format", "outcome"),
    "report": ("report_format", "report"),
    "public_words": ("report_format", "public_words"),
    "tally_shape": ("tally_format", "shape"),
    "check_state": ("tally_format", "check"),
    **{name: ("estimator", name) for name in (*_STATISTICS, "runs", "totals", "fit", "p", "q", "chances", *_CHOICES)},
    **{name: ("analysis", name) for name in _ANSWERS},
    **{name: ("memoization", name) for name in _STAGES},
    "seen": ("design", "views"),
    "drawn": ("design", "weights"),
    "entries": ("design", "entries"),
    "people": ("estimator", "people"),
    "split": ("estimator", "split"),
    "records": ("record_code", "encode"),
    "digits": ("record_code", "decode"),
}
# Members that only an oracle and its companion need, by their old names.
_OWN = (
    *("outputs", "size", "space", "symbols", "order", "rows", "leaks", "bits", "parities", "kind_of", "levels"),
    *("channel", "inverse", "shares", "places", "shown", "revealed", "supported", "sketch", "tagged", "header"),
    *("reports_from", "reports_in", "group_of", "split", "keep_words", "basis_format", "hides_nothing_public"),
    "sample_records",
)
_INTERNAL = {
    **{name: f"_{name}" for name in _OWN},
    **{name: f"_filters.{name}" for name in ("seeds", "evidence", "design")},
    "filters": "_filters.bits_of",
    "response": "_sketch.response",
    "view_of": "design.view_of",
    "combinations": "_values_end",
}
_NONE = object()
_ABOVE_ORACLE = (ABC, object)
_FORMATS: dict[str, Any] = {"report_format": ReportFormat, "tally_format": TallyFormat}
_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "report_dtype": np.dtype,
    "field_bits": lambda widths: tuple((width, 1) for width in widths),
}


def moved(oracle: "Oracle", name: str) -> object:
    """Return a member under its old name, with a warning that names the new one."""
    path = _INTERNAL.get(name, "")
    if path and hasattr(type(oracle), path.partition(".")[0]):
        warnings.warn(f"{oracle.title}.{name} is internal: it may change", DeprecationWarning, stacklevel=3)
        return attrgetter(path)(oracle)
    owner, field = _MOVED.get(name, ("", ""))
    member = getattr(_owner(oracle, owner), field, _NONE) if owner else _NONE
    if member is _NONE:
        raise AttributeError(f"{type(oracle).__name__!r} object has no attribute {name!r}", name=name, obj=oracle)
    path = "analysis(oracle)" if owner == "analysis" else f"oracle.{owner}"
    warnings.warn(f"Oracle.{name} moved: {path}.{field}", DeprecationWarning, stacklevel=3)
    return tuple(oracle.report_format.widths.tolist()) if name == "field_bits" else member


def _owner(oracle: "Oracle", name: str) -> object:
    """Return the value of an oracle that has members which moved; None if this oracle has no such value."""
    if name == "analysis":
        return import_module("fldp.oracles.base.analysis").analysis(oracle)  # which imports all base classes
    return getattr(oracle, name) if hasattr(type(oracle), name) else None


class Adapted(cached_property[T]):
    """A format or an estimator made of members that a class defines under their old names."""

    @classmethod
    def give(cls, oracle_class: type, name: str, made_of: Callable[[AnyOracle], T]) -> None:
        """Give one to a class."""
        value = cls(made_of)
        value.__set_name__(oracle_class, name)
        setattr(oracle_class, name, value)


def adapt(cls: type) -> None:
    """Give a class that defines members under their old names the formats that they amount to."""
    if "estimator" in vars(cls) and vars(cls).keys() & set(_CHOICES):
        raise TypeError(f"{cls.__name__}: decoders and methods moved: define them on the class of its estimator")
    owners = {_MOVED[name][0] for name in _MOVED.keys() & vars(cls).keys()}
    for owner in owners & _FORMATS.keys() - vars(cls).keys():
        Adapted.give(cls, owner, partial(_amounts_to, owner))


def _amounts_to(owner: str, oracle: "Oracle") -> Any:
    cls, kind = type(oracle), _FORMATS[owner]
    inherited = nearest(oracle, owner)
    parts = dict(vars(inherited)) if inherited else {}
    for name, (of, field) in _MOVED.items():
        if of == owner and hasattr(cls, name):
            parts[field] = _CONVERTED.get(name, lambda part: part)(getattr(oracle, name))
    missing = [each.name for each in fields(kind) if each.default is MISSING and each.name not in parts]
    if missing:
        raise TypeError(f"{cls.__name__}: define {owner}, a {kind.__name__}; it lacks {', '.join(missing)}")
    return kind(**{each.name: parts[each.name] for each in fields(kind) if each.name in parts})


def nearest(oracle: "Oracle", owner: str) -> Any:
    """Return the format or estimator of the nearest base class that has one in the new form; None if none has."""
    for cls in type(oracle).__mro__:
        value = vars(cls).get(owner)
        if value is None or isinstance(value, Adapted) or getattr(value, "__isabstractmethod__", False):
            continue
        if cls.__mro__[1:] == _ABOVE_ORACLE and vars(cls)["_mechanism"] is type(oracle)._mechanism:
            return None  # the base class asks a mechanism, and there is none
        # ``func`` and not the property itself, which would store what it returns in place of the adapted value.
        read = getattr(value, "func", None) or getattr(value, "fget", None)
        return read(oracle) if read else value
    return None


def with_own_answers(companion: type[T], known: Collection[str], oracle_class: type, registered: type) -> type[T]:
    """Return a companion with the answers that a class of oracles gives itself, under their old names.

    An answer in ``known``, which the companion gives, counts if the class it is registered for does not inherit the
    oracle's own one.
    """
    own = {
        name: _answer(name, getattr(oracle_class, name))
        for name in _ANSWERS
        if hasattr(oracle_class, name)
        and (name not in known or getattr(registered, name, None) is not getattr(oracle_class, name))
    }
    return type(f"Own{companion.__name__}", (companion,), own) if own else companion


def _answer(name: str, member: Any) -> Any:
    if callable(member):
        return lambda self, *arguments: getattr(self.oracle, name)(*arguments)
    return property(lambda self: getattr(self.oracle, name))
