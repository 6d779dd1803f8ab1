"""The fast Walsh-Hadamard transform, exact for integers.

Everybody goes from the longest stride to the shortest: in machine code, in NumPy, and in any number of threads. So also
sums of floats are the same to the last bit, whoever does how many levels at once.
"""

from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import U64, ZERO, Kernel, has_compiler, pays
from fldp.numerics.types import Floats
from fldp.support.helper_threads import call_in_helpers
from fldp.support.processor_cores import available_cores
from fldp.support.validation import fail

_STEPS = U64(8), U64(16), U64(24), U64(32), U64(40), U64(48), U64(56), U64(64)
_POWERS_OF_EIGHT = 0o111111111111111111111
_BLOCK = 4096  # entries: with 8 bytes each, 32 KiB, which a first-level cache holds
MIN_THREADED = 1 << 19  # entries: fewer are done almost before a thread has started

Task = Callable[[], list[Any]]  # returns more tasks


@Kernel
def _sums(a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any) -> Any:
    """Return the transform of eight numbers."""
    a0, a1, a2, a3, a4, a5, a6, a7 = a0 + a4, a1 + a5, a2 + a6, a3 + a7, a0 - a4, a1 - a5, a2 - a6, a3 - a7
    a0, a1, a2, a3, a4, a5, a6, a7 = a0 + a2, a1 + a3, a0 - a2, a1 - a3, a4 + a6, a5 + a7, a4 - a6, a5 - a7
    return a0 + a1, a0 - a1, a2 + a3, a2 - a3, a4 + a5, a4 - a5, a6 + a7, a6 - a7


@Kernel
def _eight(a: Any, step: Any) -> None:
    """Do three levels of the transform at once, on the eight runs of ``step`` entries of every block."""
    for i in range(0, len(a), 8 * step):
        # Slices that begin where the run begins let the compiler vectorise the loop over j.
        a0, a1, a2, a3 = a[i:], a[i + step :], a[i + 2 * step :], a[i + 3 * step :]
        a4, a5, a6, a7 = a[i + 4 * step :], a[i + 5 * step :], a[i + 6 * step :], a[i + 7 * step :]
        for j in range(step):
            (a0[j], a1[j], a2[j], a3[j], a4[j], a5[j], a6[j], a7[j]) = _sums(
                *(a0[j], a1[j], a2[j], a3[j], a4[j], a5[j], a6[j], a7[j])
            )


@Kernel
def _eight_of_eight(a: Any) -> None:
    """Do the same with runs of eight entries: the compiler vectorises a loop whose length it knows."""
    s1, s2, s3, s4, s5, s6, s7, s8 = _STEPS
    for i in range(ZERO, U64(len(a)), s8):
        for j in range(i, i + s1):
            (a[j], a[j + s1], a[j + s2], a[j + s3], a[j + s4], a[j + s5], a[j + s6], a[j + s7]) = _sums(
                *(a[j], a[j + s1], a[j + s2], a[j + s3], a[j + s4], a[j + s5], a[j + s6], a[j + s7])
            )


@Kernel
def _eight_of_one(a: Any) -> None:
    """Do the same with runs of one entry, which are the columns of rows of eight."""
    rows = a.reshape(-1, 8)
    for i in range(len(rows)):
        row = rows[i]
        (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]) = _sums(
            *(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7])
        )


@Kernel
def _two(a: Any, step: Any) -> None:
    """Do one level of the transform."""
    for i in range(0, len(a), 2 * step):
        low, high = a[i : i + step], a[i + step :]
        for j in range(step):
            low[j], high[j] = low[j] + high[j], low[j] - high[j]


@Kernel
def _transform_block(a: Any) -> None:
    """Do one or two levels where the number of levels is no multiple of three, then three at once."""
    size = len(a)
    while size > 1 and size & _POWERS_OF_EIGHT == 0:
        size //= 2
        _two(a, size)
    while size > 64:
        size //= 8
        _eight(a, size)
    if size == 64:
        _eight_of_eight(a)
    if size >= 8:
        _eight_of_one(a)


@Kernel
def _transform(a: Any, block: Any) -> None:
    """Do the long strides over the whole array, then all the short ones block by block, in the cache."""
    size = len(a)
    while size > block:
        size //= 8
        _eight(a, size)
    for start in range(0, len(a), size):
        _transform_block(a[start : start + size])


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
            _transform_in_threads(vector, row, _threads(available_cores()))
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
    """Make the result part by part, each from the whole vector, so that no thread waits for another.

    The rest of a part is small tasks for any thread: one that starts late has less to do, or nothing.
    """
    runs, parts = vector.reshape(threads, -1), result.reshape(threads, -1)

    def begin(part: int) -> list[Task]:
        _fold(runs, part, result.dtype, parts[part])
        _eight.compiled(parts[part], parts.shape[1] // 8)
        return [partial(finish, block) for block in parts[part].reshape(8, -1)]

    def finish(block: NDArray[Any]) -> list[Task]:
        _transform.compiled(block, _BLOCK)
        return []

    _share([partial(begin, part) for part in reversed(range(threads))], threads)


def _threads(cores: int) -> int:
    """Return the largest power of two that is no more than the cores, at most eight.

    >>> [_threads(cores) for cores in (1, 2, 3, 6, 64)]
    [1, 2, 2, 4, 8]
    """
    return 1 << min(3, cores.bit_length() - 1)


def _fold(runs: NDArray[Any], part: int, kind: np.dtype[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Do the longest strides, over the runs of a vector, for one part of the result."""
    if len(runs) == 1:
        return np.asarray(runs[0])
    even, odd = (_fold(runs[first::2], part // 2, kind) for first in (0, 1))
    folded: NDArray[Any] = (np.subtract if part % 2 else np.add)(even, odd, out=out, dtype=kind)
    return folded


def _share(tasks: list[Task], threads: int) -> None:
    """Do tasks, and those that they lead to, in threads, of which this is one; return when all are done.

    The newest is done first, so that a thread goes on with what its cache holds. This thread waits for tasks that
    another has begun, not for threads.
    """
    outcomes: SimpleQueue[tuple[int, BaseException | None]] = SimpleQueue()

    def work() -> None:
        while tasks:
            try:
                task = tasks.pop()
            except IndexError:  # another thread was faster
                return
            outcomes.put(_outcome(task, tasks))

    left, errors = len(tasks), list[BaseException]()
    call_in_helpers(work, threads - 1)
    while left:  # also after an error, before anybody uses the arrays again
        work()
        more, error = outcomes.get()
        left += more - 1
        errors += [error] if error else []
    if errors:
        raise errors[0]


def _outcome(task: Task, tasks: list[Task]) -> tuple[int, BaseException | None]:
    """Do a task and add those that it leads to; return how many they are, and what went wrong."""
    try:
        more = task()
    except BaseException as error:
        return 0, error
    tasks += more
    return len(more), None


def _transform_by_numpy(rows: NDArray[Any], size: int) -> None:
    for step in (1 << level for level in reversed(range(size.bit_length() - 1))):
        halves = rows.reshape(-1, 2, step)
        halves[:, 0], halves[:, 1] = halves[:, 0] + halves[:, 1], halves[:, 0] - halves[:, 1]


def xor_pairs(marks: NDArray[np.integer | np.bool_]) -> NDArray[np.int64]:
    """Count for every number the ordered pairs of marked positions whose XOR it is, by two transforms.

    >>> xor_pairs(np.array([0, 1, 1, 0]))
    array([2, 0, 0, 2])
    """
    return np.asarray(walsh_hadamard(walsh_hadamard(marks) ** 2) // marks.shape[-1])
