"""Journal: the finished cells of an experiment, a line each, so that it can resume after an interruption.

A line is a checksum, a blank, JSON and a newline; the checksum is the beginning of the JSON's SHA-256. The first
line says which experiment it is, every other one holds the measurements of one cell. Lines are only ever added. What
follows the last good line was torn by the interruption: it is cut off, and those cells are measured again.
"""

import fcntl
import hashlib
import json
import os
from pathlib import Path
from types import TracebackType

from fldp.errors import FldpError
from fldp.support.canonical_json import Json


def line_of(entry: Json) -> bytes:
    r"""Return a JSON value as a line with its checksum.

    >>> line_of([1])
    b'080a9ed428559ef6 [1]\n'
    """
    body = json.dumps(entry, separators=(",", ":")).encode()
    return hashlib.sha256(body).hexdigest()[:16].encode() + b" " + body + b"\n"


def good(line: bytes) -> bool:
    """Whether a line is whole and its checksum matches.

    >>> good(line_of({"cell": 1})), good(line_of({"cell": 1})[:-3])
    (True, False)
    """
    checksum, _, body = line.rstrip(b"\n").partition(b" ")
    return line.endswith(b"\n") and hashlib.sha256(body).hexdigest()[:16].encode() == checksum


class Journal:
    """The journal of one experiment, open and locked; ``done`` holds the measurements of every finished cell."""

    def __init__(self, path: str | Path, experiment: dict[str, Json]) -> None:
        self.path = Path(path)
        self.done: dict[int, list[float]] = {}
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise FldpError(f"{path}: cannot be written: {error.strerror}") from None
        try:
            self._lock()
            self._resume(line_of(experiment), experiment)
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FldpError(f"{self.path}: another run is writing to it") from None

    def _resume(self, heading: bytes, experiment: dict[str, Json]) -> None:
        lines = self.path.read_bytes().splitlines(keepends=True)
        if len(lines) < 2 and heading.startswith(b"".join(lines)):  # nothing yet, or not even a whole heading
            os.ftruncate(self._file, 0)
            self._append(heading)
            return
        if lines[0] != heading:
            raise FldpError(f"{self.path}: {_difference(lines[0], experiment)}; remove it to start over")
        end = len(heading)
        for line in lines[1:]:
            if not good(line):
                break
            cell, values = json.loads(line[17:])
            self.done[cell] = values
            end += len(line)
        os.ftruncate(self._file, end)  # cut off what the interruption has torn
        os.lseek(self._file, 0, os.SEEK_END)

    def add(self, cell: int, values: list[float]) -> None:
        """Add a finished cell."""
        self._append(line_of([cell, values]))
        self.done[cell] = values

    def _append(self, line: bytes) -> None:
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            raise FldpError(f"{self.path}: cannot be written: {error.strerror}") from None

    def remove(self) -> None:
        """Remove the journal of an experiment that is finished."""
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        os.close(self._file)


def _difference(heading: bytes, experiment: dict[str, Json]) -> str:
    """Return in which parts a journal's experiment differs from this one."""
    try:
        recorded = json.loads(heading[17:]) if good(heading) else None
    except ValueError:
        recorded = None
    if not isinstance(recorded, dict):
        return "is not the journal of an experiment"
    current = json.loads(json.dumps(experiment))
    parts = [name for name in {**current, **recorded} if current.get(name) != recorded.get(name)]
    return f"belongs to an experiment that differs in {', '.join(parts)}"
