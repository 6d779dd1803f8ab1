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

_WORD, _LAST = U64(64), U64(63)  # the bits of a word, and the number of its last one
_PLACE = U64(6)  # the bits of a number that are its place within a word
_MAX_FIELDS = 256

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


@Kernel
def _pack(columns: Any, widths: Any, masks: Any, words: Any) -> None:
    """Write rows of numbers as consecutive bits of words."""
    # ``held`` is the word that is not full yet, ``bits`` how many of its bits are taken, always fewer than 64.
    held, bits, end = ZERO, ZERO, 0
    for i in range(columns.shape[0]):
        for j in range(columns.shape[1]):
            number, width = U64(columns[i, j]) & masks[j], U64(widths[j])
            held |= number << bits
            bits += width
            if bits >= _WORD:
                words[end] = held
                end += 1
                bits -= _WORD
                held = number >> ONE >> (width - bits - ONE)  # what did not fit; one shift by 64 is undefined
    if bits > ZERO:
        words[end] = held


@Kernel
def _unpack(words: Any, widths: Any, masks: Any, columns: Any) -> None:
    """Read rows of numbers from consecutive bits of words; one more word follows the last bit."""
    # No number waits for the one before it: each is in two neighbouring words at most, and both are read.
    bit = ZERO
    for i in range(columns.shape[0]):
        for j in range(columns.shape[1]):
            word, place = bit >> _PLACE, bit & _LAST
            columns[i, j] = (words[word] >> place | words[word + ONE] << ONE << (_LAST - place)) & masks[j]
            bit += U64(widths[j])


@_pack.by_numpy
def _pack_bits(columns: Any, widths: Any, masks: Any, words: Any) -> None:
    del masks
    bits = [_bits_of(columns[:, j], int(width)) for j, width in enumerate(widths)]
    words[:] = _words(np.packbits(np.concatenate(bits, axis=1).reshape(-1), bitorder="little"))[: len(words)]


def _bits_of(column: Any, width: int) -> Bytes:
    """Return the lowest bits of numbers, a row for each."""
    rows = np.ascontiguousarray(column, "<u8").view(np.uint8).reshape(len(column), 8)
    return np.unpackbits(rows, axis=1, count=width, bitorder="little")


@_unpack.by_numpy
def _unpack_bits(words: Any, widths: Any, masks: Any, columns: Any) -> None:
    del masks
    total = int(widths.sum()) * len(columns)
    bits = np.unpackbits(_bytes(words), count=total, bitorder="little")
    place, rows = 0, bits.reshape(len(columns), -1)
    for j, width in enumerate(widths.tolist()):
        field = np.zeros((len(columns), 64), np.uint8)
        field[:, :width] = rows[:, place : place + width]
        columns[:, j] = np.packbits(field, axis=1, bitorder="little").view("<u8")[:, 0]
        place += width


def _masks(widths: Bytes) -> Words:
    """Return a number of as many ones as each field has bits, 0 to 64; in two shifts, since one by 64 is undefined."""
    half = widths.astype(np.uint64) >> ONE
    return (ONE << half << (widths - half)) - ONE


def _words(packed: Bytes) -> Words:
    """Return bytes as words, and one more word behind them."""
    words = np.zeros(len(packed) // 8 + 2, "<u8")
    words.view(np.uint8)[: len(packed)] = packed
    return words.astype(np.uint64, copy=False)


def _bytes(words: Words) -> Bytes:
    return words.astype("<u8", copy=False).view(np.uint8)


def _is_padded(packed: Bytes, bits: int) -> bool:
    """Whether the bits of the last byte behind this many bits are zero."""
    return not bits % 8 or int(packed[-1]) >> bits % 8 == 0


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
    _for_work(_unpack, count, layout.widths)(_words(packed), layout.widths, _masks(layout.widths), fields)
    return data, _is_padded(packed, layout.bits * count)


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
    bits = int(widths.sum()) * len(columns)
    words = np.zeros(-(-bits // 64), np.uint64)
    _for_work(_pack, len(columns), widths)(columns, widths, _masks(widths), words)
    return _bytes(words)[: -(-bits // 8)]


def unpack_columns(packed: Bytes, widths: Bytes, count: int) -> tuple[Array, bool]:
    """Return ``count`` rows of numbers of these widths, and whether the padding after them is zero."""
    columns = np.empty((count, len(widths)), np.uint64)
    _for_work(_unpack, count, widths)(_words(packed), widths, _masks(widths), columns)
    return columns, _is_padded(packed, int(widths.sum()) * count)


def _for_work(kernel: Kernel[..., Any], count: int, widths: Bytes) -> Callable[..., Any]:
    """Return a kernel for this many rows: plain Python for one short row, which starts fastest, else by their bits.

    NumPy works field by field, so it is for rows of few fields.
    """
    if count <= 1 or len(widths) > _MAX_FIELDS:
        return kernel.over(count, len(widths))
    return kernel.for_work(count * 64 * len(widths))
