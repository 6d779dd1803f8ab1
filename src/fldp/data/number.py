"""Numbers: the distribution of a number over its cells, and what follows from it, each with its interval.

Everything that is asked is a sum of shares with weights, so it is unbiased and has an exact variance. What depends on
where numbers lie inside a cell has an interval that covers all that is possible there.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fldp.data.anytime_intervals import MAX_PLANNED, check_unbiased, factors
from fldp.data.comparison import POPULATION, RESPONDENTS, z_score
from fldp.data.dataframes import Columns, FramedAtLevel
from fldp.data.estimate import Estimate, Evidence, Total
from fldp.data.projections import METHODS
from fldp.data.scale import MEAN, Scale
from fldp.data.values import as_list, as_values
from fldp.errors import DomainError
from fldp.numerics.bounded_laws import Steps
from fldp.numerics.types import Floats
from fldp.support.display import Displayed
from fldp.support.validation import fail, fraction, integer, is_number, one_of

LEVEL = 0.95
MONOTONE = "monotone"
QUARTILES = (0.25, 0.5, 0.75)


class Shares(Protocol):
    """What the shares of all cells rest on: it knows the variances of their sums."""

    def variances(self, weights: Floats, people: str) -> Floats:
        """Return the variance of the sum of the shares with each row of weights.

        ``people`` says for whom: ``"respondents"``, those who reported, or ``"population"``, all who could have.
        """

    def steps(self, weights: Floats, people: str) -> Steps:
        """Return what an interval of the sum of the shares with each row of weights needs beside its variance."""

    def laws(self, counts: Floats) -> tuple[Evidence, ...]:
        """Return the laws of the counts of all cells; none where they are taken as normal."""


@dataclass(frozen=True)
class Value(Displayed):
    """A number that was estimated, its standard error, and the ends of its interval.

    ``note`` says what to know before reading it. An interval may be wider than the standard error tells: where it
    depends on what lies inside a cell, it covers all that is possible.

    >>> print(Value(4.31, 0.12, 4.07, 4.55, unit="s", what="mean"))
    mean: 4.31 s, standard error 0.12, 95 % interval 4.07 .. 4.55
    """

    value: float
    stderr: float
    low: float
    high: float
    note: str | None = None
    unit: str | None = None
    what: str = "value"
    level: float = LEVEL

    @property
    def reach(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


ROW = np.dtype([("start", "f8"), ("end", "f8"), ("share", "f8"), ("stderr", "f8"), ("low", "f8"), ("high", "f8")])
EDGE = np.dtype([("edge", "f8"), ("cdf", "f8"), ("stderr", "f8"), ("low", "f8"), ("high", "f8")])


@dataclass(frozen=True, eq=False)
class Histogram(FramedAtLevel, Displayed):
    """The shares of all cells, or of several together, with their standard errors.

    A single cell is known less well than a range of many: neighbours have errors of opposite signs.
    """

    scale: Scale
    starts: Floats
    ends: Floats
    shares: Floats
    stderr: Floats
    n: int
    planned: int | None = None  # of a number that is watched
    steps: Steps = field(default_factory=Steps, repr=False)

    def interval(self, level: float = LEVEL, *, simultaneous: bool = False) -> Floats:
        """Return the intervals of the shares, a row of two ends for each; all hold at once if ``simultaneous``."""
        miss = 1 - fraction("Histogram", "level", level)
        share = miss / len(self.shares) if simultaneous else miss
        return np.stack(ends_of(1 - share, self.n, self.planned, (self.shares, self.stderr), self.steps), axis=1)

    def table(self, level: float = LEVEL) -> np.ndarray[tuple[int], np.dtype[np.void]]:
        """Return all rows: start, end, share, stderr, low, high."""
        rows = np.empty(len(self.shares), ROW)
        rows["start"], rows["end"], rows["share"], rows["stderr"] = self.starts, self.ends, self.shares, self.stderr
        rows["low"], rows["high"] = self.interval(level).T
        return rows

    def labels(self) -> list[str]:
        """Return what each row is called."""
        pairs = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [
            self.scale.written(start) if start == end else f"{start:.6g} to {self.scale.written(end)}"
            for start, end in pairs
        ]

    def _columns(self, level: float) -> Columns:
        rows = self.table(level)
        return {"label": self.labels(), **{name: rows[name] for name in ROW.names or ()}}


@dataclass(frozen=True, eq=False)
class Number(Estimate):
    r"""The estimated distribution of a number: mean, quantiles, shares of ranges, CDF and histogram.

    It is an estimate of the counts of all cells, and more. Counts are unbiased, so that some are negative and the CDF
    is not monotone; ``fldp.postprocess(number, "monotone")`` repairs that and keeps this in ``original``. Where the
    mean alone was asked for, the rest is refused.
    ``people`` is whom a figure is about: ``"respondents"``, those who reported, or ``"population"``, all who could
    have, where who reported is chance, too.

    >>> import fldp
    >>> from fldp.estimation.number_shares import wave_number
    >>> oracle = fldp.Wave(epsilon=4.0, domain_size=4, width=2)
    >>> tally = oracle.tally(oracle.privatize([0, 1, 1, 3] * 5000, rng=1))
    >>> number = wave_number(oracle.estimate(tally), Scale(0, 40, bins=4, unit="s"))
    >>> print(number.mean(), number.quantile(0.5), sep="\n")
    mean: ...
    """

    scale: Scale = field(kw_only=True)
    source: Shares = field(kw_only=True, repr=False)
    planned: int | None = field(default=None, kw_only=True)  # reports, where intervals hold at every look

    @classmethod
    def of(cls, estimate: Estimate, scale: Scale, source: Shares) -> "Number":
        """Return an estimate of the counts of all cells as a number."""
        known = {part.name: getattr(estimate, part.name) for part in fields(Estimate)}
        labels = [scale.label(cell) for cell in range(scale.size)]
        return cls(**known | {"labels": labels}, scale=scale, source=source)

    def watched(self, planned: int) -> "Number":
        """Return the same number with intervals that hold at every look, for people who watch reports come in.

        They are narrowest after as many reports as are planned, which is decided before the first one.
        """
        check_unbiased(self)
        return replace(self, planned=integer(1, MAX_PLANNED)("Number", "planned", planned))

    def interval(self, level: float = LEVEL, *, simultaneous: bool = False, anytime: int | None = None) -> Floats:
        """Return intervals of the counts of all cells; at every look, if the number is watched."""
        if self.planned is None and anytime is None:
            return super().interval(level, simultaneous=simultaneous)
        check_unbiased(self)
        miss = (1 - fraction("Number", "level", level)) / (len(self.counts) if simultaneous else 1)
        steps = self.source.steps(np.eye(self.scale.size), RESPONDENTS).times(self.n)
        planned = self.planned if anytime is None else anytime
        return np.stack(ends_of(1 - miss, self.n, planned, (self.counts, self.stderr), steps), axis=1)

    def _variance_after(self, reports: int) -> Floats:
        return np.asarray(self.stderr**2 * (reports / self.n))  # of one report, it hardly depends on the people

    @property
    def _plain(self) -> "Number":
        """The number before any repair: intervals are its."""
        return self.original if isinstance(self.original, Number) else self

    @cached_property
    def cdfs(self) -> Floats:
        """The share of people before each bound of the cells, the first of which is 0."""
        return np.concatenate([[0.0], np.cumsum(self.frequencies)])

    def cdf_stderr(self, people: str = RESPONDENTS) -> Floats:
        """Return the standard errors of ``cdfs``."""
        return self._cdf_errors[_people(people)]

    @cached_property
    def _cdf_errors(self) -> dict[str, Floats]:
        before = np.tri(self.scale.size + 1, self.scale.size, -1)
        errors = {people: np.sqrt(self.source.variances(before, people)) for people in (RESPONDENTS, POPULATION)}
        for error in errors.values():
            error[[0, -1]] = 0.0
        return errors

    def _cdf_ends(self, level: float, people: str) -> tuple[Floats, Floats]:
        """Return both ends of the intervals of ``cdfs``; they are about the unbiased ones."""
        steps = self.source.steps(np.tri(self.scale.size - 1, self.scale.size), people).padded()
        return ends_of(level, self.n, self.planned, (self._plain.cdfs, self.cdf_stderr(people)), steps)

    def widest(self, edges: NDArray[np.int64], level: float) -> float:
        """Return half the widest interval of the CDF at some inner edges, by their numbers: within 0 and 1."""
        before = np.tri(self.scale.size)[edges - 1]
        stderr = np.sqrt(self.source.variances(before, RESPONDENTS))
        steps = self.source.steps(before, RESPONDENTS)
        low, high = np.clip(ends_of(level, self.n, self.planned, (self._plain.cdfs[edges], stderr), steps), 0, 1)
        return float((high - low).max()) / 2

    # ------------------------------------------------------------------------------------------------------ figures

    def mean(self, level: float = LEVEL, *, people: str = RESPONDENTS) -> Value:
        """Estimate the mean; for a distribution, the mean of the middles of the cells."""
        value, stderr = self._linear(self.scale.centres, people)
        half = self.scale.half_cell
        note = None
        if half > 0:
            note = (
                f"of the middles of the cells; the mean itself is within half a cell ({self.scale.written(half)}) of it"
            )
        low, high = self._plain_ends(self.scale.centres, level, people)
        return Value(value, stderr, low, high, note, self.scale.unit, "mean", level)

    def cdf(self, at: float, level: float = LEVEL, *, people: str = RESPONDENTS) -> Value:
        """Estimate the share of people with at most this number; inside a cell, as if it were evenly filled."""
        self._needs_distribution("cdf")
        point = self._inside("at", at)
        first, last = self._bounds_around(point)
        what = f"share up to {self.scale.written(point)}"
        return self._between(what, (0, 0), (first, last), (point, point), level, people)

    def share(self, start: float, end: float, level: float = LEVEL, *, people: str = RESPONDENTS) -> Value:
        """Estimate the share of people from ``start`` up to ``end``; inside a cell, as if it were evenly filled."""
        self._needs_distribution("share")
        low, high = self._inside("start", start), self._inside("end", end)
        if not low <= high:
            raise fail("Number", "end", f"at least start, {low:g}", end)
        what = f"share from {low:.6g} to {self.scale.written(high)}"
        return self._between(what, self._bounds_before(low), self._bounds_around(high), (low, high), level, people)

    def quantile(self, q: float, level: float = LEVEL, *, people: str = RESPONDENTS) -> Value:
        """Estimate the number that a share ``q`` of people is at or below; the ends of its interval are edges.

        The interval begins at the last edge before the first whose CDF may reach ``q``, and ends at the first after
        the last whose CDF may be below it. So it holds wherever in their cells the numbers lie.
        """
        self._needs_distribution("quantile")
        q = fraction("Number", "q", q)
        # What is looked at again and again may lie at any edge in the course of time.
        share = (1 - level) / (1 if self.planned is None else max(1, self.scale.size - 1))
        bounds, (least, most) = self.scale.bounds, self._cdf_ends(1 - share, people)
        first, last = int(np.flatnonzero(most >= q)[0]), int(np.flatnonzero(least < q)[-1])
        low, high = float(bounds[max(first - 1, 0)]), float(bounds[min(last + 1, len(bounds) - 1)])
        value = self._point(q)
        slope = self._density(value)
        stderr = float(np.interp(value, bounds, self.cdf_stderr(people))) / slope if slope > 0 else float("inf")
        note = "the ends of the interval are edges of cells"
        return Value(value, stderr, low, high, note, self.scale.unit, f"quantile {q:g}", level)

    def band(self, level: float = LEVEL, *, people: str = RESPONDENTS) -> np.ndarray[tuple[int], np.dtype[np.void]]:
        """Return the CDF at all edges with intervals that hold at once (Bonferroni): edge, cdf, stderr, low, high."""
        self._needs_distribution("band")
        miss = 1 - fraction("Number", "level", level)
        rows = np.empty(len(self.cdfs), EDGE)
        rows["edge"], rows["cdf"], rows["stderr"] = self.scale.bounds, self.cdfs, self.cdf_stderr(people)
        rows["low"], rows["high"] = np.clip(self._cdf_ends(1 - miss / max(1, self.scale.size - 1), people), 0, 1)
        return rows

    def histogram(self, bins: int | None = None, *, people: str = RESPONDENTS) -> Histogram:
        """Return the shares of all cells, or of ``bins`` groups of neighbours; values apart stay apart."""
        self._needs_distribution("histogram")
        groups = self._groups(bins)
        marks = np.zeros((len(groups), self.scale.size))
        for row, group in zip(marks, groups, strict=True):
            row[group] = 1.0
        stderr = np.sqrt(self.source.variances(marks, _people(people)))
        starts = np.array([self.scale.cells[group[0]].start for group in groups])
        ends = np.array([self.scale.cells[group[-1]].end for group in groups])
        steps = self.source.steps(marks, people)
        return Histogram(self.scale, starts, ends, marks @ self.frequencies, stderr, self.n, self.planned, steps)

    def sum(self, values: Iterable[int]) -> Total:
        """Estimate how many users are in any of these cells."""
        chosen = as_list(values)
        members = np.zeros(self.scale.size)
        members[as_values("Estimate", chosen, self.scale.size, secret=False)] = 1.0
        if self.biased:
            plain = self._plain.sum(chosen)
            return Total(float(self.counts @ members), plain.stderr, plain, self.n)
        if members.all():
            return Total(float(self.n), 0.0)
        share, stderr = self._linear(members, RESPONDENTS)
        steps = self.source.steps(members[None], RESPONDENTS)
        return Total(self.n * share, self.n * stderr, steps=steps.times(self.n))

    def postprocessed(self, method: str) -> "Number":
        """Return a biased number whose counts are possible: what ``fldp.postprocess`` returns."""
        one_of(*METHODS, MONOTONE)("postprocess", "method", method)
        plain = self._plain
        counts = monotone(plain) if method == MONOTONE else METHODS[method](plain.counts, float(self.n))
        return replace(self, counts=counts, method=method, original=plain)

    # ------------------------------------------------------------------------------------------------------ details

    @cached_property
    def _laws(self) -> tuple[Evidence, ...]:
        return self.basis.evidence or self.source.laws(self.counts)

    def _share_variances(self, people: str) -> Floats:
        return self.source.variances(np.eye(self.scale.size), people)

    def _groups(self, bins: int | None) -> list[list[int]]:
        """Return the cells of every row of a histogram."""
        if bins is None:
            return [[cell] for cell in range(self.scale.size)]
        wide = [cell for cell, (start, end) in enumerate(self.scale.cells) if start < end]
        integer(1, len(wide))("Number", "bins", bins)
        joined: list[list[int]] = []
        rank = {cell: place * bins // len(wide) for place, cell in enumerate(wide)}
        before = None
        for cell in range(self.scale.size):
            group = rank.get(cell)
            if group is None or group != before:
                joined.append([])
            joined[-1].append(cell)
            before = group
        return joined

    def _linear(self, weights: Floats, people: str) -> tuple[float, float]:
        variance = self.source.variances(weights[None], _people(people))[0]
        return float(weights @ self.frequencies), float(np.sqrt(max(variance, 0.0)))

    def _plain_ends(self, weights: Floats, level: float, people: str) -> tuple[float, float]:
        """Return both ends of the interval of a sum of unbiased shares."""
        value, stderr = self._plain._linear(weights, people)
        if not np.ptp(weights):
            return value, value  # none, or all of them
        steps = self.source.steps(weights[None], people)
        low, high = ends_of(level, self.n, self.planned, (value, stderr), steps)
        return float(low.item()), float(high.item())

    def _between(
        self,
        what: str,
        start: tuple[int, int],
        end: tuple[int, int],
        points: tuple[float, float],
        level: float,
        people: str,
    ) -> Value:
        """Estimate the share between two points, each of which lies from one bound up to another.

        The least that it can be is what lies between the inner bounds, the most what lies between the outer ones.
        """
        low, _ = self._plain_ends(self._cells_between(start[1], end[0]), level, people)
        _, high = self._plain_ends(self._cells_between(start[0], end[1]), level, people)
        weights = self._weights(points, start, end)
        value, stderr = self._linear(weights, people)
        note = None
        if start[0] != start[1] or end[0] != end[1]:
            note = "ends inside a cell: the interval covers wherever in it the numbers lie"
        low, high = np.clip([low, high], 0, 1)
        return Value(value, stderr, float(low), float(high), note, None, what, level)

    def _cells_between(self, first: int, end: int) -> Floats:
        """Return 1 for the cells from one bound to another, 0 for the others."""
        members = np.zeros(self.scale.size)
        members[first : max(first, end)] = 1.0
        return members

    def _weights(self, points: tuple[float, float], start: tuple[int, int], end: tuple[int, int]) -> Floats:
        """Return the part of every cell between two points, as if cells were evenly filled."""
        weights = np.zeros(self.scale.size)
        weights[start[1] : max(start[1], end[0])] = 1.0
        for (first, last), point, sign in ((start, points[0], -1.0), (end, points[1], 1.0)):
            if first != last:
                cell = self.scale.cells[first]
                part = (point - cell.start) / (cell.end - cell.start)
                weights[first] += sign * part if sign > 0 else 1 - part
        if start == end and start[0] != start[1]:
            weights[start[0]] -= 1.0
        return weights

    def _bounds_before(self, point: float) -> tuple[int, int]:
        """Return the bounds that a point lies between: twice the same where it is one, then before it."""
        bounds = self.scale.bounds
        place = int(np.searchsorted(bounds, point, side="left"))
        return (place, place) if bounds[place] == point else (place - 1, place)

    def _bounds_around(self, point: float) -> tuple[int, int]:
        """Return the same, but after a value apart at the point, which is at most the point itself."""
        bounds = self.scale.bounds
        place = int(np.searchsorted(bounds, point, side="right")) - 1
        return (place, place) if bounds[place] == point else (place, place + 1)

    def _inside(self, name: str, value: float) -> float:
        if not is_number(value) or not self.scale.low <= float(value) <= self.scale.high:
            raise fail("Number", name, f"a number from {self.scale.low:g} to {self.scale.high:g}", value)
        return float(value)

    def _point(self, q: float) -> float:
        """Return where the monotone CDF reaches ``q``, linear inside cells."""
        heights, bounds = self._monotone, self.scale.bounds
        place = int(np.searchsorted(heights, q, side="left"))
        before, after = heights[place - 1], heights[place]
        return float(bounds[place - 1] + (q - before) / (after - before) * (bounds[place] - bounds[place - 1]))

    def _density(self, value: float) -> float:
        """Return how fast the monotone CDF rises around a number, over three cells."""
        bounds = self.scale.bounds
        place = int(np.searchsorted(bounds, value, side="left"))
        first, last = max(place - 2, 0), min(place + 1, len(bounds) - 1)
        width = bounds[last] - bounds[first]
        return float((self._monotone[last] - self._monotone[first]) / width) if width > 0 else 0.0

    @cached_property
    def _monotone(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(monotone(self) / self.n)])

    def _needs_distribution(self, what: str) -> None:
        if self.scale.goal == MEAN:
            raise DomainError(f'Number: {what} needs a survey of the distribution; this one has goal = "mean"')

    @property
    def summary(self) -> list[Value]:
        """The mean and, of a distribution, the quartiles."""
        if self.scale.goal == MEAN:
            return [self.mean()]
        return [self.mean(), *(self.quantile(q) for q in QUARTILES)]

    @property
    def reach(self) -> float:
        """Half the 95 % interval of the least certain value of the CDF; of a mean alone, over the range."""
        if self.scale.goal == MEAN:
            return z_score(LEVEL) * self._plain.mean().stderr / (self.scale.high - self.scale.low)
        return z_score(LEVEL) * float(self._plain.cdf_stderr().max())

    @property
    def _budget(self) -> str:
        what = "of the range for a mean" if self.scale.goal == MEAN else "for shares of ranges"
        return f"epsilon {self.oracle.epsilon:g}, {what},"

    def __repr__(self) -> str:
        what = "number" if not self.biased else f"{self.method} (biased) number"
        return f"<{what} in {self.scale.size} cells from {self.n} reports of {self.oracle!r}>"


def ends_of(
    level: float, n: int, planned: int | None, estimated: tuple[Floats | float, Floats | float], steps: Steps
) -> tuple[Floats, Floats]:
    """Return both ends of an interval: for one look, or where reports are planned, at every look.

    ``estimated`` is the value and its standard error. A handful of reports is not normal (``Steps``). The variance of
    one report hardly depends on what people hold, so the variance of all reports grows as their number.

    >>> [round(float(ends_of(0.95, 10_000, planned, (0.0, 1.0), Steps())[1]), 2) for planned in (None, 10_000)]
    [1.96, 3.04]
    """
    value, stderr = estimated
    if planned is None:
        return steps.ends(z_score(level), value, stderr)
    z, larger = factors(n / planned, 1 - fraction("Number", "level", level))
    return steps.ends(z, value, larger * np.asarray(stderr))


def monotone(number: Number) -> Floats:
    """Return the counts of a number whose CDF never falls, and which has no negative count."""
    plain = number._plain
    heights = np.clip(plain.cdfs, 0.0, 1.0)
    heights[-1] = 1.0
    return np.diff(isotonic(heights)) * plain.n


def isotonic(heights: Floats) -> Floats:
    """Return the nearest heights that never fall, by joining neighbours that do (pool adjacent violators).

    >>> isotonic(np.array([0.0, 0.5, 0.3, 1.0])).tolist()
    [0.0, 0.4, 0.4, 1.0]
    """
    means: list[float] = []
    sizes: list[int] = []
    for height in heights.tolist():
        mean, size = height, 1
        while means and means[-1] > mean:
            before, count = means.pop(), sizes.pop()
            mean, size = (mean * size + before * count) / (size + count), size + count
        means.append(mean)
        sizes.append(size)
    return np.repeat(means, sizes)


def _people(people: str) -> str:
    return str(one_of(RESPONDENTS, POPULATION)("Number", "people", people))
