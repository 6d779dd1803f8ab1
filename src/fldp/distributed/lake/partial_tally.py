"""Partial tallies: what one worker has counted of a lake, with what it had to leave out; and the result of all."""

from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.errors import MergeError, WireError
from fldp.numerics.kernels import expect_more
from fldp.oracles.base.oracle import Oracle
from fldp.wire.arrow_reports import GOOD, reason, reports_of

if TYPE_CHECKING:
    import pyarrow

MAX_LISTED = 100


@dataclass(frozen=True, order=True)
class Bad:
    """A bad row, row group or file; ``row`` is its first row, -1 for a whole file.

    >>> str(Bad("lake/x.parquet", 7, 1, "is not a report"))
    'lake/x.parquet: row 7 is not a report'
    """

    path: str
    row: int
    rows: int  # their number: 1, the size of a row group, or 0 if it is unknown
    reason: str

    def __str__(self) -> str:
        if self.row < 0:
            return f"{self.path}: {self.reason}"
        place = f"row {self.row}" if self.rows == 1 else f"rows {self.row} to {self.row + self.rows - 1}"
        return f"{self.path}: {place} {self.reason}"


@dataclass(frozen=True)
class Result:
    """The tally of a lake, its survey version, and what was left out.

    ``bad`` lists the first that were left out, ``bad_rows`` and ``bad_files`` count all of them.
    """

    tally: Tally
    survey: str | None
    bad: tuple[Bad, ...] = ()
    bad_rows: int = 0
    bad_files: int = 0

    def left_out(self) -> list[str]:
        """Return what was left out as lines: the numbers, then those that are listed; none if nothing was."""
        if not self.bad:
            return []
        listed = sum(bad.rows for bad in self.bad), sum(bad.row < 0 for bad in self.bad)
        more = ["and more than are listed here"] if listed != (self.bad_rows, self.bad_files) else []
        head = f"left out: {self.bad_rows:,} rows, and {self.bad_files:,} files whole"
        return [head, *map(str, self.bad), *more]


@dataclass(eq=False)
class PartialTally:
    """The counts of some pieces, and their bad rows and files. ``a + b`` merges, in any order, to the same bits.

    ``bad`` lists the first in the order of path and row, at most ``MAX_LISTED`` of them. ``bad_rows`` and
    ``bad_files`` count all: rows that were left out, and files of an unknown number of rows.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> partial = PartialTally(oracle, None, np.array([2, 0, 1]), 3)
    >>> (partial + PartialTally(oracle, None) + partial).tally()
    <tally of 6 reports of GRR(epsilon=1.0, domain_size=3)>
    """

    oracle: Oracle
    survey: str | None
    state: NDArray[np.int64] | None = None
    n: int = 0
    bad: tuple[Bad, ...] = ()
    bad_rows: int = 0
    bad_files: int = 0

    def count(self, data: Array) -> None:
        """Count reports that were checked, in place."""
        if len(data):
            expect_more(data.size)
            self.state = self.oracle.tally_format.zeros() if self.state is None else self.state
            self.oracle.count(data, self.state)
            self.n += len(data)

    def count_rows(self, rows: "pyarrow.RecordBatch", path: str, first: int) -> bool:
        """Count the good ones of Arrow rows, the rows of ``path`` from ``first``, and list the others.

        Return False if there was a bad one.
        """
        data, codes = reports_of(self.oracle, rows)
        if codes is None:
            self.count(data)
            return True
        wrong = np.flatnonzero(codes)
        listed = [Bad(path, first + k, 1, reason(self.oracle, int(codes[k]))) for k in wrong[:MAX_LISTED].tolist()]
        self.leave_out(*listed, rows=len(wrong))
        self.count(data[codes == GOOD])
        return False

    def leave_out(self, *bad: Bad, rows: int | None = None) -> None:
        """Record what is bad; ``rows`` is their number where not all are given."""
        self.bad = _first(self.bad + bad)
        self.bad_rows += sum(each.rows for each in bad) if rows is None else rows
        self.bad_files += sum(each.row < 0 for each in bad)

    def __add__(self, other: object) -> "PartialTally":
        if not isinstance(other, PartialTally):
            return NotImplemented
        if (self.oracle, self.survey) != (other.oracle, other.survey):
            raise MergeError(f"lake: both sides must be of {self.oracle!r} and one survey, got {other.oracle!r}")
        return PartialTally(
            self.oracle,
            self.survey,
            _sum(self.state, other.state),
            self.n + other.n,
            _first(self.bad + other.bad),
            self.bad_rows + other.bad_rows,
            self.bad_files + other.bad_files,
        )

    def tally(self) -> Tally:
        """Return the counts as a tally."""
        return Tally.empty(self.oracle) if self.state is None else Tally(self.oracle, self.state, self.n)

    def result(self, *, skip_bad: bool) -> Result:
        """Return the result, once all are merged; without ``skip_bad``, the first bad one is an error."""
        if self.bad and not skip_bad:
            raise WireError(str(self.bad[0]))
        return Result(self.tally(), self.survey, self.bad, self.bad_rows, self.bad_files)


def _first(bad: tuple[Bad, ...]) -> tuple[Bad, ...]:
    return tuple(nsmallest(MAX_LISTED, bad))


def _sum(left: NDArray[np.int64] | None, right: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right
