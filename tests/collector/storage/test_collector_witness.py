"""The witness: what SQLite forgives is noticed, what is no damage is not, and no commit fails because of it."""

import logging
import os
import shutil

import pytest

from fldp.collector.config.settings import Settings
from fldp.collector.storage import backup
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.open_store import serve_store
from fldp.collector.storage.protocol import Admitted, StoreError
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.collector.storage.witness import Commit, CommitWitness, objection, witness_path
from support.collector_store import DAY, publish, submission
from support.shell import fldp

WITNESS = "fldp.db-witness"


def filled(folder, commits=3):
    """Make a database with some commits, as a process that was killed leaves it: with its log."""
    folder.mkdir(parents=True, exist_ok=True)
    store = SqliteStore(folder / "source.db")
    survey, number = publish(store)
    for k in range(commits):
        assert store.commit([submission(survey, number, b"key %d" % k, [1])], DAY)[0].verdict is Admitted.ACCEPTED
    for suffix in ("", "-wal", "-witness"):
        shutil.copy(folder / f"source.db{suffix}", folder / f"fldp.db{suffix}")
    store.close()
    for left in folder.glob("source.db*"):
        left.unlink()
    return survey, number


def serve(folder):
    serve_store(Settings.load({"data": folder}, {})).close()


def said(folder):
    store = SqliteStore(folder / "fldp.db")
    try:
        return "\n".join(fsck(store)[1])
    finally:
        store.close()


def test_a_killed_process_leaves_nothing_to_object_to(tmp_path):
    filled(tmp_path)
    assert said(tmp_path) == ""
    serve(tmp_path)


@pytest.mark.parametrize("how", ["flip", "cut", "remove"])
def test_commits_that_a_damaged_log_has_lost_are_noticed(tmp_path, how):
    filled(tmp_path)
    log = tmp_path / "fldp.db-wal"
    data = bytearray(log.read_bytes())
    data[len(data) - 2000] ^= 1
    if how == "remove":
        log.unlink()
    else:
        log.write_bytes(data if how == "flip" else data[:-2000])
    if how == "remove":
        with pytest.raises(StoreError):  # the tables were in the log: what is left is no database of a collector
            SqliteStore(tmp_path / "fldp.db").commit([], DAY)
        return
    assert "the last 1 commits are missing" in said(tmp_path)
    with pytest.raises(StoreError, match=r"commits are missing.*fldp fsck --accept"):
        serve(tmp_path)


def test_a_store_that_lost_commits_takes_no_more_until_it_is_accepted(tmp_path):
    survey, number = filled(tmp_path)
    log = tmp_path / "fldp.db-wal"
    log.write_bytes(log.read_bytes()[:-100])
    store = SqliteStore(tmp_path / "fldp.db")
    assert store.counts() == {number: 2}  # it can be read, and saved
    backup.backup(store, tmp_path / "backup")
    for k in range(5):
        with pytest.raises(StoreError, match="commits are missing"):
            store.commit([submission(survey, number, b"more %d" % k, [1])], DAY)
    store.close()
    assert "BAD   database: the last 1 commits are missing" in fldp("fsck", "--data", tmp_path, code=1).stdout
    fldp("fsck", "--data", tmp_path, "--accept")
    assert said(tmp_path) == ""
    store = serve_store(Settings.load({"data": tmp_path}, {}))
    assert store.commit([submission(survey, number, b"key 2", [1])], DAY)[0].verdict is Admitted.ACCEPTED
    store.close()


def test_an_older_copy_is_noticed_and_can_be_accepted(tmp_path):
    survey, number = filled(tmp_path)
    SqliteStore(tmp_path / "fldp.db").close()
    older = (tmp_path / "fldp.db").read_bytes()
    store = SqliteStore(tmp_path / "fldp.db")
    store.commit([submission(survey, number, b"later", [1])], DAY)
    store.close()
    (tmp_path / "fldp.db").write_bytes(older)
    assert "the last 1 commits are missing" in said(tmp_path)
    fldp("fsck", "--data", tmp_path, "--accept")
    serve(tmp_path)


def test_two_histories_of_the_same_length_are_told_apart(tmp_path):
    survey, number = filled(tmp_path)
    SqliteStore(tmp_path / "fldp.db").close()
    older, before = (tmp_path / "fldp.db").read_bytes(), (tmp_path / WITNESS).read_bytes()
    for key in (b"one", b"two"):
        (tmp_path / "fldp.db").write_bytes(older)
        (tmp_path / WITNESS).write_bytes(before)
        store = SqliteStore(tmp_path / "fldp.db")
        store.commit([submission(survey, number, key, [1])], DAY)
        store.close()
        if key == b"one":
            witnessed = (tmp_path / WITNESS).read_bytes()
    (tmp_path / WITNESS).write_bytes(witnessed)
    assert "the last commit is not the one that was witnessed" in said(tmp_path)


def test_the_witness_of_another_database_is_noticed(tmp_path):
    filled(tmp_path / "one")
    filled(tmp_path / "two")
    shutil.copy(tmp_path / "two" / WITNESS, tmp_path / "one" / WITNESS)
    assert "belongs to another database" in said(tmp_path / "one")
    with pytest.raises(StoreError, match="another database"):
        serve(tmp_path / "one")


