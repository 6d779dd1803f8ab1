"""Slow, idle, huge and endless requests are cut off within limits, while an honest client is served."""

import asyncio

import pytest

from support.collector_server import Server
from support.greedy_clients import CLOSED, Siege, allow_connections, honest, resident

LIMITS = {"header_seconds": 6, "idle_seconds": 6, "body_seconds": 6, "max_body": 4 << 20, "max_header": 16 << 10}
MAX_LOST = 2  # connections of the honest client, for each time that the whole machine stands still for six seconds
ON_THE_WAY = 24 << 20  # bytes that the two kernels and the server may hold of what nobody has read


@pytest.fixture(scope="module")
def siege(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"), **LIMITS)
    yield Siege(server, server.publish(minimum=1))
    assert server.stop() == 0
    assert not [line for line in server.logged if line["level"] == "error"]


def beside(siege, attack):
    """Run an attack while an honest client sends; return its outcome. All that was acknowledged is counted."""

    async def run():
        return await asyncio.wait_for(attack(), 300)

    before = siege.server.counts()[siege.survey.version]
    with honest(siege) as client:
        outcomes = asyncio.run(run())
    assert client.answers.keys() <= {200, CLOSED}
    assert client.answers[200] == client.sent
    assert client.sent >= 2
    assert client.answers[CLOSED] <= MAX_LOST
    assert siege.server.counts()[siege.survey.version] - before == client.sent
    return outcomes


def test_a_byte_a_second(siege):
    assert beside(siege, lambda: siege.drip_bodies(300)).keys() <= {408, CLOSED}
    assert beside(siege, lambda: siege.drip_headers(300)).keys() == {CLOSED}


def test_a_thousand_idle_connections(siege):
    allow_connections(1000)
    assert beside(siege, lambda: siege.idle(1000)) == {CLOSED: 1000}


def test_more_connections_than_there_may_be_only_wait(siege):
    allow_connections(1200)
    assert beside(siege, lambda: siege.idle(1200)) == {CLOSED: 1200}


@pytest.mark.parametrize(
    ("attack", "statuses"),
    [("gigabyte", {413, CLOSED}), ("chunked_gigabyte", {413, CLOSED}), ("header_flood", {431, CLOSED})],
)
def test_more_than_there_may_be_is_not_taken(siege, attack, statuses):
    status, taken = beside(siege, getattr(siege, attack))
    assert status in statuses
    assert taken <= LIMITS["max_body"] + ON_THE_WAY


def test_nothing_is_unpacked(siege):
    asyncio.run(siege.bomb())
    before = resident(siege.server.process)
    assert {asyncio.run(siege.bomb())[0] for _ in range(5)} == {415}
    assert resident(siege.server.process) < before + (50 << 20)
