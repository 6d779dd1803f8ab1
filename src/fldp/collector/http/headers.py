"""Headers that all answers have."""

from collections.abc import Mapping, Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import Scope

Raw = list[tuple[bytes, bytes]]

HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "server": "fldp",
}
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_ONLY_HTTPS = "max-age=31536000"
_AROUND = len(": \r\n")  # the bytes of a header beside its name and value


def head_bytes(scope: Scope) -> int:
    """Return the length of the header of a request, including its first line without the method.

    >>> head_bytes({"path": "/v1", "query_string": b"a=1", "headers": [(b"host", b"x")]})
    15
    """
    headers = sum(len(name) + len(value) + _AROUND for name, value in scope["headers"])
    return len(scope["path"]) + len(scope["query_string"]) + headers


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
