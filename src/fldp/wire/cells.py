"""Cells: values as text, from CSV, Parquet or lines, a chunk at a time, and their encoding as values."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from fldp.errors import DomainError, FldpError, WireError
from fldp.support.atomic_files import open_input
from fldp.support.optional_imports import load

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyarrow.parquet import ParquetFile

CHUNK = 1 << 16
_BLOCK = 512  # rows at once: more would make the garbage collector go through them
_CSV_ENDINGS = (".csv", ".tsv")
_SEPARATORS = ",;\t"
_BREAK = re.compile(r"\r\n|\r|\n")
Cells = list[str | None]
T = TypeVar("T")


class PlacedCells(Cells):
    """Cells that know where they stand: in which line of which file."""

    def __init__(self, cells: Iterable[str | None], path: str, numbers: Sequence[int], unit: str = "line") -> None:
        super().__init__(cells)
        self._path, self._numbers, self._unit = path, numbers, unit

    def place(self, position: int) -> str:
        """Return the place of a cell, in words.

        >>> PlacedCells(["a", "b"], "values.csv", [2, 5]).place(1)
        'values.csv, line 5'
        """
        file = "standard input" if self._path == "-" else self._path
        return f"{file}, {self._unit} {self._numbers[position]}"


def read_cells(path: str, column: str | None = None) -> Iterator[Cells]:
    """Yield the cells of a column in chunks; a missing one is None.

    The ending of the name tells CSV and Parquet. Other files are CSV if a column is given, else one value per line.
    CSV is separated by commas, or by semicolons or tabs where the names of its columns are.
    """
    if path.endswith((".parquet", ".pq")):
        yield from _parquet(path, column)
        return
    with open_input(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        try:
            if column is not None or path.endswith(_CSV_ENDINGS):
                yield from _csv(path, text, column)
            else:
                yield from _lines(path, text)
        finally:
            text.detach()  # the file is closed by whoever opened it


def _csv(path: str, text: TextIO, column: str | None) -> Iterator[Cells]:
    before, separator, first = guard(path, lambda: heading(text, column))
    rows = csv.reader(chain([first] if first else [], text), delimiter=separator, strict=True)
    names = guard(path, lambda: next(rows, None))
    if names is None:
        raise FldpError(f"{path}: is empty, a row of column names is needed")
    place = _place(path, [name.strip() for name in names], column)
    yield from _column(path, rows, place, is_only=len(names) == 1, before=before)


def heading(text: TextIO, column: str | None) -> tuple[int, str, str]:
    """Return how many lines come before the names of the columns, what separates columns, and the line of the names."""
    for before, line in enumerate(text):
        if declared := re.fullmatch(r"sep=(\W)\s*", line, re.IGNORECASE):  # spreadsheets write this line and hide it
            return before + 1, declared[1], text.readline()
        if line.strip():
            return before, _separator(line, column), line
    return 0, ",", ""


def _separator(heading: str, column: str | None) -> str:
    r"""Return what separates the columns: a comma where there is one, unless only another one gives the column.

    >>> [_separator(heading, None) for heading in ("a,b;c", "a;b", "a\tb", '"a;b"', "a")]
    [',', ';', '\t', ',', ',']
    >>> _separator("price, in euros;browser", "browser")
    ';'
    """
    named = {mark: [name.strip() for name in next(csv.reader([heading], delimiter=mark), [])] for mark in _SEPARATORS}
    several = [mark for mark, names in named.items() if len(names) > 1]
    having = [mark for mark in several if column in named[mark]]
    return (having or several or [","])[0]


def _column(path: str, rows: Any, place: int, *, is_only: bool, before: int) -> Iterator[Cells]:
    """Yield the cells of a column.

    A blank line is nobody's row, but where there is one column only it may be somebody's who has no value: it is
    missing, unless nothing follows it.
    """
    held: list[tuple[list[str], int]] = []
    cells: Cells = []
    lines: list[int] = []
    start = before + rows.line_num
    while block := guard(path, lambda: list(islice(rows, _BLOCK))):
        end = before + rows.line_num
        numbers = _numbers(block, start, end)
        if held or not all(block):
            block, numbers, held = _without_blanks(held + list(zip(block, numbers, strict=True)), is_only)
        cells += [(row[place] or None) if len(row) > place else None for row in block]
        lines += numbers
        start = end
        if len(cells) >= CHUNK:
            yield PlacedCells(cells, path, lines)
            cells, lines = [], []
    if cells:
        yield PlacedCells(cells, path, lines)


def _numbers(rows: list[list[str]], start: int, end: int) -> Sequence[int]:
    """Return the lines on which rows begin, after line ``start``; a cell in quotes may go over several."""
    if end - start == len(rows):
        return range(start + 1, end + 1)
    spans = [1 + sum(len(_BREAK.findall(cell)) for cell in row) for row in rows]
    return list(accumulate(spans[:-1], initial=start + 1))


def _without_blanks(
    rows: list[tuple[list[str], int]], is_only: bool
) -> tuple[list[list[str]], list[int], list[tuple[list[str], int]]]:
    """Return the rows that count, their lines, and the blank ones at the end, which count if others follow."""
    size = next((size for size in range(len(rows), 0, -1) if rows[size - 1][0]), 0)
    counted = rows[:size] if is_only else [row for row in rows if row[0]]
    return [row for row, _ in counted], [line for _, line in counted], rows[size:] if is_only else []


def _place(path: str, names: list[str], column: str | None) -> int:
    """Return the index of the column; an only column need not be named."""
    if column is None and len(names) == 1:
        return 0
    wanted = None if column is None else column.strip()
    if names.count(wanted or "") != 1:
        shown = ", ".join(names[:20])
        problem = "name one with --column" if column is None else f"--column must name one, got {column!r}"
        raise FldpError(f"{path}: has the columns {shown}: {problem}")
    return names.index(wanted or "")


def _lines(path: str, text: TextIO) -> Iterator[Cells]:
    before = 0
    while chunk := guard(path, lambda: [line.rstrip("\r\n") or None for line in islice(text, CHUNK)]):
        yield PlacedCells(chunk, path, range(before + 1, before + 1 + len(chunk)))
        before += len(chunk)


def guard(path: str, action: Callable[[], T]) -> T:
    """Read, with an error that names the file where it is not what it should be."""
    try:
        return action()
    except UnicodeDecodeError:
        raise FldpError(f"{path}: is not UTF-8 text; save it as UTF-8, in a spreadsheet as CSV UTF-8") from None
    except csv.Error as error:
        raise FldpError(f"{path}: is not CSV: {error}") from None


@contextmanager
def open_parquet(path: str) -> "Iterator[ParquetFile]":
    """Open a table of any program, with an error that names the file where it is none."""
    parquet = load("pyarrow.parquet", "parquet")
    with open_input(path) as file:
        try:
            table = parquet.ParquetFile(file)
        except Exception as error:  # pyarrow's own errors derive from several
            raise FldpError(f"{path}: is not Parquet: {str(error).splitlines()[0]}") from None
        yield table


def parquet_rows(path: str, table: "ParquetFile", columns: Sequence[str]) -> "Iterator[RecordBatch]":
    """Yield the rows of some columns, a chunk at a time; where they cannot be read, the error names the file."""
    from fldp.wire.parquet import batches

    try:
        yield from batches(table, range(table.num_row_groups), batch_size=CHUNK, columns=list(columns))
    except WireError as error:
        raise FldpError(f"{path}: {error}") from None


def _parquet(path: str, column: str | None) -> Iterator[Cells]:
    with open_parquet(path) as table:
        names = list(table.schema_arrow.names)
        name = names[_place(path, names, column)]
        before = 0
        for batch in parquet_rows(path, table, [name]):
            cells = [None if cell is None else str(cell) for cell in batch.column(0).to_pylist()]
            yield PlacedCells(cells, path, range(before + 1, before + 1 + len(cells)), "row")
            before += len(cells)


def read_candidates(path: str) -> list[str]:
    """Return the candidates in a file: one on each line, or the only column of a CSV or Parquet file."""
    return [cell for cells in read_cells(path) for cell in cells if cell is not None]


@dataclass
class Encoder:
    """Encodes cells as values, and counts the unknown and missing ones; messages name their places and show none.

    ``unknown`` is ``"error"``, ``"drop"``, or a label to take instead. Blanks around a label do not matter; those
    around a string do. ``labels`` says in words what there is to choose from.

    >>> encoder = Encoder({"yes": 0, "no": 1}.get, unknown="drop")
    >>> encoder.encode(["no", None, "maybe", "yes"])
    array([1, 0])
    >>> encoder.summary()
    '2 of 4 dropped: 1 missing, 1 unknown'
    """

    value: Callable[[str], int | str | None]
    unknown: str = "error"
    value_type: type[object] = np.int64
    labels: str = "a label"
    total: int = 0
    missing: int = 0
    unlisted: int = 0

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
            label = (cell or "").strip() or None
            values[position] = None if label is None else self.value(label)
            if values[position] is None:
                self._refuse(cells, position, label)
                self.missing += label is None
                self.unlisted += label is not None
        if self._instead is None:
            return [value for value in values if value is not None]
        return [self._instead if value is None else value for value in values]

    def _refuse(self, cells: Cells, position: int, label: str | None) -> None:
        if self.unknown != "error":
            return
        place = cells.place(position) if isinstance(cells, PlacedCells) else f"row {self.total + position + 1}"
        what = "a missing value" if label is None else f"a value that is not {self.labels} (not shown)"
        raise DomainError(f"{place} has {what}; see --unknown")

    @property
    def encoded(self) -> int:
        """How many values the cells gave."""
        return self.total - (self.unknowns if self._instead is None else 0)

    @property
    def unknowns(self) -> int:
        """How many cells had no value of their own."""
        return self.missing + self.unlisted

    def summary(self) -> str:
        """Return a line about unknown and missing cells; empty if there were none."""
        if not self.unknowns:
            return ""
        done = "dropped" if self._instead is None else f"counted as {self.unknown}"
        parts = [f"{self.missing:,} missing"] if self.missing else []
        parts += [f"{self.unlisted:,} unknown"] if self.unlisted else []
        return f"{self.unknowns:,} of {self.total:,} {done}: {', '.join(parts)}"
