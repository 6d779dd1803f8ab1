"""A lake: folders of Parquet files of reports, by survey version and day, and the pieces that are read at a time.

::

    lake/survey=2dff65b8.../day=2026-11-15/reports.parquet

A piece says what to read and holds nothing open, so it can be sent to any worker. Files are listed, never opened, to
find the pieces: a lake of a hundred thousand files costs its listing.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from fldp.distributed.lake.storage import FileEntry, Storage, storage_of
from fldp.errors import FldpError, ParameterError
from fldp.support.validation import integer

WRITTEN, THERE, TOO_FEW = "written", "there already", "too few reports"  # what became of a day
PIECE_BYTES = 1 << 23
_MAX_PARTS = 256  # of a file: each of them reads its footer
_HIDDEN = ("_", ".")

Source = str | os.PathLike[str]


@dataclass(frozen=True, order=True)
class Piece:
    """A share of a file: its row groups number ``part * groups // parts`` up to the next share's first.

    >>> Piece("x.parquet", 1000, part=1, parts=2).groups(5)
    range(2, 5)
    """

    path: str
    size: int  # of the whole file
    part: int = 0
    parts: int = 1

    def groups(self, count: int) -> range:
        """Return which of ``count`` row groups are in this piece."""
        return range(self.part * count // self.parts, (self.part + 1) * count // self.parts)

    @property
    def bytes(self) -> int:
        """About how much of the file it is."""
        return self.size // self.parts


@dataclass(frozen=True)
class Window:
    """The part of a lake that is read: a survey version and a range of days."""

    survey: str | None = None
    since: date | None = None
    until: date | None = None

    @classmethod
    def of(cls, survey: str | None, since: str | date | None, until: str | date | None) -> "Window":
        """Build a window from days as dates or ISO strings."""
        return cls(survey, _day("since", since), _day("until", until))

    def has(self, path: str) -> bool:
        """Whether a file or folder can be inside the window, by the names of its folders.

        >>> Window.of(None, "2026-11-02", None).has("lake/survey=ab/day=2026-11-01")
        False
        """
        survey, day = folders(path)
        if self.survey is not None and survey is not None and survey != self.survey:
            return False
        if day is None or (self.since is None and self.until is None):
            return True
        named = _folder_day(path, day)
        return (self.since or date.min) <= named <= (self.until or date.max)

    def check(self, path: str) -> None:
        """Refuse a file without a day if the window has days."""
        if (self.since or self.until) and folders(path)[1] is None:
            raise FldpError(
                f"{path}: lies in no folder day=YYYY-MM-DD, so --since and --until cannot tell whether to count it"
            )


def _day(name: str, value: str | date | None) -> date | None:
    if value is None or isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value)
    except (ValueError, TypeError):
        raise ParameterError(f"lake: {name} must be a day such as 2026-11-01, got {value!r}") from None


def _folder_day(path: str, day: str) -> date:
    try:
        return date.fromisoformat(day)
    except ValueError:
        raise FldpError(f"{path}: the folder must be day=YYYY-MM-DD, got day={day}") from None


def folders(path: str) -> tuple[str | None, str | None]:
    """Return the survey version and the day that the folders of a path name; the innermost of each counts.

    >>> folders("lake/survey=2dff65b8/day=2026-11-15/x.parquet")
    ('2dff65b8', '2026-11-15')
    """
    named = dict(part.split("=", 1) for part in path.split("/") if "=" in part)
    return named.get("survey"), named.get("day")


def find(sources: Source | Iterable[Source], window: Window | None = None, *, size: int = PIECE_BYTES) -> list[Piece]:
    """Return the pieces of all files that folders, patterns, addresses and paths name, in order, each file once.

    A file of more than ``size`` bytes is several pieces.
    """
    window = window or Window()
    listed = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    entries = (entry for source in listed for entry in _files(os.fspath(source), window))
    # In reverse order, so that of several names of a file the first one stays.
    files = {entry.identity: entry for entry in sorted(entries, key=_path, reverse=True)}
    if not files:
        raise FldpError(f"lake: there is no file of reports in {', '.join(map(str, listed))}")
    return sorted(piece for entry in files.values() for piece in _pieces(entry, size))


def _path(entry: FileEntry) -> str:
    return entry.path


def _pieces(entry: FileEntry, size: int) -> Iterator[Piece]:
    parts = min(max(1, -(-entry.size // size)), _MAX_PARTS)
    return (Piece(entry.path, entry.size, part, parts) for part in range(parts))


def _files(source: str, window: Window) -> Iterator[FileEntry]:
    storage, name = storage_of(source)
    for entry in storage.entries(name):
        for file in _below(storage, entry, window, set()):
            if not _hidden(file.path, name):
                yield file


def _below(storage: Storage, entry: FileEntry, window: Window, seen: set[object]) -> Iterator[FileEntry]:
    """Go through a folder and those inside it, but not into hidden ones, wrong ones, or in circles."""
    if not window.has(entry.path):
        return
    if not entry.is_folder:
        window.check(entry.path)
        yield entry
    elif entry.identity not in seen:
        seen.add(entry.identity)
        for inner in storage.inside(entry):
            if not _hidden(inner.path, entry.path):
                yield from _below(storage, inner, window, seen)


def _hidden(path: str, asked: str) -> bool:
    """Whether engines pass over a file: _SUCCESS, _temporary, .part-0.parquet.crc; not what was asked for by name.

    >>> _hidden("lake/_temporary/0.parquet", "lake/**"), _hidden("_lake/0.parquet", "_lake/*")
    (True, False)
    """
    return any(part.startswith(_HIDDEN) for part in set(path.split("/")) - set(asked.split("/")))


def deal(pieces: Sequence[Piece], tasks: int) -> list[list[Piece]]:
    """Deal pieces out to at most ``tasks`` tasks, neighbours to different ones.

    >>> [[piece.part for piece in hand] for hand in deal([Piece("x", 9, part, 3) for part in range(3)], 2)]
    [[0, 2], [1]]
    """
    count = min(len(pieces), integer(1, 1 << 31)("lake", "tasks", tasks))
    return [list(pieces[first::count]) for first in range(count)]


def survey_of(pieces: Iterable[Piece], survey: str | None) -> str | None:
    """Return the one survey version that folders name; several are an error that names them."""
    named = {folders(piece.path)[0] for piece in pieces} - {None}
    if survey is None and len(named) > 1:
        shown = ", ".join(sorted(str(version) for version in named)[:10])
        raise ParameterError(f"lake: holds {len(named)} survey versions, choose one of {shown}")
    return survey if survey is not None else next(iter(named), None)


def day_file(lake: Source, survey: str, day: str | date) -> Path:
    """Return the file of a lake for the reports of a survey version and a day.

    >>> day_file("lake", "2dff65b8", "2026-11-15").as_posix()
    'lake/survey=2dff65b8/day=2026-11-15/reports.parquet'
    """
    return Path(lake) / f"survey={survey}" / f"day={day}" / "reports.parquet"
