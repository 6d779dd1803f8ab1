"""A job: which reports belong to a tally, as every worker has to know it."""

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.distributed.lake.arrow_reports import GOOD, check_columns, reason, reports_of
from fldp.distributed.lake.layout import Piece, survey_of
from fldp.distributed.lake.partial_tally import MAX_LISTED, Bad, Part
from fldp.distributed.lake.storage import opened
from fldp.errors import FldpError, ParameterError, WireError
from fldp.oracles.base.oracle import Oracle
from fldp.wire import parquet

About = tuple[Oracle, str | None]


@dataclass(frozen=True)
class Job:
    """What a worker has to know: the reports that belong here, and what becomes of others."""

    oracle: Oracle
    survey: str | None = None
    skip_bad: bool = False
    foreign: bool = False  # whether files that another program wrote may be here: only where the oracle was named


def check_belongs(about: About | None, job: Job) -> None:
    """Refuse a file that its metadata give to something else. The survey of a job is the one that folders name."""
    if about is None:
        if not job.foreign:
            raise WireError("parquet: the metadata name no oracle, so the oracle must be given")
        return
    oracle, survey = about
    if oracle != job.oracle:
        raise WireError(f"parquet: of {oracle!r}, where {job.oracle!r} is expected")
    if survey != job.survey:
        wanted = job.survey or "none"
        raise WireError(f"parquet: for survey version {survey or 'none'}, where {wanted} is expected")


def job_for(pieces: Sequence[Piece], oracle: Oracle | None, survey: str | None, skip_bad: bool) -> Job:
    """Return what workers have to know; what was not given is found in the names of folders and in the first file."""
    version = survey_of(pieces, survey)
    if skip_bad and oracle is None and version is None:
        raise ParameterError("lake: skip_bad needs to know which reports are good, name the oracle or the survey")
    if oracle is not None and version is not None:
        return Job(oracle, version, skip_bad, foreign=True)
    named = next(_named(pieces, version, skip_bad), None)
    if named is None and oracle is None:
        raise ParameterError(f"{pieces[0].path}: the metadata name no oracle, so the oracle must be given")
    found, its_version = named or (None, None)
    return Job(oracle or found, version or its_version, skip_bad, foreign=oracle is not None)  # type: ignore[arg-type]


def _named(pieces: Iterable[Piece], version: str | None, skip_bad: bool) -> Iterator[tuple[Oracle, str | None]]:
    """Yield what files name, as far as it fits the survey; of damaged ones nothing."""
    for piece in (piece for piece in pieces if piece.part == 0):
        try:
            with opened(piece.path) as file:
                about = parquet.about(parquet.opened(file))
        except WireError as error:
            if not skip_bad:
                raise WireError(f"{piece.path}: {error}") from None
            continue
        if about is not None and version in (None, about[1]):
            yield about


_BUFFER = 1 << 20
_BATCH_BYTES = 1 << 20
_MAX_ROWS = 1 << 16


def tally_piece(piece: Piece, job: Job) -> Part:
    """Tally one piece."""
    return tally_pieces([piece], job)


def tally_pieces(pieces: Iterable[Piece], job: Job) -> Part:
    """Tally pieces into one state. Unless bad ones are skipped, it ends at the first."""
    total = Sum(job)
    for piece in pieces:
        if not total.add(piece):
            break
    return total.part


class Sum:
    """Adds up reports as they are read; memory is one state and one batch, with ``skip_bad`` one row group."""

    def __init__(self, job: Job) -> None:
        self._job, self._n = job, 0
        self._state: NDArray[np.int64] | None = None
        self._bad = Part(job.oracle, job.survey)

    @property
    def part(self) -> Part:
        """What was added up so far."""
        return replace(self._bad, state=self._state, n=self._n)

    def add(self, piece: Piece) -> bool:
        """Add a piece; False if the whole ends here."""
        with opened(piece.path) as file:
            check_size(file, piece)
            try:
                table = table_of(file, self._job)
            except WireError as error:  # of all pieces of a file, one says so
                return piece.part > 0 or self._left_out(Bad(piece.path, -1, 0, str(error)))
            groups = piece.groups(table.num_row_groups)
            # where bad ones are skipped, a row group counts whole or not at all
            runs = [range(group, group + 1) for group in groups] if self._job.skip_bad else [groups]
            return all(self._run(table, piece.path, run) for run in runs)

    def _run(self, table: Any, path: str, groups: range) -> bool:
        """Add row groups that follow each other, or nothing of them if bad ones are skipped."""
        row = _first_row(table, groups.start)
        try:
            batches = _batches(table, groups, self._job.oracle)
            for batch in list(batches) if self._job.skip_bad else batches:
                if not self.batch(batch, path, row):
                    return False
                row += batch.num_rows
        except WireError as error:
            found = _damaged(table, path, groups, self._job.oracle)
            if found is None:  # then it is not the file that is damaged
                raise FldpError(f"{path}: cannot be read, and then it can: {error}") from None
            return self._left_out(found)
        return True

    def batch(self, batch: Any, path: str, first: int = 0) -> bool:
        """Add a batch of Arrow, the rows of ``path`` from ``first``; False if the whole ends here."""
        oracle = self._job.oracle
        data, codes = reports_of(oracle, batch)
        if codes is not None:
            wrong = np.flatnonzero(codes)
            named = [Bad(path, first + k, 1, reason(oracle, int(codes[k]))) for k in wrong[:MAX_LISTED].tolist()]
            if not self._left_out(*named, rows=len(wrong)):
                return False
            data = data[codes == GOOD]
        if len(data):
            self._state = np.zeros(oracle.tally_shape, np.int64) if self._state is None else self._state
            oracle.count(data, self._state)
            self._n += len(data)
        return True

    def _left_out(self, *named: Bad, rows: int | None = None) -> bool:
        counted = sum(bad.rows for bad in named) if rows is None else rows
        files = sum(bad.row < 0 for bad in named)
        self._bad += replace(self._bad, bad=named, bad_rows=counted, bad_files=files)
        return self._job.skip_bad


def table_of(file: Any, job: Job) -> Any:
    """Open a file of a lake whose reports belong to a job."""
    table = parquet.opened(file, buffer_size=_BUFFER)
    check_belongs(parquet.about(table), job)
    check_columns(table.schema_arrow, job.oracle)
    return table


def check_size(file: Any, piece: Piece) -> None:
    """Refuse a file that was replaced after it was listed: its pieces would be of two files."""
    if file.seek(0, io.SEEK_END) != piece.size:
        raise FldpError(f"{piece.path}: has changed since it was listed")
    file.seek(0)


def _first_row(table: Any, group: int) -> int:
    return sum(table.metadata.row_group(before).num_rows for before in range(group))


def _batches(table: Any, groups: range, oracle: Oracle) -> Iterator[Any]:
    """Yield the columns of an oracle, some rows at a time."""
    width = np.dtype(oracle.report_dtype).itemsize * math.prod(oracle.report_shape)
    rows = max(1, min(_MAX_ROWS, _BATCH_BYTES // width))
    names = list(parquet.names(oracle))
    for batch in parquet.batches(table, groups, batch_size=rows, columns=names, use_threads=False):
        yield batch.select(names)


def _damaged(table: Any, path: str, groups: range, oracle: Oracle) -> Bad | None:
    """Return the first row group that cannot be read."""
    for group in groups:
        try:
            for _ in _batches(table, range(group, group + 1), oracle):
                pass
        except WireError as error:
            rows = table.metadata.row_group(group).num_rows
            return Bad(path, _first_row(table, group), rows, str(error))
    return None
