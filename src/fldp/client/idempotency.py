"""Idempotency keys: the same key counts once, however often it is sent."""

import hashlib
import secrets
from base64 import urlsafe_b64encode

from fldp.support.identifiers import IDEMPOTENCY_KEY


def derived_key(*parts: str | bytes | int) -> str:
    """Make a key of what names the thing that is sent, such as its place of origin and its day.

    Two things that can be equal by chance need different parts: a key of the content alone counts them as one.

    >>> derived_key("site 7", "2026-11-03")
    '...'
    >>> derived_key("a", "bc") == derived_key("ab", "c")
    False
    """
    digest = hashlib.sha256(b"fldp key\0")
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return urlsafe_b64encode(digest.digest()).decode().rstrip("=")


def checked_key(key: str | None) -> str:
    """Return a key that a collector takes; a new one if there is none.

    >>> len(checked_key(None))
    43
    """
    if key is None:
        return secrets.token_urlsafe(32)
    return IDEMPOTENCY_KEY("Client", "key", key)
