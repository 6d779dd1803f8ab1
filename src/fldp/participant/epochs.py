"""Epochs: the weeks and months by which limits renew. They are in UTC, with the same borders for everybody.

A week is one of ISO 8601: it begins on Monday, and counts in the month of its Thursday. So each epoch belongs to one
month, and a month has four or five weeks.
"""

import re
from datetime import UTC, date, datetime, timedelta

from fldp.support.validation import fail

YEAR = 12  # months
MAX_EPOCHS = {"weekly": (5, 53), "monthly": (1, YEAR)}  # that can fall into one month, and into twelve
_EPOCH = re.compile(r"(\d{4})-(?:(0[1-9]|1[0-2])|W(\d\d))", re.ASCII)
_THURSDAY = 4


def today() -> str:
    """Return the day in UTC, as ``2026-11-16``."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def checked_day(owner: str, name: str, day: object) -> str:
    """Accept a day in its usual form."""
    try:
        if isinstance(day, str) and date.fromisoformat(day).isoformat() == day:
            return day
    except ValueError:
        pass
    raise fail(owner, name, "a day, such as 2026-11-16", day)


def epoch_of(repeat: str, day: str) -> str:
    """Return the epoch of a day, for a survey that is repeated weekly or monthly; nothing for any other.

    >>> epoch_of("monthly", "2026-11-16"), epoch_of("weekly", "2026-11-16"), epoch_of("daily", "2026-11-16")
    ('2026-11', '2026-W47', '')
    """
    if repeat not in MAX_EPOCHS:
        return ""
    if repeat == "monthly":
        return day[:7]
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year:04}-W{week:02}"


def first_day(repeat: str, day: str) -> str:
    """Return the first day of the period that a day is in, which is the day itself where it is asked for daily.

    >>> first_day("monthly", "2026-11-18"), first_day("weekly", "2026-11-18"), first_day("daily", "2026-11-18")
    ('2026-11-01', '2026-11-16', '2026-11-18')
    """
    match repeat:
        case "monthly":
            return f"{day[:7]}-01"
        case "weekly":
            there = date.fromisoformat(day)
            return str(there - timedelta(days=there.weekday()))
    return day


def month_of(epoch: str) -> int:
    """Return the number of the month that an epoch counts in, from the year 0 on.

    >>> month_text(month_of("2026-11")), month_text(month_of("2026-W53")), month_text(month_of("2026-W49"))
    ('2026-11', '2026-12', '2026-12')
    """
    parts = _EPOCH.fullmatch(epoch)
    try:
        if parts and parts[2]:
            return _number(date(int(parts[1]), int(parts[2]), 1))
        if parts:
            return _number(date.fromisocalendar(int(parts[1]), int(parts[3]), _THURSDAY))
    except ValueError:
        pass
    raise fail("Charge", "epoch", "a month or a week, such as 2026-11 or 2026-W46", epoch)


def last_month_of(day: str) -> int:
    """Return the number of the last month that anything answered by that day can count in.

    On the last days of a month, its week can already count in the next one.

    >>> month_text(last_month_of("2026-11-16")), month_text(last_month_of("2026-11-30"))
    ('2026-11', '2026-12')
    """
    return max(month_of(epoch_of(repeat, day)) for repeat in MAX_EPOCHS)


def month_text(month: int) -> str:
    """Write the number of a month."""
    return f"{month // YEAR:04}-{month % YEAR + 1:02}"


def _number(day: date) -> int:
    return YEAR * day.year + day.month - 1
