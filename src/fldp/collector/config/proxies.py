"""Proxies: the address and the scheme of a request behind proxies, of which only named ones are trusted."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any

Scope = Mapping[str, Any]  # of a request, as ASGI has it
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?")
_PROXIES = (b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via")


def networks(text: str) -> tuple[Network, ...]:
    """Return the networks of a list such as ``10.0.0.0/8, ::1``.

    >>> networks("127.0.0.1, 10.0.0.0/8")
    (IPv4Network('127.0.0.1/32'), IPv4Network('10.0.0.0/8'))
    """
    return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())


def sender(scope: Scope, trusted: Sequence[Network]) -> Address | None:
    """Return the address that a request comes from: the nearest one that is not a trusted proxy.

    A client can write into ``X-Forwarded-For`` what it likes. A proxy adds to its end the address it was asked from, so
    the list is read from its end, and only as long as those who wrote it are trusted.

    >>> scope = {"client": ("10.0.0.1", 1), "headers": [(b"x-forwarded-for", b"6.6.6.6, 192.0.2.7")]}
    >>> sender(scope, networks("10.0.0.0/8")), sender(scope, ())
    (IPv4Address('192.0.2.7'), IPv4Address('10.0.0.1'))
    """
    address = _peer(scope)
    forwarded = ",".join(_values(scope, b"x-forwarded-for")).split(",")
    # Read from the end: what stands before the first address that is not trusted was written by a stranger.
    while _is_trusted(address, trusted) and any(forwarded):
        address = _address(forwarded.pop().strip())
    return address


def scheme(scope: Scope, trusted: Sequence[Network]) -> str:
    """Return whether a request came over ``http`` or ``https``; a trusted proxy is asked first.

    >>> scope = {"client": ("10.0.0.1", 1), "scheme": "http", "headers": [(b"x-forwarded-proto", b"https")]}
    >>> scheme(scope, networks("10.0.0.1")), scheme(scope, ())
    ('https', 'http')
    """
    own = str(scope.get("scheme", "http"))
    if not trusted or not _is_trusted(_peer(scope), trusted):
        return own
    forwarded = ",".join(_values(scope, b"x-forwarded-proto")).rpartition(",")[2].strip().lower()
    return forwarded if forwarded in ("http", "https") else own


def is_local(scope: Scope, trusted: Sequence[Network]) -> bool:
    """Whether a request comes from this machine and was meant for it; False behind proxies, where nobody can know.

    A web page elsewhere can have its own name point to 127.0.0.1 (DNS rebinding), so that the browser on this machine
    asks on its behalf. Its requests come from this machine, but ``Host`` names the page's site.

    >>> scope = {"client": ("127.0.0.1", 1), "headers": [(b"host", b"localhost:8080")]}
    >>> is_local(scope, ()), is_local({**scope, "headers": [(b"host", b"rebound.example:8080")]}, ())
    (True, False)
    """
    if trusted or any(name in _PROXIES for name, _ in scope["headers"]):
        return False
    peer, hosts = _peer(scope), _values(scope, b"host")
    return peer is not None and peer.is_loopback and len(hosts) == 1 and _names_loopback(hosts[0])


def _names_loopback(host: str) -> bool:
    """Whether a ``Host`` is this machine's own name or loopback address, whatever the port."""
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = match[1].lower()
    address = _address(name)
    return name == "localhost" if address is None else address.is_loopback


def _values(scope: Scope, wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]


def _peer(scope: Scope) -> Address | None:
    return _address((scope.get("client") or ("",))[0])


def _is_trusted(address: Address | None, trusted: Sequence[Network]) -> bool:
    return address is not None and any(address in network for network in trusted)


def _address(text: str) -> Address | None:
    """Return the address in a text, without the port that some proxies add, or None."""
    plain = text.partition("]")[0].lstrip("[") if text.startswith("[") else text
    if plain.count(":") == 1:
        plain = plain.partition(":")[0]
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
