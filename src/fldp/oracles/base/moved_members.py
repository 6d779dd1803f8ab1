"""Members of oracles that moved into their formats and estimators: how to read and define them under the old names."""

import warnings
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from fldp.data.formats import ReportFormat, TallyFormat

T = TypeVar("T")

# The old name of each member: where it is now, and its name there.
_MOVED = {
    "report_dtype": ("report_format", "dtype"),
    "report_shape": ("report_format", "shape"),
    "field_bits": ("report_format", "fields"),
    "field_widths": ("report_format", "widths"),
    "check": ("report_format", "check"),
    "outcome": ("report_format", "outcome"),
    "report": ("report_format", "report"),
    "public_words": ("report_format", "public_words"),
    "tally_shape": ("tally_format", "shape"),
    "check_state": ("tally_format", "check"),
    **{name: ("estimator", name) for name in ("mean_variance", "variances", "covariance_of_sum", "draw_state")},
    "least_variances": ("estimator", "least_variances"),
}
_FORMATS: dict[str, Any] = {"report_format": ReportFormat, "tally_format": TallyFormat}
_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "report_dtype": np.dtype,
    "field_bits": lambda widths: tuple((width, 1) for width in widths),
}


def moved(oracle: Any, name: str) -> Any:
    """Return a member under its old name, with a warning that names the new one."""
    if name not in _MOVED:
        raise AttributeError(f"{type(oracle).__name__!r} object has no attribute {name!r}", name=name, obj=oracle)
    owner, field = _MOVED[name]
    warnings.warn(f"Oracle.{name} moved: oracle.{owner}.{field}", DeprecationWarning, stacklevel=3)
    value = getattr(oracle, owner)
    return tuple(value.widths.tolist()) if name == "field_bits" else getattr(value, field)


class Adapted(cached_property[T]):
    """A format or an estimator made of members that a class defines under their old names."""

    @classmethod
    def give(cls, oracle_class: Any, name: str, made_of: Callable[[Any], Any]) -> None:
        """Give one to a class."""
        value = cls(made_of)
        value.__set_name__(oracle_class, name)
        setattr(oracle_class, name, value)


def adapt(cls: Any) -> None:
    """Give a class that defines members under their old names the formats that they amount to."""
    owners = {_MOVED[name][0] for name in _MOVED.keys() & vars(cls).keys()}
    for owner in owners & _FORMATS.keys() - vars(cls).keys():
        Adapted.give(cls, owner, partial(_amounts_to, owner))


def _amounts_to(owner: str, oracle: Any) -> Any:
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


def nearest(oracle: Any, owner: str) -> Any:
    """Return the format or estimator of the nearest base class that has one in the new form; None if none has."""
    for cls in type(oracle).__mro__:
        value = vars(cls).get(owner)
        if value is None or isinstance(value, Adapted) or getattr(value, "__isabstractmethod__", False):
            continue
        # ``func`` and not the property itself, which would store what it returns in the place of the adapted value.
        read = getattr(value, "func", None) or getattr(value, "fget", None)
        return read(oracle) if read else value
    return None
