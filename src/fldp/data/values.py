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


def as_values(owner: str, values: object, domain_size: int, *, secret: bool = True) -> Values:
    """Turn one value, a list, an array or a Series into an array of values in ``[0, domain_size)``.

    ``secret`` values are people's answers; others, such as the values that an analyst adds up, are shown in errors.

    >>> as_values("GRR", [0, 4], 5)
    array([0, 4])
    >>> as_values("Estimate", [0, 5], 5, secret=False)
    Traceback (most recent call last):
    fldp.errors.DomainError: Estimate: values must be integers from 0 to 4, got 5 (int) at position 1
    >>> as_values("GRR", [0, 5], 5)
    Traceback (most recent call last):
    fldp.errors.DomainError: GRR: values must be integers from 0 to 4, got a value of type int at position 1 \
(not shown, to protect the answer)
    """
    rule = f"{owner}: values must be integers from 0 to {domain_size - 1}"
    array = _as_integers(rule, values, secret)
    if array.ndim != 1:
        raise DomainError(f"{owner}: values must be one value or a one-dimensional batch, got shape {array.shape}")
    if array.size == 0:
        raise DomainError(f"{owner}: values must hold at least one value, got an empty batch")
    if array.min() < 0 or array.max() >= domain_size:
        position = int(np.flatnonzero((array < 0) | (array >= domain_size))[0])
        raise refusal(rule, array[position].item(), position, secret=secret)
    return array


def refusal(rule: str, value: object, position: int | None = None, *, secret: bool = True) -> DomainError:
    """Build the error of a value that breaks a rule; the caller raises it. Messages end up in logs.

    >>> refusal("RR: values must be 0 or 1", "yes", 3)
    DomainError('RR: values must be 0 or 1, got a value of type str at position 3 (not shown, to protect the answer)')
    >>> refusal("RR: values must be 0 or 1", None, 3)
    DomainError('RR: values must be 0 or 1, got a missing value at position 3')
    """
    where = "" if position is None else f" at position {position}"
    if is_missing(value):
        return DomainError(f"{rule}, got a missing value{where}")
    if not secret:
        return DomainError(f"{rule}, got {shown(value)}{where}")
    return DomainError(f"{rule}, got a value of type {type(value).__name__}{where} (not shown, to protect the answer)")


def is_missing(value: object) -> bool:
    """Whether a value says that there is none: None, or a float that is not a number."""
    return value is None or (isinstance(value, float) and value != value)


def _as_integers(rule: str, values: Any, secret: bool) -> Values:
    # Whoever has a masked array has loaded its module, which NumPy does not load by itself.
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DomainError(f"{rule}, got a masked array with missing values")
    if isinstance(values, str | bytes | dict | set | frozenset) or values is None:
        raise refusal(rule, values, secret=secret)
    if isinstance(values, np.ndarray) or (hasattr(values, "to_numpy") and not isinstance(values, type)):
        array = np.atleast_1d(np.asarray(values))
        return _from_items(rule, array.tolist(), secret) if array.dtype == object else _from_array(rule, array)
    return _from_items(rule, as_list(values), secret)


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
        raise DomainError(f"{rule}, got {array.dtype.type.__name__}{hint}")  # of texts, the dtype tells the length
    return np.atleast_1d(array)


def _from_items(rule: str, items: list[Any], secret: bool) -> Values:
    """Check items one by one, because NumPy would turn booleans into numbers and missing values into floats."""
    for position, item in enumerate(items):
        if not is_integer(item) or abs(int(item)) >= 1 << 63:
            raise refusal(rule, item, position if len(items) > 1 else None, secret=secret)
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
