"""Reports: counted once whoever sends them how often, refused whole if anything is wrong, and answered as estimates."""

import asyncio
import io
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx
import numpy as np
import pyarrow.parquet
import pytest

from fldp import Survey, postprocess, wire
from fldp.collector.app import create_app
from fldp.collector.config.settings import Settings
from fldp.collector.service.collector import Collector
from fldp.collector.service.tokens import create_token
from fldp.conformance.vectors import craft
from fldp.data.packing import pack
from fldp.data.reports import Tally
from fldp.presentation import tables
from fldp.wire import parquet
from support.collector_server import Server, batch, key, specification
from support.collector_store import STORES, opened, stored_in
from support.waiting import until


@pytest.fixture(scope="module", params=STORES)
def server(request, tmp_path_factory):
    limits = {"max_body": 100_000, "max_reports": 5000}
    server = Server(tmp_path_factory.mktemp("collector"), fold_seconds=0.2, **limits, **stored_in(request.param))
    yield server
    assert server.stop() == 0


def test_concurrent_duplicates_count_once_and_all_get_the_same_answer(server):
    survey = server.publish(name="duplicates")
    bodies = [(key(), batch(survey, 3)) for _ in range(20)]

    def send(number):
        name, body = bodies[number % 20]
        with server.client() as client:
            return server.send(survey, body, name, client)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(send, range(200)))
    assert {(answer.status_code, answer.text) for answer in answers} == {(200, '{"accepted":3}')}
    assert server.counts()[survey.version] == 60
    assert server.fsck().returncode == 0


def test_the_same_key_with_another_body_is_a_conflict(server):
    survey = server.publish(name="conflict")
    name = key()
    assert server.send(survey, batch(survey, 2), name).json() == {"accepted": 2}
    answer = server.send(survey, batch(survey, 3), name)
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:fldp:conflict")
    assert server.counts()[survey.version] == 2


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", ["", "short", "a" * 21, "a" * 129, "a" * 22 + "!", "ü" * 22])
def test_a_bad_key_is_refused(server, name):
    survey = server.publish(name="keys")
    with server.client() as client:
        where = f"/v1/versions/{survey.version}/reports"
        answer = client.post(where, content=batch(survey), headers=[(b"Idempotency-Key", name.encode())])
    assert (answer.status_code, answer.json()["type"]) == (400, "urn:fldp:key")


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_one_bad_report_rejects_the_batch_with_its_index(server):
    survey = server.publish(name="index")
    good = survey.oracle.privatize(np.zeros(1000, np.int64))
    data = good.data.copy()
    data["minus"][777] = data["plus"][777]  # the two positions are never the same
    fields = {"oracle": wire.describe(survey.oracle), "survey": survey.version}
    chunks = [
        (800, pack(survey.oracle.report_format, data[:800]).tobytes()),
        (200, pack(survey.oracle.report_format, data[800:]).tobytes()),
    ]
    answer = server.send(survey, craft(fields, chunks, 1000))
    assert (answer.status_code, answer.json()["index"]) == (422, 777)
    data["minus"][777], data["minus"][900] = good.data["minus"][777], data["plus"][900]
    chunks = [
        (800, pack(survey.oracle.report_format, data[:800]).tobytes()),
        (200, pack(survey.oracle.report_format, data[800:]).tobytes()),
    ]
    answer = server.send(survey, craft(fields, chunks, 1000))
    assert (answer.status_code, answer.json()["index"]) == (422, 900)
    assert server.counts()[survey.version] == 0


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_batch_must_name_this_version(server):
    survey, other = server.publish(name="this"), server.publish(name="that")
    unnamed = wire.encode(survey.privatize(["edge"]))
    for body in (unnamed, batch(other)):
        answer = server.send(survey, body)
        assert answer.status_code == 422
        assert "survey version" in answer.json()["detail"]
    assert server.counts()[survey.version] == 0


def test_an_empty_batch_is_accepted_and_counts_nothing(server):
    survey = server.publish(name="empty")
    empty = wire.encode(survey.oracle.privatize([0])[:0], survey.version)
    assert server.send(survey, empty).json() == {"accepted": 0}


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_limits_of_size(server):
    survey = server.publish(name="large")
    answer = server.send(survey, b"x" * 100_001)
    assert (answer.status_code, answer.json()["type"]) == (413, "urn:fldp:too-large")
    assert server.send(survey, batch(survey, 5001)).status_code == 413
    assert server.send(survey, batch(survey, 5000)).json() == {"accepted": 5000}

    def endless():
        for _ in range(1000):
            yield b"x" * 1000

    assert server.send(survey, endless()).status_code == 413
    assert server.send(survey, batch(survey), **{"Content-Encoding": "gzip"}).status_code == 415
    assert server.send(survey, batch(survey), **{"Content-Type": "text/plain"}).status_code == 415


