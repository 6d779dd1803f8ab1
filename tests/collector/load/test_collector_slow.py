"""Clients that are slow on purpose, to send or to read: they are cut off, and nobody else waits for them."""

import asyncio
import re
import socket
import time
from contextlib import ExitStack

import pytest

from fldp.collector.config.settings import Settings
from fldp.collector.http.client_timeouts import GRACE, ClientTimeout
from fldp.collector.service.collector import Collector
from fldp.collector.storage.sqlite.store import SqliteStore
from support.collector_server import Server, batch, key, specification
from support.loop_clock import LoopClock
from support.waiting import until

SLOTS, FLIGHTS = 12, 8  # more clients may be slow than be worked for


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    limits = {"max_in_flight": FLIGHTS, "max_slow": SLOTS, "idle_seconds": 10, "body_seconds": 30}
    server = Server(tmp_path_factory.mktemp("collector"), **limits)
    yield server
    assert server.stop() == 0


def gauge(server, name):
    with server.client() as client:
        return int(re.search(rf"^fldp_{name} (\d+)$", client.get("/metrics").text, re.MULTILINE)[1])


def connections(server, stack, count):
    sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
    for connection in sockets:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", server.port))
    return sockets


def in_turns(server, waiting):
    """Yield connections, a few at a time, so that never more than may be are worked for."""
    for number, connection in enumerate(waiting):
        if number % (FLIGHTS // 2) == 0:
            until(lambda: gauge(server, "in_flight") == 0)
        yield connection


def everything(connection):
    received = b""
    try:
        while part := connection.recv(1 << 20):
            received += part
    except ConnectionError:
        pass
    return received


def test_slow_bodies_take_no_place_from_others(server):
    survey = server.publish(name="bodies")
    assert server.send(survey, batch(survey, 2)).status_code == 200  # from here on it is in memory
    with ExitStack() as stack:
        slow = connections(server, stack, 30)
        for connection in in_turns(server, slow):
            head = f"POST /v1/versions/{survey.version}/reports HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {key()}\r\n"
            connection.sendall(head.encode() + b"Content-Length: 500\r\n\r\nFLDP")
        until(lambda: gauge(server, "open_requests") > 1 + FLIGHTS)  # the one is the question itself
        until(lambda: gauge(server, "in_flight") == 0)
        for _ in range(5):
            assert server.send(survey, batch(survey, 2)).json() == {"accepted": 2}
        until(lambda: gauge(server, "open_requests") == 1 + SLOTS)  # the others were cut off after a second
        assert gauge(server, "slow_clients") == SLOTS
        assert server.send(survey).status_code == 200
        answers = [everything(connection) for connection in slow]
    assert all(answer.startswith(b"HTTP/1.1 408") for answer in answers)
    assert (gauge(server, "slow_clients"), gauge(server, "buffered_bytes")) == (0, 0)
    assert server.counts()[survey.version] == 13


def test_a_body_that_is_slow_but_comes_is_counted(server):
    survey = server.publish(name="patience")
    body = batch(survey, 40)
    with socket.create_connection(("127.0.0.1", server.port), 60) as connection:
        head = f"POST /v1/versions/{survey.version}/reports HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {key()}\r\n"
        connection.sendall(head.encode() + f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode())
        for start in range(0, len(body), len(body) // 4):
            connection.sendall(body[start : start + len(body) // 4])
            time.sleep(0.5)
        assert everything(connection).endswith(b'{"accepted":40}')
    assert gauge(server, "slow_clients") == 0


def resident(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_answers_that_nobody_reads_are_neither_copied_nor_waited_for(server):
    fields = {**specification(name="large"), "labels": [f"{'x' * 90} {number}" for number in range(140_000)]}
    server.publish(fields)
    with server.client() as client:
        expected = client.get("/v1/surveys/large")
    size = len(expected.content)
    assert size > 12_000_000
    assert expected.json()["survey"]["labels"] == fields["labels"]
    before = resident(server)
    with ExitStack() as stack:
        lazy = connections(server, stack, 30)
        for connection in in_turns(server, lazy):
            connection.sendall(b"GET /v1/surveys/large HTTP/1.1\r\nHost: x\r\n\r\n")
        until(lambda: gauge(server, "open_requests") > 1 + FLIGHTS)
        until(lambda: gauge(server, "in_flight") == 0)
        assert resident(server) - before < len(lazy) * size // 3  # what threads are reading, and 1 MiB for each client
        small = server.publish(name="small")
        assert server.send(small).status_code == 200
        until(lambda: gauge(server, "open_requests") <= 1 + SLOTS)  # some may be cut off for idling by now
        assert server.send(small).status_code == 200
        until(lambda: gauge(server, "open_requests") == 1)
        assert all(len(everything(connection)) < size for connection in lazy)
    with server.client() as client:
        assert client.get("/v1/surveys/large").content == expected.content
    assert not [line for line in server.logged if line["level"] == "error"]


@pytest.fixture
def full(tmp_path):
    """A collector in which no slot for slow clients is left."""
    collector = Collector(Settings(data=tmp_path, max_slow=1), SqliteStore(tmp_path / "fldp.db"))
    collector.load.slow.take(1)
    yield collector
    collector.stop()


def test_a_client_is_not_cut_off_because_the_collector_was_late(full):
    async def story():
        async with ClientTimeout(full, 60):
            await LoopClock().turn(1.5 * GRACE)  # the event loop did not run, and has not seen what has come

    asyncio.run(story())
    assert full.load.slow.used == 1


def test_a_late_collector_does_not_end_the_wait_for_a_client(tmp_path):
    collector = Collector(Settings(data=tmp_path, idle_seconds=0.5), SqliteStore(tmp_path / "fldp.db"))

    async def story():
        async with ClientTimeout(collector, 60) as heard:
            await LoopClock().turn(1.0)  # longer than a client is waited for; here the collector reads what has come
            heard()

    async def drips():
        async with ClientTimeout(collector, 0.5) as heard:
            while True:
                await asyncio.sleep(0.05)
                heard()

    asyncio.run(story())
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(drips(), 60))
    collector.stop()


def test_a_slow_client_without_a_slot_is_cut_off(full):
    async def story():
        async with ClientTimeout(full, 300):
            await asyncio.sleep(300)

    with pytest.raises(TimeoutError):
        asyncio.run(story())
    assert full.load.slow.used == 1
