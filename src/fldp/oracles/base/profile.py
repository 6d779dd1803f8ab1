"""Privacy loss distribution of one value against another, as bands of equal likelihood ratio.

Epsilon, eta and the delta curve (the hockey-stick divergence over epsilon) follow from it. Everything is rational.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

Curve = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True, order=True)
class Band:
    """Reports with the same likelihood ratio between two values.

    There are ``count`` of them. Together they have probability ``mass`` under the first value and ``other`` under the
    second, which is 0 where the second cannot produce them.
    """

    count: int
    mass: Fraction
    other: Fraction

    @property
    def ratio(self) -> Fraction | None:
        """The likelihood ratio; None (infinite) where only the first value can produce the reports."""
        return self.mass / self.other if self.other else None

    def above(self, bound: Fraction) -> Fraction:
        """Return ``max(0, mass - bound * other)``, the share of the band in the hockey-stick divergence."""
        return max(Fraction(0), self.mass - bound * self.other)


@dataclass(frozen=True)
class Profile:
    """The reports of one value in bands, and ``range_of_other``, the number of reports of the other value.

    >>> third = Fraction(1, 3)
    >>> profile = Profile.of([Band(1, 2 * third, third), Band(1, third, Fraction(0))], range_of_other=2)
    >>> profile.ratio, profile.overlap, profile.shared_mass, profile.excess(Fraction(1))
    (Fraction(2, 1), Fraction(1, 2), Fraction(2, 3), Fraction(2, 3))
    """

    bands: tuple[Band, ...]
    range_of_other: int

    @classmethod
    def of(cls, bands: Iterable[Band], range_of_other: int) -> "Profile":
        """Merge bands of equal ratio, drop empty ones and sort, so that equal profiles compare equal."""
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
        """The number of shared reports over the size of the larger of the two ranges."""
        shared = sum(band.count for band in self.bands if band.other)
        return Fraction(shared, max(self.reports, self.range_of_other))

    @cached_property
    def shared_mass(self) -> Fraction:
        """The probability of the reports that the other value can produce, too."""
        return sum((band.mass for band in self.bands if band.other), Fraction(0))

    def excess(self, bound: Fraction) -> Fraction:
        """Return the hockey-stick divergence at ``bound = e^epsilon``: the delta of (epsilon, delta)-LDP."""
        return sum((band.above(bound) for band in self.bands), Fraction(0))

    def line(self, start: Fraction) -> tuple[Fraction, Fraction]:
        """Return intercept and slope of the excess, which is linear from ``start`` to the next ratio."""
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
    """Return the largest excess of all profiles, a piecewise linear function of e^epsilon, by its corners.

    It starts at e^epsilon = 1 and is constant after the last corner. Corners and the lines between them are exact.

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
    """Yield the points between two bounds where another line becomes the highest."""

    def height(line: tuple[Fraction, Fraction], bound: Fraction) -> Fraction:
        return line[0] - line[1] * bound

    # Walk along the upper envelope: the highest line at start, ties to the flattest, then the first crossing with
    # any flatter line that ends higher, and so on. Lines fall, so only flatter ones can overtake.
    best = max(lines, key=lambda line: (height(line, start), -line[1]))
    while True:
        flatter = [line for line in lines if line[1] < best[1] and height(line, end) > height(best, end)]
        if not flatter:
            return
        start, best = min(((best[0] - line[0]) / (best[1] - line[1]), line) for line in flatter)
        yield start


def _straight(points: list[tuple[Fraction, Fraction]]) -> Iterator[tuple[Fraction, Fraction]]:
    """Drop the points that lie on the line between their neighbours."""
    corners: list[tuple[Fraction, Fraction]] = []
    for point in points:
        while len(corners) > 1 and _slope(corners[-2], corners[-1]) == _slope(corners[-1], point):
            corners.pop()
        corners.append(point)
    return iter(corners)


def _slope(start: tuple[Fraction, Fraction], end: tuple[Fraction, Fraction]) -> Fraction:
    return (end[1] - start[1]) / (end[0] - start[0])
