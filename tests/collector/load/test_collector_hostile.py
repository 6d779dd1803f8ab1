"""Five thousand hostile requests, and some more on PostgreSQL: 4xx every one, and nothing is counted."""

import socket

import pytest

from support.collector_server import Server, batch, flawless, key
from support.collector_store import STORES, stored_in
from support.hostile_requests import HEADERS, NUMBERS, exchange, storm

REQUESTS = {"sqlite": 1500, "postgres": 500}


@pytest.fixture(scope="module", params=STORES)
def server(request, tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"), max_body=200_000, **stored_in(request.param))
    yield server
    assert server.stop() == 0


def test_hostile_requests(server):
    requests = REQUESTS["postgres" if "database" in server.settings else "sqlite"]
    survey = server.publish()
    server.send(survey, batch(survey, 7))
    before, tokens = server.counts(), server.tokens()
    outcomes = storm(server, survey, requests, seed=1)
    assert outcomes[0] < requests // 20  # what is not HTTP at all gets no answer
    assert {401, 404, 405, 422} <= set(outcomes)
    assert server.counts() == before
    assert server.tokens() == tokens
    assert server.fsck().returncode == 0
    assert not [line for line in server.logged if line["level"] == "error"]


@pytest.fixture(scope="module")
def believing(tmp_path_factory):
    """A collector that looks at as many headers as it can."""
    with flawless(tmp_path_factory.mktemp("collector"), trusted_proxies="127.0.0.1", log_senders=True) as server:
        yield server


@pytest.mark.parametrize("header", HEADERS)
def test_no_header_is_a_mistake_of_the_collector(believing, header):
    survey = believing.publish(minimum=1, origins=["https://a.example"])
    body, statuses = batch(survey), set()
    assert believing.send(survey, body).status_code == 200
    token = {"Authorization": f"Bearer {believing.token}"}
    path = f"/v1/versions/{survey.version}"
    for value in NUMBERS:
        for method, where, headers, sent in (
            ("POST", f"{path}/reports", {"Idempotency-Key": key()}, body),
            ("GET", f"{path}/estimates", token, b""),
            ("GET", f"{path}/tally", token, b""),
            ("GET", "/metrics", token, b""),
            ("GET", "/static/shared/page.css", {}, b""),
            ("OPTIONS", f"{path}/reports", {"Origin": "https://a.example"}, b""),
        ):
            with socket.create_connection(("127.0.0.1", believing.port), timeout=300) as connection:
                statuses.add(exchange(connection, method, where, {**headers, header: value}, sent))
    assert statuses
    assert all(status < 500 for status in statuses)


def test_a_length_with_thousands_of_zeros_is_a_length(believing):
    survey = believing.publish(minimum=1, name="zeros")
    body = batch(survey)
    for number, zeros in enumerate((0, 1, 20, 4300, 5000), 1):
        headers = {"Idempotency-Key": key(), "Content-Length": "0" * zeros + f"{len(body)}"}
        with socket.create_connection(("127.0.0.1", believing.port), timeout=300) as connection:
            assert exchange(connection, "POST", f"/v1/versions/{survey.version}/reports", headers, body) == 200
        assert believing.counts()[survey.version] == number


@pytest.mark.parametrize("value", [number for number in NUMBERS if not number.endswith("05")])
def test_what_is_no_length_is_refused(believing, value):
    survey = believing.publish(minimum=1, name="lengths")
    headers = {"Idempotency-Key": key(), "Content-Length": value}
    with socket.create_connection(("127.0.0.1", believing.port), timeout=300) as connection:
        status = exchange(connection, "POST", f"/v1/versions/{survey.version}/reports", headers, batch(survey))
    assert status == 0 or 400 <= status < 500
    assert believing.counts()[survey.version] == 0


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
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as connection:
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
