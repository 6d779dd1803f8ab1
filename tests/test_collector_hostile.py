"""Five thousand hostile requests, and some more on PostgreSQL: 4xx every one, and nothing is counted."""

import socket

import pytest

from collector_server import Server, batch
from collector_store import STORES, stored_in
from hostile import storm

REQUESTS = {"sqlite": 2500, "postgres": 800}


@pytest.fixture(scope="module", params=STORES)
def server(request, tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("collector"), max_body=200_000, **stored_in(request.param))
    yield made
    assert made.stop() == 0


def test_hostile_requests(server):
    requests = REQUESTS["postgres" if "database" in server.settings else "sqlite"]
    survey = server.publish()
    server.send(survey, batch(survey, 7))
    before, tokens = server.counts(), server.tokens()
    found = storm(server, survey, requests, seed=1)
    assert found[0] < requests // 20  # what is not HTTP at all gets no answer
    assert {401, 404, 405, 422} <= set(found)
    assert server.counts() == before
    assert server.tokens() == tokens
    assert server.fsck().returncode == 0
    assert not [line for line in server.logged if line["level"] == "error"]


GARBAGE = [
    b"\x00" * 1000,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET http://other.example/healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    b"POST /v1/tokens HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzz\r\n",
    b"POST /v1/tokens HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: x\r\n\r\n",
]


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("number", range(len(GARBAGE)))
def test_what_is_not_http(server, number):
    answer = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        try:
            connection.sendall(GARBAGE[number])
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                answer += part
        except OSError:
            pass
    assert not answer.startswith(b"HTTP/1.1 5")
    with server.client() as client:
        assert client.get("/healthz").status_code == 200