def test_a_database_that_is_gone_is_not_made_anew(tmp_path):
    filled(tmp_path)
    for suffix in ("", "-wal"):
        (tmp_path / f"fldp.db{suffix}").unlink()
    with pytest.raises(StoreError, match="is missing, but"):
        serve(tmp_path)
    assert not (tmp_path / "fldp.db").exists()
    (tmp_path / WITNESS).unlink()
    serve(tmp_path)


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_database_ahead_of_its_witness_is_fine(tmp_path, lost, monkeypatch):
    """A process that ends between a commit and its witness, or whose witness is deleted, has done no harm."""
    survey, number = filled(tmp_path)
    store = SqliteStore(tmp_path / "fldp.db")
    monkeypatch.setattr(CommitWitness, "write", lambda self, commit: None)
    for k in range(lost):
        store.commit([submission(survey, number, b"ahead %d" % k, [1])], DAY)
    store.close()
    monkeypatch.undo()
    assert said(tmp_path) == ""
    (tmp_path / WITNESS).unlink()
    assert said(tmp_path) == ""
    assert (tmp_path / WITNESS).stat().st_mode & 0o777 == 0o600


def test_a_torn_slot_leaves_the_other_and_two_are_damage(tmp_path):
    filled(tmp_path)
    whole = (tmp_path / WITNESS).read_bytes()
    assert len(whole) == 1024
    for start in (0, 512):
        torn = bytearray(whole)
        torn[start + 20 : start + 40] = bytes(20)
        (tmp_path / WITNESS).write_bytes(torn)
        assert CommitWitness(tmp_path / "fldp.db").read().number in (3, 4, 5)
        assert said(tmp_path) == ""
    for damaged in (bytes(1024), b"", whole[:30]):
        (tmp_path / WITNESS).write_bytes(damaged)
        assert "is damaged" in said(tmp_path)
        with pytest.raises(StoreError, match="witness: is damaged"):
            serve(tmp_path)
    fldp("fsck", "--data", tmp_path, "--accept")
    serve(tmp_path)


def test_every_commit_is_witnessed_and_nothing_else(tmp_path):
    store = SqliteStore(tmp_path / "fldp.db")
    witness = CommitWitness(store.path)
    survey, number = publish(store)
    before = witness.read()
    new = submission(survey, number, b"a", [1])
    store.commit([new], DAY)
    assert witness.read().number == before.number + 1
    store.commit([new, new], DAY)  # repeated: nothing is written, nothing synced
    assert witness.read().number == before.number + 1
    store.close()


def test_a_witness_that_cannot_be_written_fails_no_commit(tmp_path, monkeypatch, caplog):
    store = SqliteStore(tmp_path / "fldp.db")
    survey, number = publish(store)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with caplog.at_level(logging.WARNING, "fldp.collector"):
        for k in range(3):
            assert store.commit([submission(survey, number, bytes([k]), [1])], DAY)[0].verdict is Admitted.ACCEPTED
    assert [record.message for record in caplog.records] == ["the witness cannot be written"]
    monkeypatch.undo()
    store.commit([submission(survey, number, b"after", [1])], DAY)
    store.close()
    assert said(tmp_path) == ""


def test_a_symbolic_link_in_place_of_the_witness_is_not_followed(tmp_path):
    (tmp_path / "other").write_text("mine")
    (tmp_path / WITNESS).symlink_to(tmp_path / "other")
    with pytest.raises(StoreError, match="cannot be read"):
        serve(tmp_path)
    assert (tmp_path / "other").read_text() == "mine"


def test_a_database_by_a_symbolic_link_has_its_witness_beside_the_file(tmp_path):
    filled(tmp_path / "real")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "fldp.db").symlink_to(tmp_path / "real" / "fldp.db")
    assert witness_path(tmp_path / "link" / "fldp.db") == tmp_path / "real" / WITNESS
    assert said(tmp_path / "link") == ""
    assert not (tmp_path / "link" / WITNESS).exists()


def test_a_copied_folder_and_a_restored_backup_are_fine(tmp_path):
    filled(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert said(tmp_path / "two") == ""
    store = SqliteStore(tmp_path / "two" / "fldp.db")
    backup.backup(store, tmp_path / "backup")
    store.close()
    (tmp_path / "two" / "fldp.db").unlink()  # its witness stays
    fldp("restore", tmp_path / "backup", "--data", tmp_path / "two")
    assert said(tmp_path / "two") == ""
    serve(tmp_path / "two")


def test_a_log_that_was_left_is_not_taken_for_that_of_a_restored_database(tmp_path):
    filled(tmp_path / "one")
    store = SqliteStore(tmp_path / "one" / "fldp.db")
    backup.backup(store, tmp_path / "backup")
    store.close()
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "fldp.db-wal").write_bytes(b"left")
    with pytest.raises(StoreError, match=r"fldp\.db-wal: already exists"):
        backup.restore_file(tmp_path / "backup", tmp_path / "two" / "fldp.db")


def test_a_second_process_may_commit_at_the_same_time(tmp_path):
    """The command that makes a token beside a running collector."""
    one, two = SqliteStore(tmp_path / "fldp.db"), SqliteStore(tmp_path / "fldp.db")
    survey, number = publish(one)
    for k in range(6):
        store = (one, two)[k % 2]
        store.commit([submission(survey, number, bytes([k]), [1])], DAY)
        assert one.objections() == two.objections() == []
    late = CommitWitness(tmp_path / "fldp.db")
    late.write(Commit(late.read().identity, 1, bytes(16)))  # a process that was stopped between commit and witness
    assert one.objections() == []
    one.close()
    two.close()


def test_what_is_an_objection():
    one = Commit(b"a" * 16, 5, b"x" * 16)
    assert objection(one, one) is None
    assert objection(one, None) is None
    assert objection(Commit(b"a" * 16, 6, b"y" * 16), one) is None
    assert "missing" in objection(Commit(b"a" * 16, 4, b"y" * 16), one)
    assert "not the one" in objection(Commit(b"a" * 16, 5, b"y" * 16), one)
    assert "another database" in objection(Commit(b"b" * 16, 9, b"y" * 16), one)
