"""Values: coercion of a caller's batch of values, with messages that do not show answers."""

import sys
from collections.abc import Iterable
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from fldp.errors import DomainError
from fldp.support.validation import is_integer, show

Values = NDArray[np.integer[Any]]
Item = TypeVar("Item")


def as_values(owner: str, values: object, domain_size: int) -> Values:
    """Turn one value, a list, an array or a Series into an array of values in ``[0, domain_size)``.

    >>> as_values("GRR", [0, 4], 5)
    array([0, 4])
    >>> as_values("GRR", [0, 5], 5)
    Traceback (most recent call last):
    fldp.errors.DomainError: GRR: values must be integers from 0 to 4, got 5 at position 1
    """
    rule = f"{owner}: values must be integers from 0 to {domain_size - 1}"
    array = _as_integers(rule, values)
    if array.ndim != 1:
        raise DomainError(f"{owner}: values must be one value or a one-dimensional batch, got shape {array.shape}")
    if array.size == 0:
        raise DomainError(f"{owner}: values must hold at least one value, got an empty batch")
    if array.min() < 0 or array.max() >= domain_size:
        position = int(np.flatnonzero((array < 0) | (array >= domain_size))[0])
        raise DomainError(f"{rule}, got {array[position]} at position {position}")
    return array


def _as_integers(rule: str, values: Any) -> Values:
    # Whoever has a masked array has loaded its module, which NumPy does not load by itself.
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DomainError(f"{rule}, got a masked array with missing values")
    if isinstance(values, str | bytes | dict | set | frozenset) or values is None:
        raise DomainError(f"{rule}, got {discreet(values)}")
    if isinstance(values, np.ndarray) or (hasattr(values, "to_numpy") and not isinstance(values, type)):
        array = np.atleast_1d(np.asarray(values))
        return _from_items(rule, array.tolist()) if array.dtype == object else _from_array(rule, array)
    return _from_items(rule, as_list(values))


def as_list(values: Iterable[Item]) -> list[Item]:
    """Return the items of an iterable; of anything else, a list of it alone.

    >>> as_list(range(2)), as_list(7)
    ([0, 1], [7])
    """
    try:
        return list(values)
    except TypeError:
        return [cast("Item", values)]


def _from_array(rule: str, array: NDArray[Any]) -> Values:
    if array.dtype.kind not in "iu":
        missing = np.flatnonzero(array != array).tolist() if array.dtype.kind == "f" else []
        hint = f" with a missing value at position {missing[0]}" if missing else ""
        raise DomainError(f"{rule}, got {array.dtype}{hint}")
    return np.atleast_1d(array)


def _from_items(rule: str, items: list[Any]) -> Values:
    """Check items one by one, because NumPy would turn booleans into numbers and missing values into floats."""
    for position, item in enumerate(items):
        if not is_integer(item) or abs(int(item)) >= 1 << 63:
            where = f" at position {position}" if len(items) > 1 else ""
            raise DomainError(f"{rule}, got {discreet(item)}{where}")
    return np.array(items, np.int64)


def numbered(text: str, domain_size: int) -> int | None:
    """Parse a value written as a number in its canonical form; None if the text is not one.

    >>> [numbered(text, 10) for text in ("0", "9", "10", "09", "-1", "x")]
    [0, 9, None, None, None, None]
    """
    plain = text.isascii() and text.isdigit() and len(text) < 12 and (text == "0" or text[0] != "0")
    return int(text) if plain and int(text) < domain_size else None


def shown(value: object) -> str:
    """Return a short repr for a message, with the type.

    >>> shown("1")
    "'1' (str)"
    """
    text = show(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def discreet(value: object) -> str:
    """Return a repr for a message about something that was to be privatized; of a text, the type alone.

    A text is likely to be somebody's answer, and messages end up in logs.

    >>> discreet("firefox"), discreet(1.5)
    ('a str (not shown)', '1.5 (float)')
    """
    return f"a {type(value).__name__} (not shown)" if isinstance(value, str | bytes) else shown(value)
