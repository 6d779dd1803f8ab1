"""Tables and columns of every store, by the same names, so that any store can be copied to any other."""

from collections.abc import Iterable, Iterator

from fldp.collector.storage.protocol import PastVersion, Row
from fldp.support.progress import Progress

OWNED = ("segments", "tallies", "keys", "tickets")  # their rows belong to a survey
COUNTED = ("segments", "keys", "tickets", "tokens")  # SQLite keeps their numbers and the sums of their checksums
CHECKED = (*COUNTED, "gateway_keys", "issuers")  # their rows end with a checksum of all that is before it
COLUMNS = {
    "surveys": "number, version, name, specification, created, closed",
    "segments": "survey, day, kind, n, folded, data, checksum",
    "tallies": "survey, day, n, state, withdrawn",
    "keys": "survey, key, body, accepted, day, withdrawn, checksum",
    "tickets": "survey, ticket, spent, checksum",
    "tokens": "id, hash, scope, survey, created, expires, revoked, checksum",
    "gateway_keys": "number, private, created, checksum",
    "past_versions": "number, version, name, created, closed",
    "issuers": "key_id, private, created, version, checksum",
}
_ORDER = {
    "surveys": "number",
    "segments": "survey, folded, day, kind, n, substr(data, 1, 64)",
    "tallies": "survey, day",
    "keys": "survey, key",
    "tickets": "survey, ticket",
    "gateway_keys": "number",
    "past_versions": "number",
    "issuers": "key_id",
}


# The numbers that have rows but no survey.
ORPHANS = (
    "WITH RECURSIVE leap AS (SELECT min(survey) AS survey FROM {table} UNION ALL"
    " SELECT (SELECT min(survey) FROM {table} WHERE survey > leap.survey) FROM leap WHERE survey IS NOT NULL)"
    " SELECT survey FROM leap WHERE survey IS NOT NULL AND survey NOT IN (SELECT number FROM surveys)"
)

# All versions of a survey that there ever were, the newest first; the last column says whether it was deleted.
VERSIONS = (
    "SELECT version, created, closed, gone FROM (SELECT number, version, created, closed, 0 AS gone FROM surveys"
    " WHERE name = {mark} UNION ALL SELECT number, version, created, closed, 1 FROM past_versions WHERE name = {mark})"
    " AS every_version ORDER BY number DESC"
)


def past_versions(rows: Iterable[Row]) -> list[PastVersion]:
    """Return versions, each once: one that was deleted may have been published again."""
    versions: dict[str, PastVersion] = {}
    for version, created, closed, gone in rows:
        versions.setdefault(version, PastVersion(version, created, closed, bool(gone)))
    return list(versions.values())


def counted(rows: Iterator[Row], advance: Progress) -> Iterator[Row]:
    """Yield rows, and tell of each."""
    for row in rows:
        yield row
        advance(1)


def rows_of(table: str, place: str) -> str:
    """Return the query for all rows of a table that belong to somebody, in an order that says nothing about senders.

    Tokens are in the order in which they were made, which only the store knows: ``place``.

    >>> rows_of("tickets", "rowid").partition(" WHERE ")[0]
    'SELECT survey, ticket, spent, checksum FROM tickets'
    """
    return f"SELECT {COLUMNS[table]} FROM {_owned(table)} ORDER BY {_ORDER.get(table, place)}"  # noqa: S608


def number_of(table: str) -> str:
    """Return the query for how many rows these are."""
    return f"SELECT count(*) FROM {_owned(table)}"  # noqa: S608


def _owned(table: str) -> str:
    return f"{table} WHERE survey IN (SELECT number FROM surveys)" if table in OWNED else table  # noqa: S608
