"""Options and output shared by the commands that talk to a collector."""

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fldp.cli.options import note
from fldp.errors import CollectorError, ParameterError
from fldp.support.canonical_json import Json
from fldp.support.identifiers import VERSION

if TYPE_CHECKING:
    from fldp.client import Client

_MIN_DIGITS = 4
_BEGINNING = re.compile(rf"[0-9a-f]{{{_MIN_DIGITS},63}}")
ADDRESS = "FLDP_URL"
_ADDRESS_HELP = f"The collector's address, such as https://collector.example; or {ADDRESS} in the environment."
To = Annotated[str, typer.Option("--to", envvar=ADDRESS, show_envvar=False, help=_ADDRESS_HELP)]
ToOrStore = Annotated[str | None, typer.Option("--to", help=_ADDRESS_HELP)]
Name = Annotated[str, typer.Argument(help="The survey's name.")]
Version = Annotated[
    str | None, typer.Option("--version", help="A version of it: its first digits, as survey list shows them.")
]
TokenText = Annotated[
    str | None,
    typer.Option("--token", help="A token. Better in the environment, as FLDP_TOKEN: others can see a command line."),
]
InsecureHttp = Annotated[
    bool, typer.Option("--insecure-http", help="Allow sending the token to another machine over plain http.")
]


@dataclass(frozen=True)
class CollectorOptions:
    """The address of a collector, and how to reach it."""

    to: str
    token: str | None
    insecure_http: bool

    @contextmanager
    def connected(self, retries: int = 1) -> Iterator["Client"]:
        """Yield a client; a request that the collector refuses is one line and exit code 1."""
        from fldp.client import Client

        token = self.token or os.environ.get("FLDP_TOKEN") or None
        try:
            with (
                _in_words_of_the_shell(),
                Client(self.to, token, retries=retries, allow_insecure=self.insecure_http) as client,
            ):
                yield client
        except CollectorError as error:
            if not error.refused:
                raise
            note(str(error))
            for mistake in error.mistakes:
                if mistake not in str(error):
                    note(f"  {mistake}")
            raise typer.Exit(1) from None


def address_unless(to: str | None, *stores: object) -> str | None:
    """Return the address of a collector: the one given, or else the environment's unless a database is named."""
    return to or (None if any(stores) else os.environ.get(ADDRESS) or None)


def full_version(client: "Client", name: str, digits: str | None) -> str | None:
    """Return the version of a survey that begins with some digits; a whole one is not looked up."""
    if digits is None or VERSION.matches(digits):
        return digits
    if not _BEGINNING.fullmatch(digits):
        raise ParameterError(f"fldp: --version must be {_MIN_DIGITS} or more of a version's digits, got {digits!r:.80}")
    versions = [str(row["version"]) for row in client.surveys() if row["name"] == name]
    matching = [version for version in versions if version.startswith(digits)]
    if len(matching) != 1:
        what = "none" if not matching else f"{len(matching)}: " + ", ".join(version[:16] for version in matching[:5])
        raise ParameterError(f"fldp: --version must begin one version of survey {name!r:.80}, {digits} begins {what}")
    return matching[0]


@contextmanager
def _in_words_of_the_shell() -> Iterator[None]:
    """Name options where the client names its arguments."""
    try:
        yield
    except ParameterError as error:
        words = str(error)
        for argument, option in _OPTIONS.items():
            words = words.replace(f"Client: {argument}", f"fldp: {option}", 1)
        raise ParameterError(words) from error


_OPTIONS = {"url": "--to", "a token": "--token or FLDP_TOKEN", "name": "the survey's name"}


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def notes_on_retries() -> Iterator[None]:
    """Print a note on standard error when a request is tried again."""
    log, handler = logging.getLogger("fldp.client"), _Notes()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def show_rows(rows: Sequence[Mapping[str, Json]], columns: tuple[str, ...], as_json: bool) -> None:
    """Print rows as a table of some of their fields, or as JSON with all of them."""
    import json

    from rich.table import Table
    from rich.text import Text

    from fldp.client.messages import clean
    from fldp.presentation import tables

    if as_json:
        typer.echo(json.dumps(rows, indent=1))  # all ASCII: somebody else's text, and perhaps a terminal
        return
    table = Table()
    for column in columns:
        table.add_column(column, justify="right" if column == "n" else "left")
    for row in rows:
        table.add_row(*(Text(clean("" if row.get(name) is None else row[name], 100)) for name in columns))
    tables.show(table)
