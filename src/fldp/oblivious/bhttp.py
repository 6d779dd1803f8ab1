"""Binary HTTP (RFC 9292): requests and replies of known length as bytes, padded so that sizes tell little.

Only messages of known length are read (framing 0 and 1). Fields that the sender cut off at the end are empty, as the
RFC has it, and padding must be zero. Nothing is allocated by a length that a message merely claims.
"""

from dataclasses import dataclass, field

SIZES = (1 << 10, 1 << 12, 1 << 14, 1 << 16)  # bytes, padded
_REQUEST, _REPLY = 0, 1
_INFORMATIONAL = range(100, 200)
_STATUSES = range(200, 600)
_MAX_FIELDS = 64
Headers = tuple[tuple[bytes, bytes], ...]


class MessageError(ValueError):
    """Bytes that are not a binary HTTP message."""


@dataclass(frozen=True)
class BinaryRequest:
    """A request. Names of headers are in lower case."""

    method: bytes
    path: bytes
    headers: Headers = ()
    content: bytes = field(default=b"", repr=False)
    scheme: bytes = b"https"
    authority: bytes = b""

    def encode(self) -> bytes:
        """Return the bytes, without padding."""
        control = b"".join(map(_vector, (self.method, self.scheme, self.authority, self.path)))
        return _number(_REQUEST) + control + _rest(self.headers, self.content)

    @classmethod
    def decode(cls, data: bytes) -> "BinaryRequest":
        """Read a request, or raise ``MessageError``."""
        reader = _Reader(data)
        if reader.number() != _REQUEST:
            raise MessageError("the message is no request of known length")
        method, scheme, authority, path = (reader.vector() for _ in range(4))
        if not method or not path:
            raise MessageError("the request has no method or no path")
        return cls(method, path, *reader.rest(), scheme=scheme, authority=authority)


@dataclass(frozen=True)
class BinaryReply:
    """The final reply to a request."""

    status: int
    headers: Headers = ()
    content: bytes = field(default=b"", repr=False)

    def encode(self) -> bytes:
        """Return the bytes, without padding."""
        return _number(_REPLY) + _number(self.status) + _rest(self.headers, self.content)

    @classmethod
    def decode(cls, data: bytes) -> "BinaryReply":
        """Read a reply; informational ones before it are skipped."""
        reader = _Reader(data)
        if reader.number() != _REPLY:
            raise MessageError("the message is no reply of known length")
        while (status := reader.number()) in _INFORMATIONAL:
            reader.fields()
        if status not in _STATUSES:
            raise MessageError(f"a reply cannot have the status {status}")
        return cls(status, *reader.rest())


def pad(data: bytes) -> bytes:
    """Fill a message up to the next size; one beyond the largest raises ``MessageError``.

    >>> [len(pad(bytes(size))) for size in (0, 1024, 1025)]
    [1024, 1024, 4096]
    """
    for size in SIZES:
        if len(data) <= size:
            return data.ljust(size, b"\0")
    raise MessageError(f"a message of {len(data)} bytes is larger than {SIZES[-1]}; send it without a relay")


def _number(value: int) -> bytes:
    """Return a QUIC variable-length integer, as short as it can be."""
    for power, size in enumerate((1, 2, 4, 8)):
        if value < 1 << (8 * size - 2):
            return (value | power << (8 * size - 2)).to_bytes(size)
    raise MessageError("a length is at most 2^62 - 1")


def _vector(data: bytes) -> bytes:
    return _number(len(data)) + data


def _rest(headers: Headers, content: bytes) -> bytes:
    lines = b"".join(_vector(name) + _vector(value) for name, value in headers)
    return _vector(lines) + _vector(content) + _vector(b"")  # no trailers


class _Reader:
    """Reads forward; whatever is cut off or left over is refused."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def _done(self) -> bool:
        return self._at == len(self._data)

    def number(self) -> int:
        size = 1 << (self._take(1)[0] >> 6)
        self._at -= 1
        return int.from_bytes(self._take(size)) & (1 << (8 * size - 2)) - 1

    def vector(self) -> bytes:
        return self._take(self.number())

    def _take(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise MessageError("the message is cut off")
        taken = self._data[self._at : self._at + size]
        self._at += size
        return taken

    def fields(self) -> Headers:
        """Read one section of header or trailer lines."""
        lines, fields = _Reader(self.vector()), list[tuple[bytes, bytes]]()
        while not lines._done:
            if len(fields) == _MAX_FIELDS:
                raise MessageError(f"a message has at most {_MAX_FIELDS} header lines")
            fields.append((lines.vector(), lines.vector()))
        return tuple(fields)

    def rest(self) -> tuple[Headers, bytes]:
        """Read headers, content, trailers and padding; from any of them on, the message may end."""
        headers = () if self._done else self.fields()
        content = b"" if self._done else self.vector()
        if not self._done:
            self.fields()
        if any(self._data[self._at :]):
            raise MessageError("padding must be zero")
        return headers, content
