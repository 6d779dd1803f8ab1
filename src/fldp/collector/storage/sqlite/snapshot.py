"""A view of a SQLite store at one moment: it lives in one read transaction."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from fldp.collector.storage.checksums import verified
from fldp.collector.storage.protocol import REPORTS, TAKEN_REPORTS, Days, Row, Segment, StoredSurvey, StoreError
from fldp.collector.storage.tables import COLUMNS, COUNTED, ORPHANS, OWNED, number_of, rows_of

SEGMENT = f"id, {COLUMNS['segments']}"


def entry(row: Row) -> StoredSurvey:
    """Return a row of surveys. In a damaged file a column may be of any type."""
    kinds = [type(value) for value in row]
    if kinds[:5] != [int, str, str, str, str] or kinds[5] not in (str, type(None)):
        raise StoreError("store: a row of surveys is damaged; run fldp fsck")
    return StoredSurvey(*row)


def segment(row: Row) -> Segment:
    """Return a row of segments; raise StoreError if it is damaged."""
    _, day, kind, n, _, data = verified("segments", row[1:])
    return Segment(kind, n, data, row[0], day)


def orphans(connection: sqlite3.Connection, table: str) -> list[int]:
    """Return numbers that have rows but no survey, by leaping from number to number: there may be many rows."""
    rows = connection.execute(ORPHANS.format(table=table))
    return [number for (number,) in rows if isinstance(number, int)]  # in a damaged file a column may be of any type


class SqliteSnapshot:
    """What is stored at one moment."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def entries(self) -> list[StoredSurvey]:
        return [entry(row) for row in self._connection.execute("SELECT * FROM surveys ORDER BY number DESC")]

    def has(self, survey: int) -> bool:
        row = self._connection.execute("SELECT 1 FROM surveys WHERE number = ?", (survey,))
        return row.fetchone() is not None

    def tallies(self, survey: int, days: Days) -> Iterator[tuple[str, int, bytes]]:
        query = "SELECT day, n, state FROM tallies WHERE survey = ? AND day BETWEEN ? AND ? ORDER BY day"
        return iter(self._connection.execute(query, (survey, *days)))

    def segments(self, survey: int, days: Days, *, folded: bool) -> Iterator[Segment]:
        rows = self._connection.execute(
            f"SELECT {SEGMENT} FROM segments WHERE survey = ? AND folded = ? AND day BETWEEN ? AND ?"  # noqa: S608
            " ORDER BY day, kind, n",
            (survey, folded, *days),
        )
        return map(segment, rows)

    def of_day(self, survey: int, day: str) -> Iterator[Segment]:
        """Yield all segments of a day, folded or not."""
        for folded in (True, False):
            yield from self.segments(survey, (day, day), folded=folded)

    def count(self, survey: int, days: Days) -> int:
        folded = self._sum("tallies WHERE survey = ? AND day BETWEEN ? AND ?", (survey, *days))
        return folded + self._sum("segments WHERE survey = ? AND folded = 0 AND day BETWEEN ? AND ?", (survey, *days))

    def withdrawn(self, survey: int, days: Days) -> int:
        folded = self._sum("tallies WHERE survey = ? AND day BETWEEN ? AND ?", (survey, *days), "withdrawn")
        where = "segments WHERE survey = ? AND folded = 0 AND day BETWEEN ? AND ? AND kind >= ?"
        return folded - self._sum(where, (survey, *days, TAKEN_REPORTS))

    def days(self, survey: int) -> list[tuple[str, int]]:
        rows = self._connection.execute(
            "SELECT day, sum(n) FROM (SELECT day, n FROM tallies WHERE survey = ? UNION ALL"
            " SELECT day, n FROM segments WHERE survey = ? AND folded = 0) GROUP BY day ORDER BY day",
            (survey, survey),
        )
        return [(str(day), int(n)) for day, n in rows]

    def count_reports(self, survey: int, days: Days) -> int:
        where = "segments WHERE survey = ? AND folded IN (0, 1) AND day BETWEEN ? AND ? AND kind IN (?, ?)"
        return self._sum(where, (survey, *days, REPORTS, TAKEN_REPORTS))

    def acknowledged(self, survey: int) -> tuple[int, int]:
        counted = self._sum("keys WHERE survey = ? AND withdrawn = 0", (survey,), "accepted")
        return counted, self._sum("keys WHERE survey = ? AND withdrawn <> 0", (survey,), "accepted")

    def _sum(self, what: str, values: tuple[Any, ...], column: str = "n") -> int:
        row = self._connection.execute(f"SELECT coalesce(sum({column}), 0) FROM {what}", values)  # noqa: S608
        return int(row.fetchone()[0])

    def amount(self, table: str) -> int:
        return int(self._connection.execute(number_of(table)).fetchone()[0])

    def rows(self, table: str) -> Iterator[Row]:
        return iter(self._connection.execute(rows_of(table, "rowid")))

    def stored(self, table: str) -> Iterator[Row]:
        return iter(self._connection.execute(f"SELECT {COLUMNS[table]} FROM {table}"))  # noqa: S608

    def totals(self, table: str) -> tuple[int, int] | None:
        if table not in COUNTED:
            return None
        row = self._connection.execute(f"SELECT {table}, {table}_sum FROM state").fetchone()  # noqa: S608
        return None if row is None else (row[0], row[1])

    def last_number(self) -> int:
        return self._sum("sqlite_sequence WHERE name = ?", ("surveys",), "seq")

    def lost_surveys(self) -> set[int]:
        begun = {row[0] for row in self._connection.execute("SELECT number FROM deletions")}
        return {number for table in OWNED for number in orphans(self._connection, table)} - begun

    def damage(self) -> list[str]:
        lines = [str(row[0]) for row in self._connection.execute("PRAGMA integrity_check(20)")]
        return [] if lines == ["ok"] else lines
