"""Estimates whose tables and files have intervals that hold at every look."""

from bisect import bisect_left
from dataclasses import dataclass, fields
from typing import Protocol, runtime_checkable

from fldp.data.anytime_intervals import MAX_PLANNED, anytime_ends, anytime_interval, check_unbiased, enough
from fldp.data.estimate import GOOD_REACH, Estimate
from fldp.numerics.types import Floats
from fldp.support.validation import integer


@dataclass(frozen=True, eq=False)
class AnytimeEstimate(Estimate):
    """An estimate whose intervals hold at every look; ``planned`` is the number of reports they are narrowest at.

    ``simultaneous``: they hold for all values at once, too.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=2.0, domain_size=3)
    >>> estimate = oracle.estimate(fldp.Tally(oracle, [5000, 3000, 2000], 10_000))
    >>> watch(estimate, planned=10_000).interval(0.95).round()[0], estimate.interval(0.95).round()[0]
    (array([5597., 5969.]), array([5676., 5890.]))
    """

    planned: int = 0
    simultaneous: bool = True

    def interval(self, level: float = 0.95, *, simultaneous: bool = False, anytime: int | None = None) -> Floats:
        """Return intervals that hold at every look."""
        together = simultaneous or self.simultaneous
        return anytime_interval(self, level, self.planned if anytime is None else anytime, simultaneous=together)

    @property
    def reach(self) -> float:
        """Half the widest 95 % interval of a share, as these intervals are: for every look, and all values at once."""
        return self._reach_after(self.n)

    def reports_needed(self, reach: float = GOOD_REACH) -> int:
        """Return about how many reports, of people who answer alike, would give this ``reach``."""
        most = super().reports_needed(reach)  # as if these intervals narrowed by the root of the reports alone
        while self._reach_after(most) > reach:
            most *= 2
        return bisect_left(range(most), True, lo=1, key=lambda reports: self._reach_after(reports) <= reach)

    def _reach_after(self, reports: int) -> float:
        variances = self.stderr**2 * (reports / self.n)
        low, high = anytime_ends(self, variances, 0.95, self.planned, simultaneous=self.simultaneous)
        return float((high - low).max()) / 2 / reports


@runtime_checkable
class Watchable(Protocol):
    """What has intervals for every look of its own: a number, or one of several questions."""

    def watched(self, planned: int) -> Estimate:
        """Return the same with intervals that hold at every look."""


def watch(estimate: Estimate, planned: int, *, simultaneous: bool = True) -> Estimate:
    """Return the same estimate with intervals that hold at every look, for tables and files."""
    if isinstance(estimate, Watchable):
        return estimate.watched(planned)
    check_unbiased(estimate)
    people = enough(estimate.oracle, integer(1, MAX_PLANNED)("Estimate", "anytime", planned))
    same = {field.name: getattr(estimate, field.name) for field in fields(Estimate)}
    return AnytimeEstimate(**same, planned=people, simultaneous=simultaneous)
