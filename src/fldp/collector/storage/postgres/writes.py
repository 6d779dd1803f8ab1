"""Statements of a PostgreSQL store inside a transaction: decide, write, fold, fill."""

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from psycopg.errors import DeadlockDetected, LockNotAvailable

from fldp.collector.storage.admission import Admission, NewRows, NotAllNew, Place, Placed, stored_sum
from fldp.collector.storage.checksums import key_with_checksum, row_checksum, with_checksum
from fldp.collector.storage.postgres.schema import (
    FOLDING,
    MIGRATING,
    Connection,
    begin_shared,
    check_current,
    check_schema,
    free_surveys,
    lock,
)
from fldp.collector.storage.postgres.snapshot import PostgresSnapshot
from fldp.collector.storage.protocol import (
    REPORTS,
    Admitted,
    Fold,
    KnownKey,
    Row,
    Segment,
    Submission,
    SubmissionResult,
    Withdrawal,
)
from fldp.collector.storage.tables import COLUMNS


class Overtaken(Exception):  # noqa: N818 - not a mistake
    """Another collector committed one of our keys first."""


class LockedError(Exception):
    """Another collector holds a lock for longer than we wait."""


_PROBE_BYTES = 1 << 14


def rows(connection: Connection, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    """Return all rows of a query."""
    with connection.cursor(binary=True) as cursor:
        return cursor.execute(query, values).fetchall()


# All keys come as one value, of which each row takes its three hashes: an array of them would take longer to send.
# Numbers come as texts, so that all commits are one statement, whatever size psycopg would give to their numbers.
_NEW_ROWS = f"""
WITH new_keys AS (
    INSERT INTO keys ({COLUMNS["keys"]})
    SELECT survey, substr(hashes, first, 32), substr(hashes, first + 32, 32), accepted,
        substr(hashes, first + 64, 32), 0, checksum
    FROM (SELECT survey, accepted, checksum, 96 * place::integer - 95 AS first, %b::bytea AS hashes
        FROM unnest(%s::integer[], %s::bigint[], %s::bigint[]) WITH ORDINALITY
            AS new (survey, accepted, checksum, place)) AS cut
    ON CONFLICT DO NOTHING RETURNING 1
), new_segment AS (
    INSERT INTO segments ({COLUMNS["segments"]}) VALUES (%s, %s, %s, %s, %s, %b, %s)
)
SELECT (SELECT max(step) FROM migrations), (SELECT count(*) FROM new_keys),
    (SELECT count(*) FROM surveys WHERE number = ANY(%s::integer[]) AND closed IS NULL)
"""  # noqa: S608


def commit_new(connection: Connection, new: NewRows) -> None:
    """Write submissions whose keys are all new, in three round trips; else raise NotAllNew, and nothing is done."""
    try:
        begin_shared(connection, MIGRATING, *new.surveys)
        _insert_new(connection, new)
        _insert(connection, new.segments[1:], folded=False)
        connection.commit()
    except BaseException as error:
        if not connection.closed:
            connection.rollback()
        if isinstance(error, LockNotAvailable | DeadlockDetected):
            raise LockedError from None
        raise


def _insert_new(connection: Connection, new: NewRows) -> None:
    """Insert all keys and the first segment, and see that it was right to do so."""
    columns = [_array(row[place] for row in new.keys) for place in (0, 3, -1)]
    segment = [value if isinstance(value, bytes) else str(value) for value in _segment_row(new.segments[0])]
    values = [new.hashes, *columns, *segment, _array(new.surveys)]
    ((schema, added, opened),) = rows(connection, _NEW_ROWS, values)
    check_schema(schema)
    if added != len(new.keys) or opened != len(new.surveys):
        raise NotAllNew


def _array(numbers: Iterable[int]) -> str:
    """Return numbers as PostgreSQL writes an array of them."""
    return "{" + ",".join(map(str, numbers)) + "}"


def commit(
    connection: Connection, submissions: Sequence[Submission], day: str, *, hurried: bool = False
) -> list[SubmissionResult]:
    """Decide and write. Locks keep what was read true: surveys are neither closed nor deleted, tickets not spent.

    In a hurry, surveys that somebody is closing or deleting are not waited for: what is sent to them is ``HELD``.
    """
    try:
        return _commit(connection, submissions, day, hurried=hurried)
    except (LockNotAvailable, DeadlockDetected):
        raise LockedError from None


def _commit(
    connection: Connection, submissions: Sequence[Submission], day: str, *, hurried: bool
) -> list[SubmissionResult]:
    surveys = [new.survey for new in submissions]
    lock(connection, MIGRATING, shared=True)
    check_current(connection)
    if any(isinstance(new, Withdrawal) and new.day is not None for new in submissions):
        lock(connection, FOLDING)  # what such a one takes must be there until this commits
    free = free_surveys(connection, surveys) if hurried else _waited_for(connection, surveys)
    # Read after the locks: until this transaction ends, nobody closes or deletes these surveys.
    closed: dict[int, bool] = dict(
        rows(connection, "SELECT number, closed IS NOT NULL FROM surveys WHERE number = ANY(%s)", [surveys])
    )
    spent = _spent(
        connection, [(new.survey, new.ticket) for new in submissions if new.ticket is not None and new.survey in free]
    )
    known, stored = _known(connection, submissions), PostgresSnapshot(connection)
    admission = Admission(
        day,
        known=lambda survey, key: known.get((survey, key)),
        closed=closed.get,
        spent=lambda survey, ticket: spent.get((survey, ticket)),
        days=functools.cache(lambda survey: [other for other, _ in stored.days(survey)]),
        held=stored.of_day,
    )
    outcomes = [admission.admit(new) if new.survey in free else SubmissionResult(Admitted.HELD) for new in submissions]
    _write(connection, admission)
    return outcomes


def _waited_for(connection: Connection, surveys: Sequence[int]) -> set[int]:
    lock(connection, *surveys, shared=True)
    return set(surveys)


def _spent(connection: Connection, tickets: Sequence[Place]) -> dict[Place, bool]:
    """Return which of these tickets and passes are stored, and whether they are spent."""
    if not tickets:
        return {}
    # Locked in one order, so that two commits with the same tickets never wait for each other.
    locked = rows(
        connection,
        "SELECT survey, ticket, spent FROM tickets WHERE (survey, ticket) IN"
        " (SELECT * FROM unnest(%s::integer[], %b::bytea[])) ORDER BY survey, ticket FOR UPDATE",
        [list(column) for column in zip(*tickets, strict=True)],
    )
    return {(survey, ticket): bool(spent) for survey, ticket, spent in locked}


def _known(connection: Connection, submissions: Sequence[Submission]) -> dict[Place, KnownKey]:
    known = rows(
        connection,
        "SELECT survey, key, body, accepted, day, withdrawn FROM keys WHERE (survey, key) IN"
        " (SELECT * FROM unnest(%s::integer[], %b::bytea[]))",
        [[new.survey for new in submissions], [new.key for new in submissions]],
    )
    return {(survey, key): KnownKey(*stored) for survey, key, *stored in known}


def _write(connection: Connection, admission: Admission) -> None:
    if keys := admission.keys:
        done = connection.execute(
            f"INSERT INTO keys ({COLUMNS['keys']}) SELECT * FROM unnest(%s::integer[], %b::bytea[], %b::bytea[],"  # noqa: S608
            " %s::bigint[], %b::bytea[], %s::integer[], %s::bigint[]) ON CONFLICT DO NOTHING",
            [list(column) for column in zip(*map(key_with_checksum, keys), strict=True)],
        )
        if done.rowcount != len(keys):  # another collector committed one of them since they were read
            raise Overtaken
    _mark(connection, admission)
    if tickets := admission.tickets:
        spent = [(survey, ticket, row_checksum(survey, ticket, 1)) for survey, ticket in tickets]
        connection.execute(
            "UPDATE tickets SET spent = 1, checksum = new.checksum"
            " FROM unnest(%s::integer[], %b::bytea[], %s::bigint[]) AS new (survey, ticket, checksum)"
            " WHERE tickets.survey = new.survey AND tickets.ticket = new.ticket",
            [list(column) for column in zip(*spent, strict=True)],
        )
    _spend_passes(connection, admission)
    _insert(connection, admission.segments(), folded=False)


def _spend_passes(connection: Connection, admission: Admission) -> None:
    """Store passes as spent, each once: if another collector was first, all is undone and decided anew."""
    if passes := [with_checksum((*place, 1)) for place in admission.passes]:
        done = connection.execute(
            "INSERT INTO tickets SELECT * FROM unnest(%s::integer[], %b::bytea[], %s::integer[], %s::bigint[])"
            " ON CONFLICT DO NOTHING",
            [list(column) for column in zip(*passes, strict=True)],
        )
        if done.rowcount != len(passes):
            raise Overtaken


def _mark(connection: Connection, admission: Admission) -> None:
    """Mark keys as withdrawn, each once: if another collector was first, all is undone and decided anew."""
    if marks := [(*row[:2], key_with_checksum(row)[-1]) for row in admission.marks]:
        done = connection.execute(
            "UPDATE keys SET withdrawn = 1, checksum = new.checksum"
            " FROM unnest(%s::integer[], %b::bytea[], %s::bigint[]) AS new (survey, key, checksum)"
            " WHERE keys.survey = new.survey AND keys.key = new.key AND keys.withdrawn = 0",
            [list(column) for column in zip(*marks, strict=True)],
        )
        if done.rowcount != len(marks):
            raise Overtaken


def move_tickets(connection: Connection, survey: int, version: str) -> None:
    """Give the tickets of a survey that are not spent to another one."""
    ((target,),) = rows(connection, "SELECT number FROM surveys WHERE version = %s", [version])
    unspent = "SELECT ticket FROM tickets WHERE survey = %s AND spent = 0 ORDER BY ticket FOR UPDATE"
    tickets = [row[0] for row in rows(connection, unspent, [survey])]
    connection.execute(
        "UPDATE tickets SET survey = %s, checksum = new.checksum"
        " FROM unnest(%b::bytea[], %s::bigint[]) AS new (ticket, checksum)"
        " WHERE tickets.survey = %s AND tickets.ticket = new.ticket",
        (target, tickets, [row_checksum(target, ticket, 0) for ticket in tickets], survey),
    )


def fold(connection: Connection, step: Fold) -> None:
    """Do a step of folding; the lock on folding lets nobody else do one, that on the survey keeps it from going."""
    check_current(connection)
    if not rows(connection, "SELECT 1 FROM surveys WHERE number = %s", [step.survey]):
        raise Overtaken
    done = connection.execute(
        "DELETE FROM segments WHERE id = ANY(%s) AND survey = %s AND day = %s",
        (list(step.removed), step.survey, step.day),
    )
    if done.rowcount != len(step.removed):  # folded by another collector, or the survey was deleted
        raise Overtaken
    _insert(connection, [(step.survey, step.day, part) for part in step.added], folded=True)
    _insert(connection, [(step.survey, step.day, part) for part in step.left], folded=False)
    _gain(connection, step)


def _insert(connection: Connection, parts: Sequence[tuple[int, str, Segment]], *, folded: bool) -> None:
    """Add rows one by one: within a pipeline, as ``executemany`` has it, no limit of the server ends who freezes."""
    for each in parts:
        connection.execute(
            "INSERT INTO segments (survey, day, kind, n, folded, data, checksum) VALUES (%s, %s, %s, %s, %s, %b, %s)",
            _segment_row(each, folded=folded),
        )


def _segment_row(placed: Placed, *, folded: bool = False) -> Row:
    survey, day, part = placed
    return with_checksum((survey, day, part.kind, part.n, int(folded), part.data))


def probe(connection: Connection) -> None:
    """Write something, and take it away again: rows of a survey that never is."""
    _insert(connection, [(0, "", Segment(REPORTS, 0, bytes(_PROBE_BYTES)))], folded=False)
    connection.execute("DELETE FROM segments WHERE survey = 0")


def _gain(connection: Connection, step: Fold) -> None:
    """Add to the tally of a day, or take from it."""
    where = [step.survey, step.day]
    row = rows(connection, "SELECT n, state, withdrawn FROM tallies WHERE survey = %s AND day = %s", where)
    before = (row[0][0], row[0][1], row[0][2]) if row else None
    connection.execute(
        "INSERT INTO tallies (survey, day, n, state, withdrawn) VALUES (%s, %s, %s, %b, %s) ON CONFLICT (survey, day)"
        " DO UPDATE SET n = excluded.n, state = excluded.state, withdrawn = excluded.withdrawn",
        (*where, *stored_sum(before, step.gained, step.lost)),
    )


def fill(connection: Connection, table: str, data: Iterator[tuple[object, ...]]) -> None:
    """Copy rows into a table, as bytes of the types that its columns have."""
    columns = COLUMNS[table]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM {table} LIMIT 0")  # noqa: S608
        types = [column.type_code for column in cursor.description or ()]
        with cursor.copy(f"COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for row in data:
                copy.write_row(row)