def raw(server, *pieces, pause=0.0):
    """Send bytes as they are; return all that comes back before the server closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as connection:
        received = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
            while part := connection.recv(65536):
                received += part
                if b"\r\n\r\n" in received and b"slow" in received:
                    break
        except ConnectionError:
            pass
    return received


@pytest.fixture
def hasty(tmp_path):
    """A collector that does not wait for long: too hasty for whoever is to be served on a busy machine."""
    server = Server(tmp_path, idle_seconds=1, body_seconds=3, header_seconds=2)
    yield server
    assert server.stop() == 0


def test_slow_bodies_and_headers_are_cut_off(hasty):
    server = hasty
    survey = server.publish(name="slow")
    head = f"POST /v1/versions/{survey.version}/reports HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {key()}\r\n".encode()
    assert raw(server, head + b"Content-Length: 500\r\n\r\nFLDP").startswith(b"HTTP/1.1 408")
    drip = [head + b"Content-Length: 500\r\n\r\n", *[b"x"] * 12]
    raw(server, *drip, pause=0.5)  # never idle for long, and never done; whoever still sends may not see the answer
    until(lambda: statuses(server) == [408, 408])
    assert raw(server, head) == b""
    answer = raw(server, b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 40_000 + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 431") or answer == b""
    with server.client() as client:
        assert client.get("/healthz").status_code == 200


def statuses(server):
    """What was answered to those who sent reports."""
    return [line["status"] for line in server.logged if line.get("route", "").endswith("/reports")]


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_connection_that_ends_within_a_body_counts_nothing(server):
    survey = server.publish(name="cut")
    body = batch(survey, 10)
    head = f"POST /v1/versions/{survey.version}/reports HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {key()}\r\n".encode()
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body[:-1])
    with server.admin as client:
        until(lambda: "fldp_buffered_bytes 0\n" in client.get("/metrics").text)
    assert server.counts()[survey.version] == 0


def test_an_empty_batch_spends_no_ticket(server):
    survey = server.publish(name="empty-tickets", submit="ticket")
    with server.admin as client:
        (ticket,) = client.post(f"/v1/versions/{survey.version}/tickets", json={"count": 1}).json()["tickets"]
    empty = wire.encode(survey.privatize([survey.label(0)])[:0], survey.version)
    refused = server.send(survey, empty, **{"Fldp-Ticket": ticket})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:fldp:malformed")
    assert server.send(survey, **{"Fldp-Ticket": ticket}).json() == {"accepted": 1}
    spent = server.send(survey, **{"Fldp-Ticket": ticket})
    assert spent.json()["type"] == "urn:fldp:ticket-spent"


def test_tickets(server):
    survey = server.publish(name="tickets", submit="ticket")
    with server.admin as client:
        tickets = client.post(f"/v1/versions/{survey.version}/tickets", json={"count": 3}).json()["tickets"]
        for bad in ({"count": 0}, {"count": 100_001}, {"count": True}, {"count": "1"}, {}, {"count": 1, "x": 1}, []):
            assert client.post(f"/v1/versions/{survey.version}/tickets", json=bad).status_code == 422
    name, body = key(), batch(survey)
    assert server.send(survey).status_code == 401
    assert server.send(survey, **{"Fldp-Ticket": "fldp_ticket_" + "A" * 43}).status_code == 401
    assert server.send(survey, Authorization=f"Bearer {server.token}").status_code == 401
    assert server.send(survey, batch(survey, 2), **{"Fldp-Ticket": tickets[0]}).status_code == 413
    for _ in range(2):
        assert server.send(survey, body, name, **{"Fldp-Ticket": tickets[0]}).json() == {"accepted": 1}
    spent = server.send(survey, **{"Fldp-Ticket": tickets[0]})
    assert (spent.status_code, spent.json()["type"]) == (403, "urn:fldp:ticket-spent")
    assert server.send(survey, **{"Fldp-Ticket": tickets[1]}).json() == {"accepted": 1}
    other = server.publish(name="tickets-of-others", submit="ticket")
    assert server.send(other, **{"Fldp-Ticket": tickets[2]}).status_code == 401
    assert server.counts()[survey.version] == 2


@pytest.mark.parametrize("retention", ["raw", "tally"])
def test_estimates_are_those_of_the_reports(server, retention):
    survey = server.publish(name=f"estimates-{retention}", retention=retention)
    reports = survey.privatize(["chrome"] * 300 + ["edge"] * 200, rng=1)
    where = f"/v1/versions/{survey.version}"
    with server.admin as client:
        refused = client.get(f"{where}/estimates")
        assert (refused.status_code, refused.json()["type"]) == (403, "urn:fldp:too-few")
        assert (refused.json()["minimum"], "etag" in refused.headers) == (100, False)
        for start in range(0, 500, 50):
            server.send(survey, wire.encode(reports[start : start + 50], survey.version))
        expected = survey.estimate(reports)
        answer = client.get(f"{where}/estimates")
        assert answer.json() == {"withdrawn": 0, **json.loads(tables.as_json(expected, 0.95, None))}
        paper = client.get(
            f"{where}/estimates", params={"decoder": "paper", "post": "norm-sub", "top": 2, "level": 0.9}
        )
        repaired = postprocess(survey.estimate(reports, decoder="paper"), "norm-sub")
        assert paper.json() == {"withdrawn": 0, **json.loads(tables.as_json(repaired, 0.9, 2))}
        table = client.get(f"{where}/estimates", headers={"Accept": "text/csv"})
        assert table.text == tables.as_csv(expected, 0.95, None)
        assert table.headers["content-type"].startswith("text/csv")
        columns = pyarrow.parquet.read_table(io.BytesIO(client.get(f"{where}/estimates?format=parquet").content))
        assert np.array_equal(columns["count"].to_numpy(), expected.counts)
        assert columns["label"].to_pylist() == list(survey.labels)
        tally = client.get(f"{where}/tally")
        assert wire.decode_tally(tally.content, survey.oracle, survey.version) == survey.oracle.tally(reports)
        raw_reports = client.get(f"{where}/export")
        if retention == "tally":
            assert (raw_reports.status_code, raw_reports.json()["type"]) == (409, "urn:fldp:not-raw")
        else:
            _, version, parts = parquet.read(io.BytesIO(raw_reports.content), survey.oracle, survey.version)
            assert survey.oracle.tally(next(iter(parts))) == survey.oracle.tally(reports)
            assert version == survey.version


def test_an_entity_tag_changes_when_the_answer_does(server):
    survey = server.publish(name="tags", minimum=5)
    where = f"/v1/versions/{survey.version}"
    server.send(survey, batch(survey, 10))
    with server.admin as client:
        for path in ("estimates", "estimates?top=2", "estimates?format=csv", "tally"):
            tag = client.get(f"{where}/{path}").headers["etag"]
            time.sleep(0.6)  # folding changes nothing
            for condition in (tag, f'"x", {tag}', f"W/{tag}", "*"):
                same = client.get(f"{where}/{path}", headers={"If-None-Match": condition})
                assert (same.status_code, same.headers["etag"], same.content) == (304, tag, b"")
            server.send(survey)
            changed = client.get(f"{where}/{path}", headers={"If-None-Match": tag})
            assert changed.status_code == 200
            assert changed.headers["etag"] != tag
        tags = {client.get(f"{where}/{path}").headers["etag"] for path in ("estimates", "estimates?level=0.9", "tally")}
        assert len(tags) == 3


BAD_QUERIES = [
    *("top=0", "top=-1", "top=x", "top=1e3", "top=99999999999", "top=\u0661", "top=1&top=2", "nope=1"),
    *("level=0", "level=1", "level=nan", "level=x", "level=0.99999999999", "decoder=nope", "post=nope", "format=xml"),
    *("from=2026-13-01", "from=today", "to=2026-1-1", "from=2026-02-01&to=2026-01-01"),
]


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("query", BAD_QUERIES)
def test_bad_queries_are_refused(server, query):
    survey = server.publish(name="queries", minimum=1)
    server.send(survey)
    with server.admin as client:
        answer = client.get(f"/v1/versions/{survey.version}/estimates?{query}")
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:fldp:parameter")


def test_tallies_of_other_collectors_are_merged_once(server):
    survey = server.publish(name="merged", minimum=10)
    where = f"/v1/versions/{survey.version}"
    other = survey.oracle.tally(survey.oracle.privatize([1] * 30))
    body, name = wire.encode_tally(other, survey.version), key()
    with server.admin as client:
        for _ in range(3):
            answer = client.post(f"{where}/merge", content=body, headers={"Idempotency-Key": name})
            assert answer.json() == {"accepted": 30}
            time.sleep(0.3)
        past = {"day": "2020-01-01"}
        again = client.post(f"{where}/merge", content=body, params=past, headers={"Idempotency-Key": name})
        assert again.status_code == 409
        assert client.post(f"{where}/merge", content=body, params=past, headers={"Idempotency-Key": key()}).is_success
        server.send(survey, batch(survey, 20))
        tally = wire.decode_tally(client.get(f"{where}/tally").content, survey.oracle)
        assert tally.n == 80
        early = client.get(f"{where}/tally", params={"to": "2020-01-01"})
        assert wire.decode_tally(early.content, survey.oracle) == other
        for bad in ({"day": "2999-01-01"}, {"day": "x"}):
            answer = client.post(f"{where}/merge", content=body, params=bad, headers={"Idempotency-Key": key()})
            assert answer.status_code == 422
        huge = Tally(survey.oracle, other.state << 54, other.n << 54)  # a thousand of these cannot be added
        sizes = [wire.encode_tally(tally, survey.version) for tally in (Tally.empty(survey.oracle), huge)]
        for wrong in (body[:-1], wire.encode_tally(other), batch(survey), *sizes):
            answer = client.post(f"{where}/merge", content=wrong, headers={"Idempotency-Key": key()})
            assert answer.status_code == 422
        exported = client.get(f"{where}/export")
        assert pyarrow.parquet.read_table(io.BytesIO(exported.content)).num_rows == 20
    assert server.fsck().returncode == 0


def test_too_much_at_the_same_time_is_refused_and_can_be_sent_again(tmp_path):
    server = Server(tmp_path, max_in_flight=2, rate=1000)
    try:
        survey = server.publish()
        bodies = [(key(), batch(survey, 2000)) for _ in range(40)]

        def send(published):
            with server.client() as client:
                for _ in range(5000):
                    answer = server.send(survey, published[1], published[0], client)
                    if answer.status_code == 200:
                        return answer.json()["accepted"], refused
                    assert answer.status_code in (429, 503), answer.text
                    assert int(answer.headers["retry-after"]) >= 1
                    refused.append(answer.status_code)
                    time.sleep(0.02)
            return None

        refused = []
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(send, bodies))
        assert [answer[0] for answer in answers] == [2000] * 40
        assert 503 in refused
        assert server.counts()[survey.version] == 80_000
    finally:
        server.stop()


def test_a_rate_is_kept(tmp_path):
    server = Server(tmp_path, rate=2)
    try:
        survey = server.publish()
        codes = [server.send(survey).status_code for _ in range(8)]
        assert codes[0] == 200
        assert 429 in codes
        assert server.counts()[survey.version] == codes.count(200)
    finally:
        server.stop()


class Clock:
    def __init__(self):
        self.now = datetime(2026, 11, 1, 23, 59, 58, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.mark.parametrize("kind", STORES)
def test_days_windows_and_opening_hours(tmp_path, kind):
    """With a clock that the test turns: the days are UTC days, and the minimum holds for every window."""
    clock = Clock()
    collector = Collector(Settings(data=tmp_path, fold_seconds=0.05), opened(kind, tmp_path), clock)
    secret, _ = create_token(collector.store, clock(), "admin", expires=clock() + timedelta(days=30))
    fields = specification(minimum=10, opens="2026-11-01T00:00:00Z", closes="2026-11-04T00:00:00Z")
    survey = Survey.from_dict(fields)
    where = f"/v1/versions/{survey.version}"

    async def story():
        transport = httpx.ASGITransport(create_app(collector))
        held = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://x", headers=held) as client:

            async def send(count, name=None):
                body = batch(survey, count)
                return await client.post(f"{where}/reports", content=body, headers={"Idempotency-Key": name or key()})

            async def estimates(**query):
                return await client.get(f"{where}/estimates", params=query)

            clock.now = datetime(2026, 10, 31, tzinfo=UTC)
            assert (await client.post("/v1/surveys", json=fields)).json()["state"] == "scheduled"
            assert (await send(5)).json()["type"] == "urn:fldp:closed"
            clock.now = datetime(2026, 11, 1, 23, 59, 58, tzinfo=UTC)
            assert (await send(9)).is_success
            clock.now += timedelta(seconds=2)
            assert (await send(11)).is_success
            await asyncio.sleep(0.3)
            assert (await estimates()).json()["n"] == 20
            assert (await estimates(**{"from": "2026-11-02"})).json()["n"] == 11
            shown = [{"day": "2026-11-01", "n": None}, {"day": "2026-11-02", "n": 11, "withdrawn": 0}]
            assert (await client.get(f"{where}/days")).json() == shown
            assert (await client.get(f"{where}/days", params={"from": "2026-11-01"})).status_code == 422
            assert (await estimates(to="2026-11-01")).status_code == 403
            assert (await estimates(**{"from": "2026-11-03"})).status_code == 403
            assert (await client.get(f"{where}/tally", params={"to": "2026-11-01"})).status_code == 403
            assert (await client.get(f"{where}/export", params={"to": "2026-11-01"})).status_code == 403
            clock.now = datetime(2026, 11, 4, tzinfo=UTC)
            assert (await send(5)).json()["type"] == "urn:fldp:closed"
            assert (await client.get("/v1/surveys/browser")).json()["state"] == "closed"
            refused = (await client.post("/v1/surveys/browser/reopen")).json()
            assert (refused["status"], refused["type"]) == (409, "urn:fldp:final")
            assert "it closed at 2026-11-04T00:00:00Z" in refused["detail"]
            clock.now = datetime(2026, 12, 24, tzinfo=UTC)
            assert (await estimates()).status_code == 401

    try:
        asyncio.run(story())
    finally:
        collector.stop()
