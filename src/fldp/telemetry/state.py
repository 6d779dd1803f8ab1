"""State: what a program keeps on this machine, in one SQLite file that only its owner can read.

One aggregate for each metric and period; the lot of each period; every report that was drawn. Never what happened one
by one, and nothing at all in mode ``off``. The ledger is another file, of the person and of all programs together.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import NamedTuple

from fldp.telemetry.aggregates import Aggregate, merge
from fldp.telemetry.fork_safety import open_files
from fldp.telemetry.metrics import AppMetric

_APPLICATION, SCHEMA_VERSION = 0x666C6474, 1  # "fldt"
PATIENCE = 5.0  # seconds to wait for other processes
WAITING, SENT, REFUSED, DROPPED = "waiting", "sent", "refused", "dropped"
WITHDRAWING, WITHDRAWN = "withdrawing", "withdrawn"
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS periods (
    period  TEXT PRIMARY KEY,      -- in which the program ran
    metric  TEXT,                  -- what the lot drew when it was over
    done    INTEGER NOT NULL DEFAULT 0,
    why     TEXT NOT NULL DEFAULT ''  -- nothing was reported, if so
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS aggregates (
    period  TEXT NOT NULL,
    metric  TEXT NOT NULL,
    key     TEXT NOT NULL,
    amount  REAL NOT NULL,
    PRIMARY KEY (period, metric, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports (
    number  INTEGER PRIMARY KEY,
    period  TEXT NOT NULL UNIQUE,  -- which it is about
    metric  TEXT NOT NULL,
    version TEXT NOT NULL,
    drawn   TEXT NOT NULL,         -- times in UTC
    due     TEXT NOT NULL,
    key     TEXT NOT NULL,
    body    BLOB NOT NULL,         -- what is sent
    state   TEXT NOT NULL,
    sent    TEXT NOT NULL DEFAULT '',
    tries   INTEGER NOT NULL DEFAULT 0,
    said    TEXT NOT NULL DEFAULT ''  -- why it was not sent
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""
_COLUMNS = "number, period, metric, version, drawn, due, key, body, state, sent, tries, said"


class StoredReport(NamedTuple):
    """A report that was drawn, and what became of it."""

    number: int
    period: str
    metric: str
    version: str
    drawn: str
    due: str
    key: str
    body: bytes
    state: str
    sent: str
    tries: int
    said: str


class State:
    """The file of one program. Each use opens it anew, so that neither threads nor forks share a connection."""

    def __init__(self, path: str) -> None:
        self.path = path

    @contextmanager
    def exclusive(self, *, durable: bool = True, patience: float = PATIENCE) -> "Iterator[Rows]":
        """Lock the file, or make it; what was done in the block is stored when it ends, or undone.

        It is then on the disk, too, if it has to be ``durable``: aggregates need not, and lots and reports do.
        """
        with open_files(patience), closing(self._connect(patience)) as connection:
            connection.execute(f"PRAGMA synchronous = {'EXTRA' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            yield Rows(connection)
            connection.execute("COMMIT")

    def glance(self, current: str) -> tuple[bool, bool]:
        """Return whether a period before this one is not done, and whether a report waits; writes and locks nothing."""
        if not os.path.exists(self.path):
            return False, False
        with open_files(PATIENCE), closing(self._connect(PATIENCE)) as connection:
            over = "SELECT EXISTS (SELECT 1 FROM periods WHERE NOT done AND period < ?)"
            waits = "SELECT EXISTS (SELECT 1 FROM reports WHERE state = ?)"
            asked = ((over, current), (waits, WAITING))
            present = [bool(connection.execute(query, (value,)).fetchone()[0]) for query, value in asked]
        return present[0], present[1]

    def _connect(self, patience: float) -> sqlite3.Connection:
        _make(self.path)
        connection = sqlite3.connect(self.path, timeout=patience, isolation_level=None)
        try:
            connection.execute("BEGIN")  # both at one moment: another process may just be filling the file
            kind = connection.execute("PRAGMA application_id").fetchone()[0]
            schema = connection.execute("PRAGMA user_version").fetchone()[0]
            connection.rollback()
            connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten, whatever SQLite's default
            if (kind, schema) == (0, 0):
                connection.executescript(_SCHEMA)
            elif (kind, schema) != (_APPLICATION, SCHEMA_VERSION):
                raise sqlite3.DatabaseError("it is no telemetry of fldp, or of a later version")
        except BaseException:
            connection.close()
            raise
        return connection


def _make(path: str) -> None:
    """Make an empty file, readable by its owner only, unless there is one; SQLite fills it."""
    with suppress(FileExistsError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


class Rows:
    """The rows of a locked file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._execute = connection.execute

    def commit(self) -> None:
        """Put on the disk what was done so far, and go on under the lock of a new transaction."""
        self._execute("COMMIT")
        self._execute("BEGIN IMMEDIATE")

    def fact(self, name: str) -> str:
        """Return a fact, empty if there is none."""
        row = self._execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return row[0] if row else ""

    def note(self, name: str, value: str) -> None:
        """Store a fact."""
        self._execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def seen(self, period: str) -> None:
        """Note that the program ran in a period."""
        self._execute("INSERT OR IGNORE INTO periods (period) VALUES (?)", (period,))

    def open_periods(self) -> list[tuple[str, str | None]]:
        """Return the periods that are not done, with their lots."""
        return self._execute("SELECT period, metric FROM periods WHERE NOT done ORDER BY period").fetchall()

    def finished(self) -> list[tuple[str, str, str]]:
        """Return the periods that are done: the lot, and why nothing was reported."""
        return self._execute(
            "SELECT period, coalesce(metric, ''), why FROM periods WHERE done ORDER BY period"
        ).fetchall()

    def name_lot(self, period: str, metric: str) -> None:
        """Store the lot of a period."""
        self._execute("UPDATE periods SET metric = ? WHERE period = ?", (metric, period))

    def finish(self, period: str, why: str = "") -> None:
        """Delete the aggregates of a period, which is then over for good."""
        self._execute("DELETE FROM aggregates WHERE period = ?", (period,))
        self._execute("UPDATE periods SET done = 1, why = ? WHERE period = ?", (why, period))

    def aggregate(self, period: str, metric: str) -> Aggregate:
        """Return what is kept of a metric in a period."""
        rows = self._execute("SELECT key, amount FROM aggregates WHERE period = ? AND metric = ?", (period, metric))
        return dict(rows.fetchall())

    def add(self, period: str, metric: AppMetric, later: Mapping[str, float]) -> None:
        """Merge an aggregate into the stored one; a period that is done takes nothing more."""
        self.seen(period)
        if self._execute("SELECT done FROM periods WHERE period = ?", (period,)).fetchone()[0]:
            return
        held = self.aggregate(period, metric.name)
        merge(metric, held, later)
        self._execute("DELETE FROM aggregates WHERE period = ? AND metric = ?", (period, metric.name))
        rows = [(period, metric.name, key, amount) for key, amount in held.items()]
        self._connection.executemany("INSERT INTO aggregates VALUES (?, ?, ?, ?)", rows)

    def add_report(
        self, period: str, metric: str, version: str, times: tuple[str, str], sent: tuple[str, bytes]
    ) -> None:
        """Store a report that was drawn: the times are of drawing and of sending, then key and bytes."""
        self._execute(
            "INSERT INTO reports (period, metric, version, drawn, due, key, body, state)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (period, metric, version, *times, *sent, WAITING),
        )

    def reports(self) -> list[StoredReport]:
        """Return all reports in their order."""
        rows = self._execute(f"SELECT {_COLUMNS} FROM reports ORDER BY number").fetchall()  # noqa: S608
        return [StoredReport(*row) for row in rows]

    def postpone(self, number: int, due: str) -> None:
        """Try to send a report again later."""
        self._execute("UPDATE reports SET due = ? WHERE number = ?", (due, number))

    def tried(self, number: int, state: str, now: str, said: str = "") -> None:
        """Note what became of sending a report; one that is being taken back stays so, whoever was sending it."""
        sent = now if state == SENT else ""
        self._execute(
            "UPDATE reports SET state = ?, sent = CASE WHEN ? = '' THEN sent ELSE ? END, tries = tries + 1, said = ?"
            " WHERE number = ? AND state NOT IN (?, ?)",
            (state, sent, sent, said, number, WITHDRAWING, WITHDRAWN),
        )

    def take_back(self) -> list[StoredReport]:
        """Note that all reports are to be taken back, so that none is sent any more; return those that are to be.

        One that was refused or dropped in the end may have arrived before, when nobody answered.
        """
        self._execute(
            "UPDATE reports SET state = ? WHERE state IN (?, ?) OR (state IN (?, ?) AND tries > 1)",
            (WITHDRAWING, SENT, WAITING, REFUSED, DROPPED),
        )
        return [report for report in self.reports() if report.state == WITHDRAWING]

    def taken_back(self, number: int) -> None:
        """Note that a report was taken back."""
        self._execute("UPDATE reports SET state = ?, said = '' WHERE number = ?", (WITHDRAWN, number))

    def clean(self) -> None:
        """Delete aggregates and reports; periods that are done stay so, or the lot would be drawn again."""
        self.forget_aggregates()
        self._execute("DELETE FROM reports")

    def forget_aggregates(self) -> None:
        """Delete all aggregates."""
        self._execute("DELETE FROM aggregates")
