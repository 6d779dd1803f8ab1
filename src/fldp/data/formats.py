"""ReportFormat and TallyFormat: what a report and the state of a tally look like, as values that oracles hold."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ReportFormat:
    """The layout of one report in memory and on the wire, which reports there are, and how to read one.

    ``fields`` are the fields on the wire, in the order of memory: pairs of a width in bits and how many fields in a row
    have it. ``check`` returns for each report of the right type and shape whether the oracle can produce it.
    ``outcome`` splits one row of data into its public randomness (or None) and its outcome, a key of the oracle's law;
    ``report(outcome, public)`` is the inverse.

    >>> import fldp
    >>> pairs = fldp.FHR(epsilon=1.0, domain_size=1023).report_format
    >>> pairs.dtype.names, pairs.widths, pairs.bits
    (('plus', 'minus'), array([10, 10], dtype=uint8), 20)
    >>> pairs.outcome(pairs.report((3, 5)))
    (None, (3, 5))
    """

    dtype: np.dtype[Any]
    fields: tuple[tuple[int, int], ...]
    check: Callable[[Array], NDArray[np.bool_]]
    outcome: Callable[[Any], tuple[Any, Any]]
    report: Callable[..., Array]
    shape: tuple[int, ...] = ()
    public_words: int = 0  # how many leading words of a report decide its public randomness and nothing else

    @cached_property
    def widths(self) -> NDArray[np.uint8]:
        """The width of every field; a long report has hundreds of thousands of them."""
        widths, times = np.array(self.fields, np.int64).reshape(-1, 2).T
        return read_only(np.repeat(widths.astype(np.uint8), times))

    @property
    def bits(self) -> int:
        """The number of bits of one report on the wire."""
        return sum(width * times for width, times in self.fields)

    @property
    def nbytes(self) -> int:
        """The number of bytes of one report in memory."""
        return self.dtype.itemsize * prod(self.shape)

    def empty(self, count: int) -> Array:
        """Return an uninitialised array for this many reports."""
        return np.empty((count, *self.shape), self.dtype)


def _possible(state: NDArray[np.int64], n: int) -> bool:
    del state, n
    return True


@dataclass(frozen=True, eq=False)
class TallyFormat:
    """The shape of a tally's state; ``check(state, n)`` is False if no ``n`` reports add up to it, by its sums.

    >>> import fldp
    >>> counts = fldp.GRR(epsilon=1.0, domain_size=3).tally_format
    >>> counts.shape, counts.cells, counts.zeros(), counts.check(np.array([5, 3, 2]), 9)
    ((3,), 3, array([0, 0, 0]), False)
    """

    shape: tuple[int, ...]
    check: Callable[[NDArray[np.int64], int], bool] = _possible

    @property
    def cells(self) -> int:
        """The number of counts in a state."""
        return prod(self.shape)

    def zeros(self) -> NDArray[np.int64]:
        """Return the state of no reports."""
        return np.zeros(self.shape, np.int64)


def read_only(array: Array) -> Array:
    """Return a view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
