"""Table: measurements, one a row, as CSV or Parquet."""

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fldp.errors import FldpError
from fldp.support.atomic_files import open_input, open_output
from fldp.support.csv_cells import escape_cell, unescape_cell
from fldp.support.optional_imports import load
from fldp.support.validation import fail

if TYPE_CHECKING:
    import pandas

Column = NDArray[Any]

COLUMNS: dict[str, type] = {
    "dataset": str,
    "series": str,  # the oracle, its parameters and the decoder, for people
    "oracle": str,
    "decoder": str,
    "postprocess": str,
    "epsilon": float,
    "eta": float,
    "run": int,
    "metric": str,
    "k": int,  # 0 where the metric is over all values
    "value": float,
    "n": int,
    "domain_size": int,
}
_DTYPES = {str: np.dtype(object), float: np.dtype(np.float64), int: np.dtype(np.int64)}
ENDINGS = (".csv", ".parquet", ".pq")


def check_ending(path: str | Path) -> str:
    """Return the path of a table as text if its ending names a format that can be written.

    >>> check_ending("out.csv")
    'out.csv'
    """
    if not str(path).endswith(ENDINGS):
        raise fail("table", "the ending of its file", f"one of {', '.join(ENDINGS)}", Path(path).name)
    if not str(path).endswith(".csv"):
        load("pyarrow.parquet", "parquet")
    return str(path)


@dataclass(frozen=True)
class Summary:
    """The mean of measurements over runs, their standard deviation, and how many there were.

    Measurements that are not a number, such as the squared error over nothing, are left out and not counted.
    """

    key: tuple[Any, ...]
    mean: float
    spread: float
    runs: int


class Table:
    """Measurements as columns; see ``COLUMNS``. Rows are in the order of the specification.

    >>> table = Table.of([("zipf", "OUE", "oue", "linear", "none", 1.0, 1.0, run, "re", 20, 0.1 * run, 9, 3)
    ...                   for run in (1, 2, 3)])
    >>> len(table), table["run"], len(table.where(metric="re", run=(1, 2)))
    (3, array([1, 2, 3]), 2)
    >>> table.summary("series", "epsilon")
    [Summary(key=('OUE', 1.0), mean=0.2..., spread=0.1..., runs=3)]
    """

    def __init__(self, columns: Mapping[str, Sequence[str | float] | Column]) -> None:
        if list(columns) != list(COLUMNS):
            raise fail("table", "its columns", ", ".join(COLUMNS), ", ".join(columns))
        self._columns = {name: _column(name, cells) for name, cells in columns.items()}

    @classmethod
    def of(cls, rows: Iterable[Sequence[str | float]]) -> "Table":
        """Build a table from its rows."""
        cells = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
        return cls(dict(zip(COLUMNS, cells, strict=True)))

    def __len__(self) -> int:
        return len(self._columns["value"])

    def __getitem__(self, name: str) -> Column:
        """Return a column."""
        return self._columns[name]

    def __eq__(self, other: object) -> bool:
        """Whether two tables hold the same; cells that are not a number count as equal."""
        if not isinstance(other, Table):
            return NotImplemented
        return all(np.array_equal(self[name], other[name], equal_nan=name == "value") for name in COLUMNS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<table of {len(self)} measurements>"

    def where(self, **conditions: str | float | Collection[str | float]) -> "Table":
        """Return the rows whose columns hold these values, or one of these where several are given."""
        selected = np.ones(len(self), np.bool_)
        for name, wanted in conditions.items():
            choices = wanted if isinstance(wanted, tuple | list | set) else (wanted,)
            selected &= np.logical_or.reduce([self[name] == choice for choice in choices])
        return Table({name: cells[selected] for name, cells in self._columns.items()})

    def summary(self, *by: str) -> list[Summary]:
        """Return the mean over all rows that agree in these columns, in the order in which they first occur."""
        groups: dict[tuple[Any, ...], list[float]] = {}
        keys = zip(*(self[name].tolist() for name in by), strict=True) if by else [()] * len(self)
        for key, value in zip(keys, self["value"].tolist(), strict=True):
            groups.setdefault(key, []).append(value)
        return [_summed(key, np.array(values)) for key, values in groups.items()]

    def write(self, path: str | Path) -> None:
        """Write the table as CSV or Parquet, by the ending of its name, whole or not at all."""
        name = check_ending(path)
        with open_output(name) as file:
            if name.endswith(".csv"):
                file.write(self._csv().encode())
            else:
                arrow = load("pyarrow", "parquet")
                cells = {name: column.tolist() for name, column in self._columns.items()}
                table = arrow.table(cells, schema=_schema(arrow))
                load("pyarrow.parquet", "parquet").write_table(table, file)

    def _csv(self) -> str:
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(COLUMNS)
        rows.writerows(zip(*(map(_cell, cells.tolist()) for cells in self._columns.values()), strict=True))
        return out.getvalue()

    @classmethod
    def read(cls, path: str | Path) -> "Table":
        """Read a table that ``write`` wrote."""
        name = check_ending(path)
        with open_input(name) as file:
            try:
                return cls._from_csv(file.read()) if name.endswith(".csv") else cls._from_parquet(file)
            except FldpError as error:
                raise FldpError(f"{path}: {error}") from None
            except Exception as error:  # pyarrow's own errors derive from several
                raise FldpError(f"{path}: is not a table of measurements: {str(error).splitlines()[0]}") from None

    @classmethod
    def _from_csv(cls, data: bytes) -> "Table":
        heading, *rows = csv.reader(io.StringIO(data.decode(), newline=""), strict=True)
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(heading)
        typed = zip(heading, cells, strict=True)
        return cls({name: [_read(name, cell) for cell in column] for name, column in typed})

    @classmethod
    def _from_parquet(cls, file: Any) -> "Table":
        table = load("pyarrow.parquet", "parquet").read_table(file)
        return cls({name: table.column(name).to_pylist() for name in table.column_names})

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the table as a pandas DataFrame."""
        frame: pandas.DataFrame = load("pandas", "pandas").DataFrame(self._columns)
        return frame


def _cell(value: Any) -> Any:
    return escape_cell(value) if isinstance(value, str) else value


def _read(name: str, cell: str) -> Any:
    kind = COLUMNS.get(name, str)
    return unescape_cell(cell) if kind is str else kind(cell)


def _column(name: str, cells: Sequence[Any] | Column) -> Column:
    column = np.empty(len(cells), _DTYPES[COLUMNS[name]])
    column[:] = cells
    column.flags.writeable = False
    return column


def _schema(arrow: Any) -> Any:
    kinds = {str: arrow.string(), float: arrow.float64(), int: arrow.int64()}
    return arrow.schema([arrow.field(name, kinds[kind], nullable=False) for name, kind in COLUMNS.items()])


def _summed(key: tuple[Any, ...], values: NDArray[np.float64]) -> Summary:
    good = values[~np.isnan(values)]
    mean = float(good.mean()) if len(good) else float("nan")
    spread = float(good.std(ddof=1)) if len(good) > 1 else float("nan")
    return Summary(key, mean, spread, len(good))
