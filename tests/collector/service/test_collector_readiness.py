"""Readiness: one try to write at a time, however many ask, and nobody waits for one that hangs."""

import asyncio
import threading

import pytest

from fldp.collector.service import readiness
from fldp.collector.service.readiness import Readiness
from fldp.collector.storage.protocol import StoreError
from support.collector_store import STORES, opened, rows


class Probe:
    """A try that may be held up, or fail."""

    def __init__(self, *, fails=False):
        self.calls, self.fails, self.gate = 0, fails, threading.Event()
        self.gate.set()

    def __call__(self):
        self.calls += 1
        assert self.gate.wait(300)
        if self.fails:
            raise StoreError("store: is full")


@pytest.mark.parametrize("fails", [False, True])
def test_a_thousand_who_ask_cause_one_try(fails, monkeypatch):
    probe = Probe(fails=fails)
    monkeypatch.setattr(readiness, "MAX_SECONDS", 1000.0)
    monkeypatch.setattr(readiness, "_FRESH_SECONDS", 1000.0)

    async def main():
        probed = Readiness(probe)
        probe.gate.clear()
        asked = [asyncio.ensure_future(probed.is_ready()) for _ in range(1000)]
        await asyncio.sleep(0)
        probe.gate.set()
        assert set(await asyncio.gather(*asked)) == {not fails}

    asyncio.run(main())
    assert probe.calls == 1


def test_what_was_found_out_is_good_for_a_while(monkeypatch):
    probe = Probe(fails=True)
    monkeypatch.setattr(readiness, "_FRESH_SECONDS", 1000.0)

    async def main():
        probed = Readiness(probe)
        assert not await probed.is_ready()
        assert not await probed.is_ready()
        assert probe.calls == 1
        probed.written()  # a commit says more than a try
        assert await probed.is_ready()
        monkeypatch.setattr(readiness, "_FRESH_SECONDS", 0.0)
        assert not await probed.is_ready()
        assert probe.calls == 2

    asyncio.run(main())


def test_nobody_waits_for_a_try_that_hangs(monkeypatch):
    probe = Probe()
    monkeypatch.setattr(readiness, "MAX_SECONDS", 0.05)
    monkeypatch.setattr(readiness, "_FRESH_SECONDS", 0.0)

    async def main():
        probed = Readiness(probe)
        probe.gate.clear()
        for _ in range(3):
            assert not await probed.is_ready()
        assert probe.calls == 1
        probe.gate.set()
        while not await probed.is_ready():
            await asyncio.sleep(0.01)

    asyncio.run(main())


def test_a_try_that_outlives_the_loop_hurts_nobody(monkeypatch):
    monkeypatch.setattr(readiness, "MAX_SECONDS", 0.01)
    probe = Probe()
    probe.gate.clear()
    assert not asyncio.run(Readiness(probe).is_ready())
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "fldp-probe"]
    probe.gate.set()
    thread.join(300)
    assert not thread.is_alive()


@pytest.mark.parametrize("kind", STORES)
def test_a_try_leaves_nothing_behind(tmp_path, kind):
    store = opened(kind, tmp_path)
    for _ in range(3):
        store.probe()
    tables = ("surveys", "segments", "tallies", "keys", "tickets", "tokens")
    assert [rows(store, f"SELECT count(*) FROM {table}") for table in tables] == [[(0,)]] * 6
    store.close()
    with pytest.raises(StoreError):
        store.probe()
