"""The commands about anonymity: a relay for a collector, and the keys of its gateway."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fldp.cli.options import note
from fldp.cli.serve import Data, Url, open_store
from fldp.cli.shell import app
from fldp.errors import ParameterError

if TYPE_CHECKING:
    from fldp.client.address import Address
    from fldp.collector.config.proxies import Network

gateway = typer.Typer(help="The keys that relayed requests are encrypted to.", no_args_is_help=True)
app.add_typer(gateway, name="gateway")


@app.command()
def relay(
    to: Annotated[str, typer.Option("--to", help="The collector's address; it runs with --ohttp true.")],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8081,
    hold: Annotated[
        float, typer.Option(min=0, max=60, help="Seconds: each request waits a random time up to this.")
    ] = 5.0,
    rate: Annotated[float, typer.Option(min=0, help="Requests a second from one address; 0 is no limit.")] = 1.0,
    pages: Annotated[
        bool, typer.Option("--pages", help="Serve the page on which people answer, at /s/#NAME, from here.")
    ] = False,
    issuer: Annotated[
        str | None, typer.Option(help="Who issues passes to its surveys, if not the collector: the page may ask there.")
    ] = None,
    tls_certificate: Annotated[Path | None, typer.Option(help="A PEM file: the certificate and its chain.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="A PEM file: the key of the certificate.")] = None,
    trusted_proxies: Annotated[str, typer.Option(help="Proxies in front of it whose X-Forwarded-For is trusted.")] = "",
) -> None:
    """Carry requests to a collector that somebody else runs: you see who sends, they see what, nobody sees both."""
    from fldp.support import optional_imports

    for needed in ("starlette", "granian", "httpx"):
        optional_imports.load(needed, "relay")
    from fldp.relay import server
    from fldp.relay.app import RelaySettings

    proxies = proxy_networks("relay", trusted_proxies)
    if (tls_certificate is None) != (tls_key is None):
        raise ParameterError("relay: --tls-certificate and --tls-key must be given together")
    origin = None if issuer is None else _address("--issuer", issuer).origin
    settings = RelaySettings(_address("--to", to), hold, rate, trusted_proxies=proxies, pages=pages, issuer=origin)
    server.run(settings, server.Place(host, port, tls_certificate, tls_key), lambda line: typer.echo(f"fldp: {line}"))
    server.exit_now()


def _address(option: str, text: str) -> "Address":
    """Read the address that an option gives; messages name the option."""
    from fldp.client.address import Address

    try:
        return Address.of(text)
    except ParameterError as error:
        raise ParameterError(str(error).replace("Client: url", f"fldp: {option}", 1)) from error


def proxy_networks(owner: str, text: str) -> "Sequence[Network]":
    """Read the networks of proxies that are believed."""
    from fldp.collector.config.proxies import networks

    try:
        return networks(text)
    except ValueError:
        raise ParameterError(
            f"{owner}: --trusted-proxies must be addresses or networks, such as 10.0.0.0/8, got {text!r:.80}"
        ) from None


@gateway.command()
def rotate(data: Data = None, database: Url = None) -> None:
    """Add a key. The previous one stays valid, so that requests under way still arrive; older ones are deleted."""
    from fldp.collector.config import clock
    from fldp.collector.service.gateway_keys import rotate as add

    store = open_store(data, database)
    try:
        add(store, clock.text(clock.system()))
        newest = store.gateway_keys()[0].number
    finally:
        store.close()
    note(f"key {newest} is the newest; collectors use it within a minute, and relays within an hour")
