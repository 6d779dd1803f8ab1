"""Reports as Parquet: one column for each number of a report, and what they answer in the file's metadata.

Three things make damage show. Every page has a checksum, which covers the numbers of the reports. What the footer says
of the oracle and the survey has a checksum of ours. What is left, the headers of pages and the rest of the footer, says
several times how many rows there are: the numbers must agree with each other and with the rows that were read.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fldp.data.reports import Array, Reports
from fldp.errors import DomainError, FldpError, WireError
from fldp.oracles.base.oracle import Oracle
from fldp.support import canonical_json
from fldp.support.optional_imports import load
from fldp.wire.description import build, describe

MAGIC = b"PAR1"
_KEY = b"fldp"
_ROWS = 1 << 17
_CHECK = 16  # hexadecimal digits of the checksum of what the file is about


def _arrow() -> tuple[Any, Any]:
    return load("pyarrow", "parquet"), load("pyarrow.parquet", "parquet")


def names(oracle: Oracle) -> tuple[str, ...]:
    """Return the names of the columns of an oracle's reports.

    >>> import fldp
    >>> names(fldp.OUE(epsilon=1.0, domain_size=1023))
    ('bits',)
    """
    return np.dtype(oracle.report_dtype).names or (("bits",) if oracle.report_shape else ("symbol",))


def schema(oracle: Oracle, survey: str | None = None, number: int | None = None) -> Any:
    """Return the Arrow schema of an oracle's reports; a collector adds its own number of the survey.

    >>> import fldp
    >>> schema(fldp.FHR(epsilon=1.0, domain_size=1023)).names
    ['plus', 'minus']
    """
    arrow, _ = _arrow()
    meta = {"format": 1, "oracle": describe(oracle), **({"survey": survey} if survey else {})}
    meta |= {} if number is None else {"number": number}
    meta["check"] = _checksum(meta)
    dtype = np.dtype(oracle.report_dtype)
    if oracle.report_shape:
        kinds = [arrow.binary(oracle.report_shape[0] * dtype.itemsize)]
    else:
        kinds = [arrow.from_numpy_dtype(dtype[name] if dtype.names else dtype) for name in names(oracle)]
    columns = [arrow.field(name, kind, nullable=False) for name, kind in zip(names(oracle), kinds, strict=True)]
    return arrow.schema(columns, metadata={_KEY: canonical_json.dumps(meta)})


def write(
    file: BinaryIO,
    oracle: Oracle,
    batches: Iterable[Reports],
    survey: str | None = None,
    number: int | None = None,
) -> int:
    """Write reports as they come; return how many there were."""
    _, parquet = _arrow()
    form, count = schema(oracle, survey, number), 0
    with parquet.ParquetWriter(file, form, write_page_checksum=True) as writer:
        for reports in batches:
            for start in range(0, len(reports), _ROWS):
                part = reports[start : start + _ROWS]
                writer.write_batch(batch(form, part.data))
            count += len(reports)
    return count


def batch(form: Any, data: Array) -> Any:
    """Return the data of reports as a record batch of Arrow."""
    arrow, _ = _arrow()
    return arrow.record_batch(_columns(arrow, form, data), schema=form)


def _columns(arrow: Any, form: Any, data: Array) -> list[Any]:
    if data.dtype.names:
        return [arrow.array(np.ascontiguousarray(data[name])) for name in data.dtype.names]
    if data.ndim == 1:
        return [arrow.array(data)]
    buffer = arrow.py_buffer(np.ascontiguousarray(data))
    return [arrow.FixedSizeBinaryArray.from_buffers(form.field(0).type, len(data), [None, buffer])]


def _checksum(meta: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json.dumps(meta)).hexdigest()[:_CHECK]


def opened(file: Any, **options: Any) -> Any:
    """Open a Parquet file for reading; checksums of its pages are verified, and its numbers of rows must agree."""
    _, parquet = _arrow()
    try:
        table = parquet.ParquetFile(file, page_checksum_verification=True, **options)
        agree = _rows_agree(table.metadata)
    except FldpError:
        raise
    except Exception as error:  # pyarrow's own errors derive from several
        raise damaged("not a Parquet file", error) from None
    if not agree:
        raise WireError("parquet: the footer is damaged: its numbers of rows do not agree")
    return table


def _rows_agree(footer: Any) -> bool:
    """Tell whether the file, its row groups and their columns have one number of rows; nested columns may have more."""
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    if sum(group.num_rows for group in groups) != footer.num_rows:
        return False
    flat = [place for place in range(footer.num_columns) if footer.schema.column(place).max_repetition_level == 0]
    return all(group.column(place).num_values == group.num_rows for group in groups for place in flat)


def batches(table: Any, groups: Iterable[int], **options: Any) -> Iterator[Any]:
    """Yield the rows of some row groups; pages that are damaged, or of fewer or more rows than promised, are an error.

    What is yielded counts only if the iteration ends by itself.
    """
    numbers = list(groups)
    missing = sum(table.metadata.row_group(number).num_rows for number in numbers)
    try:
        for rows in table.iter_batches(row_groups=numbers, **options):
            missing -= rows.num_rows
            rows.validate(full=True)
            yield rows
    except FldpError:
        raise
    except Exception as error:  # pyarrow's own errors derive from several
        raise damaged("cannot be read", error) from None
    if missing:
        raise WireError(f"parquet: cannot be read: there are {abs(missing)} rows {'fewer' if missing > 0 else 'more'}")


def damaged(what: str, error: Exception) -> WireError:
    """Return what pyarrow found wrong with a file as one line; what the system says of its disk is another matter."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno is not None):
        raise error
    return WireError(f"parquet: {what}: {(str(error).splitlines() or ['no reason given'])[0]}")


