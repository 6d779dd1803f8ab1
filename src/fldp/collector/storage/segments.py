"""Segments: reports as they are stored, sorted by their own bytes, so that no order of arrival is left."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fldp.collector.storage.protocol import REPORTS, TALLY, Segment, StoreError
from fldp.data.packing import pack, packed_size, unpack
from fldp.data.reports import Array, Reports, Tally
from fldp.errors import FldpError
from fldp.oracles.base.oracle import Oracle

MAX_BYTES = 1 << 20  # of one row
_CHECKSUM_BYTES = 16
_MIXED_BYTES = 1 << 24


def in_order(reports: Reports) -> Reports:
    """Return the same reports in an order that depends on nothing but which reports they are.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    >>> in_order(Reports(oracle, np.array([3, 0, 4, 0], np.uint8))).data
    array([0, 0, 3, 4], dtype=uint8)
    """
    if len(reports) < 2:
        return reports
    return Reports.trusted(reports.oracle, _sorted(reports.data))


def _sorted(data: Array) -> Array:
    """Sort rows, as numbers if they fit into one, else by their bytes; no index is made, which would be larger."""
    rows = np.ascontiguousarray(data).view(np.uint8).reshape(len(data), -1)
    width = rows.shape[1]
    if width > 8:
        numbers = np.sort(rows.view(np.dtype((np.void, width))).ravel())
    elif width in (1, 2, 4, 8):
        numbers = np.sort(rows.view(f"<u{width}").ravel())
    else:
        padded = np.zeros((len(rows), 8), np.uint8)
        padded[:, :width] = rows
        padded.view("<u8").ravel().sort()
        numbers = np.ascontiguousarray(padded[:, :width])
    return numbers.view(np.uint8).reshape(rows.shape).view(data.dtype).reshape(data.shape)


def packed(batches: Sequence[Reports]) -> list[Segment]:
    """Return batches of one oracle as segments, all of them sorted together.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=16)
    >>> packed([Reports(oracle, np.array([2], np.uint8)), Reports(oracle, np.array([1], np.uint8))])
    [Segment(kind=1, n=2, data=b'!', id=0, day='')]
    """
    together = [batch for batch in batches if len(batch)]
    if not together:
        return []
    whole = in_order(Reports.concatenate(together))
    step = max(8, MAX_BYTES * 8 // whole.oracle.report_format.bits // 8 * 8)
    parts = (whole[start : start + step] for start in range(0, len(whole), step))
    return [Segment(REPORTS, len(part), pack(whole.oracle.report_format, part.data).tobytes()) for part in parts]


def tally_segment(tally: Tally) -> Segment:
    """Return a merged tally as a segment."""
    return Segment(TALLY, tally.n, tally.state.astype("<i8").tobytes())


def reports_of(oracle: Oracle, segment: Segment) -> Reports:
    """Return the reports of a segment, every one of them checked anew: a damaged disk must not reach a kernel."""
    if segment.kind != REPORTS or len(segment.data) != packed_size(oracle.report_format, segment.n):
        raise StoreError(f"store: a segment of {segment.day or 'some day'} is damaged")
    data, padded = unpack(oracle.report_format, np.frombuffer(segment.data, np.uint8), segment.n)
    try:
        if padded:
            return Reports(oracle, data)
    except FldpError:
        pass
    raise StoreError(f"store: a segment of {segment.day or 'some day'} holds reports that {oracle!r} cannot produce")


def state_with_checksum(n: int, state: Array) -> bytes:
    """Return the stored form of a tally's state. Where reports are forgotten, only its checksum detects damage.

    >>> verified_state(3, state_with_checksum(3, np.array([1, 2])))
    array([1, 2])
    """
    data = state.astype("<i8").tobytes()
    return data + _checksum(n, data)


def verified_state(n: int, stored: bytes) -> Array:
    """Return the state of a stored tally; raise StoreError if its checksum does not match."""
    if isinstance(stored, bytes) and isinstance(n, int) and n >= 0:  # in a damaged file they may be anything
        data, checksum = stored[:-_CHECKSUM_BYTES], stored[-_CHECKSUM_BYTES:]
        if checksum == _checksum(n, data):
            return np.frombuffer(data, "<i8")
    raise StoreError("store: a tally is damaged: its checksum does not match; run fldp fsck")


def _checksum(n: int, data: bytes) -> bytes:
    return hashlib.sha256(n.to_bytes(8, "little") + data).digest()[:_CHECKSUM_BYTES]


def stored_tally(oracle: Oracle, n: int, stored: bytes) -> Tally:
    """Return a stored tally; raise StoreError if it is damaged."""
    return state_tally(oracle, verified_state(n, stored), n)


def state_tally(oracle: Oracle, state: Array, n: int) -> Tally:
    """Return a state as a tally; raise StoreError if no such tally is possible."""
    try:
        return Tally(oracle, state.reshape(oracle.tally_format.shape), n)
    except (FldpError, ValueError):
        raise StoreError(f"store: a stored tally cannot be one of {n} reports of {oracle!r}") from None


def total(oracle: Oracle, segments: Iterable[Segment]) -> Tally:
    """Return the sum of segments. All add to one state: there may be many segments, and the state may be large."""
    state, n, merged = oracle.tally_format.zeros(), 0, Tally.empty(oracle)
    for segment in segments:
        if segment.kind == REPORTS:
            reports = reports_of(oracle, segment)
            if len(reports):
                oracle.count(reports.data, state)
            n += len(reports)
        else:
            merged += state_tally(oracle, np.frombuffer(segment.data, "<i8"), segment.n)
    return merged + state_tally(oracle, state, n)


def batches(oracle: Oracle, segments: Iterable[Segment]) -> Iterator[Reports]:
    """Yield the reports of those segments that hold any."""
    for segment in segments:
        if segment.kind == REPORTS:
            yield reports_of(oracle, segment)


def mixed(oracle: Oracle, segments: Iterable[Segment], least: int) -> Iterator[Reports]:
    """Yield all reports in sorted parts of ``least`` or more, so that nobody sees which came together, or on which day.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    >>> rows = [packed([Reports(oracle, np.array([symbol], np.uint8))])[0] for symbol in (3, 1, 2)]
    >>> [part.data.tolist() for part in mixed(oracle, rows, 2)]
    [[1, 2, 3]]
    """
    ready: list[Reports] = []
    part: list[Reports] = []
    for batch in batches(oracle, segments):
        part.append(batch)
        if sum(len(reports) for reports in part) >= least and sum(reports.nbytes for reports in part) >= _MIXED_BYTES:
            if ready:  # one part is held back, so that the last reports are not on their own
                yield in_order(Reports.concatenate(ready))
            ready, part = part, []
    if ready or part:
        yield in_order(Reports.concatenate(ready + part))
