"""A tally of a lake, by an engine that is chosen by its name."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from typing import Any

from fldp.data.reports import Tally
from fldp.distributed.engines.frames import engine_of, tally_frame
from fldp.distributed.lake.layout import Piece, Source, Window, find
from fldp.distributed.lake.partial_tally import Bad, Part
from fldp.distributed.lake.scan import Job, job_for
from fldp.errors import ParameterError
from fldp.oracles.base.oracle import Oracle
from fldp.support.validation import one_of

ENGINES = {"local": "local", "dask": "dask", "spark": "spark"}
"""Modules with ``run(pieces, job, progress, **options) -> Part``."""

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Result:
    """A tally of a lake, the survey version it is of, and what was left out of it.

    ``bad`` lists the first that were left out, ``bad_rows`` and ``bad_files`` count all of them.
    """

    tally: Tally
    survey: str | None
    bad: tuple[Bad, ...] = ()
    bad_rows: int = 0
    bad_files: int = 0

    @classmethod
    def of(cls, part: Part) -> "Result":
        """Make a result of the sum of all parts."""
        return cls(part.tally(), part.survey, part.bad, part.bad_rows, part.bad_files)

    def left_out(self) -> list[str]:
        """Say what was left out, a line for each as far as they are listed; nothing if nothing was."""
        if not self.bad:
            return []
        listed = sum(bad.rows for bad in self.bad), sum(bad.row < 0 for bad in self.bad)
        more = ["and more than are listed here"] if listed != (self.bad_rows, self.bad_files) else []
        head = f"left out: {self.bad_rows:,} rows, and {self.bad_files:,} files whole"
        return [head, *map(str, self.bad), *more]


@dataclass(frozen=True)
class ScanPlan:
    """What is to be read, and which reports belong there."""

    pieces: list[Piece]
    job: Job

    @property
    def bytes(self) -> int:
        """How much there is to read."""
        return sum(piece.bytes for piece in self.pieces)

    def run(self, engine: str, progress: Progress, **options: Any) -> Result:
        """Read it."""
        module = import_module(f"fldp.distributed.engines.{ENGINES[check_engine(engine)]}")
        part = module.run(self.pieces, self.job, progress, **options).settled(self.job.skip_bad)
        return Result.of(part)


def check_engine(name: str) -> str:
    """Return the name of an engine, before anything is read for it."""
    return str(one_of(*ENGINES)("tally", "engine", name))


def plan(
    source: Source | Iterable[Source],
    oracle: Oracle | None = None,
    *,
    survey: str | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
    skip_bad: bool = False,
) -> ScanPlan:
    """List the files of a lake, and find out what they answer; a first step of ``tally``."""
    pieces = find(source, Window.of(survey, since, until))
    return ScanPlan(pieces, job_for(pieces, oracle, survey, skip_bad))


def tally(
    source: Source | Iterable[Source] | Any,
    oracle: Oracle | None = None,
    *,
    engine: str = "local",
    survey: str | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
    skip_bad: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Add up the reports of folders, patterns, addresses and files, each file once, or of a frame's columns.

    The oracle and the survey's version are found in the first file where they are not given. A row, a row group or a
    file that is bad fails the whole; with ``skip_bad`` it is left out, counted and listed. ``since`` and ``until`` are
    the first and the last day, by the names of folders. ``options`` are those of the engine, such as ``workers``
    (local) or ``address`` (dask, spark). Of a frame of pandas, pyarrow, Dask or Spark the oracle must be given.

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
    check_engine(engine)
    if engine_of(source) is not None:
        if since is not None or until is not None:
            raise ParameterError("tally: a frame has no days, filter its rows instead")
        return Result.of(tally_frame(source, oracle, engine, survey, skip_bad, **options))
    made = plan(source, oracle, survey=survey, since=since, until=until, skip_bad=skip_bad)
    return made.run(engine, progress or _silent, **options)


def _silent(advance: int) -> None:
    del advance
