"""The tally of a lake, of a frame, or of files of any kind together."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import cast

from fldp.distributed.engines.registry import engine_of, get_engine, tally_frame
from fldp.distributed.lake.layout import Piece, Source, Window, find
from fldp.distributed.lake.partial_tally import Result
from fldp.distributed.lake.row_privatizer import Frame
from fldp.distributed.lake.scan import Job, job_for
from fldp.errors import MergeError, ParameterError
from fldp.oracles.base.oracle import Oracle
from fldp.support.progress import Progress, ProgressBar, ignore
from fldp.wire import files

Day = str | date | None


def tally(
    source: Source | Iterable[Source] | Frame,
    oracle: Oracle | None = None,
    *,
    engine: str = "local",
    survey: str | None = None,
    since: Day = None,
    until: Day = None,
    skip_bad: bool = False,
    progress: Progress | None = None,
    **options: object,
) -> Result:
    """Add up the reports of folders, patterns, addresses and files, each file once, or of a frame's columns.

    The oracle and the survey's version are found in the first file where they are not given. A row, a row group or a
    file that is bad fails the whole; with ``skip_bad`` it is left out, counted and listed. ``since`` and ``until`` are
    the first and the last day, by the names of folders. ``options`` go to the engine, such as ``workers``
    (local) or ``address`` (dask, spark). For a frame of pandas, pyarrow, Dask or Spark the oracle must be given.

    >>> import tempfile, fldp
    >>> from pathlib import Path
    >>> from fldp.parquet import write
    >>> oracle = fldp.FHR(epsilon=1.0, domain_size=1023)
    >>> with tempfile.TemporaryDirectory() as folder, Path(folder, "a.parquet").open("wb") as file:
    ...     count = write(file, oracle, [oracle.privatize([1, 2, 3])])
    ...     file.flush()
    ...     tally(folder).tally
    <tally of 3 reports of FHR(epsilon=1.0, domain_size=1023)>
    """
    get_engine(engine)
    if engine_of(source) is not None:
        if since is not None or until is not None:
            raise ParameterError("tally: a frame has no days, filter its rows instead")
        if oracle is None:
            raise ParameterError("tally: a frame does not name the oracle of its reports, so the oracle must be given")
        partial = tally_frame(source, Job(oracle, survey, skip_bad), engine, **options)
        return partial.result(skip_bad=skip_bad)
    pieces = find(cast("Source | Iterable[Source]", source), Window.of(survey, since, until))
    return _run(pieces, job_for(pieces, oracle, survey, skip_bad), engine, progress or ignore, **options)


def _run(pieces: Sequence[Piece], job: Job, engine: str, progress: Progress, **options: object) -> Result:
    return get_engine(engine).tally_pieces(pieces, job, progress, **options).result(skip_bad=job.skip_bad)


def tally_files(
    paths: Sequence[str],
    oracle: Oracle | None = None,
    *,
    engine: str = "local",
    survey: str | None = None,
    since: Day = None,
    until: Day = None,
    skip_bad: bool = False,
    bar: ProgressBar,
    **options: object,
) -> Result:
    """Add up reports wherever they are: lakes as ``tally`` does, and batches in files and pipes; ``-`` is one.

    Tallies are added up as well, where all paths are tallies.

    A path is a lake if it is a folder or Parquet, or is not there: then it may be a pattern or an address.
    """
    get_engine(engine)
    lakes, batches = [path for path in paths if _is_lake(path)], [path for path in paths if not _is_lake(path)]
    if batches and (since or until or skip_bad):
        raise ParameterError(f"{batches[0]}: is not of a lake; --since, --until and --skip-bad are about lakes")
    if not lakes:
        return _tally_batches(batches, oracle, survey, bar)
    with bar("listing", None):
        pieces = find(lakes, Window.of(survey, since, until))
        job = job_for(pieces, oracle, survey, skip_bad)
    with bar("tallying", sum(piece.bytes for piece in pieces)) as advance:
        result = _run(pieces, job, engine, advance, **options)
    if not batches:
        return result
    rest = _tally_batches(batches, oracle, survey, bar, files.REPORTS)
    if rest.survey != result.survey:
        raise MergeError(f"{lakes[0]}: does not belong with {batches[0]}: it is of another survey")
    return replace(result, tally=rest.tally + result.tally)


def _tally_batches(
    paths: Sequence[str], oracle: Oracle | None, survey: str | None, bar: ProgressBar, kind: str | None = None
) -> Result:
    with bar("tallying", files.size_of(paths)) as advance:
        total = files.combine(paths, kind, oracle, survey, advance)
    return Result(total.tally, total.survey)


def _is_lake(path: str) -> bool:
    return path != "-" and (os.path.isdir(path) or not os.path.exists(path) or files.is_parquet(path))
