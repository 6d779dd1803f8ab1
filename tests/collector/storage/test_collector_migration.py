"""Files of older schemas: they are brought up to date whole or not at all, and nothing in them changes its meaning.

``stored/schema_1.db.gz`` and ``stored/schema_1.backup.gz`` were written by the code of the first schema: surveys that
keep reports, forget them, and take tickets; folded and waiting reports, a merged tally, tokens, a deleted survey.
"""

import gzip
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fldp import Survey
from fldp.collector.service.folding import fold_day
from fldp.collector.storage import backup as archive
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.protocol import Admitted, StoredIssuer, StoredSurvey
from fldp.collector.storage.sqlite import file
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.collector.storage.window import DayWindow
from fldp.support import canonical_json
from support.collector_store import DAY, STORES, opened, rows, submission

STORED = Path(__file__).parents[2] / "support" / "stored"
COLUMNS = {
    "surveys": "number, version, name, specification, created, closed",
    "segments": "id, survey, day, kind, n, folded, data",
    "tallies": "survey, day, n, state",
    "keys": "survey, key, body, accepted",
    "tickets": "survey, ticket, spent",
    "tokens": "id, hash, scope, survey, created, expires, revoked",
}
NUMBERS = {1: 88, 2: 36, 3: 5}  # of reports, by survey


def old_file(folder, name="schema_1.db.gz", as_name="fldp.db"):
    path = folder / as_name
    path.write_bytes(gzip.decompress((STORED / name).read_bytes()))
    return path


def content(path):
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2, 3").fetchall()
            for table, columns in COLUMNS.items()
        }


def surveys(store):
    with store.snapshot() as snapshot:
        return {entry.number: Survey.parse(entry.specification, is_json=True) for entry in snapshot.entries()}


def tallies(store):
    with store.snapshot() as snapshot:
        return {number: DayWindow(number).tally(snapshot, survey.oracle) for number, survey in surveys(store).items()}


