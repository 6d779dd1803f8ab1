"""The commands about tokens: of a collector that runs (``--to``), or in its database (``--data``, ``--database``)."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from fldp.cli.collector_options import CollectorOptions, InsecureHttp, TokenText, ToOrStore, address_unless, show_rows
from fldp.cli.options import AsJson, note
from fldp.cli.serve import Data, Url, is_named, open_store
from fldp.cli.shell import app
from fldp.errors import FldpError, ParameterError

if TYPE_CHECKING:
    from fldp.client.replies import Token

tokens = typer.Typer(help="Create, list and revoke the tokens of a collector.", no_args_is_help=True)
app.add_typer(tokens, name="token")

COLUMNS = ("id", "scope", "survey", "created", "expires", "revoked")


class _Keeper(Protocol):
    """What manages tokens: a client of the collector, or its database."""

    def create_token(self, scope: str, *, survey: str | None, expires: str | None) -> "Token": ...

    def tokens(self) -> "list[Token]": ...

    def revoke_token(self, token_id: str) -> None: ...


class _Stored:
    """The tokens in a collector's database, opened directly."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def create_token(self, scope: str, *, survey: str | None, expires: str | None) -> "Token":
        from fldp.client.replies import Token
        from fldp.collector.config import clock
        from fldp.collector.service import tokens as auth
        from fldp.support.validation import MistakeList

        mistakes, now = MistakeList(), clock.system()
        terms = auth.TokenTerms.check({"scope": scope, "survey": survey, "expires": expires}, now, mistakes)
        mistakes.refuse("token")
        secret, created = auth.create_token(self._store, now, terms.scope, terms.survey, terms.expires)
        return Token(created.id, scope, survey, created.created, created.expires, token=secret)

    def tokens(self) -> "list[Token]":
        from fldp.client.replies import Token

        return [Token(*(getattr(token, name) for name in COLUMNS)) for token in self._store.tokens()]

    def revoke_token(self, token_id: str) -> None:
        from fldp.collector.config import clock

        if not self._store.revoke_token(token_id, clock.text(clock.system())):
            raise FldpError(f"token: no token has the id {token_id!r:.60}")


@dataclass(frozen=True)
class _Where:
    """Where the tokens are."""

    to: str | None
    data: Path | None
    database: str | None


@contextmanager
def _keeper(where: _Where, token: str | None, insecure_http: bool, *, make: bool = False) -> Iterator[_Keeper]:
    if where.to is not None and (where.data is not None or where.database is not None):
        raise ParameterError("fldp: give --to, --data or --database, one of them")
    to = address_unless(where.to, where.data, where.database)
    if to is not None:
        with CollectorOptions(to, token, insecure_http).connected() as client:
            yield client
        return
    store = open_store(where.data, where.database, make=make and is_named(where.data, where.database))
    try:
        yield _Stored(store)
    finally:
        store.close()


@tokens.command()
def create(
    scope: Annotated[str, typer.Argument(help="What it may do: admin, read or send.")],
    to: ToOrStore = None,
    data: Data = None,
    database: Url = None,
    survey: Annotated[str | None, typer.Option(help="The only survey that it is valid for, by name.")] = None,
    expires: Annotated[str | None, typer.Option(help="When it expires, such as 2030-01-01T00:00:00Z.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write it into this new file, for its owner alone, and do not print it."),
    ] = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Create a token, and print it. It is shown only once.

    The first admin token may be made before the collector is: fldp token create admin --data NEW -o admin.token
    """
    from fldp.collector.service.tokens import secret_file

    with secret_file(output) if output else nullcontext(typer.echo) as show:
        with _keeper(_Where(to, data, database), token, insecure_http, make=scope == "admin") as keeper:
            created = keeper.create_token(scope, survey=survey, expires=expires)
        show(str(created.token))
    note(f"token {created.id}: {created.scope}, survey {created.survey or 'any'}, expires {created.expires or 'never'}")


@tokens.command("list")
def list_(
    to: ToOrStore = None,
    data: Data = None,
    database: Url = None,
    token: TokenText = None,
    as_json: AsJson = False,
    insecure_http: InsecureHttp = False,
) -> None:
    """List all tokens by what they allow; the tokens themselves are not stored."""
    with _keeper(_Where(to, data, database), token, insecure_http) as keeper:
        rows = [asdict(each) for each in keeper.tokens()]
    show_rows([{name: row[name] for name in COLUMNS} for row in rows], COLUMNS, as_json)


@tokens.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the token, as list shows it.")],
    to: ToOrStore = None,
    data: Data = None,
    database: Url = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Revoke a token, with immediate effect."""
    with _keeper(_Where(to, data, database), token, insecure_http) as keeper:
        keeper.revoke_token(token_id)
    note(f"token {token_id} is revoked")
