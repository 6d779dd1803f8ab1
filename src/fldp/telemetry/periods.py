"""Periods: calendar months, or weeks as ISO 8601 counts them, in UTC, with the same borders for everybody."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]
SPREAD = {"week": timedelta(days=1), "month": timedelta(days=3)}  # over which reports of a period are sent


def system() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def period_of(moment: datetime, kind: str) -> str:
    """Return the period of a moment; the texts sort as time does.

    >>> period_of(datetime(2026, 11, 16, tzinfo=UTC), "month"), period_of(datetime(2027, 1, 1, tzinfo=UTC), "week")
    ('2026-11', '2026-W53')
    """
    if kind == "month":
        return f"{moment:%Y-%m}"
    year, week, _ = moment.isocalendar()
    return f"{year}-W{week:02d}"


def before(moment: datetime, kind: str, count: int = 1) -> str:
    """Return the period that lies some periods before the period of a moment.

    >>> before(datetime(2026, 3, 31, tzinfo=UTC), "month"), before(datetime(2026, 1, 1, tzinfo=UTC), "week", 2)
    ('2026-02', '2025-W51')
    """
    for _ in range(count):
        moment = moment - timedelta(days=7) if kind == "week" else moment.replace(day=1) - timedelta(days=1)
    return period_of(moment, kind)


def text(moment: datetime) -> str:
    """Return a moment as it is stored; texts sort as times do."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
