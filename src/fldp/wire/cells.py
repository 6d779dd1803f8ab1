"""Cells: values as text, from CSV, Parquet or lines, a chunk at a time, and their encoding as values."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from fldp.errors import DomainError, FldpError
from fldp.support.atomic_files import open_input
from fldp.support.optional_imports import load

CHUNK = 1 << 16
Cells = list[str | None]


def read_cells(path: str, column: str | None = None) -> Iterator[Cells]:
    """Yield the cells of a column in chunks; a missing one is None.

    The ending of the name tells CSV and Parquet. Other files are CSV if a column is given, else one value per line.
    """
    if path.endswith((".parquet", ".pq")):
        yield from _parquet(path, column)
        return
    with open_input(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        try:
            if column is not None or path.endswith(".csv"):
                yield from _csv(path, text, column)
            else:
                yield from _chunks(path, (line.rstrip("\r\n") or None for line in text))
        finally:
            text.detach()  # the file is closed by whoever opened it


def _csv(path: str, text: TextIO, column: str | None) -> Iterator[Cells]:
    rows = csv.reader(text, strict=True)
    heading = _guard(path, lambda: next(rows, None))
    if heading is None:
        raise FldpError(f"{path}: is empty, a row of column names is needed")
    place = _place(path, heading, column)
    cells = ((row[place] or None) if len(row) > place else None for row in rows if row)
    yield from _chunks(path, cells)


def _place(path: str, names: list[str], column: str | None) -> int:
    """Return the index of the column; an only column need not be named."""
    if column is None and len(names) == 1:
        return 0
    if names.count(column or "") != 1:
        shown = ", ".join(names[:20])
        problem = "name one with --column" if column is None else f"--column must name one, got {column!r}"
        raise FldpError(f"{path}: has the columns {shown}: {problem}")
    return names.index(column or "")


def _chunks(path: str, cells: Iterable[str | None]) -> Iterator[Cells]:
    source = iter(cells)
    while chunk := _guard(path, lambda: list(islice(source, CHUNK))):
        yield chunk


def _guard(path: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except UnicodeDecodeError:
        raise FldpError(f"{path}: is not UTF-8 text") from None
    except csv.Error as error:
        raise FldpError(f"{path}: is not CSV: {error}") from None


def _parquet(path: str, column: str | None) -> Iterator[Cells]:
    parquet = load("pyarrow.parquet", "parquet")
    with open_input(path) as file:
        try:
            table = parquet.ParquetFile(file)
        except Exception as error:  # pyarrow's own errors derive from several
            raise FldpError(f"{path}: is not Parquet: {str(error).splitlines()[0]}") from None
        names = list(table.schema_arrow.names)
        name = names[_place(path, names, column)]
        for batch in table.iter_batches(batch_size=CHUNK, columns=[name]):
            yield [None if cell is None else str(cell) for cell in batch.column(0).to_pylist()]


def read_candidates(path: str) -> list[str]:
    """Return the candidates in a file: one on each line, or the only column of a CSV or Parquet file."""
    return [cell for cells in read_cells(path) for cell in cells if cell is not None]


@dataclass
class Encoder:
    """Encodes cells as values, and counts the unknown and missing ones.

    ``unknown`` is ``"error"``, ``"drop"``, or a label to take instead.

    >>> encoder = Encoder({"yes": 0, "no": 1}.get, unknown="drop")
    >>> encoder.encode(["no", None, "maybe", "yes"])
    array([1, 0])
    >>> encoder.summary()
    '2 of 4 dropped: 1 missing, 1 unknown (maybe)'
    """

    value: Callable[[str], int | str | None]
    unknown: str = "error"
    value_type: type[object] = np.int64
    total: int = 0
    missing: int = 0
    unknown_labels: Counter[str] = field(default_factory=Counter)
    others: int = 0

    def __post_init__(self) -> None:
        self._instead = None if self.unknown in ("error", "drop") else self.value(self.unknown)
        if self._instead is None and self.unknown not in ("error", "drop"):
            raise DomainError(f"--unknown must be error, drop, or a label of the survey, got {self.unknown!r}")

    def encode(self, cells: Cells) -> NDArray[np.int64 | np.object_]:
        """Return the values of a chunk."""
        values = [None if cell is None else self.value(cell) for cell in cells]
        if None in values:
            values = self._replace_unknown(cells, values)
        self.total += len(cells)
        return np.array(values, self.value_type)

    def _replace_unknown(self, cells: Cells, values: list[Any]) -> list[Any]:
        for position, (cell, value) in enumerate(zip(cells, values, strict=True)):
            if value is not None:
                continue
            if self.unknown == "error":
                what = "a missing value" if cell is None else f"{cell!r}, which is not a label"
                raise DomainError(f"row {self.total + position + 1} has {what}; see --unknown")
            self._count(cell)
        if self._instead is None:
            return [value for value in values if value is not None]
        return [self._instead if value is None else value for value in values]

    def _count(self, cell: str | None) -> None:
        if cell is None:
            self.missing += 1
        elif cell in self.unknown_labels or len(self.unknown_labels) < 1000:
            self.unknown_labels[cell] += 1
        else:
            self.others += 1

    @property
    def encoded(self) -> int:
        """How many values the cells gave."""
        return self.total - (self.unknowns if self._instead is None else 0)

    @property
    def unknowns(self) -> int:
        """How many cells had no value of their own."""
        return self.missing + self.unknown_labels.total() + self.others

    def summary(self) -> str:
        """Return a line about unknown and missing cells; empty if there were none."""
        if not self.unknowns:
            return ""
        done = "dropped" if self._instead is None else f"counted as {self.unknown}"
        count = self.unknown_labels.total() + self.others
        shown = ", ".join(label for label, _ in self.unknown_labels.most_common(5))
        parts = [f"{self.missing:,} missing"] if self.missing else []
        parts += [f"{count:,} unknown ({shown}{', ...' if len(self.unknown_labels) > 5 else ''})"] if count else []
        return f"{self.unknowns:,} of {self.total:,} {done}: {', '.join(parts)}"
