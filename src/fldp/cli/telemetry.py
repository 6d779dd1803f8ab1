"""The commands about telemetry: for the person, and for the program's author."""

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fldp.cli.collector_options import CollectorOptions, InsecureHttp, To, TokenText
from fldp.cli.options import AsJson, note
from fldp.cli.shell import app
from fldp.support.atomic_files import open_output
from fldp.telemetry.shell import commands

if TYPE_CHECKING:
    from fldp.telemetry.metrics import AppMetrics
    from fldp.telemetry.rehearsal import RehearsedMetric

app.add_typer(commands, name="telemetry")
File = Annotated[Path, typer.Argument(metavar="METRICS", help="The program's metrics.toml.")]


def _today() -> date:
    return datetime.now(UTC).date()


def _loaded(path: Path) -> "AppMetrics":
    from fldp.telemetry.rules import load

    return load(path, _today())


@commands.command()
def lint(
    file: File,
    before: Annotated[
        Path | None, typer.Option(help="The published version, as TOML or as exported: no values may change.")
    ] = None,
) -> None:
    """Check a metrics.toml: every mistake with its line, and warnings; exit code 1 on a mistake."""
    from fldp.survey.parsing import read_text
    from fldp.telemetry import rules
    from fldp.telemetry.metrics import read_metrics

    former = None if before is None else read_metrics(str(before))
    linted = rules.lint(read_text(file), str(file), _today(), former)
    for line in rules.lines(linted):
        typer.echo(line)
    if linted.errors:
        raise typer.Exit(1)
    warnings = len(linted.warnings)
    typer.echo(f"{file}: no mistakes, {warnings} warning{'' if warnings == 1 else 's'}")


@commands.command()
def publish(
    file: File, to: To, token: TokenText = None, as_json: AsJson = False, insecure_http: InsecureHttp = False
) -> None:
    """Create a survey for each metric, close those that expired or are gone, and print the versions."""
    from fldp.telemetry.publishing import publish as run

    metrics = _loaded(file)
    with CollectorOptions(to, token, insecure_http).connected() as client:
        done = run(metrics, client, f"{_today()}")
    if as_json:
        typer.echo(json.dumps([each._asdict() for each in done], indent=1))
        return
    for each in done:
        typer.echo(f"{each.name}  {each.version}  {each.what}{each.advice and ': '}{each.advice}")


@commands.command()
def export(
    file: File, output: Annotated[str, typer.Option("-o", "--output", help="Where to write; - is standard output.")]
) -> None:
    """Write the metrics as JSON with their surveys and versions pinned, for clients in other languages."""
    from fldp.telemetry.publishing import exported

    text = json.dumps(exported(_loaded(file), f"{_today()}"), indent=1, ensure_ascii=False)
    with open_output(output) as out:
        out.write(f"{text}\n".encode())


@commands.command()
def rehearse(
    file: File,
    installs: Annotated[int, typer.Option(min=10, max=100_000, help="How many installs to simulate.")] = 300,
    count: Annotated[int, typer.Option("--periods", min=1, max=60, help="For how many periods.")] = 3,
    seed: Annotated[int, typer.Option(help="The seed of the simulated people; their noise is always new.")] = 0,
    stay: Annotated[
        bool, typer.Option("--stay", help="Leave the collector running, to look at its dashboard.")
    ] = False,
) -> None:
    """Try metrics out: simulated installs report to a real collector on this machine; print what it estimates."""
    from fldp.client import Client
    from fldp.telemetry import rehearsal

    metrics = _loaded(file)
    with (
        _cleaning_up(),
        rehearsal.stage() as folder,
        rehearsal.local_collector(folder) as (url, token),
        Client(url, token) as client,
    ):
        note(f"a collector runs at {url}; {installs} installs of {metrics.app} are simulated")
        outcomes = rehearsal.rehearse(
            metrics, client, url, installs=installs, count=count, seed=seed, folder=folder / "installs", say=note
        )
        for outcome in outcomes:
            typer.echo("\n".join((*rehearsal.chart(outcome), "")))
        _conclude(outcomes)
        if stay:
            typer.echo(f"dashboard: {url}/#token={token}")
            _wait()


@contextmanager
def _cleaning_up() -> Iterator[None]:
    """Turn SIGTERM into an exception inside the block, so that everything it started is cleaned up."""
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _conclude(outcomes: "list[RehearsedMetric]") -> None:
    shown = [each for each in outcomes if each.estimate is not None]
    inside, every = sum(each.inside for each in shown), sum(len(each.truth) for each in shown)
    typer.echo(
        f"{inside} of {every} true shares lie inside their intervals, "
        "which hold for all at once in 95 of 100 rehearsals"
    )


def _wait() -> None:
    import threading

    try:
        typer.echo("Ctrl-C ends it, and nothing is kept")
        threading.Event().wait()
    except KeyboardInterrupt:
        typer.echo("")
