"""Starts and stops of the process. What happens to reports when it is killed is in ``test_faults``."""

import signal
import socket
import threading

import pytest

from fldp import FldpError
from fldp.collector.config.settings import Settings
from fldp.collector.server import run
from support.answers import gauge
from support.collector_server import Server, batch
from support.waiting import until


def test_a_request_in_flight_is_finished_before_the_end(tmp_path):
    server = Server(tmp_path, idle_seconds=120, body_seconds=120, stop_seconds=300)
    survey = server.publish()
    body = batch(survey, 50)
    answers = []

    def slowly():
        def pieces():
            yield body[:20]
            until(lambda: server.logged[-1]["event"] == "stopping")
            yield body[20:]

        answers.append(server.send(survey, pieces()))

    thread = threading.Thread(target=slowly)
    thread.start()
    until(lambda: gauge(server, "slow_clients") == 1)
    code = server.stop(signal.SIGTERM)
    thread.join()
    assert (code, answers[0].json()) == (0, {"accepted": 50})
    server.start()
    assert server.counts()[survey.version] == 50
    server.stop()


def test_two_collectors_never_serve_one_database(tmp_path):
    server = Server(tmp_path)
    try:
        with pytest.raises(RuntimeError, match="is served by another collector"):
            Server(tmp_path)
    finally:
        server.stop()


def test_a_port_that_is_taken_is_an_error_in_one_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(FldpError, match=f"^serve: cannot listen on localhost port {port}: Address already in use$"):
            run(Settings(data=tmp_path, host="localhost", port=port), print)
    assert list(tmp_path.iterdir()) == []


def test_the_admin_token_is_made_once_and_is_in_no_file_of_the_collector(tmp_path):
    server = Server(tmp_path)
    first = server.token
    server.stop()
    server.start()
    assert server.counts() == {}
    server.process.send_signal(signal.SIGTERM)
    assert "admin token" not in server.process.stdout.read()
    server.stop()
    for file in tmp_path.iterdir():
        assert first.encode() not in file.read_bytes()
