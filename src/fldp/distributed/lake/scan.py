"""The scan that workers run: from pieces of a lake to a partial tally."""

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fldp.distributed.lake.layout import Piece, survey_of
from fldp.distributed.lake.partial_tally import Bad, PartialTally
from fldp.distributed.lake.storage import File, open_file
from fldp.errors import FldpError, ParameterError, WireError
from fldp.oracles.base.oracle import Oracle
from fldp.wire import parquet
from fldp.wire.arrow_reports import check_columns

if TYPE_CHECKING:
    import pyarrow.parquet

_BUFFER = 1 << 20


@dataclass(frozen=True)
class Job:
    """What a worker has to know: which reports to count, and what to do with others."""

    oracle: Oracle
    survey: str | None = None
    skip_bad: bool = False
    foreign: bool = False  # whether to read files that other programs wrote: only where the oracle was named

    def partial_tally(self) -> PartialTally:
        """Return an empty partial tally."""
        return PartialTally(self.oracle, self.survey)


def job_for(pieces: Sequence[Piece], oracle: Oracle | None, survey: str | None, skip_bad: bool) -> Job:
    """Return the job for some pieces; what is not given, the folders name, or the first file."""
    version = survey_of(pieces, survey)
    if skip_bad and oracle is None and version is None:
        raise ParameterError("lake: skip_bad needs to know which reports are valid: name the oracle or the survey")
    if oracle is not None and version is not None:
        return Job(oracle, version, skip_bad, foreign=True)
    named = next(_named(pieces, version, skip_bad), None)
    if named is None:
        if oracle is None:
            raise ParameterError(f"{pieces[0].path}: the metadata name no oracle, so the oracle must be given")
        return Job(oracle, version, skip_bad, foreign=True)
    return Job(oracle or named[0], version or named[1], skip_bad, foreign=oracle is not None)


def _named(pieces: Iterable[Piece], version: str | None, skip_bad: bool) -> Iterator[parquet.About]:
    """Yield what files name, if it is of the survey; with ``skip_bad``, damaged files are passed over."""
    for piece in (piece for piece in pieces if piece.part == 0):
        try:
            with open_file(piece.path) as file:
                named = parquet.about(parquet.open_table(file))
        except WireError as error:
            if not skip_bad:
                raise WireError(f"{piece.path}: {error}") from None
            continue
        if named is not None and version in (None, named[1]):
            yield named


def scan(pieces: Iterable[Piece], job: Job) -> PartialTally:
    """Tally pieces into one state; unless bad ones are skipped, up to the first of them."""
    total = job.partial_tally()
    for piece in pieces:
        if not scan_piece(piece, job, total):
            break
    return total


def scan_piece(piece: Piece, job: Job, total: PartialTally) -> bool:
    """Add a piece to a partial tally; return False if the scan ends here.

    Memory is one state and one batch of rows, with ``skip_bad`` one row group.
    """
    with open_file(piece.path) as file:
        check_size(file, piece)
        try:
            table = open_table(file, job)
        except WireError as error:
            if piece.part > 0:  # of all pieces of a file, only the first reports it
                return True
            total.leave_out(Bad(piece.path, -1, 0, str(error)))
            return job.skip_bad
        groups = piece.groups(table.num_row_groups)
        # With skip_bad a row group counts whole or not at all, so that the result does not depend on the batches.
        steps = [range(group, group + 1) for group in groups] if job.skip_bad else [groups]
        return all(_scan_groups(table, piece.path, step, job, total) for step in steps)


def _scan_groups(table: Any, path: str, groups: range, job: Job, total: PartialTally) -> bool:
    """Add adjacent row groups; with ``skip_bad``, all of their rows or none."""
    row = _first_row(table, groups.start)
    try:
        batches = parquet.row_batches(table, groups, job.oracle)
        for batch in list(batches) if job.skip_bad else batches:
            if not total.count_rows(batch, path, row) and not job.skip_bad:
                return False
            row += batch.num_rows
    except WireError as error:
        damage = _damage(table, path, groups, job.oracle)
        if damage is None:
            message = f"{path}: reading failed once and succeeded on retry; is the storage flaky? {error}"
            raise FldpError(message) from None
        total.leave_out(damage)
        return job.skip_bad
    return True


def open_table(file: File, job: Job) -> "pyarrow.parquet.ParquetFile":
    """Open a file of a lake; one that does not belong to the job is refused."""
    table = parquet.open_table(file, buffer_size=_BUFFER)
    named = parquet.about(table)
    parquet.check_belongs(named, job.oracle if named or job.foreign else None, job.survey)
    check_columns(table.schema_arrow, job.oracle)
    return table


def check_size(file: File, piece: Piece) -> None:
    """Refuse a file that was replaced after it was listed: its pieces would be of two files."""
    if file.seek(0, io.SEEK_END) != piece.size:
        raise FldpError(f"{piece.path}: has changed since it was listed")
    file.seek(0)


def _first_row(table: Any, group: int) -> int:
    return sum(table.metadata.row_group(before).num_rows for before in range(group))


def _damage(table: Any, path: str, groups: range, oracle: Oracle) -> Bad | None:
    """Return the first row group that cannot be read; None if all can."""
    for group in groups:
        try:
            for _ in parquet.row_batches(table, range(group, group + 1), oracle):
                pass
        except WireError as error:
            rows = table.metadata.row_group(group).num_rows
            return Bad(path, _first_row(table, group), rows, str(error))
    return None
