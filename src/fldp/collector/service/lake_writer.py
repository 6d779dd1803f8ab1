"""Lake writer: the reports of every past day, as Parquet by survey version and day.

A day is a file, whole or not there at all, that is written once, on the disk or on any storage that fsspec reaches. A
day of fewer reports than the survey's minimum is not written. Inside a file reports are sorted, so nothing shows which
of them came together.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from fldp.collector.config.clock import Clock, day
from fldp.collector.storage.protocol import CollectorStore, Days, Snapshot, StoredSurvey
from fldp.collector.storage.window import kept_reports
from fldp.data.reports import Reports
from fldp.distributed.lake.layout import THERE, TOO_FEW, WRITTEN, Source
from fldp.distributed.lake.writing import counts_in, day_name, remove_output, whole_output
from fldp.errors import FldpError
from fldp.survey.survey import Survey
from fldp.wire import parquet

GRACE = timedelta(minutes=10)  # for commits that began before midnight
_PAUSE = 60.0
_NEVER = "9999-12-31"  # all days are before it

log = logging.getLogger("fldp.collector")
Watch = Callable[[], None]
Parse = Callable[[StoredSurvey], Survey]
DayCounts = tuple[int, int]  # how many reports a day has, and how many were withdrawn


def _unwatched() -> None:
    pass


def write_reports(
    file: BinaryIO, snapshot: Snapshot, entry: StoredSurvey, survey: Survey, days: Days, watch: Watch = _unwatched
) -> int:
    """Write all reports of some days as Parquet, sorted; ``watch`` may end it by raising."""
    reports = kept_reports(snapshot, entry.number, days, survey.oracle, survey.collect["minimum"])
    withdrawn = snapshot.withdrawn(entry.number, days)
    return parquet.write(
        file, survey.oracle, _watched(reports, watch), entry.version, entry.number, withdrawn=withdrawn
    )


def _watched(parts: Iterator[Reports], watch: Watch) -> Iterator[Reports]:
    for part in parts:
        watch()
        yield part


@dataclass(frozen=True)
class CollectorLake:
    """The days of a collector's store, and where they are written.

    ``parse`` returns the survey of an entry; files are made in ``scratch`` where the root is not on the disk.
    """

    store: CollectorStore
    root: Source
    parse: Parse = StoredSurvey.parse
    scratch: Path | None = None

    def entries(self, name: str | None = None) -> list[StoredSurvey]:
        """Return the surveys that keep their reports, or those of one name."""
        with self.store.snapshot() as snapshot:
            entries = [entry for entry in snapshot.entries() if name in (None, entry.name)]
        if name is not None and not entries:
            raise FldpError(f"fldp: there is no survey named {name}")
        return [entry for entry in entries if self.parse(entry).collect["retention"] == "raw"]

    def past(self, entry: StoredSurvey, today: str) -> dict[str, DayCounts]:
        """Return the days of a survey before today, with what they have."""
        with self.store.snapshot() as snapshot:
            number, days = entry.number, snapshot.days(entry.number)
            return {past: (n, snapshot.withdrawn(number, (past, past))) for past, n in days if past < today}

    def write_day(
        self, entry: StoredSurvey, past: str, watch: Watch = _unwatched, *, at_start: DayCounts | None = None
    ) -> str:
        """Write one day unless it is there with all of its reports; what is there otherwise is replaced.

        Where withdrawals leave fewer reports than the minimum, it is removed. A file written before the collector
        started is kept only if the day is still as it was ``at_start``.
        """
        survey, days, name = self.parse(entry), (past, past), day_name(self.root, entry.version, past)
        with self.store.snapshot() as snapshot:
            count = snapshot.count_reports(entry.number, days) if snapshot.has(entry.number) else 0
            there, withdrawn = counts_in(name, entry.version, entry.number), snapshot.withdrawn(entry.number, days)
            if count < survey.collect["minimum"]:
                if there is not None and withdrawn:
                    remove_output(name)
                return TOO_FEW
            if there == (count, withdrawn) and at_start in (None, there):
                return THERE
            with whole_output(name, self.scratch) as file:
                write_reports(file, snapshot, entry, survey, days, watch)
        return WRITTEN


def write_lake(
    store: CollectorStore, root: Source, today: str, name: str | None = None, watch: Watch = _unwatched
) -> Iterator[tuple[StoredSurvey, str, str]]:
    """Write all days before ``today`` of all surveys, or of one name; yield each, and what became of it."""
    lake = CollectorLake(store, root)
    for entry in lake.entries(name):
        for past in lake.past(entry, today):
            yield entry, past, lake.write_day(entry, past, watch)


class LakeWriter:
    """A thread that writes each day when it is over.

    Make it before the collector takes requests. After a restore a file may hold other reports than its day; one more
    withdrawal could make their numbers agree. So the first look compares the day as it was at the start, too.
    """

    def __init__(self, lake: CollectorLake, clock: Clock, pause: float = _PAUSE) -> None:
        self._lake, self._clock, self._pause = lake, clock, pause
        self._seen: dict[tuple[int, str], DayCounts] = {}  # days that need no second look, by what they had
        self._at_start = {
            (entry.number, past): counts
            for entry in lake.entries()
            for past, counts in lake.past(entry, _NEVER).items()
        }
        self._stop = threading.Event()
        self.written = self.failures = 0
        self._thread = threading.Thread(target=self._run, name="fldp-lake", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; a file that is being written is given up, and written at the next start."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                self.round()
            except _StoppedError:
                return
            except Exception as error:  # reports are safe where they are, and the next round tries again
                self.failures += 1
                expected = isinstance(error, FldpError)
                log.error("writing the lake failed", extra={"error": str(error)}, exc_info=None if expected else error)
            if self._stop.wait(self._pause):
                return

    def round(self) -> None:
        """Write every day that is over and has changed since the last look."""
        today = day(self._clock() - GRACE)
        for entry in self._lake.entries():
            for past, counts in self._lake.past(entry, today).items():
                if self._seen.get((entry.number, past)) != counts:
                    self._write(entry, past)
                    self._seen[entry.number, past] = counts

    def _write(self, entry: StoredSurvey, past: str) -> None:
        """Write a day if its file is not what the day holds; after this, the file is this writer's own."""
        at_start = self._at_start.get((entry.number, past))
        done = self._lake.write_day(entry, past, self._watch, at_start=at_start)
        self._at_start.pop((entry.number, past), None)
        self.written += done == WRITTEN

    def _watch(self) -> None:
        if self._stop.is_set():
            raise _StoppedError


class _StoppedError(Exception):
    """The collector stops."""