def about(table: Any) -> tuple[Oracle, str | None] | None:
    """Return the oracle and the survey's version that a file names; None if another program wrote it."""
    metadata = table.schema_arrow.metadata or {}
    if _KEY not in metadata:
        return None
    try:
        meta = json.loads(metadata[_KEY])
        intact = meta.pop("check", None) in (None, _checksum(meta))  # older files have none
        named = build(meta["oracle"]), meta.get("survey")
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError, FldpError):
        raise WireError("parquet: the file's metadata do not name an oracle of fldp") from None
    if not intact:
        raise WireError("parquet: the file's metadata are damaged: their checksum does not match")
    return named


def count(path: Path, survey: str, number: int | None = None) -> int | None:
    """Return how many reports of a survey a file says that it holds; None if it is not there, or of something else.

    A survey that was deleted and published again has the same version and another number; older files name none.
    """
    try:
        with path.open("rb") as file:
            table = opened(file)
            named = about(table)
    except (OSError, WireError):
        return None
    if named is None or named[1] != survey:
        return None
    numbered = json.loads(table.schema_arrow.metadata[_KEY]).get("number", number)
    return int(table.metadata.num_rows) if number in (None, numbered) else None


def read(
    file: BinaryIO, oracle: Oracle | None = None, survey: str | None = None
) -> tuple[Oracle, str | None, Iterator[Reports]]:
    """Return the oracle, the survey's version and the reports of a file, batch by batch, each of them checked."""
    table = opened(file)
    named, version = about(table) or (None, None)
    if named is None:
        raise WireError("parquet: the file's metadata do not name an oracle of fldp")
    if oracle is not None and named != oracle:
        raise WireError(f"parquet: of {named!r}, where {oracle!r} is expected")
    if survey is not None and version != survey:
        raise WireError(f"parquet: for survey version {version or 'none'}, where {survey} is expected")
    if not table.schema_arrow.equals(schema(named)):
        raise WireError(f"parquet: the columns are not those of {named!r}")
    return named, version, _batches(table, named)


def _batches(table: Any, oracle: Oracle) -> Iterator[Reports]:
    row = 0
    for rows in batches(table, range(table.num_row_groups), batch_size=_ROWS):
        try:
            yield Reports(oracle, _data(oracle, rows))
        except DomainError as error:
            raise WireError(f"parquet: in the rows from {row}: {error}") from None
        row += rows.num_rows


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