def schema(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_an_old_file_keeps_everything(tmp_path):
    path = old_file(tmp_path)
    before = content(path)
    store = SqliteStore(path)
    assert content(path) == before
    assert schema(path) == len(file.migrations()) > 1
    assert fsck(store)[1] == []
    assert store.counts() == NUMBERS
    expected = tallies(store)
    for number, day, _ in store.pending():
        fold_day(store, number, day, surveys(store)[number])
    assert store.pending() == []
    assert tallies(store) == expected
    assert fsck(store)[1] == []
    survey = surveys(store)[1]
    again = store.commit([submission(survey, 1, b"raw 3", [3] * 4)], DAY)
    assert [outcome.verdict for outcome in again] == [Admitted.REPEATED]
    store.close()


def test_a_deletion_that_an_old_release_did_not_complete_is_completed(tmp_path):
    path = old_file(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM surveys WHERE number = 1")
        connection.commit()
    store = SqliteStore(path)
    assert [entry.number for entry in store.deletions()] == [1]
    assert fsck(store)[1] == []
    store.purge()
    for table in ("segments", "tallies", "keys", "tickets"):
        assert rows(store, f"SELECT count(*) FROM {table} WHERE survey = 1") == [(0,)]
    assert store.deletions() == []
    store.close()


def test_row_numbers_go_on_after_those_of_the_old_file(tmp_path):
    store = SqliteStore(old_file(tmp_path))
    last = rows(store, "SELECT max(id) FROM segments")[0][0]
    numbers = list(surveys(store))
    store.delete_surveys(numbers)
    assert rows(store, "SELECT count(*) FROM segments") == [(0,)]
    survey = Survey.parse(rows_of_backup(tmp_path)[0][0], is_json=True)
    number = store.publish(entry_of(survey))[0].number
    store.commit([submission(survey, number, b"new", [1])], DAY)
    assert rows(store, "SELECT id FROM segments")[0][0] > last
    assert number > max(numbers)
    store.close()


def entry_of(survey):
    return StoredSurvey(0, survey.version, survey.name, canonical_json.dumps(survey.canonical).decode(), "2026", None)


def rows_of_backup(folder):
    path = old_file(folder, "schema_1.backup.gz", "for-its-surveys")
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT specification FROM surveys ORDER BY number").fetchall()


def statements():
    """Yield the schema before each statement that the migrations of a file of the first schema run."""
    for before, step in enumerate(file.migrations()[1:], 1):
        statement = ""
        for line in step.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                yield before
                statement = ""


def die_in_migration(path, moment):
    """Migrate in a process of its own that is killed before the statement of a number; return whether it was."""
    child = os.fork()
    if child == 0:
        _migrate_until(path, moment)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _migrate_until(path, moment):
    try:
        real, seen = file.run_statement, [0]

        def counted(connection, statement):
            seen[0] += 1
            if seen[0] == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            real(connection, statement)

        file.run_statement = counted
        SqliteStore(path)
    finally:
        os._exit(0)


def test_a_migration_that_is_killed_at_any_statement_changes_nothing_and_is_done_at_the_next_start(tmp_path):
    for moment, reached in enumerate(statements(), 1):
        folder = tmp_path / str(moment)
        folder.mkdir()
        path = old_file(folder)
        before = content(path)
        assert die_in_migration(path, moment)
        assert schema(path) == reached, moment
        assert content(path) == before, moment
        store = SqliteStore(path)
        assert content(path) == before, moment
        assert store.counts() == NUMBERS
        assert fsck(store)[1] == []
        store.close()


@pytest.mark.parametrize("target", STORES)
def test_a_backup_of_the_old_schema_is_restored_and_not_changed(tmp_path, target):
    backup = old_file(tmp_path, "schema_1.backup.gz", "backup")
    before = backup.read_bytes()
    (tmp_path / "target").mkdir()
    if target == "sqlite":
        archive.restore_file(backup, tmp_path / "target" / "fldp.db")
        store = SqliteStore(tmp_path / "target" / "fldp.db")
    else:
        store = opened(target, tmp_path)
        archive.restore(backup, store)
    assert backup.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"backup", "target"}
    assert store.counts() == NUMBERS
    assert fsck(store)[1] == []
    reference = SqliteStore(old_file(tmp_path))
    assert tallies(store) == tallies(reference)
    for table in ("tallies", "keys", "tickets", "tokens"):
        query = f"SELECT {COLUMNS[table]} FROM {table} ORDER BY 1, 2"
        assert rows(store, query) == rows(reference, query), table
    reference.close()
    store.close()


@pytest.mark.parametrize("target", STORES)
def test_a_backup_of_the_schema_before_withdrawals_is_restored(tmp_path, target):
    store = opened(target, tmp_path)
    archive.restore(old_file(tmp_path, "schema_3.backup.gz", "backup"), store)
    (tmp_path / "direct").mkdir()
    reference = SqliteStore(old_file(tmp_path / "direct", "schema_3.db.gz"))
    assert store.counts() == reference.counts() == {1: 51, 2: 51, 3: 12}
    assert tallies(store) == tallies(reference)
    assert fsck(store)[1] == fsck(reference)[1] == []
    for table in ("tallies", "keys", "tickets", "tokens"):
        query = f"SELECT {COLUMNS[table]} FROM {table} ORDER BY 1, 2"
        assert rows(store, query) == rows(reference, query), table
    assert rows(store, "SELECT DISTINCT day, withdrawn FROM keys") == [(None, 0)]
    reference.close()
    store.close()


@pytest.mark.parametrize("target", STORES)
def test_a_file_and_a_backup_of_the_schema_before_passes_have_no_keys_that_sign_them(tmp_path, target):
    """``schema_4.db.gz`` and ``schema_4.backup.gz`` were written by the code of schema 4, out of a file of schema 3."""
    (tmp_path / "direct").mkdir()
    path = old_file(tmp_path / "direct", "schema_4.db.gz")
    assert schema(path) == 4
    before, reference = content(path), SqliteStore(path)
    assert content(path) == before
    store = opened(target, tmp_path)
    archive.restore(old_file(tmp_path, "schema_4.backup.gz", "backup"), store)
    assert store.counts() == reference.counts() == {1: 51, 2: 51, 3: 12}
    assert tallies(store) == tallies(reference)
    assert store.gateway_keys() == reference.gateway_keys() != []
    for each in (store, reference):
        assert fsck(each)[1] == []
        assert rows(each, "SELECT count(*) FROM issuers") == [(0,)]
        each.add_issuer(StoredIssuer(b"id", b"private", "2026"))
        assert each.bind_issuer(b"id", "one", "2026")
        assert fsck(each)[1] == []
        each.close()


@pytest.mark.parametrize("source", STORES)
def test_an_old_backup_goes_through_a_new_one(tmp_path, source):
    """Restored, backed up by this version, and restored again: nothing is lost on the way."""
    store = opened(source, tmp_path)
    archive.restore(old_file(tmp_path, "schema_1.backup.gz", "old"), store)
    archive.backup(store, tmp_path / "new")
    archive.restore_file(tmp_path / "new", tmp_path / "again.db")
    again = SqliteStore(tmp_path / "again.db")
    assert tallies(again) == tallies(store)
    assert fsck(again) == fsck(store)
    assert fsck(again)[1] == []
    again.close()
    store.close()
