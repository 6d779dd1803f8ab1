"""Backup and restore: one file for both stores, made while reports come, and nothing lost or counted twice after it."""

import os
import sqlite3
import threading
import time
from datetime import UTC, datetime
from itertools import product

import pytest

from fldp import wire
from fldp.collector.service import tokens
from fldp.collector.service.folding import fold_day
from fldp.collector.storage import backup
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.protocol import Admitted, StoreError
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.collector.storage.tables import COLUMNS, rows_of
from support.collector_server import Server, batch, key
from support.collector_store import DAY, STORES, damage, opened, publish, rows, stored_in, submission, whole
from support.postgres_server import server as postgres
from support.shell import fldp
from support.waiting import LONG, until
from support.withdrawals import taking

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def filled(store):
    """Surveys of both retentions, folded and not, closed, with tickets, tokens, and one that was deleted."""
    (one, first), (two, second) = publish(store), publish(store, name="other", retention="tally")
    for k in range(30):
        store.commit([submission(one, first, b"%d" % k, [k % 5]), submission(two, second, b"%d" % k, [k % 5] * 3)], DAY)
        if k == 20:
            fold_day(store, first, DAY, one)
            fold_day(store, second, DAY, two)
    tokens.create_tickets(store, first, 5)
    for scope in ("admin", "read", "send"):
        tokens.create_token(store, NOW, scope)
    store.close_surveys([second], "2026")
    _, last = publish(store, name="deleted")
    store.delete_surveys([last])
    return one, first, last


def content(store):
    place = "rowid" if isinstance(store, SqliteStore) else "place"
    return {table: rows(store, rows_of(table, place)) for table in COLUMNS}


@pytest.mark.parametrize(("source", "target"), list(product(STORES, STORES)))
def test_all_of_a_store_goes_into_a_file_and_into_any_store(tmp_path, source, target):
    (tmp_path / "source").mkdir()
    store = opened(source, tmp_path / "source")
    survey, number, last = filled(store)
    file = tmp_path / "backup"
    count = backup.backup(store, file)
    assert count == sum(map(len, content(store).values())) > 70
    assert file.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {"source", "backup"}
    restored = opened(target, tmp_path)
    if target == "sqlite":
        restored.close()
        restored.path.unlink()
        backup.restore_file(file, restored.path)
        restored = SqliteStore(restored.path)
    else:
        backup.restore(file, restored)
    assert content(restored) == content(store)
    assert whole(restored, survey, number) == whole(store, survey, number)
    assert fsck(restored) == fsck(store)
    assert fsck(restored)[1] == []
    assert publish(restored, name="new")[1] > last  # numbers are never used again
    again = submission(survey, number, b"3", [3])
    assert restored.commit([again], DAY)[0].verdict is Admitted.REPEATED
    restored.close()
    store.close()


def test_the_order_of_rows_in_a_backup_says_nothing(tmp_path):
    """The same commits in another order give the same file."""
    files = []
    for turn in (1, -1):
        folder = tmp_path / str(turn)
        folder.mkdir()
        store = opened("sqlite", folder)
        survey, number = publish(store)
        reports = survey.oracle.privatize([k % 5 for k in range(40)], rng=3)
        submissions = [submission(survey, number, bytes([k])) for k in range(40)]
        for new, k in list(zip(submissions, range(40), strict=True))[::turn]:
            object.__setattr__(new, "content", reports[k : k + 1])
            store.commit([new], DAY)
        backup.backup(store, folder / "backup")
        store.close()
        connection = sqlite3.connect(folder / "backup")
        files.append([connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("segments", "keys")])
    assert files[0] == files[1]


def test_nothing_is_written_over_and_nothing_is_left_of_a_failure(tmp_path, monkeypatch):
    store = opened("sqlite", tmp_path)
    filled(store)
    file = tmp_path / "backup"
    file.write_text("mine")
    with pytest.raises(StoreError, match="already exists"):
        backup.backup(store, file)
    assert file.read_text() == "mine"
    file.unlink()
    real = os.link
    monkeypatch.setattr(os, "link", lambda one, two: (file.write_text("late"), real(one, two)))
    with pytest.raises(StoreError, match="already exists"):
        backup.backup(store, file)
    assert file.read_text() == "late"
    monkeypatch.undo()
    with pytest.raises(StoreError, match="cannot be opened"):
        backup.backup(store, tmp_path / "none" / "backup")
    store.close()
    assert {path.name for path in tmp_path.iterdir()} == {"backup", "fldp.db", "fldp.db-witness"}


