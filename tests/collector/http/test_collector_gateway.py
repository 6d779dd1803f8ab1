"""The gateway: encrypted requests are answered as if they had come directly, except for the address and most routes."""

import asyncio
import random
from collections import Counter

import httpx
import pytest

from fldp import Survey
from fldp.collector.app import create_app
from fldp.collector.config.clock import system
from fldp.collector.config.settings import Settings
from fldp.collector.service.collector import Collector
from fldp.collector.service.gateway_keys import GatewayKeys, rotate
from fldp.collector.service.tokens import create_token
from fldp.collector.storage.protocol import StoredKey
from fldp.oblivious import ohttp
from fldp.oblivious.bhttp import SIZES, BinaryReply, BinaryRequest, pad
from support.collector_requests import batch, key, specification
from support.collector_store import STORES, opened
from support.encapsulated_requests import fuzzed

OHTTP = {"Content-Type": ohttp.REQUEST_TYPE}
OUTSIDE = SIZES[0] + 16 + 16  # of the smallest reply


@pytest.fixture(params=STORES)
def collector(tmp_path, request):
    collector = Collector(Settings(data=tmp_path, ohttp=True), opened(request.param, tmp_path))
    yield collector
    collector.stop()


@pytest.fixture
def on_sqlite(tmp_path):
    collector = Collector(Settings(data=tmp_path, ohttp=True), opened("sqlite", tmp_path))
    yield collector
    collector.stop()


class Sender:
    """Sends through the gateway, and publishes beside it."""

    def __init__(self, collector, client):
        self.collector, self.client = collector, client
        self.headers = {"Authorization": f"Bearer {create_token(collector.store, system(), 'admin')[0]}"}

    async def publish(self, **fields):
        survey = Survey.from_dict(specification(**fields))
        assert (await self.client.post("/v1/surveys", json=survey.canonical, headers=self.headers)).status_code == 201
        return survey

    async def config(self):
        (config, *_) = ohttp.decode_keys((await self.client.get("/v1/ohttp/keys")).content)
        return config

    async def send(self, request, encode=lambda request: pad(request.encode())):
        """Send a request through the gateway; return the answer inside."""
        body, exchange = ohttp.encapsulate(await self.config(), encode(request))
        answer = await self.client.post("/v1/ohttp", content=body, headers=OHTTP)
        assert (answer.status_code, answer.headers["content-type"]) == (200, ohttp.REPLY_TYPE), answer.content
        self.size = len(answer.content)
        return BinaryReply.decode(exchange.decapsulate(answer.content))


def play(collector, story):
    async def run():
        transport = httpx.ASGITransport(create_app(collector))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            await story(Sender(collector, client))

    asyncio.run(run())


def reports(survey, **headers):
    lines = {"content-type": "application/octet-stream", "idempotency-key": key(), **headers}
    return BinaryRequest(
        b"POST",
        f"/v1/versions/{survey.version}/reports".encode(),
        tuple((name.encode(), value.encode()) for name, value in lines.items()),
        batch(survey),
    )


def test_reports_are_counted_as_if_they_had_come_directly(collector):
    async def story(sender):
        survey = await sender.publish()
        request = reports(survey)
        for _ in range(2):  # the same key counts once
            answer = await sender.send(request)
            assert (answer.status, answer.content) == (200, b'{"accepted":1}')
            assert sender.size == OUTSIDE
        asked = await sender.send(BinaryRequest(b"GET", f"/v1/surveys/{survey.name}".encode()))
        assert asked.status == 200
        assert survey.version.encode() in asked.content
        assert list(sender.collector.store.counts().values()) == [1]

    play(collector, story)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/metrics"),
        ("GET", "/v1/tokens"),
        ("POST", "/v1/tokens"),
        ("GET", "/v1/surveys"),
        ("POST", "/v1/surveys"),
        ("DELETE", "/v1/surveys/browser?all=true"),
        ("POST", "/v1/surveys/browser/close"),
        ("GET", "/v1/surveys/browser/../../tokens"),
        ("POST", "/v1/ohttp"),
        ("GET", "/"),
        ("G\u00c9T", "/v1/surveys/browser"),
    ],
)
def test_no_other_route_is_reached(on_sqlite, method, path):
    async def story(sender):
        await sender.publish()
        lines = tuple((name.lower().encode(), value.encode()) for name, value in sender.headers.items())
        answer = await sender.send(BinaryRequest(method.encode(), path.encode(), lines))
        assert answer.status == 404

    play(on_sqlite, story)


def test_tokens_inside_are_not_looked_at(on_sqlite):
    async def story(sender):
        survey = await sender.publish(submit="token")
        answer = await sender.send(reports(survey, authorization=sender.headers["Authorization"]))
        assert answer.status == 401

    play(on_sqlite, story)


def test_errors_inside_are_encrypted(on_sqlite):
    async def story(sender):
        survey = await sender.publish()
        assert (await sender.send(reports(survey, expect="100-continue"))).status == 400
        assert (await sender.send(BinaryRequest(b"GET", b"/v1/surveys/unknown"))).status == 404
        bad = await sender.send(None, encode=lambda _: b"\x00noise")
        assert (bad.status, b"cut off" in bad.content) == (400, True)
        assert sender.size == OUTSIDE

    play(on_sqlite, story)


