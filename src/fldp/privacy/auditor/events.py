"""Families of events over rows: single outputs, positions, order, parities.

A *part* is a list of events of one kind that are counted in one pass. The rows of the learning half decide the list;
``holds`` then applies one of its events to any rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fldp.privacy.auditor.outputs import OutputRows
from fldp.privacy.auditor.parity_events import BitPairs, ParityEvents

Counts = NDArray[np.int64]
Marks = NDArray[np.bool_]

_NARROW = 12  # bits of a column whose numbers are counted one by one
_MAX_CELLS = 1 << 22
_MAX_OUTPUTS = 1 << 16
_CUTS = 63
_FEW_COLUMNS = 12
_MAX_PAIRS = 512


@dataclass(frozen=True)
class Event:
    """A set of outputs: a description, and a test of rows."""

    words: str
    holds: Callable[[OutputRows], Marks]

    def count(self, rows: OutputRows) -> int:
        """Count the rows in the event."""
        return int(np.count_nonzero(self.holds(rows)))


class EventFamily(Protocol):
    """A list of events of one kind."""

    def count(self, rows: OutputRows) -> Counts:
        """Count the rows in each event."""

    def holds(self, rows: OutputRows, k: int) -> Marks:
        """Return which rows are in event ``k``."""

    def words(self, k: int) -> str:
        """Describe event ``k``."""


def event(part: EventFamily, k: int, negated: bool = False) -> Event:
    """Return one event of a part, or its complement.

    >>> rows = OutputRows.of([3, 1, 3], 3)
    >>> other = event(Outputs(rows), 0, negated=True)
    >>> other.words, other.holds(rows)
    ('not: the output = 3', array([False,  True, False]))
    """
    if negated:
        return Event(f"not: {part.words(k)}", lambda rows: ~part.holds(rows, k))
    return Event(part.words(k), lambda rows: part.holds(rows, k))


def families(learn: OutputRows) -> dict[str, list[EventFamily]]:
    """Return the non-empty parts of every family for these rows.

    >>> sorted(families(OutputRows.of([(3, 1), (2, 5)], 2)))
    ['order', 'parities', 'positions']
    """
    widths = _widths(learn)
    narrow = [j for j, bits in enumerate(widths) if bits <= _NARROW]
    every: dict[str, list[Any]] = {
        "outputs": [Outputs(learn)],
        "positions": [
            Numbers(learn, narrow),
            Members(learn, narrow),
            BitEvents(learn, widths),
            Cuts(learn, [j for j, bits in enumerate(widths) if bits > _NARROW]),
            Weights(learn),
        ],
        "order": [Order(learn)],
        "parities": [ParityEvents(learn, widths), BitPairs(learn, widths)],
    }
    sized = {name: [part for part in parts if len(part.count(learn[:1]))] for name, parts in every.items()}
    return {name: parts for name, parts in sized.items() if parts}


def _widths(rows: OutputRows) -> list[int]:
    """Return the number of bits that each column takes."""
    return [max(1, int(most).bit_length()) for most in rows.numbers.max(axis=0)]


class Outputs:
    """The output equals one that occurred more than once."""

    def __init__(self, learn: OutputRows) -> None:
        codes, first, counts = np.unique(learn.codes, return_index=True, return_counts=True)
        often = np.flatnonzero(counts > 1)
        often = np.sort(often[np.argsort(counts[often], kind="stable")[-_MAX_OUTPUTS:]])
        self.codes, self.columns = codes[often], learn.columns
        self.shown = learn.numbers[first[often]]

    def places(self, rows: OutputRows) -> NDArray[np.int64]:
        """Return the number of each row's output, or -1 where it is not in the list."""
        if not len(self.codes):
            return np.full(len(rows), -1)
        place = np.minimum(np.searchsorted(self.codes, rows.codes), len(self.codes) - 1)
        return np.where(self.codes[place] == rows.codes, place, -1)

    def count(self, rows: OutputRows) -> Counts:
        return np.bincount(self.places(rows) + 1, minlength=len(self.codes) + 1)[1:]

    def holds(self, rows: OutputRows, k: int) -> Marks:
        return np.asarray(rows.codes == self.codes[k])

    def words(self, k: int) -> str:
        shown = [f"{column.name} = {column.show(n)}" for column, n in zip(self.columns, self.shown[k], strict=True)]
        return ", ".join(shown[:6]) + (", ..." if len(shown) > 6 else "")


