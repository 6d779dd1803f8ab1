"""Web origins: scheme, host and port in one canonical form."""

import ipaddress
import re

from fldp.support.validation import fail

_ORIGIN = re.compile(r"(https?)://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?/?", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label that makes a host an address: 127.1 is 127.0.0.1
_PORTS = {"http": 80, "https": 443}


def origin_of(text: str) -> str:
    """Return an origin in its canonical form, so that no other spelling of it has a ledger of its own.

    >>> origin_of("HTTPS://Collector.Example.:443/"), origin_of("http://[0:0::1]:8000")
    ('https://collector.example', 'http://[::1]:8000')
    >>> origin_of("http://[::ffff:7f00:1]")
    'http://127.0.0.1'
    """
    match = _ORIGIN.fullmatch(text) if isinstance(text, str) else None
    host = _host(match[2].lower()) if match else ""
    port = int(match[3] or _PORTS[match[1].lower()]) if match else 0
    if not match or not host or not 0 < port < 65536:
        raise fail("participant", "origin", "an origin such as https://example.org", text)
    scheme = match[1].lower()
    return f"{scheme}://{host}" + ("" if port == _PORTS[scheme] else f":{port}")


def _host(name: str) -> str:
    """Return a host in its canonical form, or nothing; other spellings of an IPv4 address are refused."""
    try:
        if name.startswith("["):
            address = ipaddress.IPv6Address(name[1:-1])
            return str(address.ipv4_mapped or f"[{address}]")
        host = name.rstrip(".")
        return str(ipaddress.IPv4Address(host)) if _NUMBER.fullmatch(host.rpartition(".")[2]) else host
    except ValueError:
        return ""
