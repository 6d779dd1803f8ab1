"""The commands about tickets: personal links to a survey that takes one report with each."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fldp.cli.collector_options import CollectorOptions, InsecureHttp, Name, To, TokenText, Version, full_version
from fldp.cli.options import note
from fldp.cli.shell import app
from fldp.errors import FldpError, ParameterError
from fldp.support.atomic_files import whole_file
from fldp.support.validation import counted

if TYPE_CHECKING:
    from fldp.client import Published

tickets = typer.Typer(help="Make tickets: personal links to a survey.", no_args_is_help=True)
app.add_typer(tickets, name="ticket")

_LOST = "tickets are shown once, and those in it would be lost; name another file"


@tickets.command()
def create(
    name: Name,
    to: To,
    count: Annotated[int, typer.Option("--count", min=1, max=100_000, help="How many, one for each person.")],
    links: Annotated[bool, typer.Option("--links", help="Write whole links to the survey's page.")] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="A new CSV file, for its owner only; - is standard output."),
    ] = None,
    version: Version = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Create single-use tickets for a survey with submit = "ticket" or "pass", as CSV. They are shown only once.

    Whoever has a ticket can answer once. Send each person one link, and keep no list of who got which.
    """
    check_output(output)
    with CollectorOptions(to, token, insecure_http).connected() as client:
        published = client.survey(name, version=full_version(client, name, version))
        _check_takes_tickets(published, client.url)
        column, start = ("link", f"{client.url}/s/{name}#ticket=") if links else ("ticket", "")
        file = write_tickets(lambda: client.tickets(published.survey, count), column, start, output)
    note(f"{counted(count, 'ticket')} of survey version {published.version[:12]}" + (f" in {output}" if file else ""))


def write_tickets(make: Callable[[], list[str]], column: str, start: str, output: str | None) -> bool:
    """Make tickets, once there is a place for them, and write them as CSV; return whether that is a file."""
    from fldp.presentation.tables import csv_text

    with _opened(output) as file:
        text = csv_text([column], ({column: start + ticket} for ticket in make()))
        if file is None:
            typer.echo(text, nl=False)
        else:
            file.write_bytes(text.encode())
    return file is not None


def check_output(output: str | None) -> None:
    """Refuse, before any ticket is made, to show tickets to a room or to write over others."""
    if output is None and sys.stdout.isatty():
        raise ParameterError("fldp: tickets are secrets: name a file with -o, or say -o - to see them here")
    if output not in (None, "-") and Path(str(output)).exists():
        raise FldpError(f"{output}: already exists; {_LOST}")


def _check_takes_tickets(published: "Published", url: str) -> None:
    submit, issuer = published.survey.collect["submit"], published.survey.collect.get("issuer")
    if issuer is not None and not url.startswith(issuer):
        raise ParameterError(f"fldp: tickets of survey {published.survey.name} come from its issuer, {issuer}")
    if submit not in ("ticket", "pass"):
        what = f'survey {published.survey.name} takes reports without tickets, its submit is "{submit}"'
        raise ParameterError(f'fldp: {what}; publish one with submit = "ticket" in its table [collect]')


@contextmanager
def _opened(output: str | None) -> Iterator[Path | None]:
    """Yield a file that only its owner can read and that appears when it is whole; None for standard output."""
    if output in (None, "-"):
        yield None
        return
    try:
        with whole_file(Path(str(output)), replace=False) as hidden:
            yield hidden
    except FileExistsError:
        raise FldpError(f"{output}: already exists; {_LOST}") from None
    except OSError as error:
        raise FldpError(f"{output}: cannot be written: {error.strerror}") from None
