"""Kernels: functions of arrays that run as plain Python for one short report and compiled for anything larger.

This is the only file that names Numba, and it loads it at the first batch. A client that privatizes one value
runs the same source without it. A server calls ``always_compile``: it answers strangers, and interpreted loops cost a
hundred times as much and hold the interpreter's lock.

Integers in a kernel are ``uint64``, and so are the constants, because Numba makes a float of ``uint64 + int64``.
Arrays of rows come flattened where speed matters: Numba vectorises loops over one axis only.
"""

import hashlib
import types
from collections.abc import Callable
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from fldp.support.validation import fail

P = ParamSpec("P")
R = TypeVar("R")

U64 = np.uint64
ZERO, ONE = U64(0), U64(1)

_GOLDEN = U64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = U64(0xBF58476D1CE4E5B9), U64(0x94D049BB133111EB)
_SHIFTS = U64(30), U64(27), U64(31)
_FOLDS = U64(16), U64(8), U64(4), U64(2)
_HALF, _LOW_HALF = U64(32), U64(0xFFFFFFFF)

MAX_INTERPRETED = 1 << 15  # columns of one row: more of them take longer in plain Python than loading Numba does


class _Mode:
    """How this process chooses. A process that serves has no way back."""

    always_compiled = False


_mode = _Mode()


def always_compile() -> None:
    """Run every kernel compiled from now on in this process, also over one user."""
    _mode.always_compiled = True


class Kernel(Generic[P, R]):
    """A function that can be called as it is, or through ``compiled``.

    >>> @Kernel
    ... def add(values):
    ...     return values[0] + values[1]
    >>> add(np.array([1, 2]))
    np.int64(3)
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self.python = function
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(over="ignore"):
            return self.python(*args, **kwargs)

    def over(self, users: int, columns: int = 1) -> Callable[P, R]:
        """Return what to call for so many users, each of so many columns: the source itself for one short row.

        For none, too: whether a kind of value occurs must not decide whether Numba is loaded, which anybody can time.
        """
        if users <= 1 and columns <= MAX_INTERPRETED and not _mode.always_compiled:
            return self
        return self.compiled

    @cached_property
    def compiled(self) -> Callable[P, R]:
        """Return the machine code, compiled at first use and kept on disk between runs."""
        from numba import njit

        try:
            made: Callable[P, R] = njit(cache=True, nogil=True, boundscheck=False)(self._linked())
        except RuntimeError:  # no folder to keep it in: a read-only installation without a home
            made = njit(nogil=True, boundscheck=False)(self._linked())
        return made

    def _linked(self) -> types.FunctionType:
        """Return the function with the kernels that it calls replaced by their compiled forms.

        Numba's cache on disk looks only at the file of the function itself. The digest in the name makes it see a
        change of this file, too.
        """
        function = self.python
        assert isinstance(function, types.FunctionType)
        names = dict(function.__globals__)
        for name in function.__code__.co_names:
            if isinstance(names.get(name), Kernel):
                names[name] = names[name].compiled
        linked = types.FunctionType(function.__code__, names, function.__name__)
        linked.__qualname__ = f"{function.__qualname__}_{_digest()}"
        linked.__module__ = function.__module__
        return linked


def _digest() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]


@Kernel
def parity(x: Any) -> Any:
    """Return the parity of the set bits of a number below ``2^32``; a loop over it becomes vector instructions.

    >>> parity(U64(0b1011))
    np.uint64(1)
    """
    x ^= x >> _FOLDS[0]
    x ^= x >> _FOLDS[1]
    x ^= x >> _FOLDS[2]
    x ^= x >> _FOLDS[3]
    return (x ^ x >> ONE) & ONE


@Kernel
def keyed_hash(seed: Any, value: Any) -> Any:
    """Return the 64-bit hash of a value under a seed: output number ``value`` of SplitMix64 started at the seed.

    For a fixed value it is a bijection of the seed, so over a uniform seed it is exactly uniform.

    >>> hex(keyed_hash(U64(0), U64(0)))
    '0xe220a8397b1dcdaf'
    """
    z = seed + (value + ONE) * _GOLDEN
    z = (z ^ (z >> _SHIFTS[0])) * _MIX_1
    z = (z ^ (z >> _SHIFTS[1])) * _MIX_2
    return z ^ (z >> _SHIFTS[2])


@Kernel
def multiply_high(x: Any, bound: Any) -> Any:
    """Return ``floor(x * bound / 2^64)`` for a ``bound`` below ``2^32``: a word made a number below the bound.

    >>> multiply_high(U64(2**63), U64(5))
    np.uint64(2)
    """
    return ((x >> _HALF) * bound + (((x & _LOW_HALF) * bound) >> _HALF)) >> _HALF


@Kernel
def _eight(a: Any, start: Any, stop: Any, step: Any) -> None:
    """Do three levels of the transform at once, on the eight runs of ``step`` entries of every block."""
    for i in range(start, stop, 8 * step):
        a0, a1, a2, a3 = a[i : i + step], a[i + step :], a[i + 2 * step :], a[i + 3 * step :]
        a4, a5, a6, a7 = a[i + 4 * step :], a[i + 5 * step :], a[i + 6 * step :], a[i + 7 * step :]
        for j in range(step):
            s, d, t, e = a0[j] + a1[j], a0[j] - a1[j], a2[j] + a3[j], a2[j] - a3[j]
            x0, x1, x2, x3 = s + t, d + e, s - t, d - e
            s, d, t, e = a4[j] + a5[j], a4[j] - a5[j], a6[j] + a7[j], a6[j] - a7[j]
            y0, y1, y2, y3 = s + t, d + e, s - t, d - e
            a0[j], a1[j], a2[j], a3[j] = x0 + y0, x1 + y1, x2 + y2, x3 + y3
            a4[j], a5[j], a6[j], a7[j] = x0 - y0, x1 - y1, x2 - y2, x3 - y3


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


def walsh_hadamard(vector: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ``H v``, where ``H[i][j] = (-1)^popcount(i & j)``, exactly, in ``O(D log D)``.

    >>> walsh_hadamard(np.array([1, 2, 3, 4]))
    array([10, -2, -4,  0])
    """
    made = np.array(vector, np.int64)
    if made.ndim != 1 or made.size == 0 or made.size & (made.size - 1):
        raise fail("walsh_hadamard", "the length", "a power of two", made.shape)
    _transform.compiled(made, 2048)
    return made


def xor_pairs(marks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count for every number the ordered pairs of marked positions whose exclusive or it is, by two transforms.

    >>> xor_pairs(np.array([0, 1, 1, 0]))
    array([2, 0, 0, 2])
    """
    return walsh_hadamard(walsh_hadamard(marks) ** 2) // len(marks)
