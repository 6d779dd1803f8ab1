"""Batches in files: from values to reports, from reports to a tally, from tallies to one."""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from fldp import wire
from fldp.data.reports import Reports, Tally
from fldp.errors import FldpError, MergeError, WireError
from fldp.oracles.base.oracle import Oracle
from fldp.randomness.stream import Stream
from fldp.support.atomic_files import open_input
from fldp.wire import parquet
from fldp.wire.cells import Cells, Encoder

Progress = Callable[[int], None]


def _silent(advance: int) -> None:
    del advance


@dataclass(frozen=True)
class Content:
    """What a file holds."""

    kind: str
    tally: Tally
    survey: str | None


def privatize(oracle: Oracle, chunks: Iterable[Cells], encoder: Encoder, rng: Stream) -> Iterator[Reports]:
    """Turn chunks of cells into reports."""
    for cells in chunks:
        values = encoder.encode(cells)
        if len(values):
            yield oracle.privatize(values, rng=rng)


class _Counted(io.RawIOBase):
    """A file that tells how far it was read, and can look at its beginning first."""

    def __init__(self, file: BinaryIO, progress: Progress) -> None:
        self._file, self._progress, self._start = file, progress, file.read(6)
        self.start = self._start

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        early, self._start = (self._start, b"") if size < 0 else (self._start[:size], self._start[size:])
        data = early + (self._file.read(size - len(early)) if size != len(early) else b"")
        self._progress(len(data))
        return data


def read(
    path: str,
    oracle: Oracle | None = None,
    survey: str | None = None,
    progress: Progress = _silent,
    seen: dict[str, str] | None = None,
) -> Content:
    """Read a file of reports or a tally into a tally. A batch that was seen before is refused."""
    with open_input(path) as file:
        source = _Counted(file, progress)
        try:
            kind = wire.kind_of(source.start)
            if kind == wire.TALLY:
                tally, version = wire.read_tally(source, oracle, survey)  # type: ignore[arg-type]
                _once(path, hashlib.sha256(wire.encode_tally(tally, version)).hexdigest(), seen if tally.n else None)
                return Content("tally", tally, version)
            if source.start[:4] == parquet.MAGIC:
                return _read_parquet(path, oracle, survey, progress)
            reader = wire.Reader(source, oracle, survey)  # type: ignore[arg-type]
            tally = _sum(reader.oracle, reader)
        except WireError as error:
            raise WireError(f"{path}: {error}") from None
        _once(path, reader.digest, seen)
        return Content("reports", tally, reader.survey)


def load(path: str, oracle: Oracle | None, survey: str | None, progress: Progress, *, raw: bool) -> Tally | Reports:
    """Read a file into a tally, or its reports as they are."""
    if not raw:
        return read(path, oracle, survey, progress).tally
    found = source(path, oracle, survey, progress)
    if isinstance(found, Tally):
        raise FldpError(f"{path}: method em needs a file of reports, as fldp privatize writes it")
    return found


def source(path: str, oracle: Oracle | None, survey: str | None, progress: Progress) -> Tally | Reports:
    """Read reports as they are, or a tally: whatever a file holds."""
    with open_input(path) as file:
        counted = _Counted(file, progress)
        try:
            if wire.kind_of(counted.start) == wire.TALLY:
                return wire.read_tally(counted, oracle, survey)[0]  # type: ignore[arg-type]
            if counted.start[:4] == parquet.MAGIC:
                return _parquet_reports(path, oracle, survey)
            return Reports.concatenate(wire.Reader(counted, oracle, survey))  # type: ignore[arg-type]
        except WireError as error:
            raise WireError(f"{path}: {error}") from None


def _parquet_reports(path: str, oracle: Oracle | None, survey: str | None) -> Reports:
    if path == "-":
        raise WireError("parquet: cannot be read from a pipe")
    with open_input(path) as file:
        return Reports.concatenate(parquet.read(file, oracle, survey)[2])


def _once(path: str, digest: str, seen: dict[str, str] | None) -> None:
    if seen is None:
        return
    if digest in seen:
        raise WireError(f"{path}: holds the same as {seen[digest]}; counting it twice would be wrong")
    seen[digest] = path


def _read_parquet(path: str, oracle: Oracle | None, survey: str | None, progress: Progress) -> Content:
    if path == "-":
        raise WireError("parquet: cannot be read from a pipe")
    with open_input(path) as file:
        named, version, reports = parquet.read(file, oracle, survey)
        tally = _sum(named, reports)
        progress(file.seek(0, io.SEEK_END))
        return Content("parquet reports", tally, version)


def _sum(oracle: Oracle, reports: Iterable[Reports]) -> Tally:
    total = Tally.empty(oracle)
    for part in reports:
        total += oracle.tally(part)
    return total


def combine(
    paths: list[str],
    kinds: tuple[str, ...],
    oracle: Oracle | None = None,
    survey: str | None = None,
    progress: Progress = _silent,
) -> tuple[Tally, str | None]:
    """Add up files of the given kinds; all must be of one oracle and one survey."""
    total: Content | None = None
    seen: dict[str, str] = {}
    for path in paths:
        found = read(path, oracle, survey, progress, seen)
        if found.kind not in kinds:
            raise FldpError(f"{path}: holds {found.kind}, where {' or '.join(kinds)} is expected")
        if total is None:
            total = found
        elif found.tally.oracle != total.tally.oracle or found.survey != total.survey:
            raise MergeError(f"{path}: does not belong with {paths[0]}: {_what(found)}, not {_what(total)}")
        else:
            total = Content(found.kind, total.tally + found.tally, found.survey)
    assert total is not None, "the shell asks for at least one file"
    return total.tally, total.survey


def _what(content: Content) -> str:
    return f"{content.tally.oracle!r} for survey {(content.survey or 'none')[:12]}"
