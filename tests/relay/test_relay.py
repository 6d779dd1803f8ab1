"""The relay: what it passes on, what it refuses, and what neither side learns."""

import asyncio
import gc
import random
from ipaddress import IPv4Address

import httpx
import pytest

from fldp.client.address import Address
from fldp.collector.http.page_files import page, policy
from fldp.oblivious import ohttp
from fldp.relay.app import Relay, RelaySettings, closing
from fldp.relay.rates import Rates

OHTTP = {"Content-Type": ohttp.REQUEST_TYPE}
KEYS = ohttp.encode_keys([ohttp.GatewayKey.generate(1).config])


class Pieces(httpx.AsyncByteStream):
    def __init__(self, data):
        self._data = data

    async def __aiter__(self):
        yield self._data


def answered(status, data, **headers):
    return lambda: httpx.Response(
        status, stream=Pieces(data), headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


class Gateway(httpx.AsyncBaseTransport):
    """A collector that notes what it sees."""

    def __init__(self, answer=None):
        self.seen, self.answer = [], answer or answered(200, b"an answer", x_secret="1")

    async def handle_async_request(self, request):
        self.seen.append((request.method, str(request.url), dict(request.headers), await request.aread()))
        if isinstance(self.answer, Exception):
            raise self.answer
        if request.url.path.endswith("/keys"):
            return answered(200, KEYS, content_type=ohttp.KEYS_TYPE)()
        return self.answer()


def play(story, gateway=None, *, address="192.0.2.7", **settings):
    """Have a story told with a relay's client, and what its collector saw."""
    gateway = gateway or Gateway()
    known = {"hold": 0.0, "rate": 0.0, **settings}

    async def run():
        async with closing(Relay(RelaySettings(Address.of("https://collector.example/at"), **known), gateway)) as relay:
            transport = httpx.ASGITransport(relay, client=(address, 4711))
            async with httpx.AsyncClient(transport=transport, base_url="http://relay") as client:
                await story(client, gateway)

    asyncio.run(run())


def test_nothing_goes_along_but_the_body():
    async def story(client, gateway):
        headers = {
            **OHTTP,
            "User-Agent": "a rare browser",
            "Cookie": "who=me",
            "Forwarded": "for=192.0.2.7",
            "X-Forwarded-For": "192.0.2.7",
            "Accept-Language": "fr",
            "Origin": "https://site.example",
        }
        answer = await client.post("/", content=b"encrypted", headers=headers)
        assert (answer.status_code, answer.content) == (200, b"an answer")
        assert "x-secret" not in answer.headers
        assert answer.headers["access-control-allow-origin"] == "*"
        ((method, url, sent, body),) = gateway.seen
        assert (method, url, body) == ("POST", "https://collector.example/at/v1/ohttp", b"encrypted")
        assert sorted(sent) == [
            "accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent",
        ]  # fmt: skip
        assert "192.0.2.7" not in str(sent) + url
        assert sent["user-agent"] == "fldp-relay"

    play(story)


def test_everybody_gets_the_same_keys_and_they_are_fetched_once():
    async def story(client, gateway):
        answers = [await client.get("/keys") for _ in range(3)]
        assert {answer.content for answer in answers} == {KEYS}
        assert {answer.headers["content-type"] for answer in answers} == {ohttp.KEYS_TYPE}
        assert [url for _, url, _, _ in gateway.seen] == ["https://collector.example/at/v1/ohttp/keys"]

    play(story)


def test_waiters_for_keys_share_one_attempt_and_its_failure():
    class Silent(Gateway):
        """A collector that fails when a test says so."""

        async def handle_async_request(self, request):
            self.seen.append(request)
            await self.given_up.wait()
            raise httpx.ConnectTimeout("nobody is there")

    async def story(client, gateway):
        gateway.given_up = asyncio.Event()
        asking = [asyncio.create_task(client.get("/keys")) for _ in range(20)]
        while not gateway.seen:
            await asyncio.sleep(0)
        for _ in range(200):  # turns of the loop: each of the others takes fewer until it waits for the keys
            await asyncio.sleep(0)
        asking.pop(0).cancel()  # the first one, for whom they are fetched
        gateway.given_up.set()
        answers = await asyncio.gather(*asking)
        assert {answer.status_code for answer in answers} == {502}
        assert len(gateway.seen) == 1
        assert (await client.get("/keys")).status_code == 502
        assert len(gateway.seen) == 2

    play(story, Silent())


def test_an_attempt_that_fails_when_nobody_waits_is_not_logged_as_an_error():
    complaints = []

    class Failing(Gateway):
        async def handle_async_request(self, request):
            asking.cancel()
            await asyncio.sleep(0)
            failed.set()
            raise httpx.ConnectTimeout("nobody is there")

    async def story(client, gateway):
        nonlocal asking, failed
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context["message"]))
        failed, asking = asyncio.Event(), asyncio.create_task(client.get("/keys"))
        await failed.wait()
        assert (await client.get("/keys")).status_code == 502  # by another attempt, or by the end of this one

    asking = failed = None
    play(story, Failing())
    gc.collect()
    assert complaints == []


