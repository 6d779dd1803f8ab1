"""Windows of UTC days: the tally and the number of their reports, folded or not."""

from dataclasses import dataclass

from fldp.collector.storage.protocol import Days, Snapshot
from fldp.collector.storage.segments import stored_tally, total
from fldp.data.reports import Tally
from fldp.oracles.base.oracle import Oracle

ALL: Days = ("0000-00-00", "9999-99-99")


@dataclass(frozen=True)
class DayWindow:
    """Days of one survey."""

    survey: int
    days: Days = ALL

    def tally(self, snapshot: Snapshot, oracle: Oracle) -> Tally:
        """Return the sum of the folded days and of the tail."""
        whole = total(oracle, snapshot.segments(self.survey, self.days, folded=False))
        for _, n, state in snapshot.tallies(self.survey, self.days):
            whole += stored_tally(oracle, n, state)
        return whole

    def count(self, snapshot: Snapshot) -> int:
        """Return how many reports there are. It only grows, so it tells whether anything has changed."""
        return snapshot.count(self.survey, self.days)
