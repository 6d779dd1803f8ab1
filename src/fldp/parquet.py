"""Reports as Parquet: one column for each number of a report, and what they answer in the file's metadata."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

from fldp import canonical
from fldp.base import Oracle
from fldp.errors import DomainError, FldpError, WireError
from fldp.extras import load
from fldp.reports import Array, Reports
from fldp.wire import build, describe

MAGIC = b"PAR1"
_KEY = b"fldp"
_ROWS = 1 << 17


def _arrow() -> tuple[Any, Any]:
    return load("pyarrow", "parquet"), load("pyarrow.parquet", "parquet")


def schema(oracle: Oracle, survey: str | None = None) -> Any:
    """Return the Arrow schema of an oracle's reports.

    >>> import fldp
    >>> schema(fldp.FHR(epsilon=1.0, domain_size=1023)).names
    ['plus', 'minus']
    """
    arrow, _ = _arrow()
    meta = {"format": 1, "oracle": describe(oracle), **({"survey": survey} if survey else {})}
    dtype = np.dtype(oracle.report_dtype)
    if dtype.names:
        fields = [(name, arrow.from_numpy_dtype(dtype[name])) for name in dtype.names]
    elif oracle.report_shape:
        fields = [("bits", arrow.binary(oracle.report_shape[0] * dtype.itemsize))]
    else:
        fields = [("symbol", arrow.from_numpy_dtype(dtype))]
    columns = [arrow.field(name, kind, nullable=False) for name, kind in fields]
    return arrow.schema(columns, metadata={_KEY: canonical.dumps(meta)})


def write(file: BinaryIO, oracle: Oracle, batches: Iterable[Reports], survey: str | None = None) -> int:
    """Write reports as they come; return how many there were."""
    arrow, parquet = _arrow()
    form, count = schema(oracle, survey), 0
    with parquet.ParquetWriter(file, form) as writer:
        for reports in batches:
            for start in range(0, len(reports), _ROWS):
                part = reports[start : start + _ROWS]
                writer.write_batch(arrow.record_batch(_columns(arrow, form, part.data), schema=form))
            count += len(reports)
    return count


def _columns(arrow: Any, form: Any, data: Array) -> list[Any]:
    if data.dtype.names:
        return [arrow.array(np.ascontiguousarray(data[name])) for name in data.dtype.names]
    if data.ndim == 1:
        return [arrow.array(data)]
    buffer = arrow.py_buffer(np.ascontiguousarray(data))
    return [arrow.FixedSizeBinaryArray.from_buffers(form.field(0).type, len(data), [None, buffer])]


def read(
    file: BinaryIO, oracle: Oracle | None = None, survey: str | None = None
) -> tuple[Oracle, str | None, Iterator[Reports]]:
    """Return the oracle, the survey's version and the reports of a file, batch by batch, each of them checked."""
    _, parquet = _arrow()
    try:
        table = parquet.ParquetFile(file)
    except Exception as error:  # pyarrow's own errors derive from several
        raise WireError(f"parquet: not a Parquet file: {str(error).splitlines()[0]}") from None
    try:
        meta = json.loads((table.schema_arrow.metadata or {})[_KEY])
        named, version = build(meta["oracle"]), meta.get("survey")
    except (KeyError, ValueError, TypeError, RecursionError, FldpError):
        raise WireError("parquet: the file's metadata do not name an oracle of fldp") from None
    if oracle is not None and named != oracle:
        raise WireError(f"parquet: of {named!r}, where {oracle!r} is expected")
    if survey is not None and version != survey:
        raise WireError(f"parquet: for survey version {version or 'none'}, where {survey} is expected")
    if not table.schema_arrow.equals(schema(named)):
        raise WireError(f"parquet: the columns are not those of {named!r}")
    return named, version, _batches(table, named)


def _batches(table: Any, oracle: Oracle) -> Iterator[Reports]:
    row = 0
    try:
        for batch in table.iter_batches(batch_size=_ROWS):
            yield Reports(oracle, _data(oracle, batch))
            row += batch.num_rows
    except DomainError as error:
        raise WireError(f"parquet: in the rows from {row}: {error}") from None
    except OSError as error:
        raise WireError(f"parquet: in the rows from {row}: {str(error).splitlines()[0]}") from None


def _data(oracle: Oracle, batch: Any) -> Array:
    data = np.empty((batch.num_rows, *oracle.report_shape), oracle.report_dtype)
    if any(column.null_count for column in batch.columns):
        raise DomainError(f"{oracle.title}: reports must not be missing")
    if data.dtype.names:
        for name in data.dtype.names:
            data[name] = batch.column(name).to_numpy()
    elif data.ndim == 1:
        data[:] = batch.column(0).to_numpy()
    else:
        column = batch.column(0)
        bits = np.frombuffer(column.buffers()[1], data.dtype).reshape(-1, *oracle.report_shape)
        data[:] = bits[column.offset : column.offset + len(column)]
    return data
