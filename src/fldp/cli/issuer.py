"""The commands about passes: keys that sign them, and an issuer that is not the collector."""

from pathlib import Path
from typing import Annotated

import typer

from fldp.cli.collector_options import CollectorOptions, InsecureHttp, TokenText, ToOrStore, address_unless
from fldp.cli.options import note
from fldp.cli.relay import proxy_networks
from fldp.cli.shell import app
from fldp.cli.ticket import check_output, write_tickets
from fldp.errors import FldpError, ParameterError
from fldp.support.validation import counted

issuers = typer.Typer(help="Make keys that sign passes, and sign.", no_args_is_help=True)
app.add_typer(issuers, name="issuer")

_Tickets = Annotated[Path, typer.Option("--tickets", help="The file of its tickets, as fldp issuer tickets makes it.")]


@issuers.command()
def create(
    to: ToOrStore = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", help="Write the key into a new file for fldp issuer serve, instead of storing it in the collector."
        ),
    ] = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Make a key that signs passes, and print its public part: the issuer_key of one survey.

    The collector keeps the private part; with --key it is in a file, for whoever issues in the collector's place.
    """
    address = address_unless(to, key)
    if key is not None:
        typer.echo(_key_in_file(key))
        return
    if address is None:
        raise ParameterError("fldp: say where the key is kept: --to ADDRESS, or --key FILE for fldp issuer serve")
    with CollectorOptions(address, token, insecure_http).connected() as client:
        typer.echo(client.create_issuer())


def _key_in_file(path: Path) -> str:
    from fldp.collector.service.tokens import secret_file
    from fldp.passes.issuing import PrivateKey
    from fldp.passes.tokens import key_text

    with secret_file(path) as write:
        key = PrivateKey.generate()
        write(key.pem.decode().rstrip("\n"))
    note(f"the private key is in {path}: whoever has it can make any number of passes")
    return key_text(key.public)


@issuers.command()
def tickets(
    tickets: _Tickets,
    count: Annotated[int, typer.Option("--count", min=1, max=100_000, help="How many, one for each person.")],
    links: Annotated[
        str | None, typer.Option("--links", help="Write whole links to this page: https://collector.example/s/NAME")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="A new CSV file, for its owner only; - is standard output."),
    ] = None,
) -> None:
    """Create single-use tickets for fldp issuer serve, as CSV. They are shown only once; the file has hashes only.

    Send each person one link, and keep no list of who got which.
    """
    from fldp.issuer.tickets import TicketFile

    check_output(output)
    column, start = ("ticket", "") if links is None else ("link", f"{links}{'&' if '#' in links else '#'}ticket=")
    write_tickets(lambda: TicketFile(tickets, make=True).create(count), column, start, output)
    note(f"{counted(count, 'ticket')} in {tickets}")


@issuers.command()
def serve(
    key: Annotated[Path, typer.Option("--key", help="A PEM file, as fldp issuer create --key makes it.")],
    tickets: _Tickets,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8082,
    rate: Annotated[float, typer.Option(min=0, help="Requests a second from one address; 0 is no limit.")] = 1.0,
    tls_certificate: Annotated[Path | None, typer.Option(help="A PEM file: the certificate and its chain.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="A PEM file: the key of the certificate.")] = None,
    trusted_proxies: Annotated[str, typer.Option(help="Proxies in front of it whose X-Forwarded-For is trusted.")] = "",
) -> None:
    """Sign passes for a collector that somebody else runs: you see who has a ticket, they see reports."""
    from fldp.support import optional_imports

    for needed in ("starlette", "granian"):
        optional_imports.load(needed, "relay")
    from fldp.issuer import server
    from fldp.issuer.app import IssuerSettings
    from fldp.issuer.tickets import TicketFile
    from fldp.passes.issuing import PrivateKey
    from fldp.relay.server import Place

    if (tls_certificate is None) != (tls_key is None):
        raise ParameterError("issuer: --tls-certificate and --tls-key must be given together")
    try:
        private = PrivateKey.from_pem(key.read_bytes())
    except OSError as error:
        raise FldpError(f"{key}: cannot be read: {error.strerror}") from None
    settings = IssuerSettings(private, TicketFile(tickets), rate, proxy_networks("issuer", trusted_proxies))
    server.run(settings, Place(host, port, tls_certificate, tls_key), lambda line: typer.echo(f"fldp: {line}"))
    server.exit_now()
