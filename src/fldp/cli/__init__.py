"""The shell. Each command parses, calls one function, prints.

``fldp --version`` and ``fldp --help`` are answered from the catalogue: what parses commands takes as long to load as
NumPy, and they need none of it. Any other line loads the shell, and that loads the one command.
"""

import gc
import os
import sys
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import fldp
from fldp.cli import overview
from fldp.support.closed_pipe import ends_well
from fldp.support.early_stop import ends_early

_MANY = 50_000
_HELP: tuple[list[str], ...] = ([], ["-h"], ["--help"])
_SERVERS = (["serve"], ["relay"], ["issuer", "serve"])


def main() -> None:
    """Run the shell. An error is one line on standard error and exit code 2; 1 is a check that failed."""
    with ends_well():
        _run(sys.argv[1:])


def _run(line: list[str]) -> None:
    if line == ["--version"]:
        _say(f"fldp {fldp.__version__}")
    if line in _HELP and "_FLDP_COMPLETE" not in os.environ and overview.fits():
        _say(overview.every_command())
    if line[:1] != ["serve"]:
        # Loading makes many objects that stay: looking for garbage among them takes a tenth of a short command's time.
        gc.set_threshold(_MANY)
    with ends_early() if _serves(line) else nullcontext():
        import_module("fldp.cli.shell").main()


def _serves(line: list[str]) -> bool:
    """Whether a line starts a server."""
    return "--check" not in line and any(line[: len(words)] == words for words in _SERVERS)


def _say(text: str) -> None:
    """Print what was asked for, and leave."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
    sys.exit(0)


def __getattr__(name: str) -> Any:
    """Load the shell for what is asked of it: ``app``, the commands as Typer has them."""
    if name in ("app", "COMMANDS"):
        return getattr(import_module("fldp.cli.shell"), name)
    raise AttributeError(f"module 'fldp.cli' has no attribute {name!r}")
