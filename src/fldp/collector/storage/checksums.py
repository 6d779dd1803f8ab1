"""Checksums of rows: each row of some tables carries one, so that a changed bit is noticed wherever it is read."""

import hashlib
import struct

from fldp.collector.storage.protocol import Row, StoreError

HASH_BYTES = 32  # of SHA-256
_NUMBER = struct.Struct(">cq")
_KEY = struct.Struct(f">cq9s{HASH_BYTES}s9s{HASH_BYTES}scq9s{HASH_BYTES}scq")
_OF_HASH = _NUMBER.pack(b"\3", HASH_BYTES)
_CHECKSUM = struct.Struct(">I28x")


def row_checksum(*fields: object) -> int:
    """Return 32 bits of SHA-256 over the fields of a row, each with its type and length.

    The types matter: in a damaged SQLite file a blob may turn into a text of the same bytes. The migration of
    PostgreSQL computes the same in SQL.

    >>> row_checksum(1, b"key", b"body", 3), row_checksum(1, "key", b"body", 3)
    (1455422777, 2644317414)
    """
    mixed = hashlib.sha256()
    for field in fields:
        for part in _encoded(field):  # by itself: a row may have a mebibyte, which is not to be copied
            mixed.update(part)
    return int.from_bytes(mixed.digest()[:4], "big")


def _encoded(field: object) -> tuple[bytes, ...]:
    if isinstance(field, int):
        return (_NUMBER.pack(b"\1", field),)
    if isinstance(field, bytes):
        return _NUMBER.pack(b"\3", len(field)), field
    if isinstance(field, str):
        data = field.encode(errors="surrogatepass")
        return _NUMBER.pack(b"\2", len(data)), data
    # The last is never written, only read from damage.
    return (b"\0" if field is None else b"\4" + repr(field).encode(),)


def with_checksum(row: Row) -> Row:
    """Return a row with its checksum at the end."""
    return (*row, row_checksum(*row))


def key_with_checksum(row: Row) -> Row:
    """Return a row of keys with its checksum, in the form of earlier releases where the row has no newer columns.

    So their rows need not be written anew, and what they write beside this release is intact.

    >>> key_with_checksum((1, b"key", b"body", 3, None, 0))[-1] == row_checksum(1, b"key", b"body", 3)
    True
    >>> row = (1, b"k" * 32, b"b" * 32, 3, b"d" * 32, 1)
    >>> key_with_checksum(row) == with_checksum(row)
    True
    """
    survey, key, body, accepted, day, withdrawn = row
    if day is None or not len(key) == len(body) == len(day) == HASH_BYTES:
        return (*row, row_checksum(*_said(row)))
    # The same bytes in one step: nearly all rows have three hashes, and every report has a row.
    encoded = _KEY.pack(b"\1", survey, _OF_HASH, key, _OF_HASH, body, b"\1", accepted, _OF_HASH, day, b"\1", withdrawn)
    return (*row, *_CHECKSUM.unpack(hashlib.sha256(encoded).digest()))


def _said(row: Row) -> Row:
    return row[:-2] if row[-2:] == (None, 0) else row


def is_intact(row: Row, table: str = "") -> bool:
    """Whether a row that was read matches the checksum at its end."""
    content = _said(row[:-1]) if table == "keys" else row[:-1]
    return bool(row_checksum(*content) == row[-1])


def verified(table: str, row: Row) -> Row:
    """Return a row without its checksum; raise StoreError if it is damaged."""
    if not is_intact(row, table):
        raise StoreError(f"store: a row of {table} is damaged; run fldp fsck")
    return row[:-1]
