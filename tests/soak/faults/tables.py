"""Tables: a look into the database itself, past the collector: what belongs to nobody must not be there."""

import sqlite3
import time
from contextlib import closing, contextmanager

import psycopg

from support.waiting import until

OWNED = ("segments", "tallies", "keys", "tickets")
ENOUGH = 300  # seconds in which an interrupted deletion must have gone on, on the busiest machine


class Tables:
    """The tables of a collector, read by a connection of its own."""

    def __init__(self, server):
        self._server = server

    @property
    def _url(self):
        return self._server.settings.get("database")

    def rows(self, query):
        """Return all rows of a query; a database server that is being restarted is waited for."""
        deadline = time.monotonic() + ENOUGH
        while True:
            try:
                with self._connected() as connection:
                    return connection.execute(query).fetchall()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    @contextmanager
    def _connected(self):
        if self._url:
            with psycopg.connect(self._url, options="-c search_path=fldp") as connection:
                yield connection
        else:
            path = self._server.data / "fldp.db"
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as connection:
                yield connection

    def numbers(self):
        """Return the number of every version."""
        return dict(self.rows("SELECT version, number FROM surveys"))

    def orphans(self):
        """Return how many rows and reports of every table belong to no survey: (table, number of the survey, rows)."""
        return [
            (table, number, count)
            for table in OWNED
            for number, count in self.rows(
                f"SELECT survey, count(*) FROM {table} WHERE survey NOT IN (SELECT number FROM surveys) GROUP BY survey"
            )
        ]

    def left_of(self, numbers):
        """Return what is left of surveys that were deleted."""
        return [row for row in self.orphans() if row[1] in numbers]

    def wait_until_clean(self):
        """Wait until no row is an orphan: a deletion that was cut short goes on by itself. Return what is left."""
        deadline = time.monotonic() + ENOUGH
        while (left := self.orphans()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left

    def are_folded(self):
        """Whether every report is in the tally of its day."""
        return not self.rows("SELECT 1 FROM segments WHERE folded = 0 LIMIT 1")

    def wait_until_folded(self):
        """Wait until every report is."""
        until(self.are_folded)

    def traces(self, digests):
        """Return how many of some digests are still in the bytes of a SQLite file or its log."""
        if self._url:
            return 0
        content = b"".join(path.read_bytes() for path in sorted(self._server.data.glob("fldp.db*")))
        return sum(digest in content for digest in digests)
