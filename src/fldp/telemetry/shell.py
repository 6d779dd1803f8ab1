"""The person's commands: ``fldp telemetry``, or ``python -m fldp.telemetry`` where a program brings fldp along."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fldp.errors import FldpError
from fldp.support.closed_pipe import ends_well

commands = typer.Typer(
    help="Decide on telemetry, and see all of it; declare, publish and rehearse it.", no_args_is_help=True
)
App = Annotated[str | None, typer.Option("--app", help="One program; by default all of them.")]
OneApp = Annotated[str | None, typer.Option("--app", help="The program, where there are several.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _choose(mode: str, app: str | None) -> None:
    from fldp.support.identifiers import SURVEY_NAME
    from fldp.telemetry import modes, periods
    from fldp.telemetry.installed_programs import forget_aggregates

    if app is not None:
        SURVEY_NAME("telemetry", "--app", app)
    path = modes.choose(mode, app, f"{periods.system():%Y-%m-%d}")
    typer.echo(f"telemetry is {mode} for {app or 'all programs'}, as {path} says")
    stronger = modes.by_variables(os.environ)
    if stronger is not None:
        typer.echo(f"in this shell, a stronger setting decides: {stronger.reason}")
    if mode == "off":
        _tell(forget_aggregates(app), "its aggregates are not deleted")


def _tell(troubles: Sequence[FldpError], so: str) -> None:
    """Say what went wrong with single programs, after all others were served; exit code 1 if anything did."""
    for trouble in troubles:
        typer.echo(f"fldp: {trouble}; {so}", err=True)
    if troubles:
        raise typer.Exit(1)


@commands.command()
def on(app: App = None) -> None:
    """Send reports, beginning with the next period."""
    _choose("on", app)


@commands.command()
def local(app: App = None) -> None:
    """Keep aggregates on this machine for you to look at; send nothing."""
    _choose("local", app)


@commands.command()
def off(app: App = None) -> None:
    """Store nothing, send nothing, and delete the aggregates. Nobody is told."""
    _choose("off", app)


@commands.command()
def env(app: App = None, as_json: AsJson = False) -> None:
    """Say which mode each program is in and why, and where its files are."""
    from fldp.telemetry.installed_programs import environments

    listed, damaged = environments(app)
    if as_json:
        typer.echo(json.dumps(listed, indent=1))
    for each in () if as_json else listed:
        typer.echo(f"{each['app']}{' in Node' if 'runs_in' in each else ''}: {each['mode']} ({each['reason']})")
        for name, file in (("state", each["state"]), ("ledger", each["ledger"])):
            typer.echo(f"  {name}: {file['path']}, last changed {file['changed'] or 'never'}")
    if not (listed or damaged or as_json):
        typer.echo("no program keeps telemetry on this machine")
    _tell(damaged, "it is not listed")


@commands.command()
def view(
    app: OneApp = None,
    as_text: Annotated[bool, typer.Option("--text", help="Print it.")] = False,
    as_json: AsJson = False,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    source: Annotated[
        Path | None, typer.Option("--from", help="What telemetry.view() of a program in JavaScript returned, as JSON.")
    ] = None,
) -> None:
    """Show every report ever sent and what it gave away, this period's values, and what would be sent."""
    from fldp.telemetry.installed_programs import one_installed

    if source is not None:
        from fldp.telemetry.page import read_view

        shown = read_view(source)
        _show(lambda: shown, as_text, as_json, browser)
        return
    from fldp.telemetry.report_explanations import explained

    program = one_installed(app)
    _show(lambda: explained(program.metrics, program.view()), as_text, as_json, browser)


def _show(data: Callable[[], Mapping[str, Any]], as_text: bool, as_json: bool, browser: bool) -> None:
    from fldp.telemetry.view import text_of

    if as_text or as_json:
        typer.echo(text_of(data()) if as_text else json.dumps(data(), indent=1))
        return
    _serve(data, browser)


def _serve(data: Callable[[], Mapping[str, Any]], browser: bool) -> None:
    import webbrowser

    from fldp.telemetry.page import PageServer

    with PageServer(data) as server:
        typer.echo(f"on this machine only, until Ctrl-C: {server.url}")
        if browser:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("")


@commands.command()
def withdraw(app: OneApp = None) -> None:
    """Take back every report that was sent, as far as the collector still can; published results stay as they are."""
    from fldp.telemetry.installed_programs import one_installed

    left = one_installed(app).withdraw(typer.echo)
    if left:
        typer.echo(f"{left} could not be taken back now; run this again later", err=True)
        raise typer.Exit(1)


@commands.command()
def clean(app: App = None) -> None:
    """Delete aggregates and reports on this machine; the ledger stays. Sent reports can no longer be taken back."""
    from fldp.telemetry.installed_programs import clean as clean_programs

    cleaned, troubles = clean_programs(app)
    for name in cleaned:
        typer.echo(f"{name}: aggregates and reports are deleted")
    _tell(troubles, "it is not cleaned")


def main() -> None:
    """Run the person's commands; an error is one line and exit code 2. Ctrl-C ends them with 130."""
    with ends_well():
        _run()


def _run() -> None:
    import sys

    try:
        sys.exit(commands(prog_name="python -m fldp.telemetry", standalone_mode=False))
    except FldpError as error:
        line = str(error)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            sys.exit(0)
        format_message = getattr(error, "format_message", None)  # what typer says of bad use
        line = format_message() if format_message else f"{type(error).__name__}: {error}"
    typer.echo(f"fldp: {line}", err=True)
    sys.exit(2)
