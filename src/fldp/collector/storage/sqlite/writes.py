"""Statements of a SQLite store inside a transaction: decide, write, fold, and count commits."""

import functools
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

from fldp.collector.storage.admission import Admission, NewRows, NotAllNew, Place, stored_sum
from fldp.collector.storage.checksums import key_with_checksum, row_checksum, with_checksum
from fldp.collector.storage.migrations import steps
from fldp.collector.storage.protocol import (
    Fold,
    KnownKey,
    Row,
    Segment,
    StoredSurvey,
    StoreError,
    Submission,
    SubmissionResult,
)
from fldp.collector.storage.sqlite.snapshot import SqliteSnapshot
from fldp.collector.storage.tables import COLUMNS
from fldp.collector.storage.witness import Commit

R = TypeVar("R")

# The column lies behind the specification: only typeof() tells that it is NULL without reading all pages of that.
IS_CLOSED = "typeof(closed) <> 'null'"


class OutdatedStep(Exception):  # noqa: N818 - not a mistake
    """The survey or a row of a fold step is gone."""


def read_state(connection: sqlite3.Connection) -> Row:
    """Return the row that says how far a database is, and what its tables add up to."""
    return _checked(connection.execute("SELECT * FROM state").fetchone())


def _checked(row: Any) -> Row:
    kinds = [bytes, int, bytes] + [int] * 8
    if not row or [type(value) for value in row] != kinds or (len(row[0]), len(row[2])) != (16, 16):
        raise StoreError("store: the table state is damaged; run fldp fsck")
    return tuple(row)


def commit_of(state: Row) -> Commit:
    """Return how far a database is."""
    return Commit(*state[:3])


def state_digest(state: Row) -> bytes:
    """Return the digest of a row of the table state, in which the one before is."""
    return hashlib.sha256(repr(state).encode()).digest()[:16]


@functools.cache
def schema() -> int:
    """Return the number of the schema that this code writes."""
    return len(steps("sqlite"))


def advance(connection: sqlite3.Connection) -> Commit:
    """Count the transaction that is about to be committed, and digest what all of them have added up to.

    One that a later release has overtaken, by bringing the tables up to date, must not be committed.
    """
    *row, there = connection.execute("SELECT * FROM state, pragma_user_version").fetchone() or (None,)
    state = _checked(row)
    if there != schema():
        raise StoreError(f"store: has schema {there} now, this collector writes {schema()}: replace it")
    before, digest = commit_of(state), state_digest(state)
    connection.execute("UPDATE state SET commits = commits + 1, digest = ?", (digest,))
    return Commit(before.identity, before.number + 1, digest)


def publish(connection: sqlite3.Connection, new: StoredSurvey) -> int:
    """Add a survey unless its version is there; return how many were added."""
    return connection.execute(
        "INSERT INTO surveys (version, name, specification, created) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (version) DO NOTHING",
        (new.version, new.name, new.specification, new.created),
    ).rowcount


def move_tickets(connection: sqlite3.Connection, survey: int, version: str) -> None:
    """Give the tickets of a survey that are not spent to another one."""
    (target,) = connection.execute("SELECT number FROM surveys WHERE version = ?", (version,)).fetchone()
    tickets = connection.execute("SELECT ticket FROM tickets WHERE survey = ? AND spent = 0", (survey,)).fetchall()
    rows = [(target, row_checksum(target, ticket, 0), survey, ticket) for (ticket,) in tickets]
    connection.executemany("UPDATE tickets SET survey = ?, checksum = ? WHERE survey = ? AND ticket = ?", rows)


def _closed(connection: sqlite3.Connection, survey: int) -> bool | None:
    row = connection.execute(f"SELECT {IS_CLOSED} FROM surveys WHERE number = ?", (survey,)).fetchone()  # noqa: S608
    return None if row is None else bool(row[0])


def commit_new(connection: sqlite3.Connection, new: NewRows) -> None:
    """Write submissions whose keys are all new; else raise NotAllNew, which undoes everything."""
    if any(_closed(connection, survey) is not False for survey in new.surveys):
        raise NotAllNew
    try:
        _insert_keys(connection, new.keys)
    except sqlite3.IntegrityError:
        raise NotAllNew from None
    _insert(connection, new.segments, folded=False)


def commit(connection: sqlite3.Connection, submissions: Sequence[Submission], day: str) -> list[SubmissionResult]:
    """Decide on submissions, and write what is accepted."""
    admission = _admission(connection, submissions, day)
    outcomes = [admission.admit(submission) for submission in submissions]
    _insert_keys(connection, [key_with_checksum(row) for row in admission.keys])
    if marks := [(key_with_checksum(row)[-1], *row[:2]) for row in admission.marks]:
        connection.executemany("UPDATE keys SET withdrawn = 1, checksum = ? WHERE survey = ? AND key = ?", marks)
    connection.executemany(
        "UPDATE tickets SET spent = 1, checksum = ? WHERE survey = ? AND ticket = ?",
        [(row_checksum(survey, ticket, 1), survey, ticket) for survey, ticket in admission.tickets],
    )
    connection.executemany(
        "INSERT INTO tickets VALUES (?, ?, ?, ?)", [with_checksum((*place, 1)) for place in admission.passes]
    )
    _insert(connection, admission.segments(), folded=False)
    return outcomes


