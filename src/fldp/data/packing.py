"""Bit packing: numbers of given widths into a row of bits, and back.

Bit ``k`` of the row is bit ``k % 8`` of byte ``k // 8``. Numbers follow each other without gaps, lowest bit first; the
rest of the last byte is zero.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import Array, ReportFormat, read_only
from fldp.numerics.kernels import ONE, U64, ZERO, Kernel

_EIGHT, _BYTE = U64(8), U64(255)
_STEP = U64(32)  # bits at a time
_MAX_FIELDS = 256

Bytes = NDArray[np.uint8]


@Kernel
def _pack(columns: Any, widths: Any, out: Any) -> None:
    """Write rows of numbers as consecutive bits."""
    # ``held`` buffers the ``bits`` not yet written, fewer than 8; a number enters in steps of at most 32 bits, so the
    # buffer never overflows and full bytes leave from its low end.
    held, bits, end = ZERO, ZERO, 0
    for i in range(columns.shape[0]):
        for j in range(columns.shape[1]):
            number, left = U64(columns[i, j]), U64(widths[j])
            while left > ZERO:
                step = min(left, _STEP)
                held |= (number & ((ONE << step) - ONE)) << bits
                number >>= step
                bits += step
                left -= step
                while bits >= _EIGHT:
                    out[end] = held & _BYTE
                    end += 1
                    held >>= _EIGHT
                    bits -= _EIGHT
    if bits > ZERO:
        out[end] = held


@Kernel
def _unpack(packed: Any, widths: Any, columns: Any) -> Any:
    """Read rows of numbers from consecutive bits; return the bits left over in the last byte."""
    # The reverse of ``_pack``: bytes are read into ``held`` while fewer bits are left than the next step takes.
    held, bits, end = ZERO, ZERO, 0
    for i in range(columns.shape[0]):
        for j in range(columns.shape[1]):
            number, done, width = ZERO, ZERO, U64(widths[j])
            while done < width:
                step = min(width - done, _STEP)
                while bits < step:
                    held |= U64(packed[end]) << bits
                    end += 1
                    bits += _EIGHT
                number |= (held & ((ONE << step) - ONE)) << done
                held >>= step
                bits -= step
                done += step
            columns[i, j] = number
    return held


@_pack.by_numpy
def _pack_bits(columns: Any, widths: Any, out: Any) -> None:
    bits = [_bits_of(columns[:, j], int(width)) for j, width in enumerate(widths)]
    packed = np.packbits(np.concatenate(bits, axis=1).reshape(-1), bitorder="little")
    out[: len(packed)] = packed


def _bits_of(column: Any, width: int) -> Bytes:
    """Return the lowest bits of numbers, a row for each."""
    rows = np.ascontiguousarray(column, "<u8").view(np.uint8).reshape(len(column), 8)
    return np.unpackbits(rows, axis=1, count=width, bitorder="little")


@_unpack.by_numpy
def _unpack_bits(packed: Any, widths: Any, columns: Any) -> Any:
    total = int(widths.sum()) * len(columns)
    bits = np.unpackbits(packed, bitorder="little")
    place, rows = 0, bits[:total].reshape(len(columns), -1)
    for j, width in enumerate(widths.tolist()):
        field = np.zeros((len(columns), 64), np.uint8)
        field[:, :width] = rows[:, place : place + width]
        columns[:, j] = np.packbits(field, axis=1, bitorder="little").view("<u8")[:, 0]
        place += width
    return U64(bits[total:].any())


def packed_size(layout: ReportFormat, count: int) -> int:
    """Return the number of bytes of ``count`` packed reports.

    >>> import fldp
    >>> packed_size(fldp.FHR(epsilon=1.0, domain_size=1023).report_format, 3)
    8
    """
    return -(-layout.bits * count // 8)


def pack(layout: ReportFormat, data: Array) -> Bytes:
    """Pack report data.

    >>> import fldp
    >>> layout = fldp.GRR(epsilon=1.0, domain_size=16).report_format
    >>> pack(layout, np.array([1, 2, 15], np.uint8)).tolist()
    [33, 15]
    """
    return pack_columns(as_columns(data), layout.widths)


def unpack(layout: ReportFormat, packed: Bytes, count: int) -> tuple[Array, bool]:
    """Return the data of ``count`` reports, not yet checked, and whether the padding after them is zero.

    >>> import fldp
    >>> unpack(fldp.GRR(epsilon=1.0, domain_size=16).report_format, np.array([33, 15], np.uint8), 3)
    (array([ 1,  2, 15], dtype=uint8), True)
    """
    data = layout.empty(count)
    fields = _in_place(data)
    if fields is None:
        columns, padded = unpack_columns(packed, layout.widths, count)
        return from_columns(layout, columns), padded
    rest = _for_work(_unpack, count, layout.widths)(packed, layout.widths, fields)
    return data, rest == 0


def unpack_each(layout: ReportFormat, packed: Bytes, count: int) -> tuple[Array, NDArray[np.bool_]]:
    """Return the data of reports that were packed one by one, not yet checked, and whether the padding of each is zero.

    >>> import fldp
    >>> layout = fldp.GRR(epsilon=1.0, domain_size=16).report_format
    >>> unpack_each(layout, np.array([1, 2, 31], np.uint8), 3)
    (array([ 1,  2, 15], dtype=uint8), array([ True,  True, False]))
    """
    padding = -layout.bits % 8
    if not padding:
        return unpack(layout, packed, count)[0], np.ones(count, np.bool_)
    columns, _ = unpack_columns(packed, read_only(np.append(layout.widths, np.uint8(padding))), count)
    return from_columns(layout, columns[:, :-1]), columns[:, -1] == 0


def as_columns(data: Array) -> Array:
    """Return the fields of reports as numbers, one row per report."""
    fields = _in_place(np.ascontiguousarray(data))
    if fields is not None:
        return fields.copy()  # to the compiler, numbers that may not be written are of another type
    return np.stack([data[name].astype(np.uint64) for name in data.dtype.names or ()], axis=1)


def _in_place(data: Array) -> Array | None:
    """Return the same memory as numbers, one row per report; None where fields are of several types."""
    names = data.dtype.names
    if names is None:
        return data.reshape(len(data), -1)
    kind = data.dtype[0]
    if kind.itemsize * len(names) != data.dtype.itemsize or any(data.dtype[name] != kind for name in names):
        return None
    return data.view(kind).reshape(len(data), len(names))


def from_columns(layout: ReportFormat, columns: Array) -> Array:
    """Return the reports with these fields: the inverse of ``as_columns``."""
    data = layout.empty(len(columns))
    for k, name in enumerate(data.dtype.names or ()):
        data[name] = columns[:, k]
    if not data.dtype.names:
        data.reshape(columns.shape)[...] = columns
    return data


def pack_columns(columns: Array, widths: Bytes) -> Bytes:
    """Pack rows of numbers of these widths."""
    out = np.zeros(-(-int(widths.sum()) * len(columns) // 8), np.uint8)
    _for_work(_pack, len(columns), widths)(columns, widths, out)
    return out


def unpack_columns(packed: Bytes, widths: Bytes, count: int) -> tuple[Array, bool]:
    """Return ``count`` rows of numbers of these widths, and whether the padding after them is zero."""
    columns = np.empty((count, len(widths)), np.uint64)
    rest = _for_work(_unpack, count, widths)(packed, widths, columns)
    return columns, rest == 0


def _for_work(kernel: Kernel[..., Any], count: int, widths: Bytes) -> Callable[..., Any]:
    """Return a kernel for this many rows: plain Python for one short row, which starts fastest, else by their bits.

    NumPy works field by field, so it is for rows of few fields.
    """
    if count <= 1 or len(widths) > _MAX_FIELDS:
        return kernel.over(count, len(widths))
    return kernel.for_work(count * 64 * len(widths))
