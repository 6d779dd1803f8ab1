"""The fast Walsh-Hadamard transform, exact for integers."""

from collections.abc import Callable
from threading import Thread
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import Kernel, has_compiler, pays
from fldp.numerics.types import Floats
from fldp.support.processor_cores import available_cores
from fldp.support.validation import fail

_BLOCK = 2048  # entries: with 8 bytes each, half of a first-level cache
MIN_THREADED = 1 << 19  # entries: fewer are done almost before a thread has started


@Kernel
def _mix(a: Any, start: Any, step: Any, width: Any) -> None:
    """Do three levels of the transform at once, on ``width`` entries from ``start`` on in each of eight runs."""
    # Slices that begin where the run begins let the compiler vectorise the loop over j.
    a0, a1, a2, a3 = a[start:], a[start + step :], a[start + 2 * step :], a[start + 3 * step :]
    a4, a5, a6, a7 = a[start + 4 * step :], a[start + 5 * step :], a[start + 6 * step :], a[start + 7 * step :]
    for j in range(width):
        s, d, t, e = a0[j] + a1[j], a0[j] - a1[j], a2[j] + a3[j], a2[j] - a3[j]
        x0, x1, x2, x3 = s + t, d + e, s - t, d - e
        s, d, t, e = a4[j] + a5[j], a4[j] - a5[j], a6[j] + a7[j], a6[j] - a7[j]
        y0, y1, y2, y3 = s + t, d + e, s - t, d - e
        a0[j], a1[j], a2[j], a3[j] = x0 + y0, x1 + y1, x2 + y2, x3 + y3
        a4[j], a5[j], a6[j], a7[j] = x0 - y0, x1 - y1, x2 - y2, x3 - y3


@Kernel
def _eight(a: Any, start: Any, stop: Any, step: Any) -> None:
    """Do three levels of the transform at once, on the eight runs of ``step`` entries of every block."""
    for i in range(start, stop, 8 * step):
        _mix(a, i, step, step)


@Kernel
def _two(a: Any, start: Any, stop: Any, step: Any) -> None:
    """Do one level of the transform."""
    for i in range(start, stop, 2 * step):
        low, high = a[i : i + step], a[i + step :]
        for j in range(step):
            low[j], high[j] = low[j] + high[j], low[j] - high[j]


@Kernel
def _transform(a: Any, block: Any) -> None:
    """Do the long strides over the whole array, then all the short ones block by block, in the cache."""
    size = len(a)
    while size > block:
        _eight(a, 0, len(a), size // 8)
        size //= 8
    for start in range(0, len(a), size):
        step = 1
        while 8 * step <= size:
            _eight(a, start, start + size, step)
            step *= 8
        while step < size:
            _two(a, start, start + size, step)
            step *= 2


@Kernel
def _transform_rows(rows: Any, block: Any) -> None:
    for i in range(len(rows)):
        _transform(rows[i], block)


@overload
def walsh_hadamard(vectors: Floats, *, load_numba: bool = True) -> Floats: ...
@overload
def walsh_hadamard(vectors: NDArray[np.integer | np.bool_], *, load_numba: bool = True) -> NDArray[np.int64]: ...
def walsh_hadamard(
    vectors: Floats | NDArray[np.integer | np.bool_], *, load_numba: bool = True
) -> Floats | NDArray[np.int64]:
    """Return ``H v`` for one vector, or for each row of a matrix, in ``O(D log D)``.

    ``H[i][j] = (-1)^popcount(i & j)``. Integers stay integers. With ``load_numba=False`` NumPy does the work,
    several times slower, for clients that privatize one value.

    >>> walsh_hadamard(np.array([1, 2, 3, 4]))
    array([10, -2, -4,  0])
    >>> walsh_hadamard(np.array([[1.0, 0.5], [0.0, 2.0]]))
    array([[ 1.5,  0.5],
           [ 2. , -2. ]])
    """
    kind = np.dtype(np.float64 if vectors.dtype.kind == "f" else np.int64)
    size = vectors.shape[-1] if vectors.ndim in (1, 2) else 0
    if size == 0 or size & (size - 1):
        raise fail("walsh_hadamard", "the length", "a power of two", vectors.shape)
    if size >= MIN_THREADED and available_cores() > 1 and load_numba and has_compiler():
        long: NDArray[Any] = np.empty(vectors.shape, kind)
        for vector, row in zip(vectors.reshape(-1, size), long.reshape(-1, size), strict=True):
            _transform_in_threads(vector, row, min(8, available_cores()))
        return long
    result: NDArray[Any] = np.array(vectors, kind, order="C")
    if not (load_numba and has_compiler()) or (result.dtype.kind == "i" and not pays(result.size * size.bit_length())):
        _transform_by_numpy(result, size)
    elif result.ndim == 1:
        _transform.compiled(result, _BLOCK)
    else:
        _transform_rows.compiled(result, _BLOCK)
    return result


def _transform_in_threads(vector: NDArray[Any], result: NDArray[Any], threads: int) -> None:
    """Do the longest strides, each thread a part of every run, then the eight transforms that remain.

    Each thread copies what it works on. Every entry is computed by the same operations as in one thread, so also sums
    of floats are the same.
    """
    runs, parts = vector.reshape(8, -1), result.reshape(8, -1)
    step = parts.shape[1]

    def stride(thread: int) -> None:
        start, stop = step * thread // threads, step * (thread + 1) // threads
        parts[:, start:stop] = runs[:, start:stop]
        _mix.compiled(result, start, step, stop - start)

    def transform(thread: int) -> None:
        for part in parts[thread::threads]:
            _transform.compiled(part, _BLOCK)

    _at_once(stride, threads)
    _at_once(transform, threads)


def _at_once(work: Callable[[int], None], threads: int) -> None:
    """Do a part of the work in each thread, of which this is one."""
    others = [Thread(target=work, args=(thread,)) for thread in range(1, threads)]
    for other in others:
        other.start()
    work(0)
    for other in others:
        other.join()


def _transform_by_numpy(rows: NDArray[Any], size: int) -> None:
    for step in (1 << level for level in range(size.bit_length() - 1)):
        halves = rows.reshape(-1, 2, step)
        halves[:, 0], halves[:, 1] = halves[:, 0] + halves[:, 1], halves[:, 0] - halves[:, 1]


def xor_pairs(marks: NDArray[np.integer | np.bool_]) -> NDArray[np.int64]:
    """Count for every number the ordered pairs of marked positions whose XOR it is, by two transforms.

    >>> xor_pairs(np.array([0, 1, 1, 0]))
    array([2, 0, 0, 2])
    """
    return np.asarray(walsh_hadamard(walsh_hadamard(marks) ** 2) // marks.shape[-1])
