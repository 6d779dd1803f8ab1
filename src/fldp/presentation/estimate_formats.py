"""Estimates in the formats of files: CSV, JSON and Parquet."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fldp.data.estimate import Estimate
from fldp.data.number import Number
from fldp.data.scale import MEAN
from fldp.presentation import number as number_view
from fldp.presentation.tables import as_csv, as_json, csv_text, label
from fldp.support.canonical_json import Json
from fldp.support.optional_imports import load


def encoded(
    estimate: Estimate, form: str, level: float, top: int | None, more: Mapping[str, Json] = MappingProxyType({})
) -> bytes:
    """Return all values, or the largest, in a format: ``csv``, ``json`` or ``parquet``; of a number, all its cells.

    JSON also has ``more`` that is known of the reports.
    """
    if isinstance(estimate, Number):
        return _number(estimate, form, level, more)
    if form == "parquet":
        return as_parquet(estimate, level, top)
    return (as_csv(estimate, level, top) if form == "csv" else as_json(estimate, level, top, more)).encode()


def _number(number: Number, form: str, level: float, more: Mapping[str, Json]) -> bytes:
    """Return the cells of a number, or its mean; JSON has its figures, too."""
    rows = number_view.rows(number, level)
    if form == "parquet":
        return _parquet({name: [row[name] for row in rows] for name in rows[0]})
    if form == "csv":
        return csv_text(rows[0], rows).encode()
    plain = json.loads(as_json(number, level, 1, more))
    cells = [] if number.scale.goal == MEAN else json.loads(as_json(number, level, None))["rows"]
    facts = plain | {"rows": cells, "number": number_view.figures(number, level)}
    return json.dumps(facts, ensure_ascii=False, indent=1).encode()


def as_parquet(estimate: Estimate, level: float, top: int | None) -> bytes:
    """Return an estimate as a Parquet file."""
    rows = estimate.table(level) if top is None else estimate.top(top, level)
    labels = [label(estimate, int(value)) for value in rows["value"]]
    columns: dict[str, Any] = {"value": rows["value"], "label": labels}
    columns |= {name: rows[name] for name in (rows.dtype.names or ())[1:]}
    return _parquet(columns)


def _parquet(columns: dict[str, Any]) -> bytes:
    arrow, writer = load("pyarrow", "parquet"), load("pyarrow.parquet", "parquet")
    sink = arrow.BufferOutputStream()
    writer.write_table(arrow.table(columns), sink)
    return bytes(sink.getvalue())