class Numbers:
    """A narrow column equals a number, or is at most a number."""

    def __init__(self, learn: OutputRows, columns: list[int]) -> None:
        most = int(learn.numbers[:, columns].max(initial=0)) + 1
        self.columns, self.shown = columns[: _MAX_CELLS // most], learn.columns
        self.shape = (2, len(self.columns), most)

    def count(self, rows: OutputRows) -> Counts:
        _, width, most = self.shape
        cells = rows.numbers[:, self.columns].astype(np.int64) + most * np.arange(width)
        table = np.bincount(cells.reshape(-1), minlength=width * most).reshape(width, most)
        return np.concatenate([table, np.cumsum(table, axis=1)]).reshape(-1)

    def holds(self, rows: OutputRows, k: int) -> Marks:
        kind, column, number = self._split(k)
        numbers = rows.numbers[:, column]
        return np.asarray(numbers <= number if kind else numbers == number)

    def words(self, k: int) -> str:
        kind, column, number = self._split(k)
        shown = self.shown[column]
        return f"{shown.name} {'<=' if kind else '='} {shown.show(number)}"

    def _split(self, k: int) -> tuple[int, int, int]:
        kind, place, number = map(int, np.unravel_index(k, self.shape))
        return kind, self.columns[place], number


class Members:
    """A number is in any of the narrow columns, as in a set."""

    def __init__(self, learn: OutputRows, columns: list[int]) -> None:
        self.columns = columns
        self.most = int(learn.numbers[:, columns].max(initial=0)) + 1 if len(columns) > 1 else 0

    def count(self, rows: OutputRows) -> Counts:
        numbers = np.sort(rows.numbers[:, self.columns].astype(np.int64), axis=1)
        numbers[:, 1:][numbers[:, 1:] == numbers[:, :-1]] = self.most  # a repeated number counts once
        return np.bincount(numbers.reshape(-1), minlength=self.most + 1)[: self.most]

    def holds(self, rows: OutputRows, k: int) -> Marks:
        return np.asarray((rows.numbers[:, self.columns] == k).any(axis=1))

    def words(self, k: int) -> str:
        return f"{k} is among the numbers"


class BitEvents:
    """A bit of a column is set."""

    def __init__(self, learn: OutputRows, widths: list[int]) -> None:
        self.shown, self.widths = learn.columns, widths
        self.places = [(bit, j) for bit in range(max(widths)) for j, width in enumerate(widths) if bit < width]

    def count(self, rows: OutputRows) -> Counts:
        counts = []
        for bit in range(max(self.widths)):
            columns = [j for j, width in enumerate(self.widths) if bit < width]
            set_bits = rows.numbers[:, columns] >> np.array(bit, rows.numbers.dtype) & 1
            counts.append(set_bits.sum(axis=0, dtype=np.int64))
        return np.concatenate(counts)

    def holds(self, rows: OutputRows, k: int) -> Marks:
        bit, column = self.places[k]
        return np.asarray(rows.numbers[:, column] >> np.array(bit, rows.numbers.dtype) & 1 == 1)

    def words(self, k: int) -> str:
        bit, column = self.places[k]
        return f"bit {bit} of {self.shown[column].name} is set"


class Cuts:
    """A wide column is at most a quantile of the learning half."""

    def __init__(self, learn: OutputRows, columns: list[int]) -> None:
        self.shown, self.columns = learn.columns, columns[:_MAX_PAIRS]
        ranks = np.arange(1, _CUTS + 1) * len(learn) // (_CUTS + 1)
        self.cuts = [np.unique(np.sort(learn.numbers[:, j])[ranks]) for j in self.columns]
        self.ends = np.cumsum([len(cuts) for cuts in self.cuts])

    def count(self, rows: OutputRows) -> Counts:
        counts = [np.zeros(0, np.int64)]
        for j, cuts in zip(self.columns, self.cuts, strict=True):
            counts.append(np.searchsorted(np.sort(rows.numbers[:, j]), cuts, side="right"))
        return np.concatenate(counts)

    def holds(self, rows: OutputRows, k: int) -> Marks:
        column, cut = self._split(k)
        return np.asarray(rows.numbers[:, column] <= cut)

    def words(self, k: int) -> str:
        column, cut = self._split(k)
        return f"{self.shown[column].name} <= {self.shown[column].show(cut)}"

    def _split(self, k: int) -> tuple[int, Any]:
        place = int(np.searchsorted(self.ends, k, side="right"))
        return self.columns[place], self.cuts[place][k - int(self.ends[place])]  # counted from the end


class Weights:
    """The whole output has at most a given number of set bits."""

    def __init__(self, learn: OutputRows) -> None:
        self.most = int(self._weight(learn).max()) + 1

    @staticmethod
    def _weight(rows: OutputRows) -> Counts:
        return np.asarray(np.bitwise_count(rows.numbers).sum(axis=1, dtype=np.int64))

    def count(self, rows: OutputRows) -> Counts:
        return np.cumsum(np.bincount(self._weight(rows), minlength=self.most))

    def holds(self, rows: OutputRows, k: int) -> Marks:
        return np.asarray(self._weight(rows) <= k)

    def words(self, k: int) -> str:
        return f"at most {k} bits are set"


class Order:
    """A column is less than another, or equal to it: all pairs of few columns; of many, neighbours and the first."""

    def __init__(self, learn: OutputRows) -> None:
        width, self.names = learn.numbers.shape[1], [column.name for column in learn.columns]
        near = [(j, j + 1) for j in range(width - 1)] + [(0, j) for j in range(2, width)]
        pairs = list(combinations(range(width), 2)) if width <= _FEW_COLUMNS else near[:_MAX_PAIRS]
        self.left, self.right = [i for i, _ in pairs], [j for _, j in pairs]

    def count(self, rows: OutputRows) -> Counts:
        left, right = rows.numbers[:, self.left], rows.numbers[:, self.right]
        return np.concatenate([np.count_nonzero(left < right, axis=0), np.count_nonzero(left == right, axis=0)])

    def holds(self, rows: OutputRows, k: int) -> Marks:
        pair = k % len(self.left)
        left, right = rows.numbers[:, self.left[pair]], rows.numbers[:, self.right[pair]]
        return np.asarray(left < right if k == pair else left == right)

    def words(self, k: int) -> str:
        pair = k % len(self.left)
        sign = "<" if k == pair else "="
        return f"{self.names[self.left[pair]]} {sign} {self.names[self.right[pair]]}"
