"""Profiles: all that the laws of two values have to do with each other, report by report, and what follows from it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

Curve = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True, order=True)
class Band:
    """Reports that are equally much more likely under one value than under another.

    There are ``count`` of them, and together they have the probability ``mass`` under the one value and ``other`` under
    the other, which is 0 where it cannot produce them.
    """

    count: int
    mass: Fraction
    other: Fraction

    @property
    def ratio(self) -> Fraction | None:
        """How much more likely they are; None where only the one value can produce them."""
        return self.mass / self.other if self.other else None

    def above(self, bound: Fraction) -> Fraction:
        """Return by how much their probability exceeds ``bound`` times the other."""
        return max(Fraction(0), self.mass - bound * self.other)


@dataclass(frozen=True)
class Profile:
    """The reports of one value, in bands, as another value sees them, and how many reports that other value has.

    >>> third = Fraction(1, 3)
    >>> profile = Profile.of([Band(1, 2 * third, third), Band(1, third, Fraction(0))], range_of_other=2)
    >>> profile.ratio, profile.overlap, profile.shared_mass, profile.excess(Fraction(1))
    (Fraction(2, 1), Fraction(1, 2), Fraction(2, 3), Fraction(2, 3))
    """

    bands: tuple[Band, ...]
    range_of_other: int

    @classmethod
    def of(cls, bands: Iterable[Band], range_of_other: int) -> "Profile":
        """Join the bands of equal ratio, drop the empty ones, and bring them into one order: equal is equal."""
        joined: dict[Fraction | None, list[Band]] = {}
        for band in filter(_occurs, bands):
            joined.setdefault(band.ratio, []).append(band)
        return cls(tuple(sorted(map(_join, joined.values()))), range_of_other)

    @cached_property
    def reports(self) -> int:
        """The number of reports of the value."""
        return sum(band.count for band in self.bands)

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio over reports that both values can produce; 1 if there is none above."""
        return max((band.ratio for band in self.bands if band.ratio is not None), default=Fraction(1))

    @cached_property
    def overlap(self) -> Fraction:
        """The share of shared reports in the larger one of the two ranges."""
        shared = sum(band.count for band in self.bands if band.other)
        return Fraction(shared, max(self.reports, self.range_of_other))

    @cached_property
    def shared_mass(self) -> Fraction:
        """The probability of a report that the other value can produce, too."""
        return sum((band.mass for band in self.bands if band.other), Fraction(0))

    def excess(self, bound: Fraction) -> Fraction:
        """Return the delta of (epsilon, delta)-LDP where ``bound`` is e^epsilon: the sum of what exceeds it."""
        return sum((band.above(bound) for band in self.bands), Fraction(0))

    def line(self, start: Fraction) -> tuple[Fraction, Fraction]:
        """Return height and slope of the excess, which falls in a straight line from ``start`` to the next ratio."""
        over = [band for band in self.bands if band.ratio is None or band.ratio > start]
        return sum((band.mass for band in over), Fraction(0)), sum((band.other for band in over), Fraction(0))


def _occurs(band: Band) -> bool:
    return band.count > 0


def _join(bands: list[Band]) -> Band:
    return Band(
        sum(band.count for band in bands),
        sum((band.mass for band in bands), Fraction(0)),
        sum((band.other for band in bands), Fraction(0)),
    )


def delta_curve(profiles: Iterable[Profile]) -> Curve:
    """Return the largest excess of all profiles as a polygon over e^epsilon, from 1 up to where it stays as it is.

    Its corners are exact, and so is every point on the straight lines between them.

    >>> profile = Profile.of([Band(1, Fraction(3, 4), Fraction(1, 4)), Band(1, Fraction(1, 4), Fraction(3, 4))], 2)
    >>> delta_curve([profile])
    ((Fraction(1, 1), Fraction(1, 2)), (Fraction(3, 1), Fraction(0, 1)))
    """
    each = list(profiles)
    ratios = {band.ratio for profile in each for band in profile.bands if band.ratio is not None and band.ratio > 1}
    ends = [Fraction(1), *sorted(ratios)]
    corners = [ends[0]]
    for start, end in pairwise(ends):
        corners += [*_crossings({profile.line(start) for profile in each}, start, end), end]
    return tuple(_straight([(bound, max(profile.excess(bound) for profile in each)) for bound in corners]))


def _crossings(lines: set[tuple[Fraction, Fraction]], start: Fraction, end: Fraction) -> Iterator[Fraction]:
    """Yield where, between two bounds, another line becomes the highest one."""

    def height(line: tuple[Fraction, Fraction], bound: Fraction) -> Fraction:
        return line[0] - line[1] * bound

    best = max(lines, key=lambda line: (height(line, start), -line[1]))
    while True:
        flatter = [line for line in lines if line[1] < best[1] and height(line, end) > height(best, end)]
        if not flatter:
            return
        start, best = min(((best[0] - line[0]) / (best[1] - line[1]), line) for line in flatter)
        yield start


def _straight(points: list[tuple[Fraction, Fraction]]) -> Iterator[tuple[Fraction, Fraction]]:
    """Leave out the points that lie on the straight line between their neighbours."""
    kept: list[tuple[Fraction, Fraction]] = []
    for point in points:
        while len(kept) > 1 and _slope(kept[-2], kept[-1]) == _slope(kept[-1], point):
            kept.pop()
        kept.append(point)
    return iter(kept)


def _slope(one: tuple[Fraction, Fraction], two: tuple[Fraction, Fraction]) -> Fraction:
    return (two[1] - one[1]) / (two[0] - one[0])
