"""Database: the address of a PostgreSQL database, shown without its secrets."""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

SCHEMES = ("postgresql", "postgres")
_HARMLESS = ("host", "hostaddr", "port", "dbname", "user", "sslmode", "target_session_attrs", "application_name")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^:@\[\]]*)(:[0-9]{1,5})?")


class Database:
    """An address such as ``postgresql://collector@db.example/fldp``.

    Punctuation in a password must be percent-encoded, or a part of the password is taken for a host or a path.

    >>> str(Database("postgresql://collector:secret@db.example:5433/fldp?sslmode=verify-full&password=x"))
    'postgresql://collector@db.example:5433/fldp?sslmode=verify-full'
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        user, at, hosts = parts.netloc.rpartition("@")
        if parts.scheme not in SCHEMES or "://" not in url or not url.isprintable() or not url.isascii():
            raise ValueError
        if "#" in url or "@" in parts.path + parts.query or not all(map(_HOST.fullmatch, hosts.split(","))):
            raise ValueError
        query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name in _HARMLESS])
        self.url = url
        self._shown = f"{parts.scheme}://{user.partition(':')[0]}{at}{hosts}{parts.path}{'?' if query else ''}{query}"

    def __str__(self) -> str:
        return self._shown

    def __repr__(self) -> str:
        return f"Database({self._shown!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Database) and self.url == other.url

    def __hash__(self) -> int:
        return hash(self.url)
