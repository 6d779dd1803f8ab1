"""The commands that turn values into reports, reports into tallies, tallies into estimates."""

import os
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from fldp import wire
from fldp.cli import app
from fldp.cli.options import Candidates, Subject, needed, note, progress, takes_oracle
from fldp.cli.remote import Since, Until
from fldp.data.reports import Tally
from fldp.errors import FldpError, MergeError, ParameterError
from fldp.randomness.stream import Stream
from fldp.support.atomic_files import open_output
from fldp.support.validation import one_of
from fldp.wire import files as report_files
from fldp.wire import parquet
from fldp.wire.cells import Encoder, read_cells

Output = Annotated[str, typer.Option("-o", "--output", help="Where to write; - is standard output.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
@takes_oracle
def privatize(
    values: Annotated[str, typer.Argument(help="CSV, Parquet, or one value per line; - is standard input.")] = "-",
    column: Annotated[str | None, typer.Option(help="The column of a CSV or Parquet file.")] = None,
    unknown: Annotated[
        str, typer.Option(help="What to do with unknown labels and missing values: error, drop, or a label to count.")
    ] = "error",
    output: Output = "-",
    seed: Annotated[
        int | None, typer.Option(help="Reproducible noise, for experiments ONLY: the seed undoes the privacy.")
    ] = None,
    subject: Subject | None = None,
) -> None:
    """Turn values into reports, a file of .fldp, or of Parquet where the output's name says so."""
    about = needed(subject)
    encoder = Encoder(about.as_survey.value, unknown, about.as_survey.value_type)
    if seed is not None:
        note("fldp: the noise comes from a seed, so these reports protect nobody: experiments only")
    with progress("privatizing", None) as advance, open_output(output) as file:
        made = report_files.privatize(
            about.oracle, _watched(read_cells(values, column), advance), encoder, Stream.of(seed)
        )
        first = next(made, None)
        if first is None:
            raise FldpError(f"{values}: holds no value to privatize")
        if output.endswith((".parquet", ".pq")):
            count = parquet.write(file, about.oracle, chain([first], made), about.version)
        else:
            with wire.Writer(file, about.oracle, about.version) as writer:
                for reports in chain([first], made):
                    writer.write(reports)
            count = writer.total
    note(encoder.summary())
    note(f"{count:,} reports of {about.oracle!r}, eta {about.oracle.eta}")


def _watched(chunks: Any, advance: Any) -> Any:
    for chunk in chunks:
        advance(len(chunk))
        yield chunk


@app.command()
@takes_oracle
def merge(
    files: Annotated[list[str], typer.Argument(help="Tallies.")],
    output: Output = "-",
    subject: Subject | None = None,
) -> None:
    """Add tallies up, exactly."""
    oracle, version = (subject.oracle, subject.version) if subject else (None, None)
    with progress("merging", size_of(files)) as advance:
        found, survey = report_files.combine(files, ("tally",), oracle, version, advance)
    save_tally(output, found, survey)


def save_tally(output: str, found: Tally, survey: str | None) -> None:
    """Write a tally, and say what it is of."""
    with open_output(output) as file:
        file.write(wire.encode_tally(found, survey))
    note(f"{found.n:,} reports of {found.oracle!r}, eta {found.oracle.eta}")


def size_of(files: list[str]) -> int | None:
    """Return how many bytes files have; None if one of them is a pipe."""
    try:
        return sum(os.stat(path).st_size for path in files)
    except OSError:
        return None


@app.command()
@takes_oracle
def estimate(
    file: Annotated[str, typer.Argument(help="A tally, or reports; - is standard input.")] = "-",
    decoder: Annotated[str | None, typer.Option(help="fhr: full (default) or paper.")] = None,
    method: Annotated[
        str,
        typer.Option(help="fhr, fwr: linear, or biased adaptive or em; em needs the reports; rappor: select."),
    ] = "linear",
    level: Annotated[float, typer.Option(help="The level of the intervals.")] = 0.95,
    post: Annotated[str | None, typer.Option(help="Post-processing, biased: clip, norm-sub or simplex.")] = None,
    top: Annotated[int | None, typer.Option(help="How many of the largest; a table shows 20 unless told.")] = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Save a picture, as PNG or SVG by its name.")] = None,
    candidates: Candidates = None,
    subject: Subject | None = None,
) -> None:
    """Estimate how many people hold each value, with error bars."""
    from fldp.presentation import tables

    if as_json and as_csv:
        raise ParameterError("fldp: give --json or --csv, not both")
    if plot is not None:
        one_of(".png", ".svg")("fldp", "the ending of --plot", plot.suffix)
    oracle, version = (subject.oracle, subject.version) if subject else (None, None)
    with progress("reading", size_of([file])) as advance:
        source = report_files.load(file, oracle, version, advance, raw=method == "em")
    about = (subject or Subject(source.oracle)).among(candidates)
    options: dict[str, Any] = {"decoder": decoder} if decoder else {}
    with progress("estimating", None):
        made = about.estimate(source, method=method, **options)
    if post:
        from fldp.data.postprocess import postprocess

        made = postprocess(made, post)
    if as_json:
        typer.echo(tables.as_json(made, level, top))
    elif as_csv:
        typer.echo(tables.as_csv(made, level, top), nl=False)
    else:
        tables.show(tables.estimate_table(made, level, top or 20), *tables.estimate_notes(made))
    if plot is not None:
        from fldp.presentation.plot import save_bars

        save_bars(made, plot, level=level, k=top or 20)
        note(f"saved {plot}")


@app.command()
def inspect(
    file: Annotated[str, typer.Argument(help="A file of reports or a tally; - is standard input.")],
    as_json: AsJson = False,
) -> None:
    """Say what a file holds, having read and checked all of it."""
    from fldp.presentation import tables

    with progress("reading", size_of([file])) as advance:
        content = report_files.read(file, progress=advance)
    tables.show_facts(tables.content_facts(content), as_json)


@app.command()
def demo(
    epsilon: Annotated[float, typer.Option(help="The epsilon of the reports.")] = 1.0,
    seed: Annotated[int, typer.Option(help="The seed of the population; the noise is never seeded.")] = 0,
    folder: Annotated[Path, typer.Option(help="Where to put the files that the demo makes.")] = Path("demo"),
) -> None:
    """Run the main job on the Zipf population of the paper: privatize, ship, tally, estimate, beside the truth."""
    from fldp.cli.demo_run import demo as run

    run(epsilon, seed, folder)


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
            found.append(report_files.combine(streams, ("reports",), oracle, version, advance))
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
    from fldp.distributed.tallying import check_engine, plan

    check_engine(engine)
    with progress("listing", None):
        made = plan(paths, oracle, **chosen)
    with progress("tallying", made.bytes) as advance:
        result = made.run(engine, advance, **options)
    note("\n  ".join(result.left_out()))
    return result.tally, result.survey
