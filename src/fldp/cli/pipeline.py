"""The commands of the pipeline: values to reports, reports to tallies, tallies to estimates."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli.estimate_output import EstimateOutput, TableChoice
from fldp.cli.number import Cdf, Figures, Mean, Quantile, Share, refuse_figures
from fldp.cli.options import (
    Anytime,
    AsCsv,
    AsJson,
    Candidates,
    Column,
    Output,
    Since,
    Until,
    check_plot,
    needed,
    note,
    one_format,
    progress,
    takes_oracle,
)
from fldp.cli.oracle_options import OracleCommand
from fldp.cli.prior import PriorFile, processed, refuse_prior
from fldp.cli.questions import AllPairs, Crossed, OneQuestion, Repaired, record_encoder
from fldp.cli.shell import app
from fldp.errors import FldpError, ParameterError
from fldp.support.validation import counted

if TYPE_CHECKING:
    from fldp.cli.subject import Subject
    from fldp.data.reports import Reports, Tally
    from fldp.oracles.sampled.tables import Tables
    from fldp.wire.record_cells import RecordEncoder

ENGINES = (
    "local (all cores), dask (a Dask cluster) or spark (a Spark cluster)"  # as fldp.distributed says, which is slow
)


@app.command(cls=OracleCommand)
@takes_oracle
def privatize(
    values: Annotated[str, typer.Argument(help="CSV, Parquet, or one value per line; - is standard input.")] = "-",
    column: Column = None,
    unknown: Annotated[
        str, typer.Option(help="What to do with unknown labels and missing values: error, drop, or a label to count.")
    ] = "error",
    output: Output = "-",
    seed: Annotated[
        int | None, typer.Option(help="Reproducible noise, for experiments ONLY: the seed undoes the privacy.")
    ] = None,
    subject: "Subject | None" = None,
) -> None:
    """Turn values into reports: a .fldp file, or Parquet if the output's name ends so."""
    from fldp.randomness.stream import Stream
    from fldp.wire import files as report_files
    from fldp.wire.cells import Encoder

    about = needed(subject)
    if seed is not None:
        note("fldp: the noise comes from a seed, so these reports protect nobody: experiments only")
    if output != "-" and os.path.exists(output) and os.path.exists(values) and os.path.samefile(output, values):
        raise ParameterError(f"fldp: --output must not be the file of the values, got {output!r}")
    records = record_encoder(about, unknown)
    if records is not None:
        if column is not None:
            raise ParameterError("fldp: --column is for one question; several have a column each, by their names")
        _privatize_records(values, about, records, output, seed)
        return
    encoder = Encoder(about.question.value, unknown, about.question.value_type, about.question.choices)
    with progress("privatizing", None) as advance:
        reports = report_files.privatize(
            values, about.oracle, encoder, column=column, rng=None if seed is None else Stream(seed), progress=advance
        )
        count = report_files.write_reports(output, about.oracle, reports, about.version)
    note(encoder.summary())
    note(f"{counted(count, 'report')} of {about.oracle!r}, eta {about.oracle.eta}")


def _privatize_records(values: str, about: "Subject", encoder: "RecordEncoder", output: str, seed: int | None) -> None:
    """Turn rows of answers to several questions into reports, a column for each question."""
    from fldp.randomness.stream import Stream
    from fldp.wire import files as report_files
    from fldp.wire.record_cells import privatize_rows

    with progress("privatizing", None) as advance:
        reports = privatize_rows(values, about.oracle, encoder, rng=Stream.of(seed), progress=advance)
        count = report_files.write_reports(output, about.oracle, reports, about.version)
    note(encoder.summary())
    note(f"{counted(count, 'report')} of {about.oracle!r}, eta {about.oracle.eta}")


@app.command(cls=OracleCommand)
@takes_oracle
def tally(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Reports: files, - for standard input, or of Parquet also folders, patterns and addresses; or tallies."
        ),
    ],
    output: Output = "-",
    engine: Annotated[str, typer.Option(help=f"What reads Parquet: {ENGINES}.")] = "local",
    address: Annotated[str | None, typer.Option(help="dask, spark: the cluster's scheduler or master.")] = None,
    survey_version: Annotated[
        str | None, typer.Option(help="Only this survey version, if the lake has several.")
    ] = None,
    since: Since = None,
    until: Until = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out bad rows and files of Parquet, count and list them.")
    ] = False,
    subject: "Subject | None" = None,
) -> None:
    """Add up reports. The same batch is never counted twice, nor the same file of a lake."""
    from fldp.distributed.tallying import tally_files

    oracle, version = (subject.oracle, subject.version) if subject else (None, None)
    if version is not None and survey_version not in (None, version):
        raise ParameterError(f"fldp: --survey is version {version}, not --survey-version {survey_version}")
    result = tally_files(
        files,
        oracle,
        engine=engine,
        survey=version or survey_version,
        since=since,
        until=until,
        skip_bad=skip_bad,
        bar=progress,
        **({"address": address} if address else {}),
    )
    note("\n  ".join(result.left_out()))
    _save_tally(output, result.tally, result.survey)


