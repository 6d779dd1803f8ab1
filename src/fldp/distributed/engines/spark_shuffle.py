"""Chunks: a part as small rows that can be added up in any order and anywhere, for engines that shuffle rows."""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.distributed.lake.partial_tally import Part
from fldp.distributed.lake.scan import Job
from fldp.support.optional_imports import load

_COUNTS = 1 << 11  # of a chunk: 16 KiB, since Spark hands 10,000 rows at a time to Python
_ROWS = 1 << 6
_HEAD = -1

Row = tuple[int, bytes]


def rows(part: Part) -> Iterator[Row]:
    """Yield a part as rows: all that is not its state, then those chunks of its state that are not zero.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> part = Part(oracle, None, np.array([2, 0, 1]), 3)
    >>> added(Job(oracle), [*rows(part), *rows(part)]).tally().state
    array([4, 0, 2])
    """
    yield _HEAD, pickle.dumps(replace(part, state=None))
    state = np.zeros(0, np.int64) if part.state is None else part.state.ravel()
    for start in range(0, state.size, _COUNTS):
        chunk = state[start : start + _COUNTS]
        if chunk.any():
            yield start // _COUNTS, chunk.astype("<i8").tobytes()


def merged(given: Iterable[Row]) -> Iterator[Row]:
    """Add rows of one number up, so that there is one of each."""
    head: Part | None = None
    sums: dict[int, NDArray[np.int64]] = {}
    for number, content in given:
        if number == _HEAD:
            head = _part(content) if head is None else head + _part(content)
        elif number in sums:
            sums[number] += np.frombuffer(content, "<i8")
        else:
            sums[number] = np.frombuffer(content, "<i8").astype(np.int64)
    if head is not None:
        yield _HEAD, pickle.dumps(head)
    yield from ((number, chunk.astype("<i8").tobytes()) for number, chunk in sums.items())


def _part(content: bytes) -> Part:
    """Read what ``rows`` wrote, on a worker of the same job."""
    part: Part = pickle.loads(content)  # noqa: S301
    return part


def added(job: Job, given: Iterable[Row]) -> Part:
    """Return the part that rows are of."""
    total = Part(job.oracle, job.survey)
    state = np.zeros(job.oracle.tally_shape, np.int64)
    flat = state.reshape(-1)
    for number, content in given:
        if number == _HEAD:
            total += _part(content)
        else:
            flat[number * _COUNTS : (number + 1) * _COUNTS] += np.frombuffer(content, "<i8")
    return replace(total, state=state)


def batches(given: Iterable[Row]) -> Iterator[Any]:
    """Yield rows as record batches of Arrow."""
    arrow, source = load("pyarrow", "parquet"), iter(given)
    form = arrow.schema([("chunk", arrow.int32()), ("content", arrow.binary())])
    while some := list(islice(source, _ROWS)):
        yield arrow.record_batch([list(column) for column in zip(*some, strict=True)], schema=form)


def pairs(given: Iterable[Any]) -> Iterator[Row]:
    """Yield the rows of record batches."""
    for batch in given:
        yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
