"""The Spark engine: pieces, or the rows of a DataFrame, tallied where Spark sends them, and added up by a shuffle.

A task tallies all its pieces into one state. It hands the state on in chunks of a few KiB, without those that are zero;
chunks of one number meet in one task, which adds them. So the driver gets one state, no task holds more than its own
and a share of the sum, and what goes over the network is at most tasks times state, however many the reports.

Only DataFrames are used, so that Spark Connect will do.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from fldp import parquet
from fldp.distributed import chunks
from fldp.distributed.job import Job
from fldp.distributed.lake import Piece
from fldp.distributed.part import Part
from fldp.distributed.pieces import Sum, tally_pieces
from fldp.distributed.rows import Privatizer, refuse_missing, refuse_repeated
from fldp.distributed.spark_session import one_line, opened, parallel
from fldp.errors import DomainError
from fldp.extras import load

_ROWS = "chunk int, content binary"
# Spark has no unsigned integers, and reads those of Parquet as these.
_TYPES = {
    "uint8": ("smallint", "int16"),
    "uint16": ("int", "int32"),
    "uint32": ("bigint", "int64"),
    "uint64": ("decimal(20,0)", None),
}
_INTEGER = re.compile(r"tinyint|smallint|int|bigint|decimal\(\d+,0\)")


def run(
    pieces: Sequence[Piece],
    job: Job,
    progress: Callable[[int], None],
    *,
    address: str | None = None,
    session: Any = None,
    tasks: int | None = None,
) -> Part:
    """Tally pieces in at most ``tasks`` tasks, in a session that is given, is active, or is made for an address."""
    with opened(session, address) as spark:
        count = min(len(pieces), tasks or parallel(spark))
        groups = [list(pieces[start::count]) for start in range(count)]
        part = _added(spark.range(0, count, 1, count), partial(_tally_groups, groups, job), job)
    progress(sum(piece.bytes for piece in pieces))
    return part


def run_frame(frame: Any, job: Job) -> Part:
    """Tally the columns of reports of a DataFrame; a bad row is named by its partition and its place there."""
    columns = [_column(frame, field) for field in parquet.schema(job.oracle)]
    with one_line():
        return _added(frame.select(*columns), partial(_tally_batches, job), job)


def _added(frame: Any, tally: Callable[[Iterable[Any]], Iterator[Any]], job: Job) -> Part:
    shuffled = frame.mapInArrow(tally, _ROWS).repartition("chunk")
    merged = shuffled.mapInArrow(_merge, _ROWS).collect()
    return chunks.added(job, ((row["chunk"], row["content"]) for row in merged))


def _tally_groups(groups: list[list[Piece]], job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from chunks.batches(chunks.rows(tally_pieces(groups[number], job)))


def _tally_batches(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    total, first, going = Sum(job), 0, True
    place = f"partition {load('pyspark', 'spark').TaskContext.get().partitionId()}"
    for batch in batches:  # to the end of them, since Spark expects it
        going = going and total.batch(batch, place, first)
        first += batch.num_rows
    yield from chunks.batches(chunks.rows(total.part))


def _merge(batches: Iterable[Any]) -> Iterator[Any]:
    yield from chunks.batches(chunks.merged(chunks.pairs(batches)))


def _column(frame: Any, field: Any) -> str:
    """Return how to select a column of reports; refuse a frame that does not have it."""
    kind = dict(frame.dtypes).get(field.name, "none")
    if frame.columns.count(field.name) != 1 or not (
        _INTEGER.fullmatch(kind) if str(field.type) in _TYPES else kind == "binary"
    ):
        raise DomainError(f"tally: the frame must have a column {field.name} of {_type(field)[0]}, got {kind}")
    return _quoted(field.name)


def privatize(frame: Any, task: Privatizer, check_unique: bool) -> Any:
    """Privatize a column of a DataFrame, when it is computed."""
    with one_line():
        if check_unique:
            _check_unique(frame, task.identifier)
        form = ", ".join(f"{_quoted(field.name)} {_type(field)[0]}" for field in task.schema)
        return frame.select(*map(_quoted, task.columns)).mapInArrow(partial(_privatized, task), form)


def _check_unique(frame: Any, name: str) -> None:
    functions = load("pyspark.sql.functions", "spark")
    column = functions.col(_quoted(name))
    total, present, distinct = frame.agg(
        functions.count(functions.lit(1)), functions.count(column), functions.countDistinct(column)
    ).first()
    refuse_missing(name, total - present)
    refuse_repeated(name, present - distinct)


def _privatized(task: Privatizer, batches: Iterable[Any]) -> Iterator[Any]:
    form = load("pyarrow", "spark").schema([(field.name, _type(field)[1]) for field in task.schema])
    for batch in task.batches(batches):
        yield batch.cast(form)


def _type(field: Any) -> tuple[str, Any]:
    """Return the types of a column of reports in Spark, and on the way there."""
    arrow = load("pyarrow", "spark")
    if str(field.type) not in _TYPES:
        return "binary", arrow.binary()
    name, signed = _TYPES[str(field.type)]
    return name, getattr(arrow, signed)() if signed else arrow.decimal128(20, 0)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
