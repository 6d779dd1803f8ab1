"""Scale: what a number may be, and the cells in order that it is counted in."""

import math
import re
import secrets
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fldp.errors import DomainError, ParameterError
from fldp.numerics.types import Floats
from fldp.randomness.stream import Stream
from fldp.support.canonical_json import Json
from fldp.support.validation import fail, is_integer, is_number, line, one_of

DISTRIBUTION, MEAN = "distribution", "mean"
CLAMP, REFUSE = "clamp", "refuse"
BINS, POINTS = 32, 256  # of a scale that does not say
MIN_BINS, MAX_BINS = 3, 4096
MAX_UNIT, MAX_DIGITS = 20, 400
_OWNER = "number"
_NUMBER = re.compile(r"[ \t]*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?[ \t]*")


class NumberCell(NamedTuple):
    """What lies from ``start`` up to ``end``; a single value where they are equal."""

    start: float
    end: float


@dataclass(frozen=True)
class Scale:
    """A range of numbers in cells: ``bins`` of equal size, or between ``edges`` of your own.

    A value in ``apart`` is a cell of its own, such as 0 where many have none; the cell around it is split there. What
    lies outside the range counts as its nearest end, or is refused by programs that hold the survey (``outside``).
    With the goal ``"mean"`` there are no cells, but ``bins`` points from ``low`` to ``high``, and a number becomes one
    of its two neighbours at random, the nearer the likelier: so the mean is kept exactly.

    >>> scale = Scale(0, 30, bins=3, unit="s", apart=(0,))
    >>> scale.cell(0), scale.cell(0.5), scale.cell(10), scale.cell(99)
    (0, 1, 2, 3)
    >>> [scale.label(cell) for cell in range(scale.size)]
    ['0 s', '0 to 10 s', '10 to 20 s', '20 to 30 s']
    """

    low: float
    high: float
    bins: int | None = None
    edges: tuple[float, ...] | None = None
    apart: tuple[float, ...] = ()
    unit: str | None = None
    goal: str = DISTRIBUTION
    outside: str = CLAMP

    def __post_init__(self) -> None:
        one_of(DISTRIBUTION, MEAN)(_OWNER, "goal", self.goal)
        one_of(CLAMP, REFUSE)(_OWNER, "outside", self.outside)
        self._settle("low", _finite("low", self.low))
        self._settle("high", _finite("high", self.high))
        if not self.low < self.high or not math.isfinite(self.high - self.low):
            raise fail(_OWNER, "high", f"above low = {self.low:g}, at a finite distance", self.high)
        self._settle("edges", None if self.edges is None else self._checked_edges())
        self._settle("bins", self._checked_bins())
        self._settle("apart", self._checked_apart())
        if self.unit is not None and len(line(_OWNER, "unit", self.unit)) > MAX_UNIT:
            raise fail(_OWNER, "unit", f"a text of 1 to {MAX_UNIT} characters", self.unit)
        if not MIN_BINS <= self.size <= MAX_BINS:
            raise fail(_OWNER, "bins", f"{MIN_BINS} to {MAX_BINS} with the cells of apart", self.size)

    def _settle(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _checked_bins(self) -> int | None:
        if self.edges is not None:
            if self.bins is not None:
                raise ParameterError(f"{_OWNER}: bins and edges exclude each other; leave one out")
            return None
        bins = (POINTS if self.goal == MEAN else BINS) if self.bins is None else self.bins
        if not is_integer(bins) or not MIN_BINS <= bins <= MAX_BINS:
            raise fail(_OWNER, "bins", f"{MIN_BINS} to {MAX_BINS}", bins)
        if (np.diff(_even(self.low, self.high, bins)) <= 0).any():
            raise fail(_OWNER, "bins", "so few that the ends of all cells differ as doubles", bins)
        return bins

    def _checked_edges(self) -> tuple[float, ...]:
        rule = f"a list of {MIN_BINS + 1} to {MAX_BINS + 1} rising numbers from low to high"
        if not isinstance(self.edges, list | tuple) or not MIN_BINS < len(self.edges) <= MAX_BINS + 1:
            raise fail(_OWNER, "edges", rule, self.edges)
        edges = tuple(_finite("edges", edge) for edge in self.edges)
        if edges != tuple(sorted(set(edges))) or (edges[0], edges[-1]) != (self.low, self.high):
            raise fail(_OWNER, "edges", rule, list(edges))
        if self.goal == MEAN:
            raise fail(_OWNER, "edges", "left out where the goal is the mean", list(edges))
        return edges

    def _checked_apart(self) -> tuple[float, ...]:
        rule = "a list of different numbers from low to high"
        if not isinstance(self.apart, list | tuple) or len(self.apart) > MAX_BINS:
            raise fail(_OWNER, "apart", rule, self.apart)
        apart = tuple(sorted(_finite("apart", value) for value in self.apart))
        if len(set(apart)) < len(apart) or (apart and not self.low <= apart[0] <= apart[-1] <= self.high):
            raise fail(_OWNER, "apart", rule, list(self.apart))
        if apart and self.goal == MEAN:
            raise fail(_OWNER, "apart", "left out where the goal is the mean", list(apart))
        return apart

    # ------------------------------------------------------------------------------------------------------- cells

    @cached_property
    def _ends(self) -> tuple[float, ...]:
        """The ends of the bins."""
        return self.edges or tuple(_even(self.low, self.high, self.bins or BINS).tolist())

    def _bins(self, inside: Floats) -> NDArray[np.int64]:
        last = len(self._ends) - 2
        if self.edges is not None:
            return np.minimum(np.searchsorted(self.edges, inside, side="right") - 1, last)
        return np.minimum((inside - self.low) / (self.high - self.low) * (last + 1), last).astype(np.int64)

    @cached_property
    def _splits(self) -> tuple[tuple[float, ...], ...]:
        """The values apart inside every bin, and last those at the end of the range."""
        inside: list[list[float]] = [[] for _ in self._ends]
        for value in self.apart:
            place = self._bin(value)
            inside[place + (value >= self._ends[place + 1])].append(value)
        return tuple(map(tuple, inside))

    @cached_property
    def _starts(self) -> tuple[float, ...]:
        """Where every bin starts: at its end, or at the value apart that doubles put into it from just below that."""
        return tuple(min((end, *inside)) for end, inside in zip(self._ends, self._splits, strict=True))

    @cached_property
    def _at_start(self) -> tuple[bool, ...]:
        """Whether a value apart is at the start of every bin, and last at the end of the range."""
        return tuple(start in inside for start, inside in zip(self._starts, self._splits, strict=True))

    @cached_property
    def cells(self) -> tuple[NumberCell, ...]:
        """All cells in order; of the goal ``"mean"``, its points."""
        if self.goal == MEAN:
            points = _even(self.low, self.high, (self.bins or POINTS) - 1).tolist()
            return tuple(NumberCell(point, point) for point in points)
        cells: list[NumberCell] = []
        for place, inside in enumerate(self._splits):
            start, end = self._starts[place], self._starts[min(place + 1, len(self._ends) - 1)]
            for value in inside:
                cells += [NumberCell(start, value)] * (value > start) + [NumberCell(value, value)]
                start = value
            cells += [NumberCell(start, end)] * (place + 1 < len(self._ends))
        return tuple(cells)

    @cached_property
    def _first(self) -> tuple[int, ...]:
        """The number of the first cell of every bin that is not a value apart at its start."""
        first, count = [], 0
        for inside, at_start in zip(self._splits, self._at_start, strict=True):
            first.append(count + at_start)
            count += 2 * len(inside) - at_start + 1
        return tuple(first)

    @cached_property
    def _earlier(self) -> tuple[int, ...]:
        """How many values apart are before the first cell of every bin."""
        counts = accumulate(map(len, self._splits), initial=0)
        return tuple(count + at_start for count, at_start in zip(counts, self._at_start, strict=False))

    @cached_property
    def _later(self) -> tuple[int, ...]:
        """How many values apart a number in every bin may be above, besides the earlier ones: no more are counted.

        One at the start of the next bin is among them, since doubles may leave a number above it in this bin.
        """
        inside = [len(inside) - at_start for inside, at_start in zip(self._splits, self._at_start, strict=True)]
        return tuple(count + after for count, after in zip(inside, (*self._at_start[1:-1], False), strict=False))

    @cached_property
    def size(self) -> int:
        """The number of cells."""
        return len(self.cells)

    @cached_property
    def centres(self) -> Floats:
        """The middle of every cell."""
        return np.array([cell.start / 2 + cell.end / 2 for cell in self.cells])

    @cached_property
    def bounds(self) -> Floats:
        """Where the cells begin and end: one more than there are cells."""
        return np.array([self.cells[0].start, *(cell.end for cell in self.cells)])

    @property
    def half_cell(self) -> float:
        """How far a number can be from the middle of its cell."""
        return max(cell.end - cell.start for cell in self.cells) / 2

    # ----------------------------------------------------------------------------------------------------- numbers

    def cell(self, value: float) -> int:
        """Return the cell of a number; what lies outside the range counts as its nearest end.

        The same steps for every number: the collector chooses which are apart.
        """
        inside = min(max(_finite("value", value, secret=True), self.low), self.high)
        if self.goal == MEAN:
            place = (inside - self.low) / (self.high - self.low) * (self.size - 1)
            whole = min(int(place), self.size - 2)
            return whole + (secrets.randbits(53) * 2.0**-53 < place - whole)
        before, bin_ = bisect_left(self.apart, inside), self._bin(inside)
        around = self._first[bin_] + 2 * min(max(0, before - self._earlier[bin_]), self._later[bin_])
        is_apart = bisect_right(self.apart, inside) - before
        return (around, *self._apart_cells[before : before + 1])[is_apart]

    def _bin(self, inside: float) -> int:
        """Return the bin of a number in the range: the same steps on doubles as in every other client."""
        last = len(self._ends) - 2
        if self.edges is not None:
            return min(bisect_right(self.edges, inside) - 1, last)
        return min(int((inside - self.low) / (self.high - self.low) * (last + 1)), last)

    def encode(self, values: ArrayLike, rng: int | Stream | None = None) -> NDArray[np.int64]:
        """Return the cells of numbers for a program that holds the survey, and that may refuse what lies outside."""
        numbers = _numbers(values)
        self._check_inside(numbers)
        return self._cells(numbers, Stream.of(rng))

    def _cells(self, numbers: Floats, stream: Stream) -> NDArray[np.int64]:
        inside = np.clip(numbers, self.low, self.high)
        if self.goal == MEAN:
            return self._rounded(inside, stream)
        bins, apart = self._bins(inside), np.array(self.apart)
        before = np.searchsorted(apart, inside) - np.array(self._earlier)[bins]
        cells = np.array(self._first)[bins] + 2 * np.clip(before, 0, np.array(self._later)[bins])
        if not self.apart:
            return np.asarray(cells)
        nearest = np.minimum(np.searchsorted(apart, inside), len(apart) - 1)
        return np.where(apart[nearest] == inside, np.array(self._apart_cells)[nearest], cells)

    @cached_property
    def _apart_cells(self) -> tuple[int, ...]:
        single = {cell.start: place for place, cell in enumerate(self.cells) if cell.start == cell.end}
        return tuple(single[value] for value in self.apart)

    def _check_inside(self, numbers: Floats) -> None:
        if self.outside == CLAMP:
            return
        for side, bad in (
            (f"below low = {self.low:g}", numbers < self.low),
            (f"above high = {self.high:g}", numbers > self.high),
        ):
            if bad.any():
                place = int(np.flatnonzero(bad)[0])
                hidden = f'outside = "{REFUSE}"; not shown, to protect the answer'
                raise DomainError(f"{_OWNER}: the value at position {place} is {side} ({hidden})")

    def _rounded(self, numbers: Floats, stream: Stream) -> NDArray[np.int64]:
        """Round to a neighbouring point at random, in proportion, so that the mean is kept."""
        steps = self.size - 1
        places = (numbers - self.low) / (self.high - self.low) * steps
        whole = np.minimum(np.floor(places), steps - 1)
        chance = (stream.words(len(numbers)) >> np.uint64(11)) * 2.0**-53
        return (whole + (chance < places - whole)).astype(np.int64)

    # ------------------------------------------------------------------------------------------------------- words

    def label(self, cell: int) -> str:
        """Return what a cell is called."""
        start, end = self.cells[cell]
        return self.written(start) if start == end else f"{start:.6g} to {self.written(end)}"

    def written(self, value: float) -> str:
        """Return a number with its unit."""
        return f"{value:.6g}" + (f" {self.unit}" if self.unit else "")

    @property
    def described(self) -> dict[str, Json]:
        """The table ``number`` of a survey, with everything that follows from defaults."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        table = {name: value for name, value in every.items() if value is not None and value != ()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in table.items()}


def number_of(text: str) -> float | None:
    """Return the number that a text writes as JSON does, with a sign or blanks around; None if it writes none.

    >>> number_of("3.2"), number_of(" -1e3 "), number_of("0x10"), number_of("nan"), number_of("1_000")
    (3.2, -1000.0, None, None, None)
    """
    if len(text) > MAX_DIGITS or not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _numbers(values: ArrayLike) -> Floats:
    numbers = np.atleast_1d(np.asarray(values))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all():
        raise DomainError(f"{_OWNER}: values must be finite numbers (not shown, to protect the answers)")
    return numbers.astype(np.float64)


def _finite(name: str, value: object, *, secret: bool = False) -> float:
    try:
        number = float(value) if is_number(value) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise fail(
            _OWNER, name, "finite numbers" if name in ("edges", "apart") else "a finite number", value, secret=secret
        )
    return number + 0.0  # -0 is 0: one text for both


def _even(low: float, high: float, parts: int) -> Floats:
    """Return the ends of equal parts of a range."""
    ends = low + np.arange(parts + 1) * ((high - low) / parts)
    ends[-1] = high
    return np.asarray(ends)


def scale_of(table: object) -> Scale:
    """Return the scale of a table, as a survey has it."""
    known = [field.name for field in fields(Scale)]
    if not isinstance(table, dict):
        raise fail("", _OWNER, "a table such as { low = 0, high = 30, unit = 's' }", table)
    for key in table:
        if key not in known:
            raise ParameterError(f"{_OWNER}: {key!r:.80} is not one of {', '.join(known)}")
    for key in ("low", "high"):
        if key not in table:
            raise ParameterError(f"{_OWNER}: {key} is missing: the ends of the range say what a number may be")
    listed: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Scale(**listed)
