"""Time in UTC, written in one form; tests replace the clock."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


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