def _admission(connection: sqlite3.Connection, submissions: Sequence[Submission], day: str) -> Admission:
    known = _known(connection, submissions)
    stored = SqliteSnapshot(connection)

    def spent(survey: int, ticket: bytes) -> bool | None:
        row = connection.execute("SELECT spent FROM tickets WHERE survey = ? AND ticket = ?", (survey, ticket))
        return next((bool(spent) for (spent,) in row), None)

    return Admission(
        day,
        known=lambda survey, key: known.get((survey, key)),
        closed=functools.cache(lambda survey: _closed(connection, survey)),
        spent=spent,
        days=functools.cache(lambda survey: [other for other, _ in stored.days(survey)]),
        held=stored.of_day,
    )


# Each statement lets other threads run, and may then wait for its turn: so there are few, each about many rows. One is
# prepared for each number of rows, once.
_MAX_ROWS = 64


def _parts(rows: Sequence[R]) -> Iterator[Sequence[R]]:
    """Cut rows into parts, as few as there can be.

    >>> [len(part) for part in _parts(range(87))]
    [64, 23]
    """
    return (rows[start : start + _MAX_ROWS] for start in range(0, len(rows), _MAX_ROWS))


def _insert_keys(connection: sqlite3.Connection, keys: Sequence[tuple[Any, ...]]) -> None:
    for part in _parts(keys):
        connection.execute(_new_keys(len(part)), [*chain.from_iterable(part)])


# What fails here undoes its transaction. So no statement has to keep what it changes until it has ended well (OR FAIL):
# SQLite would write every page that a key is on into a temporary file before.
@functools.cache
def _new_keys(count: int) -> str:
    return f"INSERT OR FAIL INTO keys ({COLUMNS['keys']}) VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * count)  # noqa: S608


@functools.cache
def _known_keys(count: int) -> str:
    asked = ", ".join(["(?, ?)"] * count)
    return (
        f"WITH asked (survey, key) AS (VALUES {asked})"  # noqa: S608
        " SELECT survey, key, body, accepted, day, withdrawn FROM asked CROSS JOIN keys USING (survey, key)"
    )


def _known(connection: sqlite3.Connection, submissions: Sequence[Submission]) -> dict[Place, KnownKey]:
    """Return what was acknowledged before, by survey and key."""
    known: dict[Place, KnownKey] = {}
    for part in _parts([(new.survey, new.key) for new in submissions]):
        for survey, key, *stored in connection.execute(_known_keys(len(part)), [*chain.from_iterable(part)]):
            known[survey, key] = KnownKey(*stored)
    return known


def _insert(connection: sqlite3.Connection, parts: Iterable[tuple[int, str, Segment]], *, folded: bool) -> None:
    rows = [with_checksum((survey, day, part.kind, part.n, int(folded), part.data)) for survey, day, part in parts]
    connection.executemany(
        "INSERT OR FAIL INTO segments (survey, day, kind, n, folded, data, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)", rows
    )


def fold(connection: sqlite3.Connection, step: Fold) -> None:
    """Replace rows if the survey and all of them are still there; else raise OutdatedStep, which undoes everything."""
    if _closed(connection, step.survey) is None:
        raise OutdatedStep
    removed = sum(
        connection.execute(_removal(len(part)), (step.survey, step.day, *part)).rowcount
        for part in _parts(step.removed)
    )
    # A report must be in the tail or in the tally, never in both: every row of the step goes, or the step is void.
    if removed != len(step.removed):
        raise OutdatedStep
    _insert(connection, [(step.survey, step.day, part) for part in step.added], folded=True)
    _insert(connection, [(step.survey, step.day, part) for part in step.left], folded=False)
    _gain(connection, step)


@functools.cache
def _removal(count: int) -> str:
    return f"DELETE FROM segments WHERE survey = ? AND day = ? AND id IN ({', '.join('?' * count)})"  # noqa: S608


def _gain(connection: sqlite3.Connection, step: Fold) -> None:
    """Add to the tally of a day, or take from it."""
    where = (step.survey, step.day)
    row = connection.execute("SELECT n, state, withdrawn FROM tallies WHERE survey = ? AND day = ?", where).fetchone()
    connection.execute(
        "INSERT INTO tallies (survey, day, n, state, withdrawn) VALUES (?, ?, ?, ?, ?) ON CONFLICT (survey, day)"
        " DO UPDATE SET n = excluded.n, state = excluded.state, withdrawn = excluded.withdrawn",
        (*where, *stored_sum(row, step.gained, step.lost)),
    )