@app.command(cls=OracleCommand)
@takes_oracle
def merge(
    files: Annotated[list[str], typer.Argument(help="Tallies.")],
    output: Output = "-",
    subject: "Subject | None" = None,
) -> None:
    """Add up tallies, exactly."""
    from fldp.cli.subject import expected
    from fldp.wire import files as report_files

    with progress("merging", report_files.size_of(files)) as advance:
        total = report_files.combine(files, report_files.TALLY, *expected(subject), advance)
    _save_tally(output, total.tally, total.survey)


def _save_tally(output: str, tally: "Tally", survey: str | None) -> None:
    from fldp.wire import files as report_files

    report_files.write_tally(output, tally, survey)
    note(f"{counted(tally.n, 'report')} of {tally.oracle!r}, eta {tally.oracle.eta}")


@app.command(cls=OracleCommand)
@takes_oracle
def estimate(
    file: Annotated[str, typer.Argument(help="A tally, or reports; - is standard input.")] = "-",
    decoder: Annotated[str | None, typer.Option(help="fhr: full (default) or paper.")] = None,
    method: Annotated[
        str,
        typer.Option(help="linear, or biased bayes; fhr, fwr: adaptive, or em, which needs reports; rappor: select."),
    ] = "linear",
    level: Annotated[float, typer.Option(help="The level of the intervals.")] = 0.95,
    post: Annotated[
        str | None, typer.Option(help="Post-processing, biased: clip, norm-sub, simplex, bayes; a number: monotone.")
    ] = None,
    prior: PriorFile = None,
    anytime: Anytime = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="How many of the largest; a table shows 20 by default.")
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    plot: Annotated[Path | None, typer.Option(help="Save a picture, as PNG or SVG by its name.")] = None,
    candidates: Candidates = None,
    mean: Mean = False,
    quantile: Quantile = None,
    cdf: Cdf = None,
    share: Share = None,
    question: OneQuestion = None,
    cross: Crossed = None,
    associations: AllPairs = False,
    consistent: Repaired = False,
    subject: "Subject | None" = None,
) -> None:
    """Estimate how many people hold each value, with error bars; of several questions, every table."""
    from fldp.cli.subject import Subject
    from fldp.data.number import Number

    form = one_format(as_json, as_csv)
    check_plot(plot)
    source = _source(file, subject, method)
    about = (subject or Subject(source.oracle)).among(candidates)
    several, figures = about.tables(source), (mean, quantile or (), cdf or (), share)
    shown, choice = (
        EstimateOutput(level, top, anytime, form, plot),
        TableChoice(question, cross, associations, consistent),
    )
    if several is not None:
        refuse_prior(prior)
        _show_several(several, shown, choice, figures)
        return
    choice.refuse()
    options: dict[str, Any] = {"decoder": decoder} if decoder else {}
    with progress("estimating", None):
        result = about.estimate(source, method=method, **options)
    result = processed(result, post or (method if prior else None), prior, about.question)
    if isinstance(result, Number):
        shown.number(result, figures)
    else:
        refuse_figures(figures)
        shown.counts(result)


def _show_several(tables: "Tables", shown: EstimateOutput, choice: TableChoice, asked: Figures) -> None:
    """Show tables of several questions; one question that is a number is shown as such."""
    from fldp.data.number import Number

    one = tables[choice.question] if choice.question else None
    if isinstance(one, Number) and not choice.consistent:
        shown.number(one, asked)
    else:
        refuse_figures(asked)
        shown.tables(tables, choice)


def _source(file: str, subject: "Subject | None", method: str) -> "Tally | Reports":
    """Read what a method needs: em the reports one by one, others their tally."""
    from fldp.cli.subject import read_reports, read_tally
    from fldp.data.reports import Tally

    if method != "em":
        return read_tally(file, subject).tally
    source = read_reports(file, subject)
    if isinstance(source, Tally):
        raise FldpError(f"{file}: method em needs a file of reports, as fldp privatize writes it")
    return source


@app.command(cls=OracleCommand)
@takes_oracle
def inspect(
    file: Annotated[str, typer.Argument(help="A file of reports or a tally; - is standard input.")],
    as_json: AsJson = False,
    subject: "Subject | None" = None,
) -> None:
    """Show what a file holds, having read and checked all of it."""
    from fldp.cli.subject import read_tally
    from fldp.presentation import tables

    tables.show_facts(tables.content_facts(read_tally(file, subject)), as_json)


@app.command()
def demo(
    epsilon: Annotated[float, typer.Option(help="The epsilon of the reports.")] = 1.0,
    seed: Annotated[int, typer.Option(help="The seed of the population; the noise is never seeded.")] = 0,
    folder: Annotated[Path, typer.Option(help="Where to put the files that the demo makes.")] = Path("demo"),
) -> None:
    """Run the whole pipeline on the paper's Zipf population: privatize, ship, tally, estimate, compare with truth."""
    from fldp.cli.demo_run import demo as run

    run(epsilon, seed, folder)
