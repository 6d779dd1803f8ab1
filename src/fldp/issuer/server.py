"""The issuer's process: one port, until it is told to stop."""

import asyncio
from collections.abc import Callable

from fldp.collector.server import allow_connections, bindable, ignore_signals
from fldp.collector.server import exit_now as exit_now
from fldp.issuer.app import Issuer, IssuerSettings
from fldp.relay.server import MAX_CONNECTIONS, Place, serve

_LAST_SECONDS = 10.0  # for requests that are signed when it is told to stop


def run(settings: IssuerSettings, place: Place, say: Callable[[str], None]) -> None:
    """Issue until SIGTERM or SIGINT; what is being signed then is answered before it ends."""
    allow_connections(MAX_CONNECTIONS)
    place = Place(bindable(place.host, place.port), place.port, place.certificate, place.key)
    issuer = Issuer(settings)
    try:
        asyncio.run(serve(issuer, place, lambda: say(f"issuing on {place.url}"), _LAST_SECONDS))
    finally:
        ignore_signals()
        issuer.stop()
