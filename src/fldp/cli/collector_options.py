"""Options and output shared by the commands that talk to a collector."""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fldp.cli.options import note
from fldp.errors import CollectorError
from fldp.support.canonical_json import Json

if TYPE_CHECKING:
    from fldp.client import Client

To = Annotated[str, typer.Option("--to", help="The collector's address, such as https://collector.example.")]
TokenText = Annotated[
    str | None,
    typer.Option("--token", help="A token. Better in the environment, as FLDP_TOKEN: others can see a command line."),
]
InsecureHttp = Annotated[
    bool, typer.Option("--insecure-http", help="Send the token over plain http to another machine, too.")
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
            with Client(self.to, token, retries=retries, allow_insecure=self.insecure_http) as client:
                yield client
        except CollectorError as error:
            if not error.refused:
                raise
            note(str(error))
            for mistake in error.mistakes:
                if mistake not in str(error):
                    note(f"  {mistake}")
            raise typer.Exit(1) from None


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