@pytest.mark.parametrize("target", STORES)
def test_only_an_empty_store_is_filled(tmp_path, target):
    store = opened("sqlite", tmp_path)
    filled(store)
    backup.backup(store, tmp_path / "backup")
    store.close()
    (tmp_path / "target").mkdir()
    restored = opened(target, tmp_path / "target")
    tokens.create_token(restored, NOW, "read")
    before = content(restored)
    with pytest.raises(StoreError, match="must be empty, and holds tokens"):
        backup.restore(tmp_path / "backup", restored)
    assert content(restored) == before
    restored.close()


def test_what_is_no_backup_is_refused(tmp_path):
    store = opened("sqlite", tmp_path)
    filled(store)
    with pytest.raises(StoreError, match="not a backup"):
        backup.restore_file(store.path, tmp_path / "new.db")
    backup.backup(store, tmp_path / "backup")
    store.close()
    data = bytearray((tmp_path / "backup").read_bytes())
    for name, content_of in (("cut", data[: len(data) // 2]), ("text", b"hello " * 100), ("empty", b"")):
        (tmp_path / name).write_bytes(content_of)
        with pytest.raises(StoreError):
            backup.restore_file(tmp_path / name, tmp_path / "new.db")
    with pytest.raises(StoreError, match="No such file"):
        backup.restore_file(tmp_path / "nowhere", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_a_backup_says_how_old_it_is_since_it_may_hold_what_was_withdrawn(tmp_path):
    store = SqliteStore(tmp_path / "fldp.db")
    survey, number = publish(store)
    sent = submission(survey, number, b"sent", [1] * 3, secret=b"sent")
    store.commit([sent], DAY)
    backup.backup(store, tmp_path / "backup")
    store.commit([taking(sent)], DAY)
    store.close()
    three_days_ago = time.time() - 3 * 86400 - 60
    os.utime(tmp_path / "backup", (three_days_ago, three_days_ago))
    said = fldp("restore", tmp_path / "backup", "--data", tmp_path / "new").stderr
    assert "written 3 days ago; what was withdrawn since is counted again" in said
    restored = SqliteStore(tmp_path / "new" / "fldp.db")
    assert restored.counts() == {number: 3}
    assert restored.commit([taking(sent)], DAY)[0].accepted == 3
    assert restored.counts() == {number: 0}
    restored.close()


def test_restore_counts_again_and_exits_with_1_on_a_difference(tmp_path):
    store = opened("sqlite", tmp_path)
    filled(store)
    damage(store, "UPDATE keys SET accepted = accepted + 1")
    store.close()
    fldp("backup", tmp_path / "backup", "--data", tmp_path)
    (tmp_path / "new").mkdir()
    assert "BAD" in fldp("restore", tmp_path / "backup", "--data", tmp_path / "new", code=1).stdout
    assert "already exists" in fldp("restore", tmp_path / "backup", "--data", tmp_path, code=2).stderr


@pytest.mark.parametrize(("source", "target"), [("sqlite", "postgres"), ("postgres", "sqlite")])
def test_a_backup_under_load_and_everything_sent_again(tmp_path, source, target):
    """Restored elsewhere, and every request sent again with its key: each report is there once, bit for bit."""
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    first = Server(folders[0], fold_seconds=0.05, **stored_in(source))
    survey = first.publish(minimum=1)
    sent, stop, enough = {}, threading.Event(), threading.Event()

    def send():
        with first.client() as client:
            while not stop.is_set():
                name, body = key(), batch(survey, 3, survey.label(len(sent) % 5))
                sent[name] = body
                assert first.send(survey, body, name, client).json() == {"accepted": 3}
                if len(sent) > 40:
                    enough.set()
                time.sleep(0.003)  # all of it is sent again

    thread = threading.Thread(target=send)
    thread.start()
    assert enough.wait(LONG)
    where = ["--database", first.settings["database"]] if source == "postgres" else ["--data", folders[0]]
    fldp("backup", tmp_path / "backup", *where)
    before = len(sent)
    until(lambda: len(sent) >= before + 20)
    stop.set()
    thread.join()
    token = first.token
    first.stop()
    into = {} if target == "sqlite" else {"database": postgres().database()}
    where = ["--database", into["database"]] if into else ["--data", folders[1]]
    said = fldp("restore", tmp_path / "backup", *where).stdout
    assert "nothing is wrong" in said
    second = Server(folders[1], token=token, **into)
    try:
        kept = second.counts()[survey.version]
        assert 3 * 40 <= kept < 3 * len(sent)
        with second.admin as client:
            for name, body in sent.items():
                assert second.send(survey, body, name, client).json() == {"accepted": 3}
            reply = client.get(f"/v1/versions/{survey.version}/tally").content
        offline = [survey.oracle.tally(wire.decode(body, survey.oracle, survey.version)) for body in sent.values()]
        assert wire.decode_tally(reply, survey.oracle, survey.version) == sum(offline[1:], offline[0])
        assert "nothing is wrong" in fldp("fsck", *where).stdout
    finally:
        second.stop()
