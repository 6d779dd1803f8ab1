"""The Dask engine: pieces, or the partitions of a DataFrame, tallied where Dask sends them, and added up two by two.

Two parts are added as soon as there are two, on a worker that has one of them. So a worker holds a few states at a
time, and what goes over the network is at most tasks times state, however many the reports.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import add
from typing import Any

from fldp.distributed.engines import frames
from fldp.distributed.engines.frames import as_pandas, pandas_frame
from fldp.distributed.engines.local import cores
from fldp.distributed.lake.layout import Piece, dealt
from fldp.distributed.lake.partial_tally import Part
from fldp.distributed.lake.row_privatizer import Privatizer, refuse_repeated
from fldp.distributed.lake.scan import Job, tally_pieces
from fldp.errors import FldpError, ParameterError
from fldp.support.optional_imports import load
from fldp.wire import parquet

_TASKS_PER_THREAD = 4
_PATIENCE = "120s"

Progress = Callable[[int], None]


def run(
    pieces: Sequence[Piece],
    job: Job,
    progress: Progress,
    *,
    address: str | None = None,
    client: Any = None,
    tasks: int | None = None,
) -> Part:
    """Tally pieces in at most ``tasks`` tasks, on a client that is given, is active, or is made for an address."""
    with _opened(client, address) as active:
        groups = dealt(pieces, _tasks(active) if tasks is None else tasks)
        futures = active.map(tally_pieces, groups, job=job, pure=False)
        sizes = [sum(piece.bytes for piece in group) for group in groups]
        told = dict(zip((future.key for future in futures), sizes, strict=True))
        return _added(active, futures, lambda key: progress(told.pop(key, 0)))


def _tasks(client: Any) -> int:
    return _TASKS_PER_THREAD * max(1, int(sum(client.nthreads().values())))


def run_frame(frame: Any, job: Job, *, address: str | None = None, client: Any = None) -> Part:
    """Tally the columns of reports of a DataFrame; a bad row is named by its partition and its place there."""
    delayed = load("dask", "dask").delayed(_tally_frame)
    parts = frame[parquet.schema(job.oracle).names].to_delayed()
    with _opened(client, address) as active:
        futures = active.compute([delayed(part, number, job) for number, part in enumerate(parts)])
        return _added(active, futures)


def _tally_frame(frame: Any, number: int, job: Job) -> Part:
    return frames.run_frame(frame, job, place=f"partition {number}")


def _ignore(key: str) -> None:
    del key


def _added(client: Any, futures: list[Any], finished: Callable[[str], None] = _ignore) -> Part:
    """Add parts up as they come. A part that was added is let go, so the list is emptied."""
    done = load("distributed", "dask").as_completed(futures, loop=client.loop)
    futures.clear()
    waiting: Any = None
    for future in done:
        if future.status != "finished":
            _fail(future)
        finished(future.key)
        if waiting is None:
            waiting = future
        else:
            done.add(client.submit(add, waiting, future, pure=False))
            waiting = None
    part: Part = waiting.result()
    return part


def _fail(future: Any) -> None:
    """Say in one line what a worker said."""
    error = future.exception()
    if isinstance(error, FldpError):
        raise error
    said = (str(error).splitlines() or [""])[0]
    raise FldpError(f"dask: {type(error).__name__}: {said}") from error


@contextmanager
def _opened(client: Any, address: str | None) -> Iterator[Any]:
    """Give a client: the one that is given, the one that is active, or a new one that ends with this."""
    distributed = load("distributed", "dask")
    if client is not None and address is not None:
        raise ParameterError(f"dask: address must be None where there is a client already, got {address!r}")
    if address is None:
        client = client or _active(distributed)
    if client is not None:
        yield client
    elif address is not None:
        with _client(distributed, address) as made:
            yield made
    else:
        with _cluster(distributed) as cluster, _client(distributed, cluster) as made:
            yield made


def _client(distributed: Any, where: Any) -> Any:
    return distributed.Client(where, timeout=_PATIENCE, set_as_default=False)


def _cluster(distributed: Any) -> Any:
    """Return a process for each core, on this machine's loopback; a worker that ends has nothing to say."""
    return distributed.LocalCluster(
        cores(),
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


def _active(distributed: Any) -> Any:
    try:
        return distributed.default_client()
    except ValueError:
        return None


def privatize(frame: Any, task: Privatizer, check_unique: bool) -> Any:
    """Privatize a column of a DataFrame, when it is computed."""
    rows = frame[task.columns]
    if check_unique:
        met = rows[[task.identifier]].shuffle(task.identifier)  # where a person has two rows, they meet
        refuse_repeated(task.identifier, int(met.map_partitions(_repeated, meta=(None, "int64")).sum().compute()))
    form = as_pandas(task.schema.empty_table())
    return rows.map_partitions(pandas_frame, task, False, meta=form, enforce_metadata=False).clear_divisions()


def _repeated(frame: Any) -> Any:
    """Return how many rows of a partition are of somebody seen before."""
    return frame.iloc[:, 0].duplicated().sum()
