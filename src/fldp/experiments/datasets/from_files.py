"""Populations from files: values in CSV, Parquet or one per line, or items with their counts."""

import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from fldp.errors import DomainError, FldpError
from fldp.experiments.datasets.population import Population, dataset
from fldp.support.atomic_files import open_input, open_output
from fldp.wire.cells import open_parquet, read_cells

ENDINGS = (".csv", ".csv.gz", ".parquet", ".pq", ".txt")
_PARQUET = (".parquet", ".pq")


@dataset("file")
def from_file(seed: int, path: str, column: str | None = None) -> Population:
    """Your own: path to a CSV, Parquet or text file of values (column names one), or of items and their count.

    A file of two columns, the second named ``count``, holds items and counts; any other holds values, and rows
    without one are left out. A population has the name of its file.
    """
    del seed
    name = Path(path).name.partition(".")[0]
    if column is None and (rows := _counts_in(path)) is not None:
        return _from_counts(path, name, rows)
    if path.endswith(".gz"):
        raise FldpError(f"{path}: must hold two columns, the second named count; unpack it to read values")
    tallied: Counter[str] = Counter()
    for cells in read_cells(path, column):
        tallied.update(cell for cell in cells if cell is not None)
    return Population.of(name, tallied)


def read_counts(path: Path, name: str) -> Population:
    """Read a CSV file of items and counts, in its order."""
    rows = _counts_in(str(path))
    if rows is None:
        raise FldpError(f"{path}: must hold two columns, the second named count")
    return _from_counts(str(path), name, rows)


def write_counts(path: Path, population: Population) -> None:
    """Write items and counts as compressed CSV, the same bytes for the same population."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("item", "count"))
    rows.writerows(zip(population.labels or range(population.domain_size), population.counts.tolist(), strict=True))
    with open_output(str(path)) as file:
        file.write(gzip.compress(text.getvalue().encode(), mtime=0))


def _from_counts(path: str, name: str, rows: Iterable[tuple[str, Any]]) -> Population:
    counts: dict[str, int] = {}
    for number, (item, count) in enumerate(rows, 1):
        text = str(count)
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise DomainError(f"{path}: a count must be an integer of at least 0, got {text!r} in row {number}")
        if item in counts:
            raise DomainError(f"{path}: an item must occur once, got {item!r} again in row {number}")
        counts[item] = int(text)
    if len(counts) < 2:
        raise DomainError(f"{path}: at least two items are needed, got {len(counts)}")
    return Population(name, list(counts.values()), tuple(counts))  # type: ignore[arg-type]


def _counts_in(path: str) -> list[tuple[str, Any]] | None:
    """Return the rows of a file of items and counts; None if it is not one."""
    if path.endswith(_PARQUET):
        return _parquet_counts(path)
    if not path.endswith((".csv", ".csv.gz")):
        return None
    with _text(path) as text:
        try:
            rows = csv.reader(text, strict=True)
            heading = next(rows, [])
            if len(heading) != 2 or heading[1] != "count":
                return None
            return [(row[0], row[1] if len(row) == 2 else "") for row in rows if row]
        except UnicodeDecodeError:
            raise FldpError(f"{path}: is not UTF-8 text") from None
        except csv.Error as error:
            raise FldpError(f"{path}: is not CSV: {error}") from None
        except (EOFError, gzip.BadGzipFile, OSError):
            raise FldpError(f"{path}: is not a whole file of gzip") from None


@contextmanager
def _text(path: str) -> Iterator[TextIO]:
    with open_input(path) as file:
        raw: Any = gzip.GzipFile(fileobj=file) if path.endswith(".gz") else file
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        try:
            yield text
        finally:
            text.detach()


def _parquet_counts(path: str) -> list[tuple[str, Any]] | None:
    with open_parquet(path) as table:
        names = list(table.schema_arrow.names)
        if len(names) != 2 or names[1] != "count":
            return None
        items, counts = (table.read([name]).column(0).to_pylist() for name in names)
        return [(str(item), count) for item, count in zip(items, counts, strict=True)]
