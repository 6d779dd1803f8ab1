"""Tickets of an issuer, in one SQLite file: their hashes, and what each was spent on."""

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import Enum
from hashlib import sha256
from pathlib import Path

from fldp.errors import FldpError
from fldp.passes.tokens import request_hash
from fldp.support.identifiers import TICKET
from fldp.support.sqlite_errors import sqlite_reason

_APPLICATION = 0x666C6469  # "fldi"
_TABLE = """CREATE TABLE tickets (
    ticket BLOB PRIMARY KEY,  -- SHA-256
    spent  BLOB               -- SHA-256 of the ticket and the request that it was spent on; NULL before
) WITHOUT ROWID"""


class Spending(Enum):
    """What became of a ticket."""

    GOOD = "good"  # spent now, or before on the same request
    SPENT = "spent"  # before, on another request
    UNKNOWN = "unknown"


class TicketFile:
    """A file of tickets; only their hashes are in it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = TicketFile(Path(folder, "tickets.db"), make=True)
    ...     ticket, = file.create(1)
    ...     [file.spend(*asked).value for asked in ((ticket, b"a"), (ticket, b"a"), (ticket, b"b"), ("x", b"a"))]
    ['good', 'good', 'spent', 'unknown']
    """

    def __init__(self, path: Path, *, make: bool = False) -> None:
        self.path = path
        if not make and not path.exists():
            raise FldpError(f"{path}: is not there; make tickets with fldp issuer tickets")
        if make and not path.exists():
            path.touch(0o600)
        with self._changing() as connection:
            self._check(connection, make=make)

    def _check(self, connection: sqlite3.Connection, *, make: bool) -> None:
        (kind,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if make and not kind and not tables:
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        elif kind != _APPLICATION:
            raise FldpError(f"{self.path}: is not a file of tickets, as fldp issuer tickets makes it")

    def create(self, count: int) -> list[str]:
        """Make tickets; this is the only time that they are shown."""
        tickets = [f"fldp_ticket_{secrets.token_urlsafe(32)}" for _ in range(count)]
        with self._changing() as connection:
            rows = [(_hash(ticket),) for ticket in sorted(tickets)]
            connection.executemany("INSERT INTO tickets (ticket) VALUES (?)", rows)
        return tickets

    def spend(self, ticket: str, request: bytes) -> Spending:
        """Spend a ticket on a request; what is spent is on the disk when this returns."""
        if not TICKET.matches(ticket):
            return Spending.UNKNOWN
        spent, place = request_hash(ticket, request), _hash(ticket)
        with self._changing() as connection:
            connection.execute("UPDATE tickets SET spent = ? WHERE ticket = ? AND spent IS NULL", (spent, place))
            row = connection.execute("SELECT spent FROM tickets WHERE ticket = ?", (place,)).fetchone()
        if row is None:
            return Spending.UNKNOWN
        return Spending.GOOD if row[0] == spent else Spending.SPENT

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=10, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise FldpError(f"{self.path}: {sqlite_reason(error)}") from None


def _hash(ticket: str) -> bytes:
    return sha256(ticket.encode()).digest()
