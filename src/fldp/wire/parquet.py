"""Files of reports as Parquet: a column for each number of a report, the oracle and the survey in the metadata.

Damage is detected in three ways. Every page has a checksum, which covers the numbers of the reports. The oracle and the
survey in the metadata have a checksum of their own. Page headers and the rest of the footer state the number of rows
several times: these must agree with each other and with the rows that were read.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from io import RawIOBase
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from fldp.data.reports import Reports
from fldp.errors import FldpError, WireError
from fldp.oracles.base.oracle import Oracle
from fldp.support import canonical_json
from fldp.support.canonical_json import Json
from fldp.support.optional_imports import load
from fldp.wire.arrow_reports import batch, check_columns, fields, names, reason, reports_of
from fldp.wire.description import build, describe

if TYPE_CHECKING:
    from pyarrow import NativeFile, RecordBatch, Schema
    from pyarrow.parquet import ParquetFile

About = tuple[Oracle, str | None]  # what the metadata name: the oracle and the survey version

MAGIC = b"PAR1"
_KEY = b"fldp"
_ROWS = 1 << 17
_MAX_ROWS = 1 << 16
_BATCH_BYTES = 1 << 20
_CHECK = 16  # hexadecimal digits of the checksum of what the file is about


def schema(oracle: Oracle, survey: str | None = None, number: int | None = None, *, withdrawn: int = 0) -> "Schema":
    """Return the Arrow schema of an oracle's reports; a collector adds its number of the survey, and of withdrawn ones.

    >>> import fldp
    >>> schema(fldp.FHR(epsilon=1.0, domain_size=1023)).names
    ['plus', 'minus']
    """
    meta: dict[str, Json] = {"format": 1, "oracle": describe(oracle), **({"survey": survey} if survey else {})}
    meta |= {} if number is None else {"number": number}
    meta |= {"withdrawn": withdrawn} if withdrawn else {}
    meta["check"] = _checksum(meta)
    return load("pyarrow", "parquet").schema(fields(oracle), metadata={_KEY: canonical_json.dumps(meta)})


def write(
    file: BinaryIO,
    oracle: Oracle,
    batches: Iterable[Reports],
    survey: str | None = None,
    number: int | None = None,
    *,
    withdrawn: int = 0,
) -> int:
    """Write batches of reports; return the number of reports. ``withdrawn`` says how many are not among them."""
    parquet, form = load("pyarrow.parquet", "parquet"), schema(oracle, survey, number, withdrawn=withdrawn)
    count = 0
    with parquet.ParquetWriter(file, form, write_page_checksum=True) as writer:
        for reports in batches:
            for start in range(0, len(reports), _ROWS):
                part = reports[start : start + _ROWS]
                writer.write_batch(batch(form, part.data))
            count += len(reports)
    return count


def _checksum(meta: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json.dumps(meta)).hexdigest()[:_CHECK]


def open_table(file: "BinaryIO | RawIOBase | NativeFile", *, buffer_size: int = 0) -> "ParquetFile":
    """Open a Parquet file for reading; page checksums are verified, and the numbers of rows must agree."""
    parquet = load("pyarrow.parquet", "parquet")
    try:
        table = parquet.ParquetFile(file, page_checksum_verification=True, buffer_size=buffer_size)
        agree = _rows_agree(table.metadata)
    except FldpError:
        raise
    except Exception as error:  # pyarrow's own errors derive from several
        raise damaged("not a Parquet file", error) from None
    if not agree:
        raise WireError("parquet: the footer is damaged: its numbers of rows do not agree")
    return table


def _rows_agree(footer: Any) -> bool:
    """Whether the file, its row groups and their columns agree on the number of rows; nested columns may have more."""
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    if sum(group.num_rows for group in groups) != footer.num_rows:
        return False
    flat = [place for place in range(footer.num_columns) if footer.schema.column(place).max_repetition_level == 0]
    return all(group.column(place).num_values == group.num_rows for group in groups for place in flat)


def batches(table: "ParquetFile", groups: Iterable[int], **options: int | list[str]) -> "Iterator[RecordBatch]":
    """Yield the rows of some row groups; a damaged page, or another number of rows than promised, is an error.

    The rows are complete only if the iteration ends by itself. Each row group is read by itself: where a damaged page
    header promises more values than there are, the rows of the next group would move.
    """
    for group in groups:
        yield from _batches_of(table, group, options)


def _batches_of(table: "ParquetFile", group: int, options: dict[str, int | list[str]]) -> "Iterator[RecordBatch]":
    missing = table.metadata.row_group(group).num_rows
    try:
        for rows in table.iter_batches(row_groups=[group], **options):
            missing -= rows.num_rows
            rows.validate(full=True)
            yield rows
    except FldpError:
        raise
    except Exception as error:  # pyarrow's own errors derive from several
        raise damaged("cannot be read", error) from None
    if missing:
        raise WireError(f"parquet: cannot be read: there are {abs(missing)} rows {'fewer' if missing > 0 else 'more'}")


def row_batches(table: "ParquetFile", groups: Iterable[int], oracle: Oracle) -> "Iterator[RecordBatch]":
    """Yield the columns of an oracle's reports, about 1 MiB of them at a time."""
    width = oracle.report_format.nbytes
    size = max(1, min(_MAX_ROWS, _BATCH_BYTES // width))
    yield from batches(table, groups, batch_size=size, columns=list(names(oracle)), use_threads=False)


def damaged(what: str, error: Exception) -> WireError:
    """Turn an error of pyarrow about the content of a file into one line; errors of the system are raised."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno is not None):
        raise error
    return WireError(f"parquet: {what}: {(str(error).splitlines() or ['no reason given'])[0]}")


def about(table: "ParquetFile") -> About | None:
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


def counts_in(
    file: "BinaryIO | RawIOBase | NativeFile", survey: str, number: int | None = None
) -> tuple[int, int] | None:
    """Return the number of reports of a survey in an open file, and how many were withdrawn before it was written."""
    try:
        table = open_table(file)
        named = about(table)
    except WireError:
        return None
    if named is None or named[1] != survey:
        return None
    meta = json.loads(table.schema_arrow.metadata[_KEY])
    if number not in (None, meta.get("number", number)):
        return None
    return int(table.metadata.num_rows), int(meta.get("withdrawn", 0))


def check_belongs(named: About | None, oracle: Oracle | None, survey: str | None) -> None:
    """Refuse a file that names another oracle or survey version, or no oracle where none is given either."""
    if named is None:
        if oracle is None:
            raise WireError("parquet: the metadata name no oracle, so the oracle must be given")
        return
    if oracle is not None and named[0] != oracle:
        raise WireError(f"parquet: of {named[0]!r}, where {oracle!r} is expected")
    if named[1] != survey:
        raise WireError(f"parquet: for survey version {named[1] or 'none'}, where {survey or 'none'} is expected")


def read(
    file: BinaryIO, oracle: Oracle | None = None, survey: str | None = None
) -> tuple[Oracle, str | None, Iterator[Reports]]:
    """Return the oracle, the survey version and the reports of a file, batch by batch, each of them checked.

    A file that another program wrote names no oracle: it is read as reports of ``oracle`` for ``survey``.
    """
    table = open_table(file)
    named = about(table)
    check_belongs(named, oracle, named[1] if named and survey is None else survey)
    actual, version = named or (cast(Oracle, oracle), survey)
    check_columns(table.schema_arrow, actual)
    return actual, version, _reports(table, actual)


def _reports(table: Any, oracle: Oracle) -> Iterator[Reports]:
    first = 0
    for rows in row_batches(table, range(table.num_row_groups), oracle):
        data, codes = reports_of(oracle, rows)
        if codes is not None:
            row = int(np.flatnonzero(codes)[0])
            raise WireError(f"row {first + row} {reason(oracle, int(codes[row]))}")
        yield Reports.trusted(oracle, data)
        first += rows.num_rows
