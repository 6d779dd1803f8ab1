"""The shell. Each command parses, calls one function, prints."""

import os
import sys
import traceback
from importlib import import_module
from typing import Annotated, Any

import typer

import fldp
from fldp.errors import FldpError

COMMANDS = (
    "compare",
    "experiment",
    "heavy_hitters",
    "integrity",
    "pipeline",
    "plan",
    "privacy",
    "remote",
    "sample",
    "serve",
    "survey",
    "token",
)

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
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del debug, version


def main() -> None:
    """Run the shell. An error is one line on standard error and exit code 2; 1 is a check that failed."""
    for module in COMMANDS:
        import_module(f"fldp.cli.{module}")
    debug = "--debug" in sys.argv
    try:
        sys.exit(_run())
    except FldpError as error:
        _complain(error, str(error), debug)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        _complain(None, "fldp: interrupted", debug)
    except Exception as error:
        message = getattr(error, "format_message", None)  # what typer says of bad use
        _complain(error, f"fldp: {message() if message else f'{type(error).__name__}: {error}'}", debug)


def _run() -> Any:
    return app(standalone_mode=False)


def _complain(error: BaseException | None, line: str, debug: bool) -> None:
    if debug and error is not None:
        traceback.print_exception(error)
    typer.echo(line, err=True)
    sys.exit(2)
