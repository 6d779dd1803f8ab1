"""SIGTERM: requests are finished while there is time, told to come again when there is not, and the process ends."""

import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack, closing

import httpx
import pytest

from fldp.collector.server import stop_server
from support.answers import LARGE, ask, gauge, head, published
from support.collector_server import Server, batch, key
from support.waiting import until

FOR_EVER = 60  # seconds that a stop may take beyond its bound, on a slow machine
ASKED = 100
EVENTS = ("stopping", "stopped")


def logged(server):
    """Every line of the log: one that is not JSON is an error."""
    return [json.loads(line) for line in (server.folder / "log").read_text().splitlines()]


def test_answers_that_wait_do_not_hold_a_collector_that_stops(tmp_path):
    server = Server(tmp_path, threads=1, max_answers=ASKED, stop_seconds=8)
    survey = published(server, {**LARGE, "domain_size": 1 << 19})
    with ExitStack() as stack:
        asking = [ask(server, survey, stack, number) for number in range(ASKED)]
        until(lambda: gauge(server, "open_requests") > ASKED // 2)
        assert server.stop(seconds=8 + FOR_EVER) == 0
        answers = [head(connection) for connection in asking]
    assert not [answer for answer in answers if answer.startswith(b"http/1.1 5") and b"503" not in answer[:12]]
    cut = [answer for answer in answers if answer.startswith(b"http/1.1 503")]
    assert len(cut) > ASKED // 4
    assert all(b"\r\nretry-after: 1" in answer for answer in cut)
    stopping, stopped = (next(line for line in logged(server) if line["event"] == event) for event in EVENTS)
    assert stopping["open"] > ASKED // 2
    assert stopped["dropped"] > ASKED // 4
    assert "answers" in stopped["unfinished"]


def test_answers_that_were_abandoned_do_not_hold_a_collector_that_stops(tmp_path):
    server = Server(tmp_path, threads=1, max_answers=ASKED, stop_seconds=3)
    survey = published(server, {**LARGE, "domain_size": 1 << 19})
    with ExitStack() as stack:
        for number in range(ASKED):
            ask(server, survey, stack, number)
        until(lambda: gauge(server, "open_requests") > ASKED // 2)
    assert server.stop(seconds=3 + FOR_EVER) == 0
    assert logged(server)[-1]["event"] == "stopped"


def locked(server):
    """Hold the lock that every commit needs."""
    connection = sqlite3.connect(server.folder / "fldp.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return closing(connection)


def test_a_report_that_is_cut_off_by_the_stop_is_told_to_come_again(tmp_path):
    server = Server(tmp_path, stop_seconds=2)
    survey = server.publish(minimum=1)
    server.send(survey)
    names = [key() for _ in range(5)]
    bodies, answers = [batch(survey) for _ in names], {}

    def send(name, body):
        with server.client() as client:
            answers[name] = server.send(survey, body, name, client)

    with locked(server):
        threads = [threading.Thread(target=send, args=each) for each in zip(names, bodies, strict=True)]
        for thread in threads:
            thread.start()
        until(lambda: gauge(server, "in_flight") == len(names))
        server.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(FOR_EVER)
    assert {answer.status_code for answer in answers.values()} == {503}
    assert {answer.headers["retry-after"] for answer in answers.values()} == {"1"}
    assert {answer.json()["type"] for answer in answers.values()} == {"urn:fldp:busy"}
    assert server.stop(seconds=FOR_EVER) == 0
    assert logged(server)[-1]["dropped"] == len(names)
    assert not [line for line in logged(server) if "traceback" in line]
    server.start()  # whether they were counted is not known; sent again, they are counted once
    assert [server.send(survey, body, name).json() for name, body in zip(names, bodies, strict=True)] == [
        {"accepted": 1}
    ] * len(names)
    assert server.counts()[survey.version] == 1 + len(names)
    assert server.stop() == 0


def test_the_log_is_json_to_the_end(tmp_path):
    """Clients that read nothing, send nothing, or half of something, are there when the collector stops."""
    server = Server(tmp_path, stop_seconds=1)
    survey = published(server, {**LARGE, "domain_size": 1 << 14})
    path = f"/v1/versions/{survey.version}"
    with ExitStack() as stack:
        kept = []
        for start in (
            b"",
            b"POST ",
            f"POST {path}/reports HTTP/1.1\r\nIdempotency-Key: {key()}\r\nContent-Length: 9\r\n\r\nx".encode(),
            f"GET {path}/estimates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode(),
        ):
            connection = stack.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(start)
            kept.append(connection)
        until(lambda: gauge(server, "open_requests") > 2)
        assert server.stop(seconds=FOR_EVER) == 0
    assert [line["event"] for line in logged(server) if line["event"] in EVENTS] == list(EVENTS)


CRASHES = {
    "an exception was not caught": "raise KeyError('x')",
    "a thread has ended by an exception": "import threading; threading.Thread(target=lambda: 1 / 0).start()",
    "an exception was ignored": "type('Broken', (), {'__del__': lambda self: 1 / 0})()",
    "later": "import warnings; warnings.warn('later')",
    "a library says": "import logging; logging.getLogger('library').error('a library says')",
}


@pytest.mark.parametrize("event", CRASHES)
def test_whatever_reaches_the_log_is_json(tmp_path, event):
    code = f"from fldp.collector.service import logs\nlogs.configure(False)\n{CRASHES[event]}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    (line,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert event in line["event"]
    assert done.stdout == ""


def test_a_request_that_ends_in_time_is_finished(tmp_path):
    server = Server(tmp_path)
    survey = server.publish(minimum=1)
    answers = []

    def send():
        with httpx.Client(base_url=server.url, timeout=300) as client:
            answers.append(server.send(survey, client=client).status_code)

    with locked(server):
        thread = threading.Thread(target=send)
        thread.start()
        until(lambda: gauge(server, "in_flight") == 1)
        server.process.send_signal(signal.SIGTERM)
        until(lambda: logged(server)[-1]["event"] == "stopping")
    thread.join(FOR_EVER)
    assert answers == [200]
    assert server.stop(seconds=FOR_EVER) == 0
    assert logged(server)[-1] | {"time": ""} == {
        "time": "", "level": "info", "event": "stopped", "dropped": 0, "unfinished": []
    }  # fmt: skip


SERVERS = {
    "serve": ["serve", "--config", "{pipe}"],
    "issuer": ["issuer", "serve", "--key", "{pipe}", "--tickets", "none"],
}


@pytest.mark.parametrize("words", SERVERS.values(), ids=SERVERS)
def test_a_stop_while_a_server_starts_ends_it_in_order(tmp_path, words):
    """As the first process of a container it would otherwise not end at all. It waits here for a file it is given."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "fldp", *(word.format(pipe=pipe) for word in words)]
    with subprocess.Popen(command, cwd=tmp_path) as process, pipe.open("wb"):  # returns when the server reads
        process.send_signal(signal.SIGTERM)
        assert process.wait(FOR_EVER) == 0


def test_a_server_that_ends_after_the_event_loop_has_cancelled_its_task_is_no_error(caplog):
    class Ending:
        def stop(self):
            loop = asyncio.get_running_loop()
            future = loop.create_future()
            future.cancel()
            loop.call_soon(future.set_result, None)  # as Granian does
            loop.call_soon(lambda: 1 / 0)

    async def story():
        stop_server(Ending())
        await asyncio.sleep(0)

    asyncio.run(story())
    assert [record.exc_info[0] for record in caplog.records] == [ZeroDivisionError]
