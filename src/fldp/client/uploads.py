"""Uploads: a file of reports as batches that are sent one by one, and can be sent again.

A file is read and checked as a whole before anything of it is sent. Its pieces follow from the file and the size of a
piece alone, and the key of each from the file's hash and the place of its first report. So a second run sends the same
pieces under the same keys, and what was counted is not counted again.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from fldp import parquet, wire
from fldp.base import Oracle
from fldp.client.keys import derived_key
from fldp.constraints import integer
from fldp.errors import FldpError, WireError
from fldp.files import opened
from fldp.reports import Reports
from fldp.survey import Survey

PIECE_BYTES, PIECE_REPORTS = 1 << 20, 1 << 20
Progress = Callable[[int], object]


@dataclass(frozen=True)
class Piece:
    """A batch of its own: some reports of a file."""

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
    """A file of reports that was read and found good."""

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
        return self.total * self.oracle.report_bits < 128

    def step(self, size: int = PIECE_BYTES) -> int:
        """Return how many reports a piece of about so many bytes holds, at most ``PIECE_REPORTS``."""
        bits: int = 8 * integer(1 << 10, 1 << 30)("Client", "piece_bytes", size)
        return min(PIECE_REPORTS, max(8, bits // self.oracle.report_bits // 8 * 8))

    def pieces(self, size: int = PIECE_BYTES, sender: str = "", start: int = 0) -> Iterator[Piece]:
        """Yield the file as batches of about so many bytes, but for those before the report number ``start``."""
        offset = 0
        for reports in _regular(_reports(self.file, self.survey)[2], self.step(size)):
            if _stamp(self.file) != self.stamp:  # its hash, and with it the keys, would be wrong
                raise FldpError(f"{self.path}: was changed while it was sent")
            if offset >= start:
                key = derived_key("file", self.digest, sender, offset)
                yield Piece(offset, len(reports), wire.encode(reports, self.version), key)
            offset += len(reports)


@contextmanager
def upload(path: str, survey: Survey | str | None = None, progress: Progress = lambda _: None) -> Iterator[Upload]:
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
    with opened(path) as file:
        if file.seekable() and file is not sys.stdin.buffer:
            yield file
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
            yield copy


def _reports(file: BinaryIO, survey: Survey | None) -> tuple[Oracle, str | None, Iterator[Reports]]:
    file.seek(0)
    start = file.read(4)
    file.seek(0)
    oracle = survey.oracle if survey else None
    if start == parquet.MAGIC:
        return parquet.read(file, oracle)
    reader = wire.Reader(file, oracle)
    return reader.oracle, reader.survey, iter(reader)


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
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns
