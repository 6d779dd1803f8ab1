"""The Spark engine: pieces, or the rows of a DataFrame, tallied where Spark sends them, and added up by a shuffle.

A task tallies all its pieces into one state. It hands the state on in chunks of a few KiB, without those that are zero;
chunks of one number meet in one task, which adds them. So the driver gets one state, no task holds more than its own
and a share of the sum, and what goes over the network is at most tasks times state, however many the reports.
"""

import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from fldp.distributed.engines import spark_shuffle
from fldp.distributed.lake.layout import Piece, dealt
from fldp.distributed.lake.partial_tally import Part
from fldp.distributed.lake.row_privatizer import Privatizer, refuse_missing, refuse_repeated
from fldp.distributed.lake.scan import Job, Sum, tally_pieces
from fldp.errors import DomainError, FldpError, ParameterError
from fldp.support.optional_imports import load
from fldp.wire import parquet

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
        groups = dealt(pieces, parallel(spark) if tasks is None else tasks)
        numbers = spark.range(0, len(groups), 1, len(groups))
        part = _added(numbers, partial(_tally_groups, groups, job), job)
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
    return spark_shuffle.added(job, ((row["chunk"], row["content"]) for row in merged))


def _tally_groups(groups: list[list[Piece]], job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from spark_shuffle.batches(spark_shuffle.rows(tally_pieces(groups[number], job)))


def _tally_batches(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    total, first, going = Sum(job), 0, True
    place = f"partition {load('pyspark', 'spark').TaskContext.get().partitionId()}"
    for batch in batches:  # to the end of them, since Spark expects it
        going = going and total.batch(batch, place, first)
        first += batch.num_rows
    yield from spark_shuffle.batches(spark_shuffle.rows(total.part))


def _merge(batches: Iterable[Any]) -> Iterator[Any]:
    yield from spark_shuffle.batches(spark_shuffle.merged(spark_shuffle.pairs(batches)))


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


_LOOPBACK = "127.0.0.1"
_LOCAL = {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
_LOCAL_VARIABLES = {"SPARK_LOCAL_IP": _LOOPBACK, "PYSPARK_PYTHON": sys.executable}
_SAID = re.compile(r"^(?:[\w.]*\.)?([A-Z]\w*(?:Error|Exception): .+)$", re.MULTILINE)
_OURS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.network.timeout": "600s",  # a busy machine is not a dead one; one that died is noticed at once
    "spark.python.authenticate.socketTimeout": "120s",
}


@contextmanager
def opened(session: Any, address: str | None) -> Iterator[Any]:
    """Give a session: the one that is given, the one that is active, or a new one that ends with this."""
    builder = load("pyspark.sql", "spark").SparkSession
    found = session or builder.getActiveSession()
    if found is not None and address is not None:
        raise ParameterError(f"spark: address must be None where there is a session already, got {address!r}")
    made = None if found else _made(builder.builder, address or "local[*]")
    try:
        with one_line():
            yield found or made
    finally:
        if made is not None:
            made.stop()


def _made(builder: Any, master: str) -> Any:
    """Start a session. One on this machine keeps to it, and its workers run this Python."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise FldpError("spark: Java 17 or newer must be on the path, or JAVA_HOME must name it, got neither")
    local = master.startswith("local")
    for name, value in {**_OURS, **(_LOCAL if local else {})}.items():
        builder = builder.config(name, value)
    with one_line(), _variables(_LOCAL_VARIABLES if local else {}):
        return builder.master(master).appName("fldp").getOrCreate()


@contextmanager
def _variables(wanted: dict[str, str]) -> Iterator[None]:
    """Set those of the variables that are not set, for as long as this takes."""
    missing = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]


@contextmanager
def one_line() -> Iterator[None]:
    """Say in one line what Spark says in a hundred: the last words of the worker that failed.

    What it says about new versions of pandas is left out: it loads pandas for what is done here, and uses none of it.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    except FldpError:
        raise
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("pyspark", "py4j"):
            raise
        raise FldpError(f"spark: {last_words(str(error))}") from error


def last_words(text: str) -> str:
    r"""Return what an exception on a worker said, or else the first line.

    >>> last_words("Job aborted.\nTraceback (most recent call last):\n  File ...\nOSError: disk on fire\n")
    'OSError: disk on fire'
    """
    said = _SAID.findall(text.partition("Traceback")[2])
    return str(said[0]) if said else (text.strip().splitlines() or ["no reason given"])[0]


def parallel(session: Any) -> int:
    """Return in how many tasks work is cut: enough for all cores, and for a few of them to be slow."""
    known = int(session.conf.get("spark.sql.shuffle.partitions"))
    try:
        return max(known, 4 * int(session.sparkContext.defaultParallelism))
    except Exception:  # Spark Connect does not tell
        return known
