"""SQLite's errors in one line that says what is wrong with a file and what to do."""

from typing import TYPE_CHECKING

from fldp.support.validation import show

if TYPE_CHECKING:
    from sqlite3 import Error

_BUSY, _UNWRITABLE = "is in use by another process, try again", "cannot be written"
DAMAGED = "is damaged; restore it from a copy"
_REASONS = {
    "BUSY": _BUSY,
    "LOCKED": _BUSY,
    "READONLY": _UNWRITABLE,
    "PERM": _UNWRITABLE,
    "CANTOPEN": "cannot be opened: it, or the folder it is in, is missing or is not yours",
    "FULL": "cannot be written: the disk is full",
    "IOERR": "cannot be read or written: the disk reports an error",
    "NOTADB": "is damaged or of another kind; restore it from a copy",
    "CORRUPT": DAMAGED,
    "ERROR": DAMAGED,  # our statements are right, so the tables are not ours
}


def sqlite_reason(error: "Error") -> str:
    """Return what is wrong with a file that SQLite refuses.

    >>> import sqlite3
    >>> sqlite_reason(sqlite3.OperationalError("no such table: answers"))
    "is damaged; restore it from a copy (SQLite: 'no such table: answers')"
    """
    code = getattr(error, "sqlite_errorname", "SQLITE_ERROR").split("_")[1]  # of a name such as SQLITE_IOERR_FSYNC
    return f"{_REASONS.get(code, 'cannot be used')} (SQLite: {show(str(error))})"
