"""The Spark engine: Spark schedules pieces, or the rows of a DataFrame; the partial tallies are added up.

A task tallies all its pieces into one state and emits it in chunks of a few KiB, without those that are zero. A few
MiB of them go to the driver, which adds them. Of more, and of a DataFrame, chunks of one number meet in one task, which
adds them. So the driver gets one state or little, a task holds no more than its own and a share of the sum, and the
network carries at most tasks times state, however many the reports.
"""

import gc
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from fldp.distributed.engines import spark_shuffle
from fldp.distributed.lake.layout import Piece, deal
from fldp.distributed.lake.partial_tally import PartialTally
from fldp.distributed.lake.row_privatizer import Privatizer, refuse_missing, refuse_repeated
from fldp.distributed.lake.scan import Job, scan
from fldp.errors import DomainError, FldpError, ParameterError
from fldp.support.optional_imports import load
from fldp.support.progress import Progress
from fldp.wire.arrow_reports import fields

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ABOUT = "a Spark cluster"
FRAMES = {"pyspark": "Spark"}
_ROWS = "chunk int, content binary"
_TASKS_PER_CORE = 4
_TASK_BYTES = 1 << 26  # of a lake: a task that has less to read takes longer to schedule than to run
_MAX_COLLECTED = 1 << 24  # bytes of states that the driver adds up by itself
# Spark has no unsigned integers: it reads unsigned Parquet columns in these types.
_TYPES = {
    "uint8": ("smallint", "int16"),
    "uint16": ("int", "int32"),
    "uint32": ("bigint", "int64"),
    "uint64": ("decimal(20,0)", None),
}
_INTEGER = re.compile(r"tinyint|smallint|int|bigint|decimal\(\d+,0\)")


def tally_pieces(
    pieces: Sequence[Piece],
    job: Job,
    progress: Progress,
    *,
    address: str | None = None,
    session: "SparkSession | None" = None,
    tasks: int | None = None,
) -> PartialTally:
    """Tally pieces in at most ``tasks`` tasks: in the session given, the active one, or a new one for an address."""
    with open_session(session, address) as spark:
        groups = deal(pieces, task_count(spark, pieces, job) if tasks is None else tasks)
        numbers = spark.range(0, len(groups), 1, len(groups))
        states = numbers.mapInArrow(partial(_tally_groups, groups, job), _ROWS)
        few = len(groups) * _state_bytes(job) <= _MAX_COLLECTED
        total = _collect(states if few else _merged(states), job)
    progress(sum(piece.bytes for piece in pieces))
    return total


def tally_frame(frame: "DataFrame", job: Job) -> PartialTally:
    """Tally the report columns of a DataFrame; a bad row is named by its partition and its place there."""
    columns = [_column(frame, field) for field in fields(job.oracle)]
    with one_line():
        return _collect(_merged(frame.select(*columns).mapInArrow(partial(_tally_batches, job), _ROWS)), job)


def _merged(states: Any) -> Any:
    """Have chunks of one number added up in one task."""
    return states.repartition("chunk").mapInArrow(_merge, _ROWS)


def _collect(states: Any, job: Job) -> PartialTally:
    return spark_shuffle.collect(job, ((row["chunk"], row["content"]) for row in states.collect()))


def _state_bytes(job: Job) -> int:
    return 8 * job.oracle.tally_format.cells


