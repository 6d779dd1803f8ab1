"""Crashes and stops: what was acknowledged is there, once, and what is sent again is not counted again."""

import signal
import socket
import threading
import time

import httpx
import pytest

from collector_server import Server, batch, key
from collector_store import STORES, stored_in
from fldp import FldpError
from fldp.collector.server import run
from fldp.collector.settings import Settings


class Senders:
    """Threads that send batches until told to stop, each batch again and again until it is acknowledged or given up."""

    def __init__(self, server, survey, threads=6):
        self.server, self.survey = server, survey
        self.acknowledged, self.sent = {}, {}
        self.stopping = threading.Event()
        self.refused = []
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def _run(self):
        while not self.stopping.is_set():
            name, body = key(), batch(self.survey, 2)
            with self._lock:
                self.sent[name] = body
            with self.server.client() as client:
                for _ in range(20):
                    if not self.stopping.is_set() and self._try(client, name, body):
                        break

    def _try(self, client, name, body):
        try:
            answer = self.server.send(self.survey, body, name, client)
        except httpx.HTTPError as error:
            self.refused.append(error)
            return False
        if answer.status_code == 200:
            with self._lock:
                self.acknowledged[name] = answer.json()["accepted"]
        return answer.status_code == 200

    def wait_for(self, count):
        for _ in range(600):
            if len(self.acknowledged) >= count:
                return
            time.sleep(0.05)
        raise AssertionError(f"{len(self.acknowledged)} were acknowledged")

    def stop(self):
        self.stopping.set()
        for thread in self._threads:
            thread.join()


@pytest.mark.parametrize(("kind", "retention"), [("sqlite", "raw"), ("sqlite", "tally"), ("postgres", "raw")])
def test_after_a_kill_everything_acknowledged_is_there_once(tmp_path, kind, retention):
    server = Server(tmp_path, fold_seconds=0.05, **stored_in(kind))
    survey = server.publish(retention=retention, minimum=1)
    sent, acknowledged = {}, {}
    for _ in range(3):
        senders = Senders(server, survey)
        senders.wait_for(30)
        server.process.send_signal(signal.SIGKILL)
        senders.stop()
        sent |= senders.sent
        acknowledged |= senders.acknowledged
        server.stop(signal.SIGKILL)
        server.start()
        counted = server.counts()[survey.version]
        assert 2 * len(acknowledged) <= counted <= 2 * len(sent)
    for name, body in sent.items():  # all of them again: those that were counted are not counted again
        assert server.send(survey, body, name).json() == {"accepted": 2}
    assert server.counts()[survey.version] == 2 * len(sent)
    done = server.fsck()
    assert done.returncode == 0, done.stdout
    with server.admin as client:
        assert client.get(f"/v1/versions/{survey.version}/estimates").json()["n"] == 2 * len(sent)
    server.stop()


@pytest.mark.parametrize("kind", STORES)
def test_a_stop_under_load_drops_nothing_that_was_accepted(tmp_path, kind):
    server = Server(tmp_path, **stored_in(kind))
    survey = server.publish(minimum=1)
    senders = Senders(server, survey)
    senders.wait_for(60)
    assert server.stop(signal.SIGTERM) == 0
    senders.stop()
    assert server.logged[-1] == {**server.logged[-1], "event": "stopped", "dropped": 0}
    cut = [error for error in senders.refused if not isinstance(error, httpx.ConnectError)]
    server.start()
    counted = server.counts()[survey.version]
    assert counted >= 2 * len(senders.acknowledged)
    # A connection that was idle may be closed as a request is on its way; such a request was never accepted.
    assert counted == 2 * len(senders.acknowledged), cut
    assert server.fsck().returncode == 0
    server.stop()


def test_a_request_in_flight_is_finished_before_the_end(tmp_path):
    server = Server(tmp_path)
    survey = server.publish()
    body = batch(survey, 50)
    answers = []

    def slowly():
        def pieces():
            yield body[:20]
            time.sleep(1.5)
            yield body[20:]

        answers.append(server.send(survey, pieces()))

    thread = threading.Thread(target=slowly)
    thread.start()
    time.sleep(0.7)
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


def test_the_admin_token_is_made_once_and_printed_once(tmp_path):
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
