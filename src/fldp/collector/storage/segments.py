"""Segments: reports as they are stored, sorted by their own bytes, so that no order of arrival is left."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fldp.collector.storage.protocol import REPORTS, TAKEN_REPORTS, TAKEN_TALLY, TALLY, Segment, StoreError
from fldp.data.packing import pack, packed_size, unpack
from fldp.data.reports import Array, Reports, Tally
from fldp.errors import FldpError
from fldp.numerics.radix_sort import radix_sorted
from fldp.oracles.base.oracle import Oracle

MAX_BYTES = 1 << 20  # of one row
_CHECKSUM_BYTES = 16
_MIXED_BYTES = 1 << 24
_MANY = 4096  # numbers from which on sorting them by digits takes less than comparing them


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
    """Sort rows; no index is made, which would be larger."""
    numbers = _sorted_numbers(_numbers(data))
    width = data.dtype.itemsize * int(np.prod(data.shape[1:], dtype=int))
    rows = np.ascontiguousarray(numbers.view(np.uint8).reshape(len(data), -1)[:, :width])
    return rows.view(data.dtype).reshape(data.shape)


def _sorted_numbers(numbers: Array) -> Array:
    """Return numbers in order; the array that comes in is used for work."""
    is_merged = _is_merged(numbers)
    if len(numbers) >= _MANY and not is_merged:
        return radix_sorted(numbers)
    numbers.sort(kind="stable" if is_merged else "quicksort")
    return numbers


def _is_merged(numbers: Array) -> bool:
    """Whether a stable sort takes less: it leaves a sorted run as it is, and merges two of them.

    More of them take it longer than no order at all. Numbers of up to 16 bits are sorted by their digits, and wide rows
    are compared as bytes: it never takes much more.

    >>> _is_merged(np.arange(3000, dtype=np.uint32) % 1500), _is_merged(np.arange(3000, dtype=np.uint32) % 1000)
    (True, False)
    """
    if numbers.dtype.kind != "u" or numbers.itemsize <= 2:
        return True
    return int(np.count_nonzero(numbers[1:] < numbers[:-1])) <= 1


def _numbers(data: Array) -> Array:
    """Return rows as new numbers to sort by if they fit into 64 bits, else as their bytes."""
    rows = np.ascontiguousarray(data).view(np.uint8).reshape(len(data), -1)
    width = rows.shape[1]
    if width > 8:
        return rows.view(np.dtype((np.void, width))).ravel().copy()
    if width in (1, 2, 4, 8):
        return rows.view(f"<u{width}").ravel().copy()
    padded = np.zeros((len(rows), 8), np.uint8)
    padded[:, :width] = rows
    return padded.view("<u8").ravel()


def split(reports: Reports, taken: Reports) -> tuple[Reports, Reports]:
    """Return what is left of sorted reports without some others, and which of these, sorted too, are not among them.

    Equal reports are interchangeable, so nothing has to say which of them is whose.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    >>> rest, missing = split(*(Reports(oracle, np.array(symbols, np.uint8)) for symbols in ([0, 0, 3, 4], [0, 1, 4])))
    >>> rest.data, missing.data
    (array([0, 3], dtype=uint8), array([1], dtype=uint8))
    """
    if not len(reports) or not len(taken):
        return reports, taken
    mine, theirs = _numbers(reports.data), _numbers(taken.data)
    # The k-th of equal ones to be taken is the k-th equal one that is here, if there is one.
    place = np.searchsorted(mine, theirs) + np.arange(len(theirs)) - np.searchsorted(theirs, theirs)
    held = place < np.searchsorted(mine, theirs, side="right")
    keep = np.ones(len(mine), bool)
    keep[place[held]] = False
    oracle = reports.oracle
    return Reports.trusted(oracle, reports.data[keep]), Reports.trusted(oracle, taken.data[~held])


def packed(batches: Sequence[Reports], kind: int = REPORTS) -> list[Segment]:
    """Return batches of one oracle as segments that add them or take them out, all of them sorted together.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=16)
    >>> packed([Reports(oracle, np.array([2], np.uint8)), Reports(oracle, np.array([1], np.uint8))])
    [Segment(kind=1, n=2, data=b'!', id=0, day='')]
    """
    together = [batch for batch in batches if len(batch)]
    if not together:
        return []
    whole = in_order(together[0] if len(together) == 1 else Reports.concatenate(together))
    step = max(8, MAX_BYTES * 8 // whole.oracle.report_format.bits // 8 * 8)
    parts = (whole[start : start + step] for start in range(0, len(whole), step))
    sign, form = 1 if kind == REPORTS else -1, whole.oracle.report_format
    return [Segment(kind, sign * len(part), pack(form, part.data).tobytes()) for part in parts]


def is_smaller_as_tally(oracle: Oracle, n: int) -> bool:
    """Whether the state of a tally takes no more bytes than so many packed reports.

    >>> import fldp
    >>> [is_smaller_as_tally(fldp.FHR(epsilon=1.0, domain_size=1023), n) for n in (6_553, 6_554)]
    [False, True]
    """
    return state_bytes(oracle) <= packed_size(oracle.report_format, n)


def state_bytes(oracle: Oracle) -> int:
    """Return the bytes of the state of a tally."""
    return 8 * oracle.tally_format.cells


def tally_segment(tally: Tally, kind: int = TALLY) -> Segment:
    """Return a merged tally as a segment that adds it or takes it out."""
    return Segment(kind, tally.n if kind == TALLY else -tally.n, tally.state.astype("<i8").tobytes())


def reports_of(oracle: Oracle, segment: Segment) -> Reports:
    """Return the reports of a segment, every one of them checked anew: a damaged disk must not reach a kernel."""
    n = -segment.n if segment.takes else segment.n
    possible = segment.kind in (REPORTS, TAKEN_REPORTS) and n >= 0
    if not possible or len(segment.data) != packed_size(oracle.report_format, n):
        raise StoreError(f"store: a segment of {segment.day or 'some day'} is damaged")
    data, padded = unpack(oracle.report_format, np.frombuffer(segment.data, np.uint8), n)
    if padded and oracle.report_format.check(data).all():
        return Reports.trusted(oracle, data)
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
    """Return the sum of segments that add; raise StoreError for one that takes out."""
    added, taken = balance(oracle, segments)
    if taken.n:
        raise _taking()
    return added


def total_and_reports(oracle: Oracle, segments: Iterable[Segment]) -> tuple[Tally, list[Reports]]:
    """Return the sum of segments that add, and their reports, which are read once for both."""
    added, batches = _Sum(oracle), list[Reports]()
    for segment in segments:
        if segment.takes:
            raise _taking()
        batches += added.add(segment)
    return added.tally, batches


def _taking() -> StoreError:
    return StoreError("store: a segment that takes reports out is where none can be")


def balance(oracle: Oracle, segments: Iterable[Segment]) -> tuple[Tally, Tally]:
    """Return the sum of what segments add, and the sum of what they take out.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> some = Reports(oracle, np.array([2, 1], np.uint8))
    >>> balance(oracle, packed([some]) + packed([some[:1]], TAKEN_REPORTS))[1].state
    array([0, 0, 1])
    """
    sums = {False: _Sum(oracle), True: _Sum(oracle)}
    for segment in segments:
        sums[segment.takes].add(segment)
    return sums[False].tally, sums[True].tally


class _Sum:
    """A sum of segments. All add to one state: there may be many segments, and the state may be large."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle, self._state, self._n, self._merged = oracle, oracle.tally_format.zeros(), 0, Tally.empty(oracle)

    def add(self, segment: Segment) -> list[Reports]:
        """Add a segment; return its reports, if it is not a tally."""
        if segment.kind in (TALLY, TAKEN_TALLY):
            self._merged += state_tally(self._oracle, np.frombuffer(segment.data, "<i8"), abs(segment.n))
            return []
        reports = reports_of(self._oracle, segment)
        if len(reports):
            self._oracle.count(reports.data, self._state)
        self._n += len(reports)
        return [reports]

    @property
    def tally(self) -> Tally:
        return self._merged + state_tally(self._oracle, self._state, self._n)


