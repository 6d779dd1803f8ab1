"""The Dask engine: Dask schedules pieces, or the partitions of a DataFrame; partial tallies are added two by two.

Two partial tallies are added as soon as both exist, on a worker that has one of them. So a worker holds a few states
at a time, and the network carries at most tasks times state, however many the reports.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import add
from typing import TYPE_CHECKING, Any

from fldp.distributed.engines import local
from fldp.distributed.lake.layout import Piece, deal
from fldp.distributed.lake.partial_tally import PartialTally
from fldp.distributed.lake.row_privatizer import Privatizer, refuse_repeated
from fldp.distributed.lake.scan import Job, scan
from fldp.errors import FldpError, ParameterError
from fldp.support.optional_imports import load
from fldp.support.processor_cores import available_cores
from fldp.support.progress import Progress
from fldp.wire.arrow_reports import names

if TYPE_CHECKING:
    from dask.dataframe import DataFrame

    from distributed import Client

ABOUT = "a Dask cluster"
FRAMES = {"dask": "Dask"}
_TASKS_PER_THREAD = 4
_PATIENCE = "120s"


def tally_pieces(
    pieces: Sequence[Piece],
    job: Job,
    progress: Progress,
    *,
    address: str | None = None,
    client: "Client | None" = None,
    tasks: int | None = None,
) -> PartialTally:
    """Tally pieces in at most ``tasks`` tasks: on the client given, the active one, or a new one for an address."""
    with _connect(client, address) as active:
        groups = deal(pieces, _tasks(active) if tasks is None else tasks)
        futures = active.map(scan, groups, job=job, pure=False)
        sizes = {future.key: sum(piece.bytes for piece in group) for future, group in zip(futures, groups, strict=True)}
        return _add_up(active, futures, lambda key: progress(sizes.pop(key, 0)))


def _tasks(client: Any) -> int:
    return _TASKS_PER_THREAD * max(1, int(sum(client.nthreads().values())))


def tally_frame(
    frame: "DataFrame", job: Job, *, address: str | None = None, client: "Client | None" = None
) -> PartialTally:
    """Tally the report columns of a DataFrame; a bad row is named by its partition and its place there."""
    delayed = load("dask", "dask").delayed(_tally_partition)
    partitions = frame[list(names(job.oracle))].to_delayed()
    with _connect(client, address) as active:
        futures = active.compute([delayed(partition, number, job) for number, partition in enumerate(partitions)])
        return _add_up(active, futures)


def _tally_partition(frame: Any, number: int, job: Job) -> PartialTally:
    return local.tally_frame(frame, job, place=f"partition {number}")


def _add_up(client: Any, futures: list[Any], finished: Callable[[str], object] | None = None) -> PartialTally:
    """Add partial tallies as they arrive. The list is emptied, so that Dask frees those that were added."""
    done = load("distributed", "dask").as_completed(futures, loop=client.loop)
    futures.clear()
    waiting: Any = None
    for future in done:
        if future.status != "finished":
            _fail(future)
        if finished is not None:
            finished(future.key)
        if waiting is None:
            waiting = future
        else:
            done.add(client.submit(add, waiting, future, pure=False))
            waiting = None
    total: PartialTally = waiting.result()
    return total


def _fail(future: Any) -> None:
    """Raise the error of a worker, as one line."""
    error = future.exception()
    if isinstance(error, FldpError):
        raise error
    line = (str(error).splitlines() or [""])[0]
    raise FldpError(f"dask: {type(error).__name__}: {line}") from error


@contextmanager
def _connect(client: Any, address: str | None) -> Iterator[Any]:
    """Yield the client given, the active one, or a new one that is closed in the end."""
    distributed = load("distributed", "dask")
    if client is not None and address is not None:
        raise ParameterError(f"dask: address must be None where there is a client already, got {address!r}")
    if address is None:
        client = client or _active(distributed)
    if client is not None:
        yield client
    elif address is not None:
        with _client(distributed, address) as connected:
            yield connected
    else:
        with _cluster(distributed) as cluster, _client(distributed, cluster) as connected:
            yield connected


def _client(distributed: Any, where: Any) -> Any:
    return distributed.Client(where, timeout=_PATIENCE, set_as_default=False)


def _cluster(distributed: Any) -> Any:
    """Return a cluster with a process for each core, on the loopback; workers that end do not log it."""
    return distributed.LocalCluster(
        available_cores(),
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


def privatize_frame(frame: "DataFrame", privatizer: Privatizer, check_unique: bool) -> "DataFrame":
    """Privatize a column of a DataFrame, when it is computed."""
    rows = frame[privatizer.columns]
    if check_unique:
        # After a shuffle by identifier, two rows of one person are in one partition.
        shuffled = rows[[privatizer.identifier]].shuffle(privatizer.identifier)
        repeated = shuffled.map_partitions(_repeated, meta=(None, "int64")).sum().compute()
        refuse_repeated(privatizer.identifier, int(repeated))
    form = local.as_pandas(privatizer.schema.empty_table())
    reports = rows.map_partitions(local.privatize_frame, privatizer, False, meta=form, enforce_metadata=False)
    private: DataFrame = reports.clear_divisions()
    return private


def _repeated(frame: Any) -> Any:
    """Return how many rows of a partition repeat an identifier."""
    return frame.iloc[:, 0].duplicated().sum()
