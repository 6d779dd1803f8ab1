"""Commits in one statement: they write what longer ones write, and stand back where anything else must be decided."""

import sqlite3
from dataclasses import replace

import pytest

import fldp
from fldp.collector.storage.admission import NewRows
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.protocol import (
    Admitted,
    PassOrder,
    StoreError,
    Submission,
    SubmissionResult,
    SubmittedRow,
    Withdrawal,
)
from fldp.collector.storage.sqlite import writes
from fldp.collector.storage.sqlite.store import SqliteStore
from support.collector_store import DAY, STORES, damage, opened, publish, rows, whole


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "fldp.db")
    yield store
    store.close()


def singles(survey, number, *names):
    drawn = survey.oracle.privatize([0] * len(names))
    return [SubmittedRow(number, *hashes(k), (drawn, row)) for row, k in enumerate(names)]


def hashes(name):
    """Return what stands for the hashes of a key and its body, and the key itself."""
    return bytes([name]) * 32, bytes([name + 100]) * 32, b"%032d" % name


def verdicts(store, submissions):
    return [outcome.verdict for outcome in store.commit(submissions, DAY)]


def is_sound(store):
    """Whether the file is right, and what the store remembers of it is what is there."""
    (state,) = rows(store, "SELECT * FROM state")
    return fsck(store)[1] == [] and store._state in (None, state)


def test_commits_add_up_to_what_the_tables_hold(store):
    survey, number = publish(store)
    assert verdicts(store, singles(survey, number, 1, 2, 3)) == [Admitted.ACCEPTED] * 3
    assert store._state is not None
    assert is_sound(store)
    assert verdicts(store, singles(survey, number, 4)) == [Admitted.ACCEPTED]
    assert is_sound(store)
    assert whole(store, survey, number).n == 4


def test_one_statement_leaves_what_several_leave(tmp_path, monkeypatch):
    """The same rows, totals, number of commits and digests, apart from what a file draws for itself."""

    def written(folder, *, at_once):
        folder.mkdir()
        store = SqliteStore(folder / "fldp.db")
        try:
            damage(store, "UPDATE state SET identity = zeroblob(16)")
            survey, number = publish(store)
            drawn = survey.oracle.privatize([0, 1, 2], rng=7)
            new = [SubmittedRow(number, *hashes(9 - row), (drawn, row)) for row in range(3)]
            if not at_once:
                monkeypatch.setattr(store, "_commit_new", lambda new: several(store, new))
            store.commit(new[:2], DAY)
            store.commit(new[2:], DAY)
            return [rows(store, f"SELECT * FROM {table}") for table in ("keys", "segments", "state")]
        finally:
            store.close()

    def several(store, new):
        with store._writing() as connection:
            writes.commit_new(connection, new)

    assert written(tmp_path / "one", at_once=True) == written(tmp_path / "several", at_once=False)


def test_another_process_may_write_in_between(store):
    """Whatever a commit rests on is compared within it: a report counts once, and no commit is lost from the count."""
    survey, number = publish(store)
    assert verdicts(store, singles(survey, number, 1, 2)) == [Admitted.ACCEPTED] * 2
    other = SqliteStore(store.path)
    try:
        assert verdicts(other, singles(survey, number, 2, 3)) == [Admitted.REPEATED, Admitted.ACCEPTED]
        assert verdicts(store, singles(survey, number, 4)) == [Admitted.ACCEPTED]
        assert is_sound(store)
        assert verdicts(store, singles(survey, number, 3, 5)) == [Admitted.REPEATED, Admitted.ACCEPTED]
        assert verdicts(other, singles(survey, number, 6)) == [Admitted.ACCEPTED]
        ((before,),) = rows(store, "SELECT commits FROM state")
        assert verdicts(store, singles(survey, number, 7)) == [Admitted.ACCEPTED]
        assert rows(store, "SELECT commits FROM state") == [(before + 1,)]
    finally:
        other.close()
    assert is_sound(store)
    assert whole(store, survey, number).n == 7


def test_one_commit_for_several_surveys(store):
    surveys = [publish(store, name=name) for name in ("first", "second")]
    new = [each for number, (survey, at) in enumerate(surveys) for each in singles(survey, at, number, number + 10)]
    assert verdicts(store, new) == [Admitted.ACCEPTED] * 4
    assert [whole(store, *each).n for each in surveys] == [2, 2]
    assert is_sound(store)


