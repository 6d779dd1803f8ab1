"""Uploads: a file of reports as batches that are sent one by one, each under a key by which it counts once.

A file is read and checked as a whole before anything of it is sent. Its pieces follow from the file and the size of a
piece alone, and the key of each from the file's hash and the place of its first report. So a second run sends the same
pieces under the same keys, and what was counted is not counted again.
"""

import hashlib
import logging
import os
import secrets
import shutil
import sys
import tempfile
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from fldp import wire
from fldp.data.reports import Reports
from fldp.errors import FldpError, WireError
from fldp.oracles.base.oracle import Oracle
from fldp.support.atomic_files import open_input, whole_file
from fldp.support.identifiers import IDEMPOTENCY_KEY
from fldp.support.progress import Progress, ignore
from fldp.support.validation import integer
from fldp.survey.survey import Survey
from fldp.wire.files import open_reports

PIECE_BYTES, PIECE_REPORTS = 1 << 20, 1 << 20


def derived_key(*parts: str | bytes | int) -> str:
    """Derive a key from whatever names the content, such as its place of origin and its day.

    Two things that can be equal by chance need different parts: a key of the content alone counts them as one.

    >>> derived_key("site 7", "2026-11-03")
    '...'
    >>> derived_key("a", "bc") == derived_key("ab", "c")
    False
    """
    digest = hashlib.sha256(b"fldp key\0")
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return urlsafe_b64encode(digest.digest()).decode().rstrip("=")


def checked_key(key: str | None) -> str:
    """Return a key that a collector takes; a new one if there is none.

    >>> len(checked_key(None))
    43
    """
    if key is None:
        return secrets.token_urlsafe(32)
    return IDEMPOTENCY_KEY("Client", "key", key)


@dataclass(frozen=True)
class UploadPart:
    """Some reports of a file, as a batch."""

    offset: int
    count: int
    body: bytes = field(repr=False)
    key: str = field(repr=False)


@dataclass(frozen=True)
class Sent:
    """What a collector has of a file: how many reports, for which version of which survey.

    ``batches`` is how many were sent now; ``resumed`` how many of the reports were acknowledged in an earlier run.
    """

    reports: int
    batches: int
    version: str
    resumed: int = 0


