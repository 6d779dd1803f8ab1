"""The command that turns reports into a tally: files and pipes here, lakes on any engine."""

import os
from typing import Annotated, Any

import typer

from fldp import batches, parquet
from fldp.cli import app
from fldp.cli.commands import Output, save_tally, size_of
from fldp.cli.options import Subject, note, progress, takes_oracle
from fldp.cli.results_commands import Since, Until
from fldp.errors import MergeError, ParameterError
from fldp.reports import Tally

_ENDINGS = (".parquet", ".pq")


@app.command()
@takes_oracle
def tally(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Reports: files, - for standard input, or of Parquet also folders, patterns and addresses."
        ),
    ],
    output: Output = "-",
    engine: Annotated[str, typer.Option(help="What reads Parquet: local (all cores), dask or spark.")] = "local",
    address: Annotated[str | None, typer.Option(help="dask, spark: the cluster's scheduler or master.")] = None,
    survey_version: Annotated[str | None, typer.Option(help="This survey version only, of a lake of several.")] = None,
    since: Since = None,
    until: Until = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out bad rows and files of Parquet, count and list them.")
    ] = False,
    subject: Subject | None = None,
) -> None:
    """Add reports up. The same batch is never counted twice, nor the same file of a lake."""
    lakes, streams = [path for path in files if _is_lake(path)], [path for path in files if not _is_lake(path)]
    if streams and (since or until or skip_bad):
        raise ParameterError(f"{streams[0]}: is not of a lake; --since, --until and --skip-bad are about lakes")
    oracle, version = (subject.oracle, _version(subject, survey_version)) if subject else (None, survey_version)
    found: list[tuple[Tally, str | None]] = []
    if streams:
        with progress("tallying", size_of(streams)) as advance:
            found.append(batches.combine(streams, ("reports",), oracle, version, advance))
    if lakes:
        chosen = {"survey": version, "since": since, "until": until, "skip_bad": skip_bad}
        found.append(_tally_lakes(lakes, oracle, chosen, engine, {"address": address} if address else {}))
    if len({survey for _, survey in found}) > 1:
        raise MergeError(f"{lakes[0]}: does not belong with {streams[0]}: it is of another survey")
    save_tally(output, sum((part for part, _ in found[1:]), found[0][0]), found[0][1])


def _version(subject: Subject, survey_version: str | None) -> str | None:
    if subject.version is not None and survey_version not in (None, subject.version):
        raise ParameterError(f"fldp: --survey is version {subject.version}, not --survey-version {survey_version}")
    return subject.version or survey_version


def _is_lake(path: str) -> bool:
    """Tell whether a path is read as Parquet. What neither is there nor ends so may be a pattern."""
    if path == "-":
        return False
    if path.endswith(_ENDINGS) or os.path.isdir(path) or not os.path.exists(path):
        return True
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(parquet.MAGIC)) == parquet.MAGIC


def _tally_lakes(
    paths: list[str], oracle: Any, chosen: dict[str, Any], engine: str, options: dict[str, Any]
) -> tuple[Tally, str | None]:
    from fldp.distributed.run import check_engine, plan

    check_engine(engine)
    with progress("listing", None):
        made = plan(paths, oracle, **chosen)
    with progress("tallying", made.bytes) as advance:
        result = made.run(engine, advance, **options)
    note("\n  ".join(result.left_out()))
    return result.tally, result.survey
