"""Reports that are one symbol or a set of symbols, and tallies that count symbols."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array
from fldp.numerics.kernels import Kernel


@Kernel
def add_symbols(symbols: Any, state: Any) -> None:
    """Count each symbol, in time that does not depend on the domain."""
    for i in range(len(symbols)):
        state[symbols[i]] += 1


@add_symbols.by_numpy
def _count_symbols(symbols: Any, state: Any) -> None:
    state += np.bincount(symbols, minlength=len(state))


def symbol_dtype(count: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest unsigned type for the numbers below ``count``.

    >>> symbol_dtype(256), symbol_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(count - 1)


def symbols(count: int) -> ReportFormat:
    """Return the format of reports that are one symbol below ``count``.

    >>> symbols(5).bits, symbols(5).check(np.array([4, 5]))
    (3, array([ True, False]))
    """
    dtype, bits = symbol_dtype(count), (count - 1).bit_length()

    def report(outcome: int, public: None = None) -> Array:
        del public
        return np.array(outcome, dtype)

    return ReportFormat(dtype, ((bits, 1),), lambda data: data < count, lambda row: (None, int(row)), report)


def symbol_sets(count: int, size: int) -> ReportFormat:
    """Return the format of reports that are a set of ``size`` symbols below ``count``, sorted.

    >>> symbol_sets(5, 2).bits, symbol_sets(5, 2).check(np.array([[1, 4], [4, 1]]))
    (6, array([ True, False]))
    """
    dtype, bits = symbol_dtype(count), (count - 1).bit_length()

    def check(data: Array) -> NDArray[np.bool_]:
        return np.asarray((data[:, 1:] > data[:, :-1]).all(axis=1) & (data[:, -1] < count))

    def report(outcome: tuple[int, ...], public: None = None) -> Array:
        del public
        return np.array(outcome, dtype)

    return ReportFormat(dtype, ((bits, size),), check, lambda row: (None, tuple(map(int, row))), report, (size,))


def symbol_counts(count: int, each: int = 1) -> TallyFormat:
    """Return the format of tallies that count symbols, of which every report has ``each``.

    >>> symbol_counts(3).check(np.array([2, 0, 1]), 3), symbol_counts(3).check(np.array([2, 0, 1]), 4)
    (True, False)
    """
    return TallyFormat((count,), lambda state, n: within(state, n) and int(state.sum()) == n * each)


def support_counts(count: int) -> TallyFormat:
    """Return the format of tallies that count for each value the reports that support it."""
    return TallyFormat((count,), within)


def within(state: NDArray[np.int64], n: int) -> bool:
    """Whether every count is one that ``n`` reports can have."""
    return bool(((state >= 0) & (state <= n)).all())
