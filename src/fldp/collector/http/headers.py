"""Headers that all answers have."""

from collections.abc import Mapping, Sequence

from starlette.datastructures import MutableHeaders

Raw = list[tuple[bytes, bytes]]

HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "server": "fldp",
}
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_ONLY_HTTPS = "max-age=31536000"


def completed(sent: Sequence[tuple[bytes, bytes]], readable: Mapping[str, str], scheme: str) -> Raw:
    """Return the headers of an answer with those that all have; ``readable`` are those that let a page read it."""
    own = {name for name, _ in sent}  # a page has a policy of its own
    raw = [*sent, *(pair for pair in _RAW_HEADERS if pair[0] not in own)]
    headers = MutableHeaders(raw=raw)
    headers.setdefault("Cache-Control", "no-store")
    headers.update(readable)
    if scheme == "https":
        headers["Strict-Transport-Security"] = _ONLY_HTTPS
    return raw
