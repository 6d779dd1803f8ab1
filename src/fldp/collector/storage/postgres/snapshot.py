"""A view of a PostgreSQL store at one moment: it lives in one read-only transaction."""

from collections.abc import Iterator
from typing import Any

from fldp.collector.storage.checksums import verified
from fldp.collector.storage.postgres.schema import SCHEMA, Connection
from fldp.collector.storage.protocol import REPORTS, TAKEN_REPORTS, Days, Row, Segment, StoredSurvey
from fldp.collector.storage.tables import COLUMNS, ORPHANS, OWNED, number_of, rows_of

ENTRY = COLUMNS["surveys"]
SEGMENT = f"id, {COLUMNS['segments']}"
_AT_ONCE = 16  # rows of up to a MiB


def segment(row: Row) -> Segment:
    """Return a row of segments; raise StoreError if it is damaged."""
    _, day, kind, n, _, data = verified("segments", row[1:])
    return Segment(kind, n, data, row[0], day)


class PostgresSnapshot:
    """What is stored at one moment."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._cursors = 0

    def _rows(self, query: str, values: tuple[object, ...] = (), *, at_once: int = _AT_ONCE) -> Iterator[Row]:
        """Yield rows as they are needed: all of them may be more than fits into memory."""
        self._cursors += 1
        with self._connection.cursor(f"rows{self._cursors}", binary=True) as cursor:
            cursor.itersize = at_once
            yield from cursor.execute(query, values)

    def entries(self) -> list[StoredSurvey]:
        return [StoredSurvey(*row) for row in self._rows(f"SELECT {ENTRY} FROM surveys ORDER BY number DESC")]  # noqa: S608

    def has(self, survey: int) -> bool:
        return self._connection.execute("SELECT 1 FROM surveys WHERE number = %s", (survey,)).fetchone() is not None

    def tallies(self, survey: int, days: Days) -> Iterator[tuple[str, int, bytes]]:
        query = "SELECT day, n, state FROM tallies WHERE survey = %s AND day BETWEEN %s AND %s ORDER BY day"
        for day, n, state in self._rows(query, (survey, *days)):
            yield day, n, bytes(state)

    def segments(self, survey: int, days: Days, *, folded: bool) -> Iterator[Segment]:
        rows = self._rows(
            f"SELECT {SEGMENT} FROM segments WHERE survey = %s AND folded = %s AND day BETWEEN %s AND %s"  # noqa: S608
            " ORDER BY day, kind, n",
            (survey, int(folded), *days),
        )
        return map(segment, rows)

    def of_day(self, survey: int, day: str) -> Iterator[Segment]:
        """Yield all segments of a day, folded or not."""
        for folded in (True, False):
            yield from self.segments(survey, (day, day), folded=folded)

    def count(self, survey: int, days: Days) -> int:
        folded = self._sum("n", "tallies WHERE survey = %s AND day BETWEEN %s AND %s", (survey, *days))
        where = "segments WHERE survey = %s AND folded = 0 AND day BETWEEN %s AND %s"
        return folded + self._sum("n", where, (survey, *days))

    def withdrawn(self, survey: int, days: Days) -> int:
        folded = self._sum("withdrawn", "tallies WHERE survey = %s AND day BETWEEN %s AND %s", (survey, *days))
        where = "segments WHERE survey = %s AND folded = 0 AND day BETWEEN %s AND %s AND kind >= %s"
        return folded - self._sum("n", where, (survey, *days, TAKEN_REPORTS))

    def days(self, survey: int) -> list[tuple[str, int]]:
        rows = self._connection.execute(
            "SELECT day, sum(n)::bigint FROM (SELECT day, n FROM tallies WHERE survey = %s UNION ALL"
            " SELECT day, n FROM segments WHERE survey = %s AND folded = 0) AS counted GROUP BY day ORDER BY day",
            (survey, survey),
        )
        return [(str(day), int(n)) for day, n in rows]

    def count_reports(self, survey: int, days: Days) -> int:
        where = "segments WHERE survey = %s AND folded IN (0, 1) AND day BETWEEN %s AND %s AND kind IN (%s, %s)"
        return self._sum("n", where, (survey, *days, REPORTS, TAKEN_REPORTS))

    def acknowledged(self, survey: int) -> tuple[int, int]:
        counted = self._sum("accepted", "keys WHERE survey = %s AND withdrawn = 0", (survey,))
        return counted, self._sum("accepted", "keys WHERE survey = %s AND withdrawn <> 0", (survey,))

    def _sum(self, column: str, what: str, values: tuple[Any, ...]) -> int:
        query = f"SELECT coalesce(sum({column}), 0)::bigint FROM {what}"  # noqa: S608
        row = self._connection.execute(query, values).fetchone()
        return int(row[0]) if row else 0

    def amount(self, table: str) -> int:
        row = self._connection.execute(number_of(table)).fetchone()
        return int(row[0]) if row else 0

    def rows(self, table: str) -> Iterator[Row]:
        return self._rows(rows_of(table, "place"), at_once=_AT_ONCE if table == "segments" else 1000)

    def stored(self, table: str) -> Iterator[Row]:
        at_once = _AT_ONCE if table == "segments" else 1000
        return self._rows(f"SELECT {COLUMNS[table]} FROM {table}", at_once=at_once)  # noqa: S608

    def totals(self, table: str) -> tuple[int, int] | None:
        """Return nothing: a sum in one row would have the commits of all collectors wait for each other."""
        del table
        return None

    def last_number(self) -> int:
        return self._sum("last_value", "surveys_number_seq WHERE is_called", ())

    def lost_surveys(self) -> set[int]:
        begun = {row[0] for row in self._rows("SELECT number FROM deletions")}
        return {row[0] for table in OWNED for row in self._rows(ORPHANS.format(table=table))} - begun

    def damage(self) -> list[str]:
        """Return indexes that are not good; damaged pages are noticed as everything is read."""
        rows = self._connection.execute(
            "SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid"
            " WHERE relnamespace = to_regnamespace(%s) AND NOT (indisvalid AND indisready AND indislive)",
            (SCHEMA,),
        )
        return [f"the index {row[0]} is not valid" for row in rows]
