"""The local engine: all cores, as threads; and frames of pandas and Arrow.

Decoding, checking and counting release the interpreter's lock.
"""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from fldp.distributed.lake.layout import Piece
from fldp.distributed.lake.partial_tally import PartialTally
from fldp.distributed.lake.row_privatizer import Privatizer, present, refuse_repeated
from fldp.distributed.lake.scan import Job, scan_piece
from fldp.errors import DomainError
from fldp.support.optional_imports import load
from fldp.support.processor_cores import available_cores
from fldp.support.progress import Progress
from fldp.wire.arrow_reports import check_columns, names

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyarrow import Table

ABOUT = "all cores"
FRAMES = {"pandas": "pandas", "pyarrow": "pyarrow"}
_ROWS = 1 << 16


def tally_pieces(pieces: Sequence[Piece], job: Job, progress: Progress, *, workers: int | None = None) -> PartialTally:
    """Tally pieces: each thread takes the next one and adds it to a state of its own, then the states are added."""
    count = min(workers or available_cores(), len(pieces))
    queue = _Queue(pieces)
    with ThreadPoolExecutor(count, thread_name_prefix="fldp-tally") as pool:
        try:
            partials = list(pool.map(lambda _: _drain(queue, job, progress), range(count)))
        finally:
            queue.stop()  # after an interruption, the other threads end with their piece
    return reduce(add, partials)


def _drain(queue: "_Queue", job: Job, progress: Progress) -> PartialTally:
    total = job.partial_tally()
    try:
        for piece in queue:
            if not scan_piece(piece, job, total):
                queue.stop()
            progress(piece.bytes)
    except BaseException:
        queue.stop()
        raise
    return total


class _Queue:
    """Hands each piece to one thread, until it is stopped."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces, self._lock, self._stopped = iter(pieces), threading.Lock(), False

    def stop(self) -> None:
        self._stopped = True

    def __iter__(self) -> Iterator[Piece]:
        while not self._stopped:
            with self._lock:  # an iterator must not be advanced by two threads at once
                piece = next(self._pieces, None)
            if piece is None:
                return
            yield piece


def tally_frame(frame: "DataFrame | Table", job: Job, *, place: str = "frame") -> PartialTally:
    """Tally a frame of pandas or Arrow; a bad row is named by its place in it."""
    table, total, first = as_table(frame), job.partial_tally(), 0
    check_columns(table.schema, job.oracle)
    for rows in table.select(names(job.oracle)).to_batches(_ROWS):
        if not total.count_rows(rows, place, first) and not job.skip_bad:
            break
        first += rows.num_rows
    return total


def privatize_frame(frame: "DataFrame | Table", privatizer: Privatizer, check_unique: bool) -> "DataFrame | Table":
    """Privatize a column of a frame of pandas or Arrow."""
    if hasattr(frame, "column_names"):
        return _privatize_table(frame, privatizer, check_unique)
    return as_pandas(_privatize_table(as_table(frame[privatizer.columns]), privatizer, check_unique))


def _privatize_table(table: Any, privatizer: Privatizer, check_unique: bool) -> Any:
    if check_unique:
        identifiers = present(table, privatizer.identifier)
        refuse_repeated(privatizer.identifier, len(identifiers) - len(identifiers.unique()))
    return load("pyarrow", "parquet").Table.from_batches(privatizer.batches([table]), privatizer.schema)


def as_table(frame: "DataFrame | Table") -> "Table":
    """Return a frame of pandas or Arrow as a table of Arrow."""
    arrow = load("pyarrow", "parquet")
    if isinstance(frame, arrow.Table):
        return frame
    try:
        return arrow.Table.from_pandas(frame, preserve_index=False)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
        raise DomainError(f"frame: columns must be of one type each: {str(error).splitlines()[0]}") from None


def as_pandas(table: "Table") -> "DataFrame":
    """Return a table of reports as a frame of pandas; bytes keep their Arrow type, or Dask would make text of them."""
    arrow_type, types = load("pandas", "pandas").ArrowDtype, load("pyarrow.types", "parquet")
    frame: DataFrame = table.to_pandas(types_mapper=lambda kind: None if types.is_integer(kind) else arrow_type(kind))
    return frame
