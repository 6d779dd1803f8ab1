"""Time: in UTC, in one form, from a clock that tests can turn."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime

Clock = Callable[[], datetime]
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def system() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def text(time: datetime) -> str:
    """Return a time as it is stored; the order of texts is that of times.

    >>> text(datetime(2026, 11, 1, 12, tzinfo=UTC))
    '2026-11-01T12:00:00Z'
    """
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def day(time: datetime) -> str:
    """Return the UTC day of a time."""
    return text(time)[:10]


def parse_day(given: str) -> str | None:
    """Return a day in its one form, or None.

    >>> parse_day("2026-02-30"), parse_day("2026-02-28")
    (None, '2026-02-28')
    """
    try:
        return date.fromisoformat(given).isoformat() if _DAY.fullmatch(given) else None
    except ValueError:
        return None


def parse_time(given: str) -> datetime | None:
    """Return a time that says its offset, or None.

    >>> parse_time("2026-11-01T12:00:00Z") is not None, parse_time("2026-11-01")
    (True, None)
    """
    try:
        found = datetime.fromisoformat(given)
        return None if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
