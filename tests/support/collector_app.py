"""A collector in the process of a test, without a socket."""

import asyncio

import httpx
import pytest

from fldp.collector.app import create_app
from fldp.collector.config.clock import system
from fldp.collector.config.settings import Settings
from fldp.collector.service.collector import Collector
from fldp.collector.service.tokens import create_token
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.interface.operations import OPERATIONS


@pytest.fixture
def collector(tmp_path):
    collector = Collector(Settings(data=tmp_path), SqliteStore(tmp_path / "fldp.db"))
    yield collector
    collector.stop()


def play(collector, story, operations=OPERATIONS):
    async def run():
        secret, _ = create_token(collector.store, system(), "admin")
        transport = httpx.ASGITransport(create_app(collector, operations))
        held = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://x", headers=held) as client:
            await story(client)

    asyncio.run(run())