def _tally_groups(groups: list[list[Piece]], job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from spark_shuffle.batches(spark_shuffle.rows(scan(groups[number], job)))
    _keep_modules(len(sys.modules))


def _tally_batches(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    total, first, going = job.partial_tally(), 0, True
    place = f"partition {load('pyspark', 'spark').TaskContext.get().partitionId()}"
    for batch in batches:  # to the end, since Spark expects all of its input to be read
        going = going and (total.count_rows(batch, place, first) or job.skip_bad)
        first += batch.num_rows
    yield from spark_shuffle.batches(spark_shuffle.rows(total))
    _keep_modules(len(sys.modules))


@cache
def _keep_modules(loaded: int) -> None:
    """Leave the modules of a worker out of its garbage collections, anew when there are more.

    Spark collects garbage after every task. To go through all that Numba and PyArrow consist of takes 80 ms.
    """
    del loaded
    gc.collect()
    gc.freeze()


def _merge(batches: Iterable[Any]) -> Iterator[Any]:
    yield from spark_shuffle.batches(spark_shuffle.merged(spark_shuffle.pairs(batches)))


def _column(frame: Any, field: Any) -> str:
    """Return the expression that selects a report column; refuse a frame without it."""
    kind = dict(frame.dtypes).get(field.name, "none")
    if frame.columns.count(field.name) != 1 or not (
        _INTEGER.fullmatch(kind) if str(field.type) in _TYPES else kind == "binary"
    ):
        raise DomainError(f"tally: the frame must have a column {field.name} of {_type(field)[0]}, got {kind}")
    return _quoted(field.name)


def privatize_frame(frame: "DataFrame", privatizer: Privatizer, check_unique: bool) -> "DataFrame":
    """Privatize a column of a DataFrame, when it is computed."""
    with one_line():
        if check_unique:
            _check_unique(frame, privatizer.identifier)
        form = ", ".join(f"{_quoted(field.name)} {_type(field)[0]}" for field in privatizer.schema)
        rows = frame.select(*map(_quoted, privatizer.columns))
        return rows.mapInArrow(partial(_privatize_batches, privatizer), form)


def _check_unique(frame: Any, name: str) -> None:
    functions = load("pyspark.sql.functions", "spark")
    column = functions.col(_quoted(name))
    total, present, distinct = frame.agg(
        functions.count(functions.lit(1)), functions.count(column), functions.countDistinct(column)
    ).first()
    refuse_missing(name, total - present)
    refuse_repeated(name, present - distinct)


def _privatize_batches(privatizer: Privatizer, batches: Iterable[Any]) -> Iterator[Any]:
    form = load("pyarrow", "spark").schema([(field.name, _type(field)[1]) for field in privatizer.schema])
    for batch in privatizer.batches(batches):
        yield batch.cast(form)


def _type(field: Any) -> tuple[str, Any]:
    """Return the types of a report column in Spark, and in the Arrow batches that are sent there."""
    arrow = load("pyarrow", "spark")
    if str(field.type) not in _TYPES:
        return "binary", arrow.binary()
    name, signed = _TYPES[str(field.type)]
    return name, getattr(arrow, signed)() if signed else arrow.decimal128(20, 0)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


_LOOPBACK = "127.0.0.1"
# Most jobs keep Java busy for tenths of a second, and its optimising compiler would take most of that. No garbage
# collector is named: beside one that somebody else has chosen (JAVA_TOOL_OPTIONS), Java would not start.
_QUICK = "-XX:TieredStopAtLevel=1"
_LOCAL = {
    "spark.driver.host": _LOOPBACK,
    "spark.driver.bindAddress": _LOOPBACK,
    "spark.driver.defaultJavaOptions": _QUICK,
    "spark.executor.defaultJavaOptions": _QUICK,
}
_LOCAL_VARIABLES = {"SPARK_LOCAL_IP": _LOOPBACK, "PYSPARK_PYTHON": sys.executable}
_EXCEPTION = re.compile(r"^(?:[\w.]*\.)?([A-Z]\w*(?:Error|Exception): .+)$", re.MULTILINE)
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.network.timeout": "600s",  # a busy machine is not a dead one; one that died is noticed at once
    "spark.python.authenticate.socketTimeout": "120s",
}


@contextmanager
def open_session(session: "SparkSession | None", address: str | None) -> "Iterator[SparkSession]":
    """Yield the session given, the active one, or a new one that is stopped in the end."""
    sessions = load("pyspark.sql", "spark").SparkSession
    existing = session or sessions.getActiveSession()
    if existing is not None and address is not None:
        raise ParameterError(f"spark: address must be None where there is a session already, got {address!r}")
    spark = existing or _start_session(sessions.builder, address or "local[*]")
    try:
        with one_line():
            yield spark
    finally:
        if not existing:
            spark.stop()


def _start_session(builder: Any, master: str) -> Any:
    """Start a session. A local one binds to the loopback only, and its workers run this Python."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise FldpError("spark: Java 17 or newer must be on the path, or JAVA_HOME must name it")
    local = master.startswith("local")
    for name, value in {**_SETTINGS, **(_LOCAL if local else {})}.items():
        builder = builder.config(name, value)
    with one_line(), _variables(_LOCAL_VARIABLES if local else {}):
        return builder.master(master).appName("fldp").getOrCreate()


@contextmanager
def _variables(wanted: dict[str, str]) -> Iterator[None]:
    """Set environment variables that are not set yet, for the time of the block."""
    missing = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]


@contextmanager
def one_line() -> Iterator[None]:
    """Turn the long errors of Spark into one line: the exception of the worker that failed.

    Its warning about new versions of pandas is suppressed: it loads pandas for ``mapInArrow``, and uses none of it.
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
        raise FldpError(f"spark: {worker_error(str(error))}") from error


def worker_error(text: str) -> str:
    r"""Return the exception in a worker's traceback, or else the first line.

    >>> worker_error("Job aborted.\nTraceback (most recent call last):\n  File ...\nOSError: disk on fire\n")
    'OSError: disk on fire'
    """
    exceptions = _EXCEPTION.findall(text.partition("Traceback")[2])
    return str(exceptions[0]) if exceptions else (text.strip().splitlines() or ["no reason given"])[0]


def task_count(session: "SparkSession", pieces: Sequence[Piece], job: Job) -> int:
    """Return a number of tasks: some for each core, so that a slow one does not keep all waiting.

    There are more if there is much to read, for executors that are still to come; and fewer, but one for each core,
    where a task would hand on more than it reads.
    """
    size = sum(piece.bytes for piece in pieces)
    configured = int(str(session.conf.get("spark.sql.shuffle.partitions")))
    try:
        cores = int(session.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no SparkContext
        return configured
    wanted = max(_TASKS_PER_CORE * cores, min(configured, size // _TASK_BYTES))
    return max(cores, min(wanted, size // _state_bytes(job)))
