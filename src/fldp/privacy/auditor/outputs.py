"""OutputRows: the outputs of any black box as numbers, one row per output.

How an output becomes numbers depends on that output alone, never on the others, so every event over rows is an event
over outputs, and what holds for all events over outputs holds for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Reports
from fldp.errors import DomainError
from fldp.numerics.types import Floats

_WORD = 1 << 64
_SIGN = np.uint64(1 << 63)
_MIX = np.uint64(0xD1342543DE82EF95), np.uint64(0xF1357AEA2E62A9C5), np.uint64(29)


@dataclass(frozen=True)
class Column:
    """The name of a column, and the type of its numbers before their conversion to unsigned.

    >>> Column("noise", np.dtype(np.int8)).show(255)
    '-1'
    """

    name: str
    dtype: np.dtype[Any]

    def show(self, number: int) -> str:
        """Return a number in its original type."""
        if self.dtype.kind == "f":
            return f"{_unordered(np.array([number], np.uint64))[0]:.6g}"
        return str(np.array([number]).astype(self.dtype)[0])


@dataclass(frozen=True)
class OutputRows:
    """Outputs as unsigned numbers, the first axis outputs; ``supports`` tells how much each speaks for each value.

    >>> rows = OutputRows.of([(3, 1), (2, 5)], 2)
    >>> [column.name for column in rows.columns], rows.numbers.tolist()
    (['length', 'number 0', 'number 1'], [[2, 3, 1], [2, 2, 5]])
    """

    numbers: Array
    columns: tuple[Column, ...]
    supports: Floats | None = None

    @classmethod
    def of(cls, outputs: object, count: int) -> "OutputRows":
        """Convert the outputs of a black box for ``count`` values to rows."""
        data: Any = outputs.data if isinstance(outputs, Reports) else outputs
        if hasattr(data, "to_numpy") and not isinstance(data, type):
            data = data.to_numpy()
        try:
            size = len(data)
        except TypeError:
            raise DomainError(f"audit: outputs must be one for each value, got {type(data).__name__}") from None
        if size != count:
            raise DomainError(f"audit: outputs must be one for each value, got {size} for {count} values")
        if isinstance(data, np.ndarray) and (data.dtype.kind in "biuf" or data.dtype.names):
            if not data.size:
                raise DomainError(f"audit: outputs must hold at least one number, got shape {data.shape}")
            return cls(*_from_array(data))
        return cls(*_from_items(list(data)))

    @classmethod
    def joined(cls, parts: Sequence["OutputRows"]) -> "OutputRows":
        """Concatenate rows of the same width."""
        supports = [part.supports for part in parts if part.supports is not None]
        numbers = np.concatenate([part.numbers for part in parts])
        return cls(numbers, parts[0].columns, np.concatenate(supports) if supports else None)

    def widened(self, width: int) -> "OutputRows":
        """Pad rows with zeros to a width."""
        missing = width - self.numbers.shape[1]
        more = (Column(f"number {k - 1}", self.columns[-1].dtype) for k in range(width - missing, width))
        numbers = np.pad(self.numbers, ((0, 0), (0, missing)))
        return replace(self, numbers=numbers, columns=(*self.columns, *more))

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, part: slice) -> "OutputRows":
        return OutputRows(self.numbers[part], self.columns, None if self.supports is None else self.supports[part])

    @cached_property
    def codes(self) -> NDArray[np.uint64]:
        """One number for each row: the number itself if it is alone, else a hash."""
        if self.numbers.shape[1] == 1:
            return self.numbers[:, 0].astype(np.uint64)
        codes = np.zeros(len(self), np.uint64)
        for column in self.numbers.T:
            codes = (codes ^ column) * _MIX[0]
            codes = (codes ^ (codes >> _MIX[2])) * _MIX[1]
        return codes


def _from_array(array: Array) -> tuple[Array, tuple[Column, ...]]:
    if array.dtype.names:
        fields = {name: _from_array(array[name]) for name in array.dtype.names}
        columns = [
            replace(column, name=name if len(its) == 1 else f"{name} {k}")
            for name, (_, its) in fields.items()
            for k, column in enumerate(its)
        ]
        return np.concatenate([numbers.astype(np.uint64) for numbers, _ in fields.values()], axis=1), tuple(columns)
    flat = np.array(array, array.dtype.newbyteorder("="), order="C").reshape(
        len(array), -1
    )  # they may use theirs again
    numbers = _ordered(flat.astype(np.float64)) if flat.dtype.kind == "f" else flat.view(f"u{flat.dtype.itemsize}")
    return numbers, _columns(flat.shape[1], flat.dtype)


def _columns(width: int, dtype: np.dtype[Any]) -> tuple[Column, ...]:
    return tuple(Column("the output" if width == 1 else f"number {k}", dtype) for k in range(width))


def _ordered(numbers: Floats) -> NDArray[np.uint64]:
    """Map floats to integers that sort in the same order."""
    bits = numbers.view(np.uint64)
    # IEEE 754 sorts by magnitude: flip all bits of negative numbers, and the sign bit of the others.
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _unordered(codes: NDArray[np.uint64]) -> Floats:
    return np.where(codes & _SIGN, codes & ~_SIGN, ~codes).view(np.float64)


def _from_items(items: list[Any]) -> tuple[Array, tuple[Column, ...]]:
    """Flatten items to rows of numbers; anything that has a length begins with it."""
    flat = [_flatten(item) for item in items]
    width = max(map(len, flat), default=1)
    numbers = np.zeros((len(flat), width), np.uint64)
    for row, numbers_of_row in zip(numbers, flat, strict=True):
        row[: len(numbers_of_row)] = numbers_of_row
    first = items[0] if items else 0
    if isinstance(first, Real | np.bool_):
        return numbers, _columns(width, np.dtype(np.int64 if isinstance(first, Integral | np.bool_) else np.float64))
    plain = np.dtype(np.int64)
    return numbers, (Column("length", plain), *(Column(f"number {k}", plain) for k in range(width - 1)))


def _flatten(item: Any) -> list[int]:
    if isinstance(item, Integral | np.bool_):
        return _limbs(int(item))
    if isinstance(item, Real):
        return [int(_ordered(np.array([float(item)]))[0])]
    if isinstance(item, str):
        return [len(item), *map(ord, item)]
    if isinstance(item, bytes | bytearray):
        return [len(item), *item]
    if isinstance(item, set | frozenset):
        return [len(item), *chain.from_iterable(sorted(map(_flatten, item)))]
    if isinstance(item, np.void):
        item = item.item()
    if isinstance(item, tuple | list | np.ndarray):
        return [len(item), *(number for part in item for number in _flatten(part))]
    if item is None:
        return [0]
    raise DomainError(
        "audit: outputs must be numbers, texts, bytes, or tuples, lists, sets and arrays of them, "
        f"got {type(item).__name__}"
    )


def _limbs(number: int) -> list[int]:
    """Return an integer as 64-bit limbs, the lowest first; nearly always a single one."""
    if -_WORD // 2 <= number < _WORD:
        return [number % _WORD]
    sign, rest, limbs = [int(number < 0)], abs(number), []
    while rest:
        limbs.append(rest % _WORD)
        rest //= _WORD
    return limbs + sign
