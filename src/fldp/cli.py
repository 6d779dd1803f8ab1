"""The shell. Each command parses, calls one function, prints."""

import sys
from typing import Annotated

import typer

import fldp
from fldp.errors import FldpError

app = typer.Typer(
    name="fldp",
    help="Private collection of statistics: flexible local differential privacy.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fldp {fldp.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del version


@app.command()
def demo(
    epsilon: Annotated[float, typer.Option(help="The epsilon of the reports.")] = 1.0,
    seed: Annotated[int, typer.Option(help="The seed of the population; the noise is never seeded.")] = 0,
) -> None:
    """Run the main job on the Zipf population of the paper: privatize, tally, estimate, compare with the truth."""
    from rich.console import Console

    from fldp.demo import demo as run

    run(Console(), epsilon, seed)


def main() -> None:
    """Run the shell; an error of ours is one line on standard error and exit code 2."""
    try:
        app()
    except FldpError as error:
        typer.echo(str(error), err=True)
        sys.exit(2)