def test_an_answer_that_comes_byte_by_byte_holds_no_place_for_long(monkeypatch):
    class Dripping(httpx.AsyncByteStream):
        async def __aiter__(self):
            while True:
                yield b"x"
                await asyncio.sleep(0.01)

    async def story(client, gateway):
        answer = await client.post("/", content=b"encrypted", headers=OHTTP)
        assert answer.status_code == 502

    monkeypatch.setattr("fldp.relay.app._WHOLE_SECONDS", 0.3)
    play(story, Gateway(lambda: httpx.Response(200, stream=Dripping())))


def test_keys_are_fetched_again_where_the_collector_refuses_requests_but_not_each_time(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("fldp.relay.app.time.monotonic", lambda: now[0])

    async def story(client, gateway):
        def fetched():
            return [url.endswith("/keys") for _, url, _, _ in gateway.seen].count(True)

        for passed, expected in ((0, 1), (30, 1), (61, 2), (61, 3), (30, 3)):
            now[0] += passed
            await client.post("/", content=b"noise", headers=OHTTP)
            await client.get("/keys")
            assert fetched() == expected

    play(story, Gateway(answered(400, b"{}")))


def test_the_versions_of_a_survey_are_mirrored_byte_for_byte():
    listed = b'[{"version":"ab","created":"2026-11-01T00:00:00Z","closed":null,"deleted":true}]'

    async def story(client, gateway):
        answer = await client.get("/surveys/browser", headers={"Cookie": "who=me"})
        assert (answer.status_code, answer.content) == (200, listed)
        assert answer.headers["content-type"] == "application/json"
        ((method, url, sent, _),) = gateway.seen
        assert (method, url) == ("GET", "https://collector.example/at/v1/surveys/browser/versions")
        assert "cookie" not in sent
        for wrong in ("/surveys/..%2fv1", "/surveys/UPPER", "/surveys/"):
            assert (await client.get(wrong)).status_code == 404
        assert len(gateway.seen) == 1

    play(story, Gateway(answered(200, listed, content_type="application/json")))


@pytest.mark.parametrize(
    ("method", "path", "headers", "content", "status"),
    [
        ("POST", "/", {}, b"x", 415),
        ("POST", "/", {"Content-Type": "text/plain"}, b"x", 415),
        ("POST", "/", OHTTP, bytes(ohttp.MAX_REQUEST_BYTES + 1), 413),
        ("GET", "/", {}, None, 405),
        ("POST", "/keys", {}, b"x", 405),
        ("GET", "/v1/surveys", {}, None, 404),
        ("GET", "/metrics", {}, None, 404),
    ],
)
def test_all_else_is_refused_in_one_shape(method, path, headers, content, status):
    async def story(client, gateway):
        answer = await client.request(method, path, headers=headers, content=content)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        assert answer.json()["status"] == status
        assert gateway.seen == []

    play(story)


def test_browsers_of_any_site_may_send():
    async def story(client, gateway):
        answer = await client.options("/", headers={"Origin": "https://site.example"})
        assert answer.status_code == 204
        assert answer.headers["access-control-allow-headers"] == "content-type"
        assert gateway.seen == []

    play(story)


def test_who_sends_too_much_waits_and_others_do_not():
    async def story(client, gateway):
        async def send():
            return (await client.post("/", content=b"x", headers=OHTTP)).status_code

        assert [await send() for _ in range(22)].count(200) in (20, 21)  # a second may pass meanwhile
        assert 429 in [await send() for _ in range(3)]
        assert len(gateway.seen) < 25

    play(story, rate=0.001)


def test_an_address_is_forgotten_once_it_may_send_as_much_as_a_stranger():
    rates = Rates(1.0)
    for second in range(5):
        rates.take(IPv4Address(second), now=float(second))
    rates.take(IPv4Address(99), now=22.5)
    assert list(rates._known) == [IPv4Address(3), IPv4Address(4), IPv4Address(99)]


def test_what_is_forgotten_changes_no_verdict():
    """Beside one that forgets nothing, for a random hour of ten addresses."""

    class Mindful(Rates):
        def _forget(self, now): ...

    numbers, now, forgetful, mindful = random.Random(8), 0.0, Rates(0.5), Mindful(0.5)
    verdicts = []
    for _ in range(20_000):
        now += numbers.expovariate(4.0)
        who = IPv4Address(int(10 * numbers.random() ** 3))
        verdicts.append(forgetful.take(who, now))
        assert verdicts[-1] == mindful.take(who, now)
    assert 1000 < verdicts.count(False) < 19_000


def test_a_relay_that_holds_too_many_says_so():
    async def story(client, gateway):
        assert (await client.post("/", content=b"x", headers=OHTTP)).status_code == 503
        assert gateway.seen == []

    play(story, max_held=0)


def test_requests_are_held_for_a_random_while(monkeypatch):
    waits, real = [], asyncio.sleep

    async def sleep(seconds):
        waits.append(seconds)
        await real(0)

    monkeypatch.setattr("fldp.relay.app.asyncio.sleep", sleep)

    async def story(client, _):
        for _ in range(40):
            await client.post("/", content=b"x", headers=OHTTP)

    play(story, hold=5.0)
    held = [seconds for seconds in waits if seconds > 0]
    assert len(set(held)) == 40
    assert 0 <= min(held) < 1.5 < 3.5 < max(held) <= 5  # each fails once in 10^6 runs, and less


@pytest.mark.parametrize("answer", [httpx.ConnectError("down"), httpx.ReadTimeout("slow"), OSError("broken")])
def test_a_collector_that_is_away_is_a_502_that_names_nothing(answer):
    async def story(client, _):
        reply = await client.post("/", content=b"x", headers=OHTTP)
        assert (reply.status_code, reply.json()["detail"]) == (502, "the collector cannot be reached from the relay")
        assert (await client.get("/keys")).status_code == 502

    play(story, Gateway(answer))


def test_a_collector_that_sends_elsewhere_is_not_followed():
    async def story(client, gateway):
        answer = await client.post("/", content=b"x", headers=OHTTP)
        assert (answer.status_code, "location" in answer.headers) == (502, False)
        assert answer.json()["detail"].endswith("a redirect, which is not followed; correct --to")
        assert len(gateway.seen) == 1

    play(story, Gateway(answered(301, b"", location="https://other.example/v1/ohttp")))


def test_a_collector_that_answers_too_much_is_cut_off():
    async def story(client, _):
        assert (await client.post("/", content=b"x", headers=OHTTP)).status_code == 502

    play(story, Gateway(answered(200, bytes(ohttp.MAX_REPLY_BYTES + 1))))


def test_what_the_collector_refuses_is_passed_on():
    async def story(client, _):
        answer = await client.post("/", content=b"x", headers=OHTTP)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")

    play(story, Gateway(answered(503, b"{}", retry_after="7")))


def test_noise_never_breaks_the_relay():
    numbers = random.Random(2)

    async def story(client, _):
        for _ in range(200):
            body = numbers.randbytes(numbers.randrange(2000))
            assert (await client.post("/", content=body, headers=OHTTP)).status_code == 200

    play(story)


# --------------------------------------------------------------------------------------------------------- pages


def test_the_answer_page_names_the_collector_and_admits_nothing_from_elsewhere():
    async def story(client, gateway):
        moved = await client.get("/s")
        assert (moved.status_code, moved.headers["location"]) == (308, "s/")
        page = await client.get("/s/")
        assert page.status_code == 200
        assert '<meta name="fldp-collector" content="https://collector.example/at">' in page.text
        assert page.headers["content-security-policy"] == policy([])
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert gateway.seen == []  # the collector has no part in it

    play(story, pages=True)


def test_only_the_files_of_the_answer_page_are_served():
    async def story(client, _):
        script = await client.get("/static/fldp_oblivious.js")
        assert (script.status_code, script.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
        again = await client.get("/static/fldp_oblivious.js", headers={"If-None-Match": script.headers["etag"]})
        assert again.status_code == 304
        for file in ("dashboard/dashboard.js", "vendor/d3.js", "answer/answer.html", "none.js", "../app.py"):
            assert (await client.get(f"/static/{file}")).status_code == 404

    play(story, pages=True)


def test_a_relay_without_pages_has_none():
    async def story(client, _):
        assert [(await client.get(path)).status_code for path in ("/s", "/s/", "/static/fldp.js")] == [404] * 3

    play(story)


def test_the_page_of_the_collector_names_none():
    assert b'<meta name="fldp-collector" content="">' in bytes(page("answer/answer.html").body)