def test_an_answer_that_does_not_fit_says_so(on_sqlite):
    async def story(sender):
        labels = [f"{number}-{'x' * 60}" for number in range(1200)]
        fields = {**specification(oracle={"name": "hr", "epsilon": 1.0}), "labels": labels}
        survey = Survey.from_dict(fields)
        await sender.client.post("/v1/surveys", json=survey.canonical, headers=sender.headers)
        answer = await sender.send(BinaryRequest(b"GET", f"/v1/surveys/{survey.name}".encode()))
        assert (answer.status, b"ask without one" in answer.content) == (413, True)

    play(on_sqlite, story)


def test_a_survey_for_relays_takes_no_direct_reports(on_sqlite):
    async def story(sender):
        survey = await sender.publish(oblivious=True)
        request = reports(survey)
        for _ in range(3):  # also when the survey is in memory
            where, headers = request.path.decode(), dict(request.headers)
            direct = await sender.client.post(where, content=request.content, headers=headers)
            assert (direct.status_code, direct.json()["type"]) == (403, "urn:fldp:relay-only")
            assert (await sender.send(request)).status == 200
            where = where.replace("/reports", "/withdrawals")
            direct = await sender.client.post(where, content=request.content, headers=headers)
            assert (direct.status_code, direct.json()["type"]) == (403, "urn:fldp:relay-only")

    play(on_sqlite, story)


def test_the_rule_is_named_only_where_it_is_true():
    plain, relayed = (Survey.from_dict(specification(**more)) for more in ({}, {"oblivious": True}))
    assert Survey.from_dict(specification(oblivious=False)).version == plain.version != relayed.version
    assert "oblivious" not in plain.canonical["collect"]
    assert (plain.needs_relay, relayed.needs_relay) == (False, True)
    with pytest.raises(ValueError, match=r"collect.oblivious must be true or false, got 'yes'"):
        Survey.from_dict(specification(oblivious="yes"))


# ------------------------------------------------------------------------------------------------------- outside


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda body: body[:-1], 400),
        (lambda body: b"", 400),
        (lambda body: bytes([body[0] + 1]) + body[1:], 400),
        (lambda body: bytes(ohttp.MAX_REQUEST_BYTES + 1), 413),
    ],
)
def test_what_cannot_be_decrypted_is_refused_outside(on_sqlite, change, status):
    async def story(sender):
        body, _ = ohttp.encapsulate(await sender.config(), pad(b""))
        answer = await sender.client.post("/v1/ohttp", content=change(body), headers=OHTTP)
        assert answer.status_code == status
        assert status != 400 or answer.json()["type"].endswith("http-problem-types#ohttp-key")
        assert (
            await sender.client.post("/v1/ohttp", content=body, headers={"Content-Type": "text/x"})
        ).status_code == 415

    play(on_sqlite, story)


def test_noise_never_breaks_the_gateway(on_sqlite):
    """At full length: ``make soak PART=oblivious``."""
    numbers, statuses = random.Random(5), Counter()

    async def story(sender):
        survey = await sender.publish()
        config = await sender.config()
        good = reports(survey).encode()
        for _ in range(600):
            one = fuzzed(numbers, config, good)
            answer = await sender.client.post("/v1/ohttp", content=one.body, headers=OHTTP)
            statuses[one.check(answer.status_code, answer.content)] += 1
        assert sum(sender.collector.store.counts().values()) <= statuses[200]

    play(on_sqlite, story)
    assert {200, 400, 404} <= statuses.keys()


def test_without_the_setting_there_is_no_gateway(tmp_path):
    collector = Collector(Settings(data=tmp_path), opened("sqlite", tmp_path))

    async def story(sender):
        assert (await sender.client.get("/v1/ohttp/keys")).status_code == 404
        assert (await sender.client.post("/v1/ohttp", content=b"x", headers=OHTTP)).status_code == 404

    play(collector, story)
    assert collector.store.gateway_keys() == []
    collector.stop()


# ---------------------------------------------------------------------------------------------------------- keys


@pytest.mark.parametrize("kind", STORES)
def test_the_two_newest_keys_are_good(tmp_path, kind):
    store = opened(kind, tmp_path)
    for count in range(1, 5):
        rotate(store, "2026-11-16T00:00:00Z")
        assert [each.number for each in store.gateway_keys()] == [count, count - 1][: min(count, 2)]
    (newest, older) = GatewayKeys(store, lambda: "").get()
    assert (newest.number, older.number) == (4, 3)
    sent, _ = ohttp.encapsulate(older.config, b"a request")
    assert ohttp.decapsulate(GatewayKeys(store, lambda: "").get(), sent)[0] == b"a request"
    store.close()


@pytest.mark.parametrize("kind", STORES)
def test_two_collectors_that_start_at_once_have_one_key(tmp_path, kind):
    store = opened(kind, tmp_path)
    for private in (b"1" * 32, b"2" * 32):
        store.add_gateway_key(StoredKey(1, private, "2026"))
    assert [each.private for each in store.gateway_keys()] == [b"1" * 32]
    assert GatewayKeys(store, lambda: "").document == GatewayKeys(store, lambda: "").document
    store.close()


def test_numbers_on_the_wire_begin_anew(tmp_path):
    store = opened("sqlite", tmp_path)
    for number in (255, 256):
        store.add_gateway_key(StoredKey(number, bytes([number % 251]) * 32, "2026"))
    assert [each.number for each in GatewayKeys(store, lambda: "").get()] == [1, 255]
    store.close()
