"""The shell itself: all commands under one name, and how errors are told."""

import re
import sys
import traceback
from typing import Annotated, Any

import typer

import fldp
from fldp.cli.catalogue import DEBUG_HELP, ENTRIES, EPILOG, PURPOSE, VERSION_HELP
from fldp.cli.shell_group import ShellGroup
from fldp.errors import FldpError

COMMANDS = tuple(sorted({entry.module for entry in ENTRIES.values()}))

app = typer.Typer(
    name="fldp",
    cls=ShellGroup,
    help=PURPOSE,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fldp {fldp.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help=DEBUG_HELP)] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help=VERSION_HELP)] = False,
) -> None:
    del debug, version
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the shell. An error is one line on standard error and exit code 2; 1 is a failed check, 130 Ctrl-C."""
    debug = "--debug" in sys.argv
    try:
        sys.exit(_run())
    except FldpError as error:
        _complain(error, str(error), debug)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a group of commands, alone: its help was shown
            sys.exit(0)
        message = getattr(error, "format_message", None)  # what typer says of bad use
        _complain(error, f"fldp: {worded(message()) if message else f'{type(error).__name__}: {error}'}", debug)


_INVALID = r"Invalid value for '([^']+)': Input should be "
_WORDS = {  # what Pydantic says, and what it means
    r"greater than or equal to (.+)": r"\1 must be at least \2",
    r"less than or equal to (.+)": r"\1 must be at most \2",
    r"a valid integer.*": r"\1 must be a whole number",
    r"a valid number.*": r"\1 must be a number",
}


def worded(message: str) -> str:
    """Say what is wrong with an option in the user's words.

    >>> worded("Invalid value for '--top': Input should be greater than or equal to 1")
    '--top must be at least 1'
    """
    for pattern, words in _WORDS.items():
        message = re.sub(_INVALID + pattern, words, message)
    return message


def _run() -> Any:
    return app(prog_name="fldp", standalone_mode=False)


def _complain(error: BaseException, line: str, debug: bool) -> None:
    if debug:
        traceback.print_exception(error)
    typer.echo(line, err=True)
    sys.exit(2)
