"""The threads of a collector: whatever goes wrong in one, nobody waits for ever, and the next request is served."""

import asyncio
import sqlite3

import httpx
import pytest

from fldp.collector.app import create_app
from fldp.collector.config.settings import Settings
from fldp.collector.service.collector import Collector
from fldp.collector.service.folding import Folder
from fldp.collector.storage.sqlite.store import SqliteStore
from support.collector_server import batch, key
from support.collector_store import DAY, damage, publish, rows, submission, whole
from support.waiting import until

FAILURES = [KeyError("x"), MemoryError(), sqlite3.OperationalError("x")]


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "fldp.db")
    yield store
    store.close()


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


@pytest.mark.parametrize("failure", FAILURES, ids=lambda error: type(error).__name__)
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
            collector._counting.writer.stop()
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
