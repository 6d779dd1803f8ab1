"""Node programs: what they keep of telemetry on this machine, as far as the person's commands need it.

They keep their state as JSON in ``APP.state.N``, whose highest number counts (``js/src/participant/file_store.ts``),
and do not say there which metrics they declare. So they show and withdraw their reports themselves.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fldp.errors import FldpError
from fldp.support.atomic_files import whole_file
from fldp.telemetry.modes import Mode, mode_of

_FRAME, _FORMAT = "fldp-store-1", "fldp-telemetry-1"
_FILE = re.compile(r"([a-z0-9][a-z0-9_-]*)\.state\.([1-9][0-9]{0,14})", re.ASCII)
_TRIES = 20
Book = dict[str, Any]


class NodeProgram(NamedTuple):
    """A program in Node that keeps telemetry on this machine."""

    app: str
    folder: Path

    @property
    def path(self) -> Path:
        """The beginning of the names of its files."""
        return self.folder / f"{self.app}.state"

    @property
    def mode(self) -> Mode:
        """Its mode in this environment; only the program knows its default."""
        mode = mode_of(self.app, "local")
        return mode if not mode.reason.startswith("the default") else Mode("its default", "nobody has chosen")

    @property
    def newest(self) -> Path:
        """The file that counts."""
        return max(self._files, key=_number)

    @property
    def _files(self) -> list[Path]:
        return [path for path in self.folder.glob(f"{self.app}.state.*") if _FILE.fullmatch(path.name)]

    def forget_aggregates(self) -> None:
        """Delete aggregates alone."""
        self._change(_forget_aggregates)

    def clean(self) -> None:
        """Delete aggregates and reports."""
        self._change(_clean)

    def _change(self, step: Callable[[Book], None]) -> None:
        """Replace the state by the next generation, as the program does; of two who do so at once, one begins anew."""
        for _ in range(_TRIES):
            before = self.newest
            try:
                book = _read(before)
                step(book)
                after = before.with_name(f"{self.app}.state.{_number(before) + 1}")
                with whole_file(after, replace=False) as hidden:
                    hidden.write_bytes(_framed(json.dumps(book, ensure_ascii=False, separators=(",", ":")).encode()))
            except (FileExistsError, FileNotFoundError):
                continue
            if self.newest == after:
                for path in self._files:
                    if _number(path) < _number(after):
                        path.unlink(missing_ok=True)
                return
        raise FldpError(f"{self.path}: its program changes it all the time; try again")


def node_programs(folder: str) -> list[NodeProgram]:
    """Return the programs in Node that keep telemetry in a folder."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    apps = {found[1] for name in names if (found := _FILE.fullmatch(name))}
    return [NodeProgram(app, Path(folder)) for app in sorted(apps)]


def _number(path: Path) -> int:
    return int(path.name.rpartition(".")[2])


def _framed(text: bytes) -> bytes:
    return f"{_FRAME} {hashlib.sha256(text).hexdigest()}\n".encode() + text


def _read(path: Path) -> Book:
    content = path.read_bytes()
    text = content.partition(b"\n")[2]
    try:
        book = json.loads(text) if content == _framed(text) else None
    except (ValueError, RecursionError):
        book = None
    if isinstance(book, dict) and book.get("format") == _FORMAT:
        return book
    raise FldpError(f"{path}: is damaged, or of a later version")


def _forget_aggregates(book: Book) -> None:
    for period in book["periods"]:
        period.pop("values", None)


def _clean(book: Book) -> None:
    _forget_aggregates(book)
    book["reports"] = []
