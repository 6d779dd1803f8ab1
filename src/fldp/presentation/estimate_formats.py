"""Estimates in the formats of files: CSV, JSON and Parquet."""

from typing import Any

from fldp.data.estimate import Estimate
from fldp.presentation.tables import as_csv, as_json, label
from fldp.support.optional_imports import load


def encoded(estimate: Estimate, form: str, level: float, top: int | None) -> bytes:
    """Return all values, or the largest, in a format: ``csv``, ``json`` or ``parquet``."""
    if form == "parquet":
        return as_parquet(estimate, level, top)
    return (as_csv if form == "csv" else as_json)(estimate, level, top).encode()


def as_parquet(estimate: Estimate, level: float, top: int | None) -> bytes:
    """Return an estimate as a Parquet file."""
    arrow, writer = load("pyarrow", "parquet"), load("pyarrow.parquet", "parquet")
    rows = estimate.table(level) if top is None else estimate.top(top, level)
    labels = [label(estimate, int(value)) for value in rows["value"]]
    columns: dict[str, Any] = {"value": rows["value"], "label": labels}
    columns |= {name: rows[name] for name in (rows.dtype.names or ())[1:]}
    sink = arrow.BufferOutputStream()
    writer.write_table(arrow.table(columns), sink)
    return bytes(sink.getvalue())
