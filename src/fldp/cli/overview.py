"""``fldp --help``, drawn from the catalogue as Typer draws the help of commands, without loading it."""

import os
import sys
from collections.abc import Iterator
from textwrap import wrap

from fldp.cli.catalogue import CATALOGUE, EPILOG, OPTIONS, PURPOSE

MIN_COLUMNS = 70  # on fewer, Typer finds other widths for its columns
_DIM, _NAME, _BOLD, _PLAIN = "\x1b[2m", "\x1b[1;36m", "\x1b[1m", "\x1b[0m"
_COMMANDS = 15  # columns of a command's name


def fits() -> bool:
    """Whether this output can show the overview: wide enough, and with the characters of its frames."""
    return _columns() >= MIN_COLUMNS and (sys.stdout.encoding or "").lower().startswith("utf")


def every_command() -> str:
    """Return the list of all commands.

    >>> "fldp COMMAND --help explains a command" in every_command()
    True
    """
    width, colours = _columns(), _has_colours()
    lines = ["", f" {_BOLD}Usage: fldp [OPTIONS] COMMAND [ARGS]...{_PLAIN}", ""]
    lines += [*(f" {line}" for line in _wrapped(PURPOSE, width - 2)), ""]
    flags = [(f"{name:<22}{short:<10}", text) for name, short, text in OPTIONS]
    lines += _panel("Options", flags, width)
    for heading, commands in CATALOGUE.items():
        rows = [(name.ljust(_COMMANDS), entry.summary) for name, entry in commands.items()]
        lines += _panel(heading, rows, width)
    lines += ["", *(f" {line}" for line in _wrapped(EPILOG, width - 2)), ""]
    text = "\n".join(lines)
    return text if colours else _uncoloured(text)


def _panel(heading: str, rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield the lines of a frame with a heading; the second column is as wide as the first leaves room for."""
    yield f"{_DIM}╭─ {heading} {'─' * (width - len(heading) - 5)}╮{_PLAIN}"
    for left, text in rows:
        room = width - 4 - len(left)
        for name, line in zip((left, *[" " * len(left)] * len(text)), _wrapped(text, room), strict=False):
            yield f"{_DIM}│{_PLAIN} {_NAME}{name}{_PLAIN}{line.ljust(room)} {_DIM}│{_PLAIN}"
    yield f"{_DIM}╰{'─' * (width - 2)}╯{_PLAIN}"


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, break_on_hyphens=False)


def _uncoloured(text: str) -> str:
    for code in (_DIM, _NAME, _BOLD, _PLAIN):
        text = text.replace(code, "")
    return text


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):  # not a terminal
        return 80


def _has_colours() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") not in ("dumb", "unknown")
