"""A partial tally as small rows that a shuffle can add up in any order, for Spark.

A chunk of counts is in the narrowest integers that hold them: a state of many values has few reports for each, and
what is handed from Python to Java and back is then an eighth of it. The last byte says how wide they are.
"""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fldp.distributed.lake.partial_tally import PartialTally
from fldp.distributed.lake.scan import Job
from fldp.support.optional_imports import load

if TYPE_CHECKING:
    import pyarrow

_COUNTS = 1 << 11  # of a chunk: 16 KiB, since Spark hands 10,000 rows at a time to Python
_ROWS = 1 << 8
_WIDTHS = (1, 2, 4, 8)  # bytes of a count
_HEAD = -1

Row = tuple[int, bytes]


def rows(partial: PartialTally) -> Iterator[Row]:
    """Yield a partial tally as rows: a head without the state, then the chunks of the state that are not zero.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> partial = PartialTally(oracle, None, np.array([2, 0, 1]), 3)
    >>> collect(Job(oracle), [*rows(partial), *rows(partial)]).tally().state
    array([4, 0, 2])
    """
    yield _HEAD, pickle.dumps(replace(partial, state=None))
    state = np.zeros(0, np.int64) if partial.state is None else partial.state.ravel()
    for start in range(0, state.size, _COUNTS):
        chunk = state[start : start + _COUNTS]
        if chunk.any():
            yield start // _COUNTS, _packed(chunk)


def merged(rows: Iterable[Row]) -> Iterator[Row]:
    """Add up rows of the same number, and yield one of each."""
    head: PartialTally | None = None
    sums: dict[int, NDArray[np.int64]] = {}
    for number, content in rows:
        if number == _HEAD:
            head = _head(content) if head is None else head + _head(content)
        elif number in sums:
            sums[number] += _counts(content)
        else:
            sums[number] = _counts(content).astype(np.int64)
    if head is not None:
        yield _HEAD, pickle.dumps(head)
    yield from ((number, _packed(chunk)) for number, chunk in sums.items())


def _packed(chunk: NDArray[np.int64]) -> bytes:
    r"""Write counts in as few bytes each as all of them fit into.

    >>> _packed(np.array([3, -1])), _packed(np.array([128]))
    (b'\x03\xff\x01', b'\x80\x00\x02')
    """
    least, most = int(chunk.min()), int(chunk.max())
    width = next(width for width in _WIDTHS if max(most, -1 - least) < 1 << 8 * width - 1)
    return chunk.astype(f"<i{width}").tobytes() + bytes([width])


def _counts(content: bytes) -> NDArray[np.signedinteger]:
    width = content[-1]
    return np.frombuffer(content, f"<i{width}", (len(content) - 1) // width)


def _head(content: bytes) -> PartialTally:
    """Unpickle the head that ``rows`` wrote, on a worker of the same job."""
    head: PartialTally = pickle.loads(content)  # noqa: S301
    return head


def collect(job: Job, rows: Iterable[Row]) -> PartialTally:
    """Return the sum of the partial tallies whose rows these are."""
    total = job.partial_tally()
    state = job.oracle.tally_format.zeros()
    flat = state.reshape(-1)
    for number, content in rows:
        if number == _HEAD:
            total += _head(content)
        else:
            flat[number * _COUNTS : (number + 1) * _COUNTS] += _counts(content)
    return replace(total, state=state)


def batches(rows: Iterable[Row]) -> "Iterator[pyarrow.RecordBatch]":
    """Yield rows as record batches of Arrow."""
    arrow, source = load("pyarrow", "parquet"), iter(rows)
    form = arrow.schema([("chunk", arrow.int32()), ("content", arrow.binary())])
    while group := list(islice(source, _ROWS)):
        yield arrow.record_batch([list(column) for column in zip(*group, strict=True)], schema=form)


def pairs(batches: "Iterable[pyarrow.RecordBatch]") -> Iterator[Row]:
    """Yield the rows of record batches."""
    for batch in batches:
        yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
