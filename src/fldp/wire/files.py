"""Files of reports and tallies: the one reader of batches, tallies and Parquet, and the one writer of reports."""

import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO, cast

from fldp.data.reports import Reports, Tally
from fldp.errors import FldpError, MergeError, WireError
from fldp.numerics.kernels import expect_more
from fldp.oracles.base.oracle import Oracle
from fldp.randomness.stream import Stream
from fldp.support.atomic_files import open_input, open_output
from fldp.support.progress import Progress, ignore
from fldp.wire import batch, parquet
from fldp.wire.cells import Encoder, read_cells

REPORTS, TALLY, PARQUET = "reports", "tally", "parquet reports"  # the kinds of content, as ``fldp inspect`` shows them
PARQUET_ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class Content:
    """The content of a file: its kind, its reports as a tally, and the survey version that it names."""

    kind: str
    tally: Tally
    survey: str | None


@dataclass(frozen=True)
class OpenReports:
    """An open file of reports or of a tally.

    The batches were complete, and ``digest`` is the SHA-256 of the file, only when the iteration has ended by itself.
    """

    kind: str
    oracle: Oracle
    survey: str | None
    digest: Callable[[], str]
    batches: Iterable[Reports] = ()
    stored: Tally | None = None

    def tally(self) -> Tally:
        """Return the tally that the file holds, or add its reports up."""
        if self.stored is not None:
            return self.stored
        state, n = self.oracle.tally_format.zeros(), 0
        for reports in filter(len, self.batches):
            expect_more(reports.data.size)
            self.oracle.count(reports.data, state)  # in place, since a state may be larger than all the reports
            n += len(reports)
        return Tally(self.oracle, state, n)

    def content(self) -> Tally | Reports:
        """Return the tally that the file holds, or all of its reports."""
        return Reports.concatenate(self.batches) if self.stored is None else self.stored


def open_reports(
    file: BinaryIO, oracle: Oracle | None = None, survey: str | None = None, progress: Progress = ignore
) -> OpenReports:
    """Read from a binary file, or a pipe, whatever it holds: a batch, a tally, or Parquet.

    With ``oracle`` or ``survey``, content of another one is refused. Parquet of another program needs the oracle.
    """
    return _open_content(_PeekedFile(file, progress), oracle, survey)


def _open_content(source: "_PeekedFile", oracle: Oracle | None, survey: str | None) -> OpenReports:
    if source.start[:4] == parquet.MAGIC:
        actual, version, batches = parquet.read(source.seekable_file(), oracle, survey)
        return OpenReports(PARQUET, actual, version, source.digest, batches)
    stream = cast(BinaryIO, source)
    if batch.kind_of(source.start) == batch.TALLY:
        stored = batch.TallyReader(stream, oracle, survey)
        return OpenReports(TALLY, stored.oracle, stored.survey, lambda: stored.digest, stored=stored.tally)
    reader = batch.Reader(stream, oracle, survey)
    return OpenReports(REPORTS, reader.oracle, reader.survey, lambda: reader.digest, reader)


class _PeekedFile(io.RawIOBase):
    """A file that tells how far it was read, and can be looked at before it is read."""

    def __init__(self, file: BinaryIO, progress: Progress) -> None:
        self._copy: BinaryIO | None = None
        self._file, self._progress, self._start = file, progress, file.read(6)
        self.start = self._start

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        early, self._start = (self._start, b"") if size < 0 else (self._start[:size], self._start[size:])
        data = early + (self._file.read(size - len(early)) if size != len(early) else b"")
        self._progress(len(data))
        return data

    def seekable_file(self) -> BinaryIO:
        """Return the whole file; a pipe is copied into a temporary one, since the footer of Parquet comes last."""
        if self._file.seekable():
            self._progress(self._file.seek(0, io.SEEK_END))
        else:
            self._copy = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 (see close)
            shutil.copyfileobj(self, self._copy, 1 << 20)
            self._file = self._copy
        self._file.seek(0)
        return self._file

    def digest(self) -> str:
        """Return the SHA-256 of the whole seekable file."""
        self._file.seek(0)
        return hashlib.file_digest(self._file, "sha256").hexdigest()  # type: ignore[arg-type]

    def close(self) -> None:
        """Close the copy of a pipe; the file itself is closed by whoever opened it."""
        if self._copy is not None:
            self._copy.close()
        super().close()


@contextmanager
def _open(path: str, oracle: Oracle | None, survey: str | None, progress: Progress) -> Iterator[OpenReports]:
    """Open a file by its path, ``-`` for standard input; messages about its content name it."""
    with open_input(path) as file, closing(_PeekedFile(file, progress)) as source:
        try:
            yield _open_content(source, oracle, survey)
        except WireError as error:
            raise WireError(f"{path}: {error}") from None