@pytest.mark.parametrize("unusual", ["known", "twice", "closed", "deleted"])
def test_nothing_of_a_commit_is_left_that_must_be_decided(store, unusual):
    survey, number = publish(store)
    store.commit(singles(survey, number, 1), DAY)
    if unusual == "closed":
        store.close_surveys([number], "2026-11-01T00:00:00Z")
    if unusual == "deleted":
        store.delete_surveys([number])
    new = singles(survey, number, 2, {"known": 1, "twice": 2}.get(unusual, 3))
    expected = {
        "known": [Admitted.ACCEPTED, Admitted.REPEATED],
        "twice": [Admitted.ACCEPTED, Admitted.REPEATED],
        "closed": [Admitted.CLOSED] * 2,
        "deleted": [Admitted.GONE] * 2,
    }
    assert verdicts(store, new) == expected[unusual]
    assert is_sound(store)


def test_a_later_release_has_brought_the_tables_up_to_date(store):
    survey, number = publish(store)
    store.commit(singles(survey, number, 1), DAY)
    schema = writes.schema()
    damage(store, f"PRAGMA user_version = {schema + 1}")
    with pytest.raises(StoreError, match=f"has schema {schema + 1} now, this collector writes {schema}"):
        store.commit(singles(survey, number, 2), DAY)
    damage(store, f"PRAGMA user_version = {schema}")
    assert verdicts(store, singles(survey, number, 2)) == [Admitted.ACCEPTED]
    assert is_sound(store)


def test_nothing_of_it_is_in_the_file(store):
    survey, number = publish(store)
    store.commit(singles(survey, number, 1), DAY)
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("SELECT * FROM sqlite_schema WHERE name LIKE '%new_rows%'").fetchall() == []
    connection.close()


@pytest.mark.parametrize("kind", STORES)
def test_batches_of_new_keys_are_written_as_one_by_one(kind, tmp_path):
    """Several batches and single reports share a commit; each has its own answer, and withdrawing finds its day."""
    store = opened(kind, tmp_path)
    try:
        survey, number = publish(store, retention="tally")
        batches = [survey.oracle.privatize(values) for values in ([1, 2, 3], [4] * 5)]
        new = [
            Submission(number, *hashes(1)[:2], batches[0], secret=hashes(1)[2]),
            Submission(number, *hashes(2)[:2], survey.oracle.tally(batches[1]), secret=hashes(2)[2], tallied=True),
            *singles(survey, number, 3),
        ]
        assert NewRows.of(new, DAY) is not None
        accepted = [SubmissionResult(Admitted.ACCEPTED, n) for n in (3, 5, 1)]
        assert store.commit(new, DAY) == accepted
        assert rows(store, "SELECT key, body, accepted FROM keys ORDER BY key") == [
            (*hashes(name)[:2], n) for name, n in ((1, 3), (2, 5), (3, 1))
        ]
        assert [outcome.accepted for outcome in store.commit(new, DAY)] == [3, 5, 1]
        assert whole(store, survey, number).n == 9
        taken = Withdrawal(number, *hashes(1)[:2], batches[0], secret=hashes(1)[2])
        assert store.commit([taken], "2026-11-02") == [SubmissionResult(Admitted.WITHDRAWN, 3)]
        assert whole(store, survey, number).n == 6
        assert fsck(store)[1] == []
    finally:
        store.close()


def test_what_must_be_decided_is_no_new_row():
    """A ticket is spent, a closed survey refuses, another day is its own, and many reports are not sorted in vain."""
    oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    plain = Submission(1, *hashes(1)[:2], oracle.privatize([1, 2]), secret=b"key")
    assert NewRows.of([plain], DAY) is not None
    tally = oracle.tally(oracle.privatize([0] * 2000))
    unusual = [
        replace(plain, ticket=bytes(32)),
        replace(plain, closed=True),
        replace(plain, day=DAY),
        replace(plain, secret=b""),
        replace(plain, key=b"short"),
        replace(plain, content=plain.content[:0]),
        replace(plain, content=oracle.privatize([0] * 2000)),
        replace(plain, content=tally),
        PassOrder(1, *hashes(1)[:2], plain.content, secret=b"key"),
        Withdrawal(1, *hashes(1)[:2], plain.content, secret=b"key"),
    ]
    assert [NewRows.of([new], DAY) for new in unusual] == [None] * len(unusual)
    assert NewRows.of([replace(plain, content=tally, tallied=True)], DAY) is not None
    assert NewRows.of([], DAY) is None
