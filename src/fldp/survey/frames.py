"""The accessor ``.fldp`` of data frames: importing this module registers it with pandas and polars, where they are.

A frame of reports has the columns of a Parquet file of reports (docs/lake.md), in the order of the rows that were
answered, and none of the columns beside them.
"""

import importlib.util
from typing import TYPE_CHECKING, Any

from fldp.data.reports import Reports, Tally
from fldp.errors import DomainError
from fldp.oracles.base.oracle import Oracle
from fldp.support.optional_imports import load
from fldp.survey.survey import Survey
from fldp.wire import parquet
from fldp.wire.arrow_reports import batch, check_columns, names, reason, reports_of

if TYPE_CHECKING:
    import pandas
    import polars
    from pyarrow import Table

Asked = Survey | Oracle


class PandasAccessor:
    """``frame.fldp`` of a pandas frame: ``privatize`` a column, ``tally`` a frame of reports."""

    def __init__(self, frame: "pandas.DataFrame") -> None:
        self._frame = frame

    def privatize(self, column: str, asked: Asked, *, rng: int | None = None) -> "pandas.DataFrame":
        """Return a frame with a report for each row, drawn from the labels (or values, of an oracle) of a column."""
        answers = self._frame[_present(column, self._frame.columns)].tolist()
        private: pandas.DataFrame = _table(asked.privatize(answers, rng=rng)).to_pandas()
        return private

    def tally(self, asked: Asked) -> Tally:
        """Count a frame of reports."""
        arrow, oracle = load("pyarrow", "parquet"), _oracle(asked)
        present = [name for name in names(oracle) if name in self._frame.columns]
        return _tally(oracle, arrow.Table.from_pandas(self._frame[present], preserve_index=False))


class PolarsAccessor:
    """``frame.fldp`` of a polars frame: the same."""

    def __init__(self, frame: "polars.DataFrame") -> None:
        self._frame = frame

    def privatize(self, column: str, asked: Asked, *, rng: int | None = None) -> "polars.DataFrame":
        """Return a frame with a report for each row, drawn from the labels (or values, of an oracle) of a column."""
        answers = self._frame[_present(column, self._frame.columns)].to_list()
        private: polars.DataFrame = load("polars", "polars").from_arrow(_table(asked.privatize(answers, rng=rng)))
        return private

    def tally(self, asked: Asked) -> Tally:
        """Count a frame of reports."""
        oracle, oldest = _oracle(asked), load("polars", "polars").CompatLevel.oldest()
        present = [name for name in names(oracle) if name in self._frame.columns]
        return _tally(oracle, self._frame.select(present).to_arrow(compat_level=oldest))


def _oracle(asked: Asked) -> Oracle:
    return asked.oracle if isinstance(asked, Survey) else asked


def _present(column: str, columns: Any) -> str:
    if column not in columns:
        raise DomainError(f"frame: there is no column {column!r}, only {', '.join(map(str, columns)) or 'none'}")
    return column


def _table(reports: Reports) -> "Table":
    form = parquet.schema(reports.oracle).remove_metadata()
    table: Table = load("pyarrow", "parquet").Table.from_batches([batch(form, reports.data)])
    return table


def _tally(oracle: Oracle, table: "Table") -> Tally:
    if table.num_rows or tuple(table.column_names) != names(oracle):  # of no rows, pandas cannot tell the type
        check_columns(table.schema, oracle)
    tally, start = oracle.tally(Reports.trusted(oracle, oracle.report_format.empty(0))), 0
    for rows in table.to_batches():
        data, codes = reports_of(oracle, rows)
        if codes is not None:
            row = int(codes.argmax())
            raise DomainError(f"frame: row {start + row} {reason(oracle, int(codes[row]))}")
        tally, start = tally + oracle.tally(Reports.trusted(oracle, data)), start + len(data)
    return tally


def register() -> None:
    """Register the accessor with the libraries that are installed."""
    if importlib.util.find_spec("pandas"):
        load("pandas", "pandas").api.extensions.register_dataframe_accessor("fldp")(PandasAccessor)
    if importlib.util.find_spec("polars"):
        load("polars", "polars").api.register_dataframe_namespace("fldp")(PolarsAccessor)


register()
