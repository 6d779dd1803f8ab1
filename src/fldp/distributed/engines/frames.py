"""Frames of other libraries: which engine one belongs to, and its reports as a tally."""

from importlib import import_module
from typing import Any

from fldp.distributed.lake.arrow_reports import check_columns
from fldp.distributed.lake.partial_tally import Part
from fldp.distributed.lake.row_privatizer import Privatizer, present, refuse_repeated
from fldp.distributed.lake.scan import Job, Sum
from fldp.errors import DomainError, ParameterError
from fldp.oracles.base.oracle import Oracle
from fldp.support.optional_imports import load
from fldp.wire import parquet

ENGINES = {"pandas": "local", "pyarrow": "local", "dask": "dask", "pyspark": "spark"}
_MODULES = {"local": "frames", "dask": "dask", "spark": "spark"}
_ROWS = 1 << 16


def engine_of(frame: Any) -> str | None:
    """Return the engine that a frame belongs to; None if it is no frame.

    >>> import pyarrow
    >>> engine_of(pyarrow.table({})), engine_of("lake/")
    ('local', None)
    """
    if not hasattr(frame, "columns"):
        return None
    return ENGINES.get(type(frame).__module__.split(".")[0])


def as_table(frame: Any) -> Any:
    """Return a frame of pandas or Arrow as a table of Arrow."""
    arrow = load("pyarrow", "parquet")
    if isinstance(frame, arrow.Table):
        return frame
    try:
        return arrow.Table.from_pandas(frame, preserve_index=False)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
        raise DomainError(f"frame: columns must be of one type each, got {str(error).splitlines()[0]}") from None


def tally_frame(
    frame: Any, oracle: Oracle | None, engine: str, survey: str | None, skip_bad: bool, **options: Any
) -> Part:
    """Tally the columns of reports of a frame, by the engine that it belongs to."""
    if oracle is None:
        raise ParameterError("tally: a frame does not say what its reports are of, the oracle must be given")
    if engine != engine_of(frame):
        raise ParameterError(f"tally: engine must be that of the frame, {engine_of(frame)!r}, got {engine!r}")
    module = import_module(f"fldp.distributed.engines.{_MODULES[engine]}")
    part: Part = module.run_frame(frame, Job(oracle, survey, skip_bad), **options)
    return part.settled(skip_bad)


def run_frame(frame: Any, job: Job, *, place: str = "frame") -> Part:
    """Tally a frame of pandas or Arrow; a bad row is named by its place in it."""
    table, total, first = as_table(frame), Sum(job), 0
    check_columns(table.schema, job.oracle)
    for batch in table.select(parquet.schema(job.oracle).names).to_batches(_ROWS):
        if not total.batch(batch, place, first):
            break
        first += batch.num_rows
    return total.part


def arrow_frame(table: Any, task: Privatizer, check_unique: bool) -> Any:
    """Privatize a table of Arrow."""
    if check_unique:
        identifiers = present(table, task.identifier)
        refuse_repeated(task.identifier, len(identifiers) - len(identifiers.unique()))
    return load("pyarrow", "parquet").Table.from_batches(task.batches([table]), task.schema)


def pandas_frame(frame: Any, task: Privatizer, check_unique: bool) -> Any:
    """Privatize a frame of pandas."""
    return as_pandas(arrow_frame(as_table(frame[task.columns]), task, check_unique))


def as_pandas(table: Any) -> Any:
    """Return a table of reports as a frame of pandas; bytes stay those of Arrow, since Dask would make text of them."""
    arrow_type, kinds = load("pandas", "pandas").ArrowDtype, load("pyarrow.types", "parquet")
    return table.to_pandas(types_mapper=lambda kind: None if kinds.is_integer(kind) else arrow_type(kind))
