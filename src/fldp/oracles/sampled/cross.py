"""Cross: the table of two questions together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fldp.data.comparison import holm, z_score
from fldp.data.dataframes import Columns, FramedAtLevel
from fldp.data.estimate import Total
from fldp.errors import DomainError
from fldp.numerics.bounded_laws import Steps, normal_tail
from fldp.numerics.types import Floats
from fldp.oracles.sampled.associations import Association, Independence, association, deviations, independence
from fldp.oracles.sampled.ratios import Labels, Ratios, ratios
from fldp.support.display import Displayed
from fldp.support.validation import fraction, is_integer

if TYPE_CHECKING:
    from fldp.oracles.sampled.tables import Tables


@dataclass(frozen=True, eq=False)
class Cross(FramedAtLevel, Displayed):
    """How many people gave each pair of answers to two questions, with standard errors.

    ``counts`` and ``stderr`` have a row for each answer to the first question, a column for each to the second.
    """

    tables: "Tables"
    first: int
    second: int

    @property
    def n(self) -> int:
        """The number of reports of all questions."""
        return self.tables.n

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two questions."""
        return self.tables.names[self.first], self.tables.names[self.second]

    @property
    def labels(self) -> tuple[Labels, Labels]:
        """The labels of the rows and of the columns."""
        return self.tables.questions[self.first].labels, self.tables.questions[self.second].labels

    @property
    def biased(self) -> bool:
        """Whether the tables were repaired."""
        return self.tables.original is not None

    @property
    def _plain(self) -> "Tables":
        return self.tables.original or self.tables

    @property
    def _questions(self) -> tuple[int, int]:
        return min(self.first, self.second), max(self.first, self.second)

    def _turned(self, table: Floats) -> Floats:
        """Return a table in the order of the tables in the order that was asked for, and back."""
        return table if self.first < self.second else np.swapaxes(table, -1, -2)

    @cached_property
    def shares(self) -> Floats:
        """The cells as shares of all people."""
        return self._turned(self.tables.shares(self._questions))

    @property
    def counts(self) -> Floats:
        """The estimated number of people in every cell."""
        return self.shares * self.n

    @cached_property
    def stderr(self) -> Floats:
        """The standard error of every cell, of the unbiased tables."""
        shape = [self.tables.oracle.answers[a] for a in self._questions]
        return self._turned(np.sqrt(self._plain.variances(self._questions)).reshape(shape)) * self.n

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Floats:
        """Return confidence intervals of the cells: the axes of the table, then an axis of two ends.

        With ``simultaneous``, all of them cover at once (Bonferroni). Each end has the error that a count would have
        there, and a term for a single report. Repaired tables have the intervals of the unbiased ones, cut to what is
        possible.
        """
        miss = 1 - fraction("Cross", "level", level)
        plain = self._turned(self._plain.shares(self._questions)) * self.n
        z = z_score(1 - miss / plain.size if simultaneous else level)
        ends = np.stack(self._steps.ends(z, plain, self.stderr), axis=-1)
        return np.clip(ends, 0, self.n) if self.biased else ends

    @cached_property
    def _steps(self) -> Steps:
        """What intervals of the cells need beside the variance."""
        shape = [self.tables.oracle.answers[a] for a in self._questions]
        cells = np.eye(prod(shape)).reshape(-1, *shape)
        steps = self._plain.steps(self._questions, cells).times(self.n)
        return Steps(*(self._turned(np.reshape(part, shape)) for part in steps))

    def rows(self, level: float = 0.95) -> Ratios:
        """Return the shares within every row: of those with one answer to the first question."""
        return self._within(level, of_rows=True)

    def columns(self, level: float = 0.95) -> Ratios:
        """Return the shares within every column."""
        return self._within(level, of_rows=False)

    def _within(self, level: float, *, of_rows: bool) -> Ratios:
        height, width = self.counts.shape
        pairs = np.zeros((height * width, 2, height, width))
        for place, (row, column) in enumerate(np.ndindex(height, width)):
            pairs[place, 0, row, column] = 1.0
            pairs[(place, 1, row) if of_rows else (place, 1, slice(None), column)] = 1.0
        turned = self._turned(pairs)
        unbiased = ratios(self._plain, self._questions, turned, level, (height, width), self.labels)
        if not self.biased:
            return unbiased
        margin = self.shares.sum(axis=1 if of_rows else 0, keepdims=True)
        shares = np.divide(self.shares, margin, out=np.zeros_like(self.shares), where=margin > 0)
        return Ratios(shares, unbiased.low, unbiased.high, level, self.labels)

    def sum(self, cells: Iterable[tuple[int, int]]) -> Total:
        """Estimate how many people are in any of some cells, given as pairs of answers."""
        weights = np.zeros(self.counts.shape)
        for cell in cells:
            weights[self._place(cell)] = 1.0
        share, variance = self._plain.linear(self._questions, self._turned(weights))
        steps = self._plain.steps(self._questions, self._turned(weights)[None])
        total = Total(self.n * share, self.n * sqrt(variance), steps=steps.times(self.n))
        return total if not self.biased else Total(float((self.counts * weights).sum()), total.stderr, total, self.n)

    def _place(self, cell: tuple[int, int]) -> tuple[int, int]:
        shape = self.counts.shape
        inside = (
            len(cell) == 2 and all(map(is_integer, cell)) and all(0 <= a < d for a, d in zip(cell, shape, strict=True))
        )
        if not inside:
            raise DomainError(f"Cross: cells must be pairs of answers in a table of shape {shape}, got {cell}")
        return cell

    def independence(self) -> Independence:
        """Test whether the two answers are independent of each other, in the population."""
        return independence(self._plain, self._questions)

    def association(self, level: float = 0.95) -> Association:
        """Estimate how strongly the two answers go together: Cramer's V, without the part that is noise."""
        return association(self._plain, self._questions, level)

    def excess(self, level: float = 0.95) -> NDArray[np.int8]:
        """Return which cells hold more people (1) or fewer (-1) than independence would give them (Holm)."""
        difference, errors = deviations(self._plain, self._questions)
        sure = holm(2 * normal_tail(errors)).reshape(difference.shape) <= 1 - fraction("Cross", "level", level)
        return self._turned(np.sign(difference) * sure).astype(np.int8)

    def _columns(self, level: float) -> Columns:
        rows, columns = np.indices(self.counts.shape).reshape(2, -1).tolist()
        ends = self.interval(level).reshape(-1, 2)
        named: dict[str, Sequence[object]] = {
            name: places if labels is None else [labels[place] for place in places]
            for name, labels, places in zip(self.names, self.labels, (rows, columns), strict=True)
        }
        figures = {"count": self.counts, "stderr": self.stderr, "low": ends[:, 0], "high": ends[:, 1]}
        return {**named, **{name: part.reshape(-1) for name, part in figures.items()}, "share": self.shares.reshape(-1)}

    def __repr__(self) -> str:
        what = "table" if not self.biased else f"{self.tables.method} (biased) table"
        return f"<{what} of {' x '.join(self.names)} from {self.n} reports>"
