"""Members of oracles that moved into their formats: read under the old names, and defined under the old names."""

import warnings
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cached_property, partial
from typing import Any

import numpy as np

from fldp.data.formats import ReportFormat, TallyFormat

# The old name of each member: its format, and its name there.
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
    layout = getattr(oracle, owner)
    return tuple(layout.widths.tolist()) if name == "field_bits" else getattr(layout, field)


class _Adapted(cached_property[Any]):
    """A format made of members that a class defines under their old names."""


def adapt(cls: Any) -> None:
    """Give a class that defines members under their old names the formats that they amount to."""
    for owner in {_MOVED[name][0] for name in _MOVED.keys() & vars(cls).keys()} - vars(cls).keys():
        layout = _Adapted(partial(_amounts_to, owner))
        layout.__set_name__(cls, owner)
        setattr(cls, owner, layout)


def _amounts_to(owner: str, oracle: Any) -> Any:
    cls, kind = type(oracle), _FORMATS[owner]
    parts = _inherited(oracle, owner)
    for name, (of, field) in _MOVED.items():
        if of == owner and hasattr(cls, name):
            parts[field] = _CONVERTED.get(name, lambda part: part)(getattr(oracle, name))
    missing = [each.name for each in fields(kind) if each.default is MISSING and each.name not in parts]
    if missing:
        raise TypeError(f"{cls.__name__}: define {owner}, a {kind.__name__}; it lacks {', '.join(missing)}")
    return kind(**{each.name: parts[each.name] for each in fields(kind) if each.name in parts})


def _inherited(oracle: Any, owner: str) -> dict[str, Any]:
    """Return the parts of the format of the nearest base class that has one in the new form."""
    for cls in type(oracle).__mro__:
        layout = vars(cls).get(owner)
        if layout is not None and not isinstance(layout, _Adapted) and not getattr(layout, "__isabstractmethod__", 0):
            return dict(vars(layout.func(oracle) if isinstance(layout, cached_property) else layout.__get__(oracle)))
    return {}
