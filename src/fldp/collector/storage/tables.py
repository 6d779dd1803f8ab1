"""Tables and columns of every store, by the same names, so that any store can be copied to any other."""

from collections.abc import Iterator
from typing import Any

from fldp.support.progress import Progress

Row = tuple[Any, ...]

OWNED = ("segments", "tallies", "keys", "tickets")  # their rows belong to a survey
COUNTED = ("segments", "keys", "tickets", "tokens")  # SQLite keeps their numbers and the sums of their checksums
CHECKED = (*COUNTED, "gateway_keys")  # their rows end with a checksum of all that is before it
COLUMNS = {
    "surveys": "number, version, name, specification, created, closed",
    "segments": "survey, day, kind, n, folded, data, checksum",
    "tallies": "survey, day, n, state",
    "keys": "survey, key, body, accepted, checksum",
    "tickets": "survey, ticket, spent, checksum",
    "tokens": "id, hash, scope, survey, created, expires, revoked, checksum",
    "gateway_keys": "number, private, created, checksum",
}
_ORDER = {
    "surveys": "number",
    "segments": "survey, folded, day, kind, n, substr(data, 1, 64)",
    "tallies": "survey, day",
    "keys": "survey, key",
    "tickets": "survey, ticket",
    "gateway_keys": "number",
}


def counted(rows: Iterator[Row], advance: Progress) -> Iterator[Row]:
    """Yield rows, and tell of each."""
    for row in rows:
        yield row
        advance(1)


def rows_of(table: str, place: str) -> str:
    """Return the query for all rows of a table that belong to somebody, in an order that says nothing about senders.

    Tokens are in the order in which they were made, which only the store knows: ``place``.

    >>> rows_of("tallies", "rowid")
    'SELECT survey, day, n, state FROM tallies WHERE survey IN (SELECT number FROM surveys) ORDER BY survey, day'
    """
    return f"SELECT {COLUMNS[table]} FROM {_owned(table)} ORDER BY {_ORDER.get(table, place)}"  # noqa: S608


def number_of(table: str) -> str:
    """Return the query for how many rows these are."""
    return f"SELECT count(*) FROM {_owned(table)}"  # noqa: S608


def _owned(table: str) -> str:
    return f"{table} WHERE survey IN (SELECT number FROM surveys)" if table in OWNED else table  # noqa: S608
