"""Time in UTC, written in one form; tests replace the clock."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime

Clock = Callable[[], datetime]
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def system() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def text(time: datetime) -> str:
    """Return a time as it is stored; texts sort as times do.

    >>> text(datetime(2026, 11, 1, 12, tzinfo=UTC))
    '2026-11-01T12:00:00Z'
    """
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def day(time: datetime) -> str:
    """Return the UTC day of a time."""
    return text(time)[:10]


def parse_day(written: str) -> str | None:
    """Return a day such as ``2026-11-01``, or None.

    >>> parse_day("2026-02-30"), parse_day("2026-02-28")
    (None, '2026-02-28')
    """
    try:
        return date.fromisoformat(written).isoformat() if _DAY.fullmatch(written) else None
    except ValueError:
        return None


def parse_time(written: str) -> datetime | None:
    """Return a time that names its offset, in UTC, or None.

    >>> parse_time("2026-11-01T12:00:00Z") is not None, parse_time("2026-11-01")
    (True, None)
    """
    try:
        time = datetime.fromisoformat(written)
        return None if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
