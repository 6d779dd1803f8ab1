"""The address of a collector, and which secrets may go to it over plain HTTP."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from fldp.errors import ParameterError
from fldp.support.validation import fail
from fldp.support.web_origin import origin_of

_URL = re.compile(r"(https?://[^/?#@\\\s]+)(/[A-Za-z0-9._~/-]*)?", re.IGNORECASE | re.ASCII)
_SECRET = re.compile(r"[A-Za-z0-9._~+/=-]{1,512}", re.ASCII)


@dataclass(frozen=True)
class Address:
    """A collector's address: an origin, and a path where it does not live at the top.

    >>> Address.of("HTTPS://Collector.Example:443/surveys/")
    Address(origin='https://collector.example', path='/surveys')
    """

    origin: str
    path: str = ""

    @classmethod
    def of(cls, url: str) -> "Address":
        """Read a URL; one with a user, a query or a fragment is refused."""
        parts = _URL.fullmatch(url) if isinstance(url, str) else None
        try:
            if parts and not {".", ".."} & set((parts[2] or "").split("/")):
                return cls(origin_of(parts[1]), (parts[2] or "").rstrip("/"))
        except ParameterError:
            pass
        shown = re.sub(r"//[^/]*@", "//...@", url) if isinstance(url, str) else url  # a password is not shown
        raise fail("Client", "url", "an address such as https://collector.example", shown)

    @property
    def private(self) -> bool:
        """Whether nobody on the network can read along: TLS, or this machine."""
        return self.origin.startswith("https://") or self.loopback

    @property
    def loopback(self) -> bool:
        """Whether this is this machine."""
        host = urlsplit(self.origin).hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return self.origin + self.path


def presentable(text: str) -> bool:
    """Whether a text can be a header, and does nothing to a terminal."""
    return _SECRET.fullmatch(text) is not None


def secret(what: str, text: str | None, address: Address, allow_insecure: bool) -> str | None:
    """Check that a token or a ticket can be a header, and may go to an address; it is never shown."""
    if text is None:
        return None
    if not isinstance(text, str) or not presentable(text):
        raise ParameterError(f"Client: {what} must be 1 to 512 letters, digits and ._~+/=- (not shown)")
    if not (address.private or allow_insecure):
        raise ParameterError(
            f"Client: {what} must not go over plain http to {address.origin}, where others can read it; "
            "use https, or allow_insecure=True (--insecure-http)"
        )
    return text
