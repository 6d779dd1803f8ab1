"""A job: which reports belong to a tally, as every worker has to know it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fldp import parquet
from fldp.base import Oracle
from fldp.distributed.lake import Piece, folders, survey_of
from fldp.distributed.storage import opened
from fldp.errors import ParameterError, WireError

About = tuple[Oracle, str | None]


@dataclass(frozen=True)
class Job:
    """What a worker has to know: the reports that belong here, and what becomes of others."""

    oracle: Oracle
    survey: str | None = None
    skip_bad: bool = False
    foreign: bool = False  # whether files that another program wrote may be here: only where the oracle was named


def check_belongs(path: str, about: About | None, job: Job) -> None:
    """Refuse a file that its metadata, or its folder, give to something else."""
    if about is None:
        if not job.foreign:
            raise WireError("parquet: the metadata name no oracle, so the oracle must be given")
        about = job.oracle, folders(path)[0] or job.survey
    oracle, survey = about
    if oracle != job.oracle:
        raise WireError(f"parquet: of {oracle!r}, where {job.oracle!r} is expected")
    for version in (survey, folders(path)[0] or survey):
        if version != job.survey:
            raise WireError(
                f"parquet: for survey version {version or 'none'}, where {job.survey or 'none'} is expected"
            )


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
