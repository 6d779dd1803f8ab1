"""Columns of Arrow as reports: in the types that fldp writes, and in those that other programs make of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.errors import WireError
from fldp.oracles.base.oracle import Oracle
from fldp.support.optional_imports import load
from fldp.wire import parquet

GOOD, MISSING, UNFIT, IMPOSSIBLE = range(4)
Codes = NDArray[np.uint8]


def reason(oracle: Oracle, code: int) -> str:
    """Say in words what is wrong with a row.

    >>> import fldp
    >>> reason(fldp.RR(epsilon=1.0), MISSING)
    'has a missing number'
    """
    if code == IMPOSSIBLE:
        return f"is not a report that {oracle!r} can produce"
    return "has a missing number" if code == MISSING else "has a number that does not fit"


def check_columns(form: Any, oracle: Oracle) -> None:
    """Refuse a schema without the columns of an oracle; other columns are passed over."""
    for wanted in parquet.schema(oracle):
        places = form.get_all_field_indices(wanted.name)
        if len(places) != 1 or not _fits(form.field(places[0]).type, wanted.type):
            found = ", ".join(f"{field.name} {field.type}" for field in form)
            raise WireError(f"parquet: there must be a column {wanted.name} of {wanted.type}, got {found or 'none'}")


def _fits(found: Any, wanted: Any) -> bool:
    kinds = load("pyarrow.types", "parquet")
    if kinds.is_integer(wanted):
        return bool(kinds.is_integer(found) or (kinds.is_decimal(found) and found.scale == 0))
    return bool(found == wanted or kinds.is_binary(found) or kinds.is_large_binary(found))


def reports_of(oracle: Oracle, batch: Any) -> tuple[Array, Codes | None]:
    """Return rows as data of reports, and what is wrong with each of them; None if nothing is."""
    data = np.empty((batch.num_rows, *oracle.report_shape), oracle.report_dtype)
    codes: Codes | None = None
    for column, name in zip(batch.columns, parquet.names(oracle), strict=True):
        target = data[name] if data.dtype.names else data
        wrong = _integers(column, target) if data.ndim == 1 else _bytes(column, target)
        if wrong is not None:
            codes = wrong if codes is None else np.maximum(codes, wrong)
    possible = oracle.check(data)
    if codes is None and possible.all():
        return data, None
    codes = np.zeros(len(data), np.uint8) if codes is None else codes
    codes[(codes == GOOD) & ~possible] = IMPOSSIBLE
    return data, codes


def _integers(column: Any, target: Array) -> Codes | None:
    """Copy numbers of any integer type into those of a report."""
    codes = _missing(column)
    if codes is not None:
        column = column.fill_null(0)
    if load("pyarrow.types", "parquet").is_decimal(column.type):
        numbers = np.array(column.to_pylist(), object)
    else:
        numbers = column.to_numpy(zero_copy_only=False)
    if numbers.dtype == target.dtype:
        target[...] = numbers
        return codes
    fits = np.asarray((numbers >= 0) & (numbers <= np.iinfo(target.dtype).max), np.bool_)
    target[...] = np.where(fits, numbers, 0)
    if fits.all():
        return codes
    return _marked(codes, ~fits, len(fits))


def _bytes(column: Any, target: Array) -> Codes | None:
    """Copy bytes, of a fixed or of any length, into reports of several numbers."""
    codes, width = _missing(column), target[0:1].nbytes
    arrow = load("pyarrow", "parquet")
    if column.type != arrow.binary(width):
        lengths = load("pyarrow.compute", "parquet").binary_length(column).fill_null(width).to_numpy()
        if (lengths != width).any():
            codes = _marked(codes, lengths != width, len(lengths))
            column = arrow.array([value if len(value or b"") == width else None for value in column.to_pylist()])
        column = column.fill_null(bytes(width)).cast(arrow.binary(width))
    rows = np.frombuffer(column.buffers()[1], target.dtype).reshape(-1, *target.shape[1:])
    target[...] = rows[column.offset : column.offset + len(column)]
    return codes


def _missing(column: Any) -> Codes | None:
    if not column.null_count:
        return None
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False), np.uint8) * np.uint8(MISSING)


def _marked(codes: Codes | None, unfit: NDArray[np.bool_], length: int) -> Codes:
    codes = np.zeros(length, np.uint8) if codes is None else codes
    codes[unfit & (codes == GOOD)] = UNFIT
    return codes
