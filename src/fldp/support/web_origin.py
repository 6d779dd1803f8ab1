"""Origins: whom an answer is given to, as scheme, host and port."""

import ipaddress
import re

from fldp.support.validation import fail

_ORIGIN = re.compile(r"(https?)://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?/?", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label that makes a host an address: 127.1 is 127.0.0.1
_PORTS = {"http": 80, "https": 443}


def origin_of(text: str) -> str:
    """Return an origin in its one form, so that no other spelling of it has a ledger of its own.

    >>> origin_of("HTTPS://Collector.Example.:443/"), origin_of("http://[0:0::1]:8000")
    ('https://collector.example', 'http://[::1]:8000')
    >>> origin_of("http://[::ffff:7f00:1]")
    'http://127.0.0.1'
    """
    found = _ORIGIN.fullmatch(text) if isinstance(text, str) else None
    host = _host(found[2].lower()) if found else ""
    port = int(found[3] or _PORTS[found[1].lower()]) if found else 0
    if not found or not host or not 0 < port < 65536:
        raise fail("participant", "origin", "an origin such as https://example.org", text)
    scheme = found[1].lower()
    return f"{scheme}://{host}" + ("" if port == _PORTS[scheme] else f":{port}")


def _host(name: str) -> str:
    """Return a host in its one form, or nothing; an address of IPv4 has many others, which are refused."""
    try:
        if name.startswith("["):
            address = ipaddress.IPv6Address(name[1:-1])
            return str(address.ipv4_mapped or f"[{address}]")
        host = name.rstrip(".")
        return str(ipaddress.IPv4Address(host)) if _NUMBER.fullmatch(host.rpartition(".")[2]) else host
    except ValueError:
        return ""
