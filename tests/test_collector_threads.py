"""The threads of a collector: whatever goes wrong in one, nobody waits for ever, and the next request is served."""

import asyncio
import sqlite3
import threading

import httpx
import pytest

from collector_server import batch, key
from collector_store import DAY, damage, publish, rows, submission, until, whole
from fldp.collector.app import create_app
from fldp.collector.collector import Collector
from fldp.collector.folding import Folder
from fldp.collector.settings import Settings
from fldp.collector.sqlite import SqliteStore
from fldp.collector.store import Outcome, Verdict
from fldp.collector.writer import BusyError, Writer

FAILURES = [KeyError("x"), MemoryError(), sqlite3.OperationalError("x"), SystemExit(1), RecursionError("x")]


@pytest.fixture
def store(tmp_path):
    made = SqliteStore(tmp_path / "fldp.db")
    yield made
    made.close()


@pytest.mark.parametrize("failure", FAILURES, ids=lambda error: type(error).__name__)
def test_the_writer_survives_a_commit_that_fails(store, failure):
    survey, number = publish(store)
    fails = [True]

    def commit(batch):
        if fails.pop() if fails else False:
            raise failure
        return store.commit(batch, DAY)

    writer = Writer(commit, most_waiting=3)
    with pytest.raises(type(failure)):
        writer.submit(submission(survey, number, b"a")).result(10)
    assert writer.alive
    assert writer.submit(submission(survey, number, b"a")).result(10).accepted == 1
    writer.stop()
    assert not writer.alive
    assert whole(store, survey, number).n == 1


def test_a_commit_that_answers_too_few_leaves_nobody_waiting(store):
    survey, number = publish(store)
    together = threading.Event()

    def commit(batch):
        together.wait(10)
        return [Outcome(Verdict.ACCEPTED, 1)]

    writer = Writer(commit, most_waiting=10)
    first = writer.submit(submission(survey, number, b"a"))
    until(lambda: not len(writer))
    others = [writer.submit(submission(survey, number, bytes([k]))) for k in range(3)]
    together.set()
    assert first.result(10).accepted == others[0].result(10).accepted == 1
    for future in others[1:]:
        with pytest.raises(ValueError, match="zip"):
            future.result(10)
    assert writer.submit(submission(survey, number, b"b")).result(10).accepted == 1
    writer.stop()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_ends_by_mistake_tells_those_who_wait_and_takes_no_more(store, monkeypatch):
    survey, number = publish(store)
    going = threading.Event()
    writer = Writer(lambda batch: [Outcome(Verdict.ACCEPTED, 1)] * (going.wait(10) and len(batch)), most_waiting=9)
    first = writer.submit(submission(survey, number, b"a"))
    until(lambda: not len(writer))
    waiting = writer.submit(submission(survey, number, b"b"))
    monkeypatch.setattr(writer, "_next", lambda: (_ for _ in ()).throw(SystemExit))
    going.set()
    assert first.result(10).accepted == 1
    with pytest.raises(BusyError):
        waiting.result(10)
    writer._thread.join(10)
    assert not writer.alive
    with pytest.raises(BusyError):
        writer.submit(submission(survey, number, b"c"))


def test_a_transaction_that_could_not_be_undone_does_not_block_the_next(store):
    survey, number = publish(store)
    store._writer.execute("BEGIN IMMEDIATE")
    store._writer.execute("DELETE FROM surveys")
    assert store.commit([submission(survey, number, b"a")], DAY)[0].accepted == 1
    assert whole(store, survey, number).n == 1


def test_a_damaged_day_does_not_keep_others_from_being_folded(store):
    bad, first = publish(store, name="bad")
    good, second = publish(store, name="good")
    for survey, number in ((bad, first), (good, second)):
        store.commit([submission(survey, number, b"a", [1, 2])], DAY)
    damage(store, "UPDATE segments SET data = x'00' WHERE survey = ?", first)
    folder = Folder(store, {first: bad, second: good}.get, 60)
    until(lambda: folder.folded)
    folder.stop()
    assert rows(store, "SELECT survey, n FROM tallies") == [(second, 2)]
    assert folder.failures == 1


@pytest.mark.parametrize("failure", FAILURES[:3], ids=lambda error: type(error).__name__)
def test_the_folder_survives_whatever_fails(store, monkeypatch, failure):
    survey, number = publish(store)
    store.commit([submission(survey, number, b"a", [1])], DAY)
    fails, pending = [failure, failure], store.pending

    def sometimes():
        if fails:
            raise fails.pop()
        return pending()

    monkeypatch.setattr(store, "pending", sometimes)
    folder = Folder(store, {number: survey}.get, 0.01)
    until(lambda: folder.folded)
    assert (folder.folded, folder.failures, folder.alive) == (1, 2, True)
    folder.stop()


def test_readiness_says_that_a_thread_has_ended(tmp_path):
    collector = Collector(Settings(data=tmp_path), SqliteStore(tmp_path / "fldp.db"))
    survey, _ = publish(collector.store)

    async def story():
        transport = httpx.ASGITransport(create_app(collector))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            assert (await client.get("/readyz")).status_code == 200
            collector._writer.stop()
            answer = await client.get("/readyz")
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:fldp:busy")
            where = f"/v1/versions/{survey.version}/reports"
            sent = await client.post(where, content=batch(survey), headers={"Idempotency-Key": key()})
            assert (sent.status_code, sent.headers["retry-after"]) == (503, "1")
            assert (await client.get("/healthz")).status_code == 200

    try:
        asyncio.run(story())
    finally:
        collector.stop()
