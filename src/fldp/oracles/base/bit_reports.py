"""Reports of packed bits, with or without a public number before them (little-endian, in whole bytes)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat
from fldp.data.reports import Array
from fldp.numerics.kernels import U64, ZERO, Kernel

Rows = NDArray[np.int64]
_THREE, _SEVEN, _BYTE = U64(3), U64(7), U64(255)
_BYTES = np.dtype(np.uint8)
# Byte b as eight one-byte lanes, lane k holding bit k of b, so that one addition updates eight counters.
LANES = np.array([sum(((b >> k) & 1) << (8 * k) for k in range(8)) for b in range(256)], np.uint64)


@Kernel
def add_bits(data: Any, lanes: Any, state: Any) -> None:
    """Count the set bits of every column, eight columns at a time.

    One-byte lanes overflow after 255 rows, so they are moved into the state that often.
    """
    sums = np.zeros(data.shape[1], np.uint64)
    for start in range(0, len(data), 255):
        for i in range(start, min(start + 255, len(data))):
            for j in range(data.shape[1]):
                sums[j] += lanes[data[i, j]]
        for v in range(len(state)):
            position = U64(v)
            state[v] += np.int64((sums[position >> _THREE] >> ((position & _SEVEN) << _THREE)) & _BYTE)
        sums[:] = ZERO


@add_bits.by_numpy
def _count_bits(data: Any, lanes: Any, state: Any) -> None:
    del lanes
    state += np.unpackbits(data, axis=1, count=len(state), bitorder="little").sum(axis=0, dtype=np.int64)


@Kernel
def add_runs(data: Any, starts: Any, rows: Any, lanes: Any, state: Any) -> None:
    """Count the bits of each run of reports into its row of the state."""
    for r in range(len(rows)):
        add_bits(data[starts[r] : starts[r + 1]], lanes, state[rows[r]])


def header(count: int) -> int:
    """Return the number of bytes for a number below ``count``.

    >>> header(1), header(256), header(257)
    (0, 1, 2)
    """
    return -(-(count - 1).bit_length() // 8)


def byte_fields(bits: int) -> tuple[tuple[int, int], ...]:
    """Return the fields of a packed row, a byte each: 8 bits, and what is left over in the last.

    >>> byte_fields(6), byte_fields(17)
    (((6, 1),), ((8, 2), (1, 1)))
    """
    whole, rest = divmod(bits, 8)
    return ((8, whole),) * (whole > 0) + ((rest, 1),) * (rest > 0)


def bit_rows(bits: int) -> ReportFormat:
    """Return the format of reports that are packed bits: bit ``v`` is bit ``v % 8`` of byte ``v // 8``.

    >>> bit_rows(11).shape, bit_rows(11).outcome(bit_rows(11).report(0b10000000001))
    ((2,), (None, 1025))
    """
    size, unused = -(-bits // 8), padding_mask(bits)

    def report(outcome: int, public: None = None) -> Array:
        del public
        return np.frombuffer(outcome.to_bytes(size, "little"), np.uint8)

    def check(data: Array) -> NDArray[np.bool_]:
        return np.asarray(data[:, -1] & unused == 0)

    return ReportFormat(_BYTES, byte_fields(bits), check, lambda row: (None, number_of(row)), report, (size,))


def numbered_bits(numbers: int, bits: int) -> ReportFormat:
    """Return the format of reports that are a public number below ``numbers``, then packed bits.

    >>> rows = numbered_bits(64, 11)
    >>> rows.shape, rows.bits, rows.outcome(rows.report(1025, 63))
    ((3,), 17, (63, 1025))
    """
    start, row = header(numbers), bit_rows(bits)
    shape = (start + row.shape[0],)

    def check(data: Array) -> NDArray[np.bool_]:
        rows, inside = split(data, start)
        return np.asarray((rows < numbers) & row.check(inside))

    def outcome(report: Array) -> tuple[int, int]:
        return number_of(report[:start]), number_of(report[start:])

    def report(outcome: int, public: int) -> Array:
        out = np.empty((1, *shape), np.uint8)
        join(np.array([public]), row.report(outcome)[None], out)
        return np.asarray(out[0])

    return ReportFormat(_BYTES, byte_fields((numbers - 1).bit_length()) + row.fields, check, outcome, report, shape)


def number_of(row: Array) -> int:
    """Return bytes as one number, the lowest first."""
    return int.from_bytes(row.tobytes(), "little")


def padding_mask(bits: int) -> int:
    """Return the bits of the last byte of a packed row that hold nothing, and must be 0.

    >>> bin(padding_mask(6)), padding_mask(16)
    ('0b11000000', 0)
    """
    return 0xFF << (bits % 8 or 8) & 0xFF


def join(rows: Rows, bits: Array, out: Array) -> None:
    """Write reports with these public numbers and bits."""
    size = out.shape[1] - bits.shape[1]
    for k in range(size):
        out[:, k] = (rows >> (8 * k)) & 255
    out[:, size:] = bits


def split(data: Array, size: int) -> tuple[Rows, Array]:
    """Return the public numbers in the first ``size`` bytes of reports, and the bits after them."""
    rows = np.zeros(len(data), np.int64)
    for k in range(size):
        rows |= data[:, k].astype(np.int64) << (8 * k)
    return rows, data[:, size:]


def add(rows: Rows, bits: Array, state: NDArray[np.int64]) -> None:
    """Count reports: row ``r`` of the state holds how many have the number ``r``, then how many have each bit set."""
    order = np.argsort(rows, kind="stable")
    present, starts = np.unique(rows[order], return_index=True)
    add_runs.compiled(np.ascontiguousarray(bits[order]), np.append(starts, len(rows)), present, LANES, state[:, 1:])
    np.add.at(state[:, 0], rows, 1)
