"""Part: what some pieces of a lake add up to, and what was wrong with them."""

from dataclasses import dataclass
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Tally
from fldp.errors import MergeError, WireError
from fldp.oracles.base.oracle import Oracle

MAX_LISTED = 100


@dataclass(frozen=True, order=True)
class Bad:
    """A row, a row group or a file that is not what it should be; ``row`` is its first row, -1 for a whole file.

    >>> str(Bad("lake/x.parquet", 7, 1, "is not a report"))
    'lake/x.parquet: row 7 is not a report'
    """

    path: str
    row: int
    rows: int  # how many: 1, those of a row group, 0 where nobody knows
    reason: str

    def __str__(self) -> str:
        if self.row < 0:
            return f"{self.path}: {self.reason}"
        place = f"row {self.row}" if self.rows == 1 else f"rows {self.row} to {self.row + self.rows - 1}"
        return f"{self.path}: {place} {self.reason}"


@dataclass(frozen=True, eq=False)
class Part:
    """What some pieces add up to. ``a + b`` merges, in any order, to the same bits.

    ``bad`` lists the first in the order of path and row, at most ``MAX_LISTED`` of them. ``bad_rows`` and
    ``bad_files`` count all: rows that were left out, and files of which nobody knows how many rows they have.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> one = Part(oracle, None, np.array([2, 0, 1]), 3)
    >>> (one + Part(oracle, None) + one).tally()
    <tally of 6 reports of GRR(epsilon=1.0, domain_size=3)>
    """

    oracle: Oracle
    survey: str | None
    state: NDArray[np.int64] | None = None
    n: int = 0
    bad: tuple[Bad, ...] = ()
    bad_rows: int = 0
    bad_files: int = 0

    def __add__(self, other: object) -> "Part":
        if not isinstance(other, Part):
            return NotImplemented
        if (self.oracle, self.survey) != (other.oracle, other.survey):
            raise MergeError(f"lake: both sides must be of {self.oracle!r} and one survey, got {other.oracle!r}")
        return Part(
            self.oracle,
            self.survey,
            _added(self.state, other.state),
            self.n + other.n,
            tuple(nsmallest(MAX_LISTED, self.bad + other.bad)),
            self.bad_rows + other.bad_rows,
            self.bad_files + other.bad_files,
        )

    def tally(self) -> Tally:
        """Return the sum as a tally."""
        return Tally.empty(self.oracle) if self.state is None else Tally(self.oracle, self.state, self.n)

    def settled(self, skip_bad: bool) -> "Part":
        """Return it if all was well or bad ones may be skipped; otherwise say what was bad first."""
        if skip_bad or not self.bad:
            return self
        raise WireError(str(self.bad[0]))


def _added(one: NDArray[np.int64] | None, other: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
