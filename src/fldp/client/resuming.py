"""How far an upload came: a number in a small file, so that an interrupted one goes on where it stopped.

The number is written only after the collector has acknowledged that many reports, and the file goes when all are sent.
A crash can leave the number too small, and then some pieces are sent once more and count once; it is never too large.
The name of the file is a hash of all that the upload is about: the collector, the survey's version, the file's content,
the sender and the size of a piece. What another upload wrote is thus never believed.

A collector that was restored from a copy, or whose survey was deleted and made again, has forgotten what it
acknowledged. So a number older than a day is not believed either, and whoever goes on says so.
"""

import logging
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from fldp.client.keys import derived_key
from fldp.client.uploads import Piece, Upload

log = logging.getLogger("fldp.client")

TRUSTED_SECONDS = 86400.0


class Acknowledged:
    """The number of reports of one upload that were acknowledged, in a folder of such numbers.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     upload = Acknowledged(folder, "https://collector.example", "a version", "a hash")
    ...     upload.write(5)
    ...     upload.read(), Acknowledged(folder, "https://collector.example", "a version", "another hash").read()
    (5, 0)
    """

    def __init__(self, folder: str | Path, *about: str | int) -> None:
        self._path = Path(folder) / f"upload-{derived_key('upload', *about)}"

    def read(self) -> int:
        """Return the number; 0 if there is none that can be believed."""
        try:
            age = time.time() - self._path.stat().st_mtime
            number = int(self._path.read_text("ascii").split(" ", 1)[0])
            return number if 0 <= age < TRUSTED_SECONDS and self._path.read_text("ascii") == self._line(number) else 0
        except (OSError, ValueError):
            return 0

    def write(self, number: int) -> None:
        """Replace the number, whole or not at all, and have it on the disk."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".upload-")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(self._line(number))
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def remove(self) -> None:
        """Forget the number, and those that are too old to be believed."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
            for other in self._path.parent.glob("*upload-*"):  # and what a crash left half written
                if time.time() - other.stat().st_mtime > TRUSTED_SECONDS:
                    other.unlink(missing_ok=True)

    def _line(self, number: int) -> str:
        return f"{number} {derived_key('acknowledged', self._path.name, number)}\n"


class Run:
    """One run through a file: what is sent next, and how far it came."""

    def __init__(self, file: Upload, address: str, sender: str, size: int, folder: str | Path | None) -> None:
        self._file, self._size, self._sender = file, size, sender
        about = (address, file.version, file.digest, sender, file.step(size))
        self._record = None if folder is None else Acknowledged(folder, *about)
        self._pieces: Iterator[Piece] = iter(())
        self._piece: Piece | None = None

    def begin(self, from_start: bool = False) -> int:
        """Return how many reports need not be sent."""
        if self._record and from_start:
            self._record.remove()  # else an interruption of this run would be taken for that of the other
        found = self._record.read() if self._record else 0
        whole = 0 <= found < self._file.total and found % self._file.step(self._size) == 0
        start = found if whole or found == self._file.total else 0
        if start:
            done, total = f"{start:,}", f"{self._file.total:,}"
            log.info(
                "%s of %s reports were acknowledged before and are not sent again, unless from the start", done, total
            )
        self._pieces = self._file.pieces(self._size, self._sender, start)
        return start

    def next(self) -> Piece | None:
        """Return what is sent next."""
        self._piece = next(self._pieces, None)
        return self._piece

    def acknowledged(self) -> None:
        """Note that it was; an upload does not fail because that cannot be noted."""
        if self._record and self._piece:
            try:
                self._record.write(self._piece.offset + self._piece.count)
            except OSError as error:
                log.info("how far this came cannot be noted (%s), so another run would send all", error.strerror)
                self._record.remove()
                self._record = None

    def end(self) -> None:
        """Forget it: all is sent."""
        if self._record:
            self._record.remove()


def state_folder() -> Path | None:
    """Return where programs of this person keep such things; None where there is no such place."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        return (named if named.is_absolute() else Path.home() / ".local" / "state") / "fldp"
    except RuntimeError:  # nobody's home
        return None
