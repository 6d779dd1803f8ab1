"""The memory of a real collector under attack: what it may buffer, and a margin; not a byte for each request."""

import random
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import numpy as np
import pytest

from fldp import wire
from support.collector_server import Server, batch, key, specification
from support.waiting import until

REQUESTS, SENDERS = 1000, 12
MiB = 1 << 20
BODY, BUFFERED = 4 * MiB, 16 * MiB
# Two threads that decode 200,000 reports of one bit each, or 4 MiB of bytes, with copies; the heap's own slack.
MARGIN = 64 * MiB
# A connection whose body is refused costs the server some memory until it ends: 0.36 MB each, seen with up to 240.
HELD, EACH = 120, MiB // 2


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    limits = {"max_body": BODY, "max_buffered": BUFFERED, "max_reports": 200_000, "threads": 2, "log": False}
    server = Server(tmp_path_factory.mktemp("collector"), **limits)
    yield server
    assert server.stop() == 0


class Attack:
    """Hostile requests that are meant to take memory: each is bytes to send, and whether to wait for the answer."""

    def __init__(self, server, survey, seed):
        self.rng, self.survey, self.token = random.Random(seed), survey, server.token
        bits = wire.encode(survey.oracle.privatize(np.zeros(200_000, np.int64)), survey.version)
        self.spoiled = bits[:-1] + bytes([bits[-1] ^ 1])  # every report is decoded before the end is seen to be wrong
        self.many = wire.encode(survey.oracle.privatize(np.zeros(400_000, np.int64)), survey.version)

    def head(self, method, path, *lines):
        return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", *lines, "", ""]).encode()

    def post(self, body, length=None):
        lines = (f"Idempotency-Key: {key()}", f"Content-Length: {len(body) if length is None else length}")
        return self.head("POST", f"/v1/versions/{self.survey.version}/reports", *lines) + body

    def large(self):
        return self.post(b"FLDP" + bytes(BODY - 4)), True

    def broken(self):
        return self.post(bytes(self.rng.randrange(MiB)), BODY), False  # the connection ends within the body

    def claimed(self):
        return self.post(b"x", self.rng.choice((BODY + 1, 10**12, 10**30))), True

    def decoded(self):
        return self.post(self.rng.choice((self.spoiled, self.many))), True

    def crumbs(self):
        lines = (f"Idempotency-Key: {key()}", "Transfer-Encoding: chunked")
        head = self.head("POST", f"/v1/versions/{self.survey.version}/reports", *lines)
        return head + b"1\r\nx\r\n" * 1000 + b"0\r\n\r\n", True

    def deep(self):
        body = self.rng.choice((b"[", b'{"a":')) * 10_000
        lines = (
            f"Authorization: Bearer {self.token}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        )
        return self.head("POST", self.rng.choice(("/v1/tokens", "/v1/surveys")), *lines) + body, True

    def parameters(self):
        query = f"{self.rng.randrange(10**6)}=&" * 1500
        lines = (f"Authorization: Bearer {self.token}",)
        return self.head("GET", f"/v1/versions/{self.survey.version}/estimates?{query}", *lines), True

    def unknown(self):
        return self.head("GET", f"/v1/surveys/{key().lower()}", f"X-{key()}: {'y' * 10_000}"), True

    def next(self):
        weighed = [self.large, self.decoded, self.crumbs] + [self.broken, self.claimed, self.deep] * 3
        return self.rng.choice(weighed + [self.parameters, self.unknown] * 4)()


def exchange(server, sent, waits):
    """Return the status, or None where there is no answer to wait for, or the server closed before it was read."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as connection:
        try:
            connection.sendall(sent)
            received = connection.recv(65536) if waits else b""
        except ConnectionError:
            return None
    return int(received[9:12]) if received else None


def memory(server, name):
    with open(f"/proc/{server.process.pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))


def attack(server, survey, seed, requests):
    source = Attack(server, survey, seed)
    return [exchange(server, *source.next()) for _ in range(requests)]


def hold(server, survey, stack):
    """Begin bodies and do not end them."""
    source = Attack(server, survey, 99)
    for _ in range(HELD):
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=300))
        with suppress(ConnectionError):  # refused, since others hold all that may be buffered
            connection.sendall(source.post(bytes(3 * MiB // 2), BODY))


def until_idle(server):
    with server.client() as client:
        until(lambda: "fldp_buffered_bytes 0\n" in client.get("/metrics").text)


def test_hostile_requests_take_no_more_memory_than_may_be_buffered(server):
    fields = specification(name="bits", oracle={"name": "rr", "epsilon": 1.0})
    survey = server.publish({**fields, "labels": ["yes", "no"]})
    server.send(survey, batch(survey, 10))
    attack(server, survey, 0, 30)  # what is loaded once: kernels, connections, threads
    with open(f"/proc/{server.process.pid}/clear_refs", "w") as file:
        file.write("5")  # the peak begins anew
    before = memory(server, "VmRSS")
    with ExitStack() as stack:
        hold(server, survey, stack)
    until_idle(server)
    with ThreadPoolExecutor(SENDERS) as pool:
        each = REQUESTS // SENDERS + 1
        codes = [status for statuses in pool.map(lambda k: attack(server, survey, k + 1, each), range(SENDERS))
                 for status in statuses]  # fmt: skip
    assert len(codes) >= REQUESTS
    assert set(codes) >= {404, 413, 422}
    assert all(status is None or 400 <= status < 500 or status == 503 for status in codes)
    assert memory(server, "VmHWM") - before < BUFFERED + HELD * EACH + MARGIN
    assert memory(server, "VmRSS") - before < BUFFERED + MARGIN
    assert server.counts()[survey.version] == 10
    until_idle(server)