def read(path: str, oracle: Oracle | None = None, survey: str | None = None, progress: Progress = ignore) -> Content:
    """Read a file of reports, or a tally, into a tally."""
    with _open(path, oracle, survey, progress) as source:
        return Content(source.kind, source.tally(), source.survey)


def read_reports(
    path: str, oracle: Oracle | None = None, survey: str | None = None, progress: Progress = ignore
) -> Tally | Reports:
    """Read the reports of a file one by one as they are; or the tally, if it holds no more than that."""
    with _open(path, oracle, survey, progress) as source:
        return source.content()


def combine(
    paths: Iterable[str],
    wanted: str | None = None,
    oracle: Oracle | None = None,
    survey: str | None = None,
    progress: Progress = ignore,
) -> Content:
    """Add up files of ``REPORTS``, of ``TALLY`` or all of the first one's kind, of one oracle and survey.

    The same file twice is refused, and reports beside tallies, which may have them counted already.
    """
    total: Content | None = None
    first, seen = "", dict[str, str]()
    for path in paths:
        with _open(path, oracle, survey, progress) as source:
            wanted = wanted or (TALLY if source.kind == TALLY else REPORTS)
            _check_kind(path, source.kind, wanted)
            content = Content(wanted, source.tally(), source.survey)
            _check_new(path, source, seen)
        if total is None:
            total, first = content, path
        else:
            total = _add(total, content, first, path)
    if total is None:
        raise FldpError("files: there must be at least one file")
    return total


def _check_kind(path: str, kind: str, wanted: str) -> None:
    if kind == TALLY != wanted:
        raise FldpError(f"{path}: holds a tally, not reports; add tallies up with fldp merge")
    if wanted == TALLY != kind:
        raise FldpError(f"{path}: holds {kind}, not a tally; add reports up with fldp tally")


def _check_new(path: str, source: OpenReports, seen: dict[str, str]) -> None:
    """Refuse a file of the same bytes as one before; empty tallies are alike and harmless."""
    if source.stored is not None and not source.stored.n:
        return
    digest = source.digest()
    if digest in seen:
        raise WireError(f"holds the same as {seen[digest]}; counting it twice would be wrong")
    seen[digest] = path


def _add(total: Content, content: Content, first: str, path: str) -> Content:
    if content.tally.oracle != total.tally.oracle or content.survey != total.survey:
        raise MergeError(f"{path}: does not belong with {first}: {_subject(content)}, not {_subject(total)}")
    return Content(total.kind, total.tally + content.tally, total.survey)


def _subject(content: Content) -> str:
    return f"{content.tally.oracle!r} for survey {(content.survey or 'none')[:12]}"


def size_of(paths: Iterable[str]) -> int | None:
    """Return the size of files in bytes; None if one of them is a pipe, or not there."""
    try:
        return sum(os.stat(path).st_size for path in paths)
    except OSError:
        return None


def is_parquet(path: str) -> bool:
    """Whether a path names a file of Parquet, by its ending or by its content."""
    if path.endswith(PARQUET_ENDINGS):
        return True
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(parquet.MAGIC)) == parquet.MAGIC


def privatize(
    path: str,
    oracle: Oracle,
    encoder: Encoder,
    *,
    column: str | None = None,
    rng: Stream | None,
    progress: Progress = ignore,
) -> Iterator[Reports]:
    """Privatize the values of a file, a chunk at a time; a file without a value is an error."""
    for cells in read_cells(path, column):
        values = encoder.encode(cells)
        progress(len(cells))
        if len(values):
            yield oracle.privatize(values, rng=rng)
    if not encoder.encoded:
        dropped = encoder.summary()
        raise FldpError(f"{path}: holds no value to privatize{': ' if dropped else ''}{dropped}")


def write_reports(path: str, oracle: Oracle, batches: Iterable[Reports], survey: str | None = None) -> int:
    """Write reports as a batch, or as Parquet where the name of the file ends so; return their number."""
    with open_output(path) as file:
        source = iter(batches)
        first = list(islice(source, 1))  # before anything is written, so that an error leaves a pipe empty
        if path.endswith(PARQUET_ENDINGS):
            return parquet.write(file, oracle, chain(first, source), survey)
        with batch.Writer(file, oracle, survey) as writer:
            for reports in chain(first, source):
                writer.write(reports)
        return writer.total


def write_tally(path: str, tally: Tally, survey: str | None = None) -> None:
    """Write a tally."""
    with open_output(path) as file:
        file.write(batch.encode_tally(tally, survey))
