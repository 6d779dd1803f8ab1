"""The commands about tokens."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from fldp.cli import app
from fldp.cli.connecting import Collector, InsecureHttp, To, TokenText, show_rows
from fldp.cli.options import note

tokens = typer.Typer(help="Make, list and revoke the tokens of a collector.", no_args_is_help=True)
app.add_typer(tokens, name="token")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@tokens.command()
def create(
    scope: Annotated[str, typer.Argument(help="What it may do: admin, read or send.")],
    to: To,
    survey: Annotated[str | None, typer.Option(help="The name of the only survey that it is good for.")] = None,
    expires: Annotated[str | None, typer.Option(help="Until when it is good, such as 2027-01-31T00:00:00Z.")] = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Make a token, and print it: this once, and never again."""
    with Collector(to, token, insecure_http).connected() as client:
        made = client.create_token(scope, survey=survey, expires=expires)
    typer.echo(made.token)
    note(f"token {made.id}: {made.scope}, survey {made.survey or 'any'}, expires {made.expires or 'never'}")


@tokens.command("list")
def list_(to: To, token: TokenText = None, as_json: AsJson = False, insecure_http: InsecureHttp = False) -> None:
    """List all tokens, without their texts."""
    with Collector(to, token, insecure_http).connected() as client:
        found = [_shown(made) for made in client.tokens()]
    show_rows(found, ("id", "scope", "survey", "created", "expires", "revoked"), as_json)


def _shown(token: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(token).items() if name != "token"}


@tokens.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the token, as list shows it.")],
    to: To,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Make a token worthless."""
    with Collector(to, token, insecure_http).connected() as client:
        client.revoke_token(token_id)
    note(f"token {token_id} is revoked")
