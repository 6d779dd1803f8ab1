"""Reports of packed bits, with or without a public number before them (little-endian, in whole bytes)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.kernels import U64, ZERO, Kernel

Rows = NDArray[np.int64]
_THREE, _SEVEN, _BYTE = U64(3), U64(7), U64(255)
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
