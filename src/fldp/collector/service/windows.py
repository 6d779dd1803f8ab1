"""Views of a survey at one moment of the store: its snapshot, its minimum, and what of it is released."""

from collections.abc import Iterator
from contextlib import contextmanager

from fldp.collector.service.problems import Problem, not_found
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.storage.protocol import CollectorStore, Days, Snapshot
from fldp.collector.storage.window import ALL, DayWindow, kept_reports
from fldp.data.reports import Reports, Tally
from fldp.support.validation import counted

MAX_BYTES = 1 << 27  # of memory for reports that are tested one by one; beyond that only their tally is


@contextmanager
def snapshot_with(store: CollectorStore, published: PublishedSurvey) -> Iterator[Snapshot]:
    """Open a snapshot that still holds the survey: of one that is being deleted, no remains are shown."""
    with store.snapshot() as snapshot:
        if not snapshot.has(published.entry.number):
            raise not_found("version")
        yield snapshot


def require_minimum(n: int, published: PublishedSurvey) -> None:
    """Refuse to show anything of fewer reports than the survey's minimum."""
    minimum = published.survey.collect["minimum"]
    if n < minimum:
        raise Problem(403, "too-few", f"nothing is shown for fewer than {counted(minimum, 'report')}", minimum=minimum)


def released_days(snapshot: Snapshot, published: PublishedSurvey, before: str) -> Days:
    """Return the days that those who read may see: whole ones, in steps of at least ``release`` reports.

    A day is whole if it ended a day ago, so that nothing is counted under it any more. Whoever looks twice,
    and subtracts, sees a sum of at least that many.
    """
    last, waiting = None, 0
    for day, n in snapshot.days(published.entry.number):
        waiting += n
        if day < before and waiting >= (published.survey.release or 0):
            last, waiting = day, 0
    if last is None:
        minimum = published.survey.release
        detail = f"results are shown in steps of {minimum} reports, of whole days that ended a day ago"
        raise Problem(403, "too-few", detail, minimum=minimum)
    return ALL[0], last


def reports_of(snapshot: Snapshot, published: PublishedSurvey, days: Days) -> tuple[Tally, Reports | None]:
    """Return the tally of a window, and all of its reports unless they are too many or not stored.

    A part of them would be no random sample, since reports are stored sorted.
    """
    number, oracle, window = published.entry.number, published.survey.oracle, DayWindow(published.entry.number, days)
    n = window.count(snapshot)
    require_minimum(n, published)
    tally = window.tally(snapshot, oracle)
    each = oracle.report_format.nbytes
    if snapshot.count_reports(number, days) == n and n * each <= MAX_BYTES:
        return tally, Reports.concatenate(kept_reports(snapshot, number, days, oracle))
    return tally, None
