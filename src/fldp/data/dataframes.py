"""Frames: rows of a result as a table of pandas, polars or Arrow, whichever is installed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from fldp.support.optional_imports import load

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Columns = Mapping[str, NDArray[np.generic] | Sequence[object]]


class _HasColumns(Protocol):
    def _columns(self) -> Columns: ...


class _HasColumnsAtLevel(Protocol):
    def _columns(self, level: float) -> Columns: ...


class Framed:
    """Rows that can become a table of another library."""

    __slots__ = ()

    def to_pandas(self: _HasColumns) -> "pandas.DataFrame":
        """Return the rows as a pandas DataFrame; needs the extra ``pandas``."""
        return _pandas(self._columns())

    def to_polars(self: _HasColumns) -> "polars.DataFrame":
        """Return the rows as a polars DataFrame; needs the extra ``polars``."""
        return _polars(self._columns())

    def to_arrow(self: _HasColumns) -> "pyarrow.Table":
        """Return the rows as an Arrow table; needs the extra ``parquet``."""
        return _arrow(self._columns())


class FramedAtLevel:
    """Rows with intervals of a level that is asked for, which can become a table of another library."""

    __slots__ = ()

    def to_pandas(self: _HasColumnsAtLevel, level: float = 0.95) -> "pandas.DataFrame":
        """Return the rows as a pandas DataFrame; needs the extra ``pandas``."""
        return _pandas(self._columns(level))

    def to_polars(self: _HasColumnsAtLevel, level: float = 0.95) -> "polars.DataFrame":
        """Return the rows as a polars DataFrame; needs the extra ``polars``."""
        return _polars(self._columns(level))

    def to_arrow(self: _HasColumnsAtLevel, level: float = 0.95) -> "pyarrow.Table":
        """Return the rows as an Arrow table; needs the extra ``parquet``."""
        return _arrow(self._columns(level))


def by_column(names: Sequence[str], rows: Sequence[Mapping[str, object]]) -> Columns:
    """Turn rows into columns.

    >>> by_column(("a", "b"), [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    {'a': [1, 3], 'b': [2, 4]}
    """
    return {name: [row[name] for row in rows] for name in names}


def _pandas(columns: Columns) -> "pandas.DataFrame":
    frame: pandas.DataFrame = load("pandas", "pandas").DataFrame(dict(columns))
    return frame


def _polars(columns: Columns) -> "polars.DataFrame":
    frame: polars.DataFrame = load("polars", "polars").DataFrame(dict(columns))
    return frame


def _arrow(columns: Columns) -> "pyarrow.Table":
    table: pyarrow.Table = load("pyarrow", "parquet").table(dict(columns))
    return table