@dataclass(frozen=True)
class Upload:
    """A file of reports that was read and checked."""

    path: str
    file: BinaryIO
    stamp: tuple[int, int]
    digest: str
    total: int
    oracle: Oracle
    version: str
    survey: Survey | None = None

    @property
    def ambiguous(self) -> bool:
        """Whether it is so small that another file may hold the same by chance."""
        return self.total * self.oracle.report_format.bits < 128

    def step(self, size: int = PIECE_BYTES) -> int:
        """Return how many reports a piece of about ``size`` bytes holds, at most ``PIECE_REPORTS``."""
        bits: int = 8 * integer(1 << 10, 1 << 30)("Client", "piece_bytes", size)
        return min(PIECE_REPORTS, max(8, bits // self.oracle.report_format.bits // 8 * 8))

    def pieces(self, size: int = PIECE_BYTES, sender: str = "", start: int = 0) -> Iterator[UploadPart]:
        """Yield the file as batches of about ``size`` bytes, from the report number ``start`` on."""
        offset = 0
        for reports in _regular(_reports(self.file, self.survey)[2], self.step(size)):
            if _stamp(self.file) != self.stamp:  # its hash, and with it the keys, would be wrong
                raise FldpError(f"{self.path}: was changed while it was sent")
            if offset >= start:
                key = derived_key("file", self.digest, sender, offset)
                yield UploadPart(offset, len(reports), wire.encode(reports, self.version), key)
            offset += len(reports)


@contextmanager
def upload(path: str, survey: Survey | str | None = None, progress: Progress = ignore) -> Iterator[Upload]:
    """Open a file of reports, wire format or Parquet, and check all of it; ``-`` is standard input.

    The version that it answers is the one that it names. Where it names none, ``survey`` does.
    """
    known = survey if isinstance(survey, Survey) else None
    wanted = survey.version if isinstance(survey, Survey) else survey
    with _seekable(path) as file:
        stamp, digest = _stamp(file), _digest(file)
        try:
            oracle, named, batches = _reports(file, known)
            total = _count(batches, progress)
        except WireError as error:
            raise WireError(f"{path}: {error}") from None
        version = named or wanted
        if version is None:
            raise FldpError(f"{path}: names no survey; name the one that it answers with --survey")
        if wanted is not None and version != wanted:
            raise WireError(f"{path}: answers survey version {version}, where {wanted} is expected")
        if not total:
            raise FldpError(f"{path}: holds no report")
        yield Upload(path, file, stamp, digest, total, oracle, version, known)


@contextmanager
def _seekable(path: str) -> Iterator[BinaryIO]:
    """Open a file; standard input is copied into one first, since its hash must be known before its end is."""
    with open_input(path) as file:
        if file.seekable() and file is not sys.stdin.buffer:
            yield file
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
            yield copy


def _reports(file: BinaryIO, survey: Survey | None) -> tuple[Oracle, str | None, Iterator[Reports]]:
    file.seek(0)
    source = open_reports(file, survey.oracle if survey else None)
    if source.stored is not None:
        raise WireError("holds a tally, not reports; a collector merges tallies with Client.merge")
    return source.oracle, source.survey, iter(source.batches)


def _count(batches: Iterator[Reports], progress: Progress) -> int:
    total = 0
    for reports in batches:
        progress(len(reports))
        total += len(reports)
    return total


def _regular(batches: Iterator[Reports], step: int) -> Iterator[Reports]:
    """Yield the same reports in steps of one size, and a last one that may be smaller."""
    held: Reports | None = None
    for reports in batches:
        held = reports if held is None else Reports.concatenate([held, reports])
        ready = len(held) // step * step
        for start in range(0, ready, step):
            yield held[start : start + step]
        held = held[ready:]
    if held is not None and len(held):
        yield held


def _digest(file: BinaryIO) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def _stamp(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


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
        with whole_file(self._path) as hidden:
            hidden.write_text(self._line(number), encoding="ascii")

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
    """One run through a file: the next piece to send, and the progress so far."""

    def __init__(self, file: Upload, address: str, sender: str, size: int, folder: str | Path | None) -> None:
        self._file, self._size, self._sender = file, size, sender
        about = (address, file.version, file.digest, sender, file.step(size))
        self._record = None if folder is None else Acknowledged(folder, *about)
        self._pieces: Iterator[UploadPart] = iter(())
        self._piece: UploadPart | None = None

    def begin(self, from_start: bool = False) -> int:
        """Return how many reports need not be sent."""
        if self._record and from_start:
            self._record.remove()  # else an interruption of this run would be taken for one of the other
        done = self._record.read() if self._record else 0
        is_whole = 0 <= done < self._file.total and done % self._file.step(self._size) == 0
        start = done if is_whole or done == self._file.total else 0
        if start:
            progress = f"{start:,} of {self._file.total:,} reports"
            log.info("%s were acknowledged before and are not sent again, unless from the start", progress)
        self._pieces = self._file.pieces(self._size, self._sender, start)
        return start

    def next(self) -> UploadPart | None:
        """Return what is sent next."""
        self._piece = next(self._pieces, None)
        return self._piece

    def acknowledged(self) -> None:
        """Record that a piece was acknowledged; if that cannot be recorded, the upload goes on."""
        if self._record and self._piece:
            try:
                self._record.write(self._piece.offset + self._piece.count)
            except OSError as error:
                log.info("how far this came cannot be noted (%s), so another run would send all", error.strerror)
                self._record.remove()
                self._record = None

    def end(self) -> None:
        """Remove the record: everything was sent."""
        if self._record:
            self._record.remove()


def state_folder() -> Path | None:
    """Return this user's folder for program state; None if there is none."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        return (named if named.is_absolute() else Path.home() / ".local" / "state") / "fldp"
    except RuntimeError:  # nobody's home
        return None
