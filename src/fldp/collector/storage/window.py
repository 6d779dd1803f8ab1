"""Windows of UTC days: the tally and the number of their reports, folded or not."""

from collections.abc import Iterator
from dataclasses import dataclass

from fldp.collector.storage.protocol import Days, Snapshot
from fldp.collector.storage.segments import balance, mixed, not_there, stored_tally
from fldp.data.reports import Reports, Tally
from fldp.errors import DomainError
from fldp.oracles.base.oracle import Oracle

ALL: Days = ("0000-00-00", "9999-99-99")


@dataclass(frozen=True)
class DayWindow:
    """Days of one survey."""

    survey: int
    days: Days = ALL

    def tally(self, snapshot: Snapshot, oracle: Oracle) -> Tally:
        """Return the sum of the folded days and of the tail, without what the tail takes out."""
        whole, taken = balance(oracle, snapshot.segments(self.survey, self.days, folded=False))
        for _, n, state in snapshot.tallies(self.survey, self.days):
            whole += stored_tally(oracle, n, state)
        try:
            return whole - taken if taken.n else whole
        except DomainError:
            raise not_there(taken.n) from None

    def count(self, snapshot: Snapshot) -> int:
        """Return how many reports there are."""
        return snapshot.count(self.survey, self.days)

    def withdrawn(self, snapshot: Snapshot) -> int:
        """Return how many were withdrawn. It only grows: with the count, it tells whether anything has changed."""
        return snapshot.withdrawn(self.survey, self.days)


def kept_reports(snapshot: Snapshot, survey: int, days: Days, oracle: Oracle, least: int = 1) -> Iterator[Reports]:
    """Yield all reports of some days that are kept, without those that were withdrawn, as ``mixed`` does."""
    segments = (part for folded in (True, False) for part in snapshot.segments(survey, days, folded=folded))
    taken = (part for part in snapshot.segments(survey, days, folded=False) if part.takes)
    return mixed(oracle, segments, least, taken)
