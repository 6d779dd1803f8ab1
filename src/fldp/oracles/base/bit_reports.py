"""Reports of a public number and some bits: in memory, the number in a few bytes, lowest first, then the bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.kernels import U64, ZERO, Kernel

Rows = NDArray[np.int64]
_THREE, _SEVEN, _BYTE = U64(3), U64(7), U64(255)
# Byte b as eight one-byte lanes, lane k holding bit k of b: adds eight counters at a time.
LANES = np.array([sum(((b >> k) & 1) << (8 * k) for k in range(8)) for b in range(256)], np.uint64)


@Kernel
def add_bits(data: Any, lanes: Any, state: Any) -> None:
    """Add the bits of every column, eight columns at a time, moving full one-byte counters on every 255 rows."""
    sums = np.zeros(data.shape[1], np.uint64)
    for start in range(0, len(data), 255):
        for i in range(start, min(start + 255, len(data))):
            for j in range(data.shape[1]):
                sums[j] += lanes[data[i, j]]
        for v in range(len(state)):
            position = U64(v)
            state[v] += np.int64((sums[position >> _THREE] >> ((position & _SEVEN) << _THREE)) & _BYTE)
        sums[:] = ZERO


@Kernel
def add_runs(data: Any, starts: Any, rows: Any, lanes: Any, state: Any) -> None:
    """Add the bits of every run of reports to the row of the state that it belongs to."""
    for r in range(len(rows)):
        add_bits(data[starts[r] : starts[r + 1]], lanes, state[rows[r]])


def header(count: int) -> int:
    """Return the number of bytes that hold a number below ``count``.

    >>> header(1), header(256), header(257)
    (0, 1, 2)
    """
    return -(-(count - 1).bit_length() // 8)


def widths(bits: int) -> tuple[int, ...]:
    """Return how many bits each byte of a packed row holds: 8, and what is left over in the last.

    >>> widths(6), widths(17)
    ((6,), (8, 8, 1))
    """
    whole, rest = divmod(bits, 8)
    return (8,) * whole + (rest,) * (rest > 0)


def padding_mask(bits: int) -> int:
    """Return the bits of the last byte of a packed row that hold nothing, and must be 0.

    >>> bin(padding_mask(6)), padding_mask(16)
    ('0b11000000', 0)
    """
    return 0xFF << (bits % 8 or 8) & 0xFF


def join(rows: Rows, bits: Array, out: Array) -> None:
    """Write reports of these numbers and bits."""
    size = out.shape[1] - bits.shape[1]
    for k in range(size):
        out[:, k] = (rows >> (8 * k)) & 255
    out[:, size:] = bits


def split(data: Array, size: int) -> tuple[Rows, Array]:
    """Return the numbers that reports have in so many bytes, and their bits."""
    rows = np.zeros(len(data), np.int64)
    for k in range(size):
        rows |= data[:, k].astype(np.int64) << (8 * k)
    return rows, data[:, size:]


def add(rows: Rows, bits: Array, state: NDArray[np.int64]) -> None:
    """Add reports up: row ``r`` of the state has the number of reports of number ``r``, then that of each bit."""
    order = np.argsort(rows, kind="stable")
    found, starts = np.unique(rows[order], return_index=True)
    add_runs.compiled(np.ascontiguousarray(bits[order]), np.append(starts, len(rows)), found, LANES, state[:, 1:])
    np.add.at(state[:, 0], rows, 1)
