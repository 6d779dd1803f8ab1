"""Reports as columns of Arrow and back, in the types that fldp writes and in those that other programs use."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.errors import WireError
from fldp.oracles.base.oracle import Oracle
from fldp.support.optional_imports import load

if TYPE_CHECKING:
    import pyarrow

GOOD, MISSING, UNFIT, IMPOSSIBLE = range(4)
Codes = NDArray[np.uint8]


def names(oracle: Oracle) -> tuple[str, ...]:
    """Return the names of the columns of an oracle's reports.

    >>> import fldp
    >>> names(fldp.OUE(epsilon=1.0, domain_size=1023))
    ('bits',)
    """
    return oracle.report_format.dtype.names or (("bits",) if oracle.report_format.shape else ("symbol",))


def fields(oracle: Oracle) -> "list[pyarrow.Field]":
    """Return the Arrow fields of an oracle's reports."""
    arrow, dtype = load("pyarrow", "parquet"), oracle.report_format.dtype
    if oracle.report_format.shape:
        types = [arrow.binary(oracle.report_format.shape[0] * dtype.itemsize)]
    else:
        types = [arrow.from_numpy_dtype(dtype[name] if dtype.names else dtype) for name in names(oracle)]
    return [arrow.field(name, kind, nullable=False) for name, kind in zip(names(oracle), types, strict=True)]


def batch(form: "pyarrow.Schema", data: Array) -> "pyarrow.RecordBatch":
    """Return the data of reports as a record batch of Arrow, in the schema ``form``."""
    return load("pyarrow", "parquet").record_batch(_columns(form, data), schema=form)


def _columns(form: Any, data: Array) -> list[Any]:
    arrow = load("pyarrow", "parquet")
    if data.dtype.names:
        return [arrow.array(np.ascontiguousarray(data[name])) for name in data.dtype.names]
    if data.ndim == 1:
        return [arrow.array(data)]
    buffer = arrow.py_buffer(np.ascontiguousarray(data))
    return [arrow.FixedSizeBinaryArray.from_buffers(form.field(0).type, len(data), [None, buffer])]


def check_columns(form: "pyarrow.Schema", oracle: Oracle) -> None:
    """Refuse a schema without the columns of an oracle's reports; it may have others."""
    for wanted in fields(oracle):
        places = form.get_all_field_indices(wanted.name)
        if len(places) != 1 or not _fits(form.field(places[0]).type, wanted.type):
            present = ", ".join(f"{field.name} {field.type}" for field in form)
            raise WireError(f"parquet: there must be a column {wanted.name} of {wanted.type}, got {present or 'none'}")


def _fits(actual: Any, wanted: Any) -> bool:
    types = load("pyarrow.types", "parquet")
    if types.is_integer(wanted):
        return bool(types.is_integer(actual) or (types.is_decimal(actual) and actual.scale == 0))
    return bool(actual == wanted or types.is_binary(actual) or types.is_large_binary(actual))


def reason(oracle: Oracle, code: int) -> str:
    """Return in words what is wrong with a row.

    >>> import fldp
    >>> reason(fldp.RR(epsilon=1.0), MISSING)
    'has a missing number'
    """
    if code == IMPOSSIBLE:
        return f"is not a report that {oracle!r} can produce"
    return "has a missing number" if code == MISSING else "has a number that does not fit"


def reports_of(oracle: Oracle, rows: "pyarrow.RecordBatch") -> tuple[Array, Codes | None]:
    """Convert a record batch to the data of reports; also return a code for each row, None if all are good."""
    data = oracle.report_format.empty(rows.num_rows)
    codes: Codes | None = None
    for name in names(oracle):
        column, target = rows.column(name), data[name] if data.dtype.names else data
        wrong = _integers(column, target) if data.ndim == 1 else _bytes(column, target)
        if wrong is not None:
            codes = wrong if codes is None else np.maximum(codes, wrong)
    possible = oracle.report_format.check(data)
    if codes is None and possible.all():
        return data, None
    codes = np.zeros(len(data), np.uint8) if codes is None else codes
    codes[(codes == GOOD) & ~possible] = IMPOSSIBLE
    return data, codes


def _integers(column: Any, target: Array) -> Codes | None:
    """Copy numbers of any integer type into a field of reports."""
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
    """Copy bytes, of fixed or variable length, into reports of several numbers."""
    codes, width = _missing(column), target[0:1].nbytes
    arrow = load("pyarrow", "parquet")
    if column.type != arrow.binary(width):
        lengths = load("pyarrow.compute", "parquet").binary_length(column).fill_null(width).to_numpy()
        if (lengths != width).any():
            codes = _marked(codes, lengths != width, len(lengths))
            column = arrow.array([value if len(value or b"") == width else None for value in column.to_pylist()])
        column = column.fill_null(bytes(width)).cast(arrow.binary(width))
    # A slice of an Arrow array shares the buffer of the whole, so the offset has to be applied.
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
