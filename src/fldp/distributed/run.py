"""A tally of a lake, by an engine that is chosen by its name."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from typing import Any

from fldp.constraints import one_of
from fldp.distributed.frames import engine_of, tally_frame
from fldp.distributed.job import job_for
from fldp.distributed.lake import Source, Window, find
from fldp.distributed.part import Bad
from fldp.oracle import FrequencyOracle
from fldp.reports import Tally

ENGINES = {"local": "local", "dask": "dask_engine", "spark": "spark_engine"}
"""Modules with ``run(pieces, job, progress, **options) -> Part``."""


@dataclass(frozen=True)
class Result:
    """A tally of a lake, the survey version it is of, and what was left out of it."""

    tally: Tally
    survey: str | None
    bad: tuple[Bad, ...] = ()
    bad_rows: int = 0
    bad_files: int = 0


def tally(
    source: Source | Iterable[Source] | Any,
    oracle: FrequencyOracle | None = None,
    *,
    engine: str = "local",
    survey: str | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
    skip_bad: bool = False,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Result:
    """Add up the reports of folders, patterns, addresses and files, each file once.

    The oracle and the survey's version are found in the first file where they are not given. A row, a row group or a
    file that is bad fails the whole; with ``skip_bad`` it is left out, counted and listed. ``options`` are those of
    the engine: ``workers`` (local), ``address`` and ``client`` (dask), ``address`` and ``session`` (spark).

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
    module = import_module(f"fldp.distributed.{ENGINES[one_of(*ENGINES)('tally', 'engine', engine)]}")
    if engine_of(source) is not None:
        part = tally_frame(source, oracle, engine, survey, skip_bad, **options)
        return Result(part.tally(), part.survey, part.bad, part.bad_rows, part.bad_files)
    pieces = find(source, Window.of(survey, since, until))
    job = job_for(pieces, oracle, survey, skip_bad)
    part = module.run(pieces, job, progress or _silent, **options).settled(skip_bad)
    return Result(part.tally(), part.survey, part.bad, part.bad_rows, part.bad_files)


def _silent(advance: int) -> None:
    del advance