def batches(oracle: Oracle, segments: Iterable[Segment]) -> Iterator[Reports]:
    """Yield the reports of those segments that add any."""
    for segment in segments:
        if segment.kind == REPORTS:
            yield reports_of(oracle, segment)


def without(oracle: Oracle, segments: Iterable[Segment], taken: Iterable[Segment]) -> Iterator[Reports]:
    """Yield the reports that segments add, without those that others take out; all of these must be among them."""
    missing = taken_reports(oracle, taken)
    for batch in batches(oracle, segments):
        rest, missing = split(in_order(batch), missing) if len(missing) else (batch, missing)
        if len(rest):
            yield rest
    if len(missing):
        raise not_there(len(missing))


def taken_reports(oracle: Oracle, segments: Iterable[Segment]) -> Reports:
    """Return all reports that segments take out, sorted."""
    empty = Reports.trusted(oracle, oracle.report_format.empty(0))
    parts = [reports_of(oracle, segment) for segment in segments if segment.kind == TAKEN_REPORTS]
    return in_order(Reports.concatenate([empty, *parts]))


def not_there(n: int, day: str = "") -> StoreError:
    """Return the error of reports that were withdrawn and are not stored."""
    when = f" of {day}" if day else ""
    return StoreError(f"store: {n} withdrawn reports{when} are not among those that are stored; run fldp fsck")


def mixed(oracle: Oracle, segments: Iterable[Segment], least: int, taken: Iterable[Segment] = ()) -> Iterator[Reports]:
    """Yield all reports in sorted parts of ``least`` or more, so that nobody sees which came together, or on which day.

    Those that ``taken`` takes out are not among them.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    >>> rows = [packed([Reports(oracle, np.array([symbol], np.uint8))])[0] for symbol in (3, 1, 2)]
    >>> [part.data.tolist() for part in mixed(oracle, rows, 2)]
    [[1, 2, 3]]
    """
    ready: list[Reports] = []
    part: list[Reports] = []
    for batch in without(oracle, segments, taken):
        part.append(batch)
        if sum(len(some) for some in part) >= least and sum(some.nbytes for some in part) >= _MIXED_BYTES:
            if ready:  # one part is held back, so that the last reports are not on their own
                yield in_order(Reports.concatenate(ready))
            ready, part = part, []
    if ready or part:
        yield in_order(Reports.concatenate(ready + part))
