"""The commands about tokens, on the database of a collector itself: for those who may open its folder."""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from fldp.cli import app
from fldp.cli.options import note
from fldp.cli.serve_commands import open_store
from fldp.errors import FldpError, ParameterError

tokens = typer.Typer(help="Make, list and revoke the tokens of a collector.", no_args_is_help=True)
app.add_typer(tokens, name="token")

Data = Annotated[Path | None, typer.Option("--data", help="The folder of the collector's database.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@tokens.command()
def create(
    scope: Annotated[str, typer.Argument(help="admin, read or send.")],
    data: Data = None,
    survey: Annotated[str | None, typer.Option(help="Good for this survey only, by its name.")] = None,
    expires: Annotated[str | None, typer.Option(help="Until when, such as 2030-01-01T00:00:00Z.")] = None,
) -> None:
    """Make a token and print it; it is never shown again."""
    from fldp.collector import auth, clock
    from fldp.constraints import one_of

    one_of(*auth.SCOPES)("token", "scope", scope)
    until = _until(expires)
    with _Opened(data) as store:
        secret, made = auth.create_token(store, clock.system(), scope, survey, until)
    typer.echo(secret)
    note(f"token {made.id}, scope {scope}" + (f", for survey {survey}" if survey else ""))


def _until(expires: str | None) -> datetime | None:
    from fldp.collector.clock import parse_time

    found = None if expires is None else parse_time(expires)
    if expires is not None and found is None:
        raise ParameterError(f"token: expires must be a time such as 2030-01-01T00:00:00Z, got {expires!r:.60}")
    return found


@tokens.command(name="list")
def list_(data: Data = None, as_json: AsJson = False) -> None:
    """List all tokens: never what they are, only what they are good for."""
    with _Opened(data) as store:
        found = store.tokens()
    names = ("id", "scope", "survey", "created", "expires", "revoked")
    rows: list[dict[str, Any]] = [{name: getattr(token, name) for name in names} for token in found]
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        typer.echo("  ".join(f"{row[name] or '-':<20}" for name in names).rstrip())


@tokens.command()
def revoke(identifier: Annotated[str, typer.Argument(help="The token's id.")], data: Data = None) -> None:
    """Revoke a token, from this moment on."""
    from fldp.collector import clock

    with _Opened(data) as store:
        if not store.revoke_token(identifier, clock.text(clock.system())):
            raise FldpError(f"token: there is none of id {identifier!r:.60}")
    note(f"token {identifier} is revoked")


class _Opened:
    """The store of a folder, closed at the end."""

    def __init__(self, data: Path | None) -> None:
        self._store = open_store(data or Path("."))

    def __enter__(self) -> Any:
        return self._store

    def __exit__(self, *error: object) -> None:
        self._store.close()
