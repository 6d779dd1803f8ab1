"""Rows of several columns, from CSV or Parquet, a chunk at a time, and their encoding as records."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Reports
from fldp.errors import DomainError, FldpError
from fldp.oracles.base.oracle import Oracle
from fldp.randomness.stream import Stream
from fldp.support.atomic_files import open_input
from fldp.support.progress import Progress, ignore
from fldp.wire.cells import CHUNK, guard, heading, open_parquet, parquet_rows

Answers = dict[str, str | None]
Row = tuple[str, Answers]  # its place, and the answers by the names of questions


def read_rows(path: str, names: Sequence[str] | None = None) -> Iterator[list[Row]]:
    """Yield rows with a cell for each of these columns, in chunks; a missing cell is None, blanks do not matter.

    Without ``names``, all columns are meant.
    """
    if path.endswith((".parquet", ".pq")):
        yield from _parquet(path, names)
        return
    with open_input(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        try:
            yield from _csv(path, text, names)
        finally:
            text.detach()  # the file is closed by whoever opened it


def _csv(path: str, text: TextIO, asked: Sequence[str] | None) -> Iterator[list[Row]]:
    before, separator, first = guard(path, lambda: heading(text, asked[0] if asked else None))
    rows = csv.reader(chain([first] if first else [], text), delimiter=separator, strict=True)
    columns = guard(path, lambda: next(rows, None))
    if columns is None:
        raise FldpError(f"{path}: is empty, a row of column names is needed")
    header = [column.strip() for column in columns]
    names = header if asked is None else asked
    places = _places(path, header, names)
    file = "standard input" if path == "-" else path
    while chunk := guard(path, lambda: [(rows.line_num, row) for row in islice(rows, CHUNK)]):
        yield [
            (f"{file}, line {before + line}", {name: _cell(row, places[name]) for name in names})
            for line, row in chunk
            if row
        ]


def _places(path: str, columns: list[str], names: Sequence[str]) -> dict[str, int]:
    missing = [name for name in names if columns.count(name) != 1]
    if missing:
        shown = ", ".join(columns[:20])
        raise FldpError(f"{path}: has the columns {shown}: a column for each question is needed, such as {missing[0]}")
    return {name: columns.index(name) for name in names}


def _cell(row: list[str], place: int) -> str | None:
    return (row[place].strip() or None) if len(row) > place else None


def _parquet(path: str, asked: Sequence[str] | None) -> Iterator[list[Row]]:
    with open_parquet(path) as table:
        names = list(table.schema_arrow.names) if asked is None else asked
        _places(path, list(table.schema_arrow.names), names)
        before = 0
        for batch in parquet_rows(path, table, names):
            columns = {name: batch.column(place).to_pylist() for place, name in enumerate(batch.schema.names)}
            size = batch.num_rows
            yield [
                (f"{path}, row {before + k + 1}", {name: _text(columns[name][k]) for name in names})
                for k in range(size)
            ]
            before += size


def _text(cell: object) -> str | None:
    return None if cell is None else str(cell).strip() or None


@dataclass
class RecordEncoder:
    """Encodes rows as records, and counts those that it leaves out.

    ``value`` returns the record of answers, or None; ``bad`` the name of the question that is to blame. ``unknown`` is
    ``"error"`` or ``"drop"``.
    """

    value: Callable[[Answers], int | None]
    bad: Callable[[Answers], str]
    names: tuple[str, ...]
    unknown: str = "error"
    encoded: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if self.unknown not in ("error", "drop"):
            raise DomainError(f"--unknown must be error or drop for several questions, got {self.unknown!r}")

    def encode(self, rows: list[Row]) -> NDArray[np.int64]:
        """Return the records of a chunk."""
        values = []
        for place, answers in rows:
            value = self.value(answers)
            if value is None:
                self._refuse(place, answers)
            else:
                values.append(value)
        self.encoded += len(values)
        return np.array(values, np.int64)

    def _refuse(self, place: str, answers: Answers) -> None:
        name = self.bad(answers)
        if self.unknown == "error":
            what = "no answer" if answers[name] is None else "an unknown answer (not shown)"
            raise DomainError(f"{place} has {what} to {name}; see --unknown")
        self.dropped[name] += 1

    def summary(self) -> str:
        """Return a line about the rows that were left out; empty if there were none."""
        if not self.dropped:
            return ""
        parts = ", ".join(f"{count:,} by {name}" for name, count in self.dropped.most_common(5))
        return f"{self.dropped.total():,} of {self.encoded + self.dropped.total():,} rows dropped: {parts}"


def privatize_rows(
    path: str, oracle: Oracle, encoder: RecordEncoder, *, rng: Stream, progress: Progress = ignore
) -> Iterator[Reports]:
    """Privatize the rows of a file, a chunk at a time; a file without a row is an error."""
    for rows in read_rows(path, encoder.names):
        values = encoder.encode(rows)
        progress(len(rows))
        if len(values):
            yield oracle.privatize(values, rng=rng)
    if not encoder.encoded:
        dropped = encoder.summary()
        raise FldpError(f"{path}: holds no row to privatize{': ' if dropped else ''}{dropped}")
