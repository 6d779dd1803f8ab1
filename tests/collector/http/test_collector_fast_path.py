"""The fast path of a single report: the same answers as the full path, and the full path for all that is unusual."""

import asyncio
import json
import time

import httpx
import pytest

from fldp import Survey, wire
from fldp.collector.app import create_app
from fldp.collector.config.clock import system
from fldp.collector.config.settings import Settings
from fldp.collector.http.fast_path import FastPath, giving
from fldp.collector.service import load_limits, logs
from fldp.collector.service.collector import Collector
from fldp.collector.service.tokens import create_token
from fldp.collector.storage.protocol import StoredSurvey, StoreError
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.conformance.vectors import craft
from fldp.data.packing import pack
from support.collector_app import collector  # noqa: F401
from support.collector_requests import batch, key, specification
from support.collector_store import rows
from support.waiting import until

ORIGIN = "https://a.example"
BYTES = {"Content-Type": "application/octet-stream"}
LONG = {"Content-Type": "application/octet-stream; and=more"}  # nobody sends that, and it is allowed


class Ways:
    """Counts the requests that took the fast path to their end, and those that did not."""

    def __init__(self, monkeypatch):
        self.short = self.long = 0
        count, head = FastPath.count, FastPath.head

        async def counted(way, sent, receive, send):
            again = await count(way, sent, receive, send)
            self.short += again is None
            self.long += again is not None
            return again

        def seen(way, scope):
            sent = head(way, scope)
            self.long += sent is None
            return sent

        monkeypatch.setattr(FastPath, "count", counted)
        monkeypatch.setattr(FastPath, "head", seen)

    def taken(self):
        counted, self.short, self.long = (self.short, self.long), 0, 0
        return counted


@pytest.fixture
def ways(monkeypatch):
    return Ways(monkeypatch)


def play(collector, story):
    async def run():
        secret, _ = create_token(collector.store, system(), "admin")
        transport = httpx.ASGITransport(create_app(collector))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            client.admin = {"Authorization": f"Bearer {secret}"}
            await story(client)

    asyncio.run(run())


async def published(client, ways, fields=None, **collect):
    """Publish a survey and wait until it is in memory, ready for reports."""
    fields = fields or specification(**collect)
    assert (await client.post("/v1/surveys", json=fields, headers=client.admin)).status_code == 201
    survey = Survey.from_dict(fields)
    while not (await client.get(f"/v1/surveys/{survey.name}")).json()["state"]:
        pass
    ways.taken()
    return survey


async def send(client, survey, body=None, headers=None, query="", name=None):
    path = f"/v1/versions/{survey.version}/reports{query}"
    sent = {"Idempotency-Key": name or key(), **(headers or BYTES)}
    return await client.post(path, content=batch(survey) if body is None else body, headers=sent)


def compared(answer):
    return answer.status_code, answer.content, sorted(answer.headers.multi_items())


def forged(survey, packed, total=1):
    return craft({"oracle": wire.describe(survey.oracle), "survey": survey.version}, [(1, packed)], total)


def test_a_usual_request_takes_the_short_way_and_is_counted(collector, ways):
    async def story(client):
        survey = await published(client, ways)
        for _ in range(5):
            assert (await send(client, survey)).json() == {"accepted": 1}
        assert ways.taken() == (5, 0)
        assert collector.load.in_flight == collector.load.buffered.used == len(collector._counting.writer) == 0
        text = (await client.get("/metrics", headers=client.admin)).text
        route = '{route="/v1/versions/{id}/reports",method="POST",status="200"}'
        assert f"fldp_requests_total{route} 5\n" in text
        assert "fldp_reports_total 5\n" in text

    play(collector, story)
    assert rows(collector.store, "SELECT count(*), sum(accepted) FROM keys") == [(5, 5)]


@pytest.mark.parametrize("origin", [None, ORIGIN, "https://evil.example"])
@pytest.mark.parametrize("origins", [[], [ORIGIN, "https://b.example"]])
def test_both_ways_give_the_same_answer(collector, ways, origin, origins):
    own = {} if origin is None else {"Origin": origin}

    async def story(client):
        survey = await published(client, ways, origins=origins)
        short = await send(client, survey, headers=BYTES | own)
        assert ways.taken() == (1, 0)
        long = await send(client, survey, headers=LONG | own)
        assert ways.taken() == (0, 1)
        assert compared(short) == compared(long)
        assert ("access-control-allow-origin" in short.headers) == (origin == ORIGIN and bool(origins))

    play(collector, story)


def test_over_tls_both_ways_insist_on_it(collector, ways):
    async def story(client):
        survey = await published(client, ways)
        client.base_url = "https://x"
        short, long = await send(client, survey), await send(client, survey, headers=LONG)
        assert ways.taken() == (1, 1)
        assert compared(short) == compared(long)
        assert "strict-transport-security" in short.headers

    play(collector, story)


def flipped(body):
    """Flip the last bit of one batch: another draw might end in just that byte."""
    return body[:-1] + bytes([body[-1] ^ 1])


UNUSUAL = {
    "two reports": ({}, lambda survey: batch(survey, 2), 200),
    "none": ({}, lambda survey: wire.encode(survey.privatize(["chrome"])[:0], survey.version), 200),
    "a byte more": ({}, lambda survey: batch(survey) + b"x", 422),
    "a byte less": ({}, lambda survey: batch(survey)[:-1], 422),
    "a flipped bit": ({}, lambda survey: flipped(batch(survey)), 422),
    "a report that cannot be": ({}, lambda survey: forged(survey, b"\0"), 422),
    "padding": ({}, lambda survey: forged(survey, b"\xc8"), 422),
    "another total": ({}, lambda survey: forged(survey, b"\x08", 2), 422),
    "a bad key": ({"Idempotency-Key": "short"}, batch, 400),
    "a key of other letters": ({"Idempotency-Key": "x" * 21 + "/"}, batch, 400),
    "compression": ({"Content-Encoding": "gzip"}, batch, 415),
    "another type": ({"Content-Type": "text/plain"}, batch, 415),
    "chunks": ({"Transfer-Encoding": "chunked"}, batch, 200),
}


@pytest.mark.parametrize("what", UNUSUAL)
def test_what_is_unusual_is_answered_as_ever(collector, ways, what):
    headers, make, status = UNUSUAL[what]

    async def story(client):
        survey = await published(client, ways)
        body, name = make(survey), key()
        answer = await send(client, survey, body, BYTES | headers, name=name)
        assert answer.status_code == status, answer.text
        assert ways.taken() == (0, 1)
        again = await send(client, survey, body, LONG | headers, name=name)
        assert compared(again) == compared(answer)

    play(collector, story)


def test_the_forged_reports_of_these_tests_are_what_they_say():
    survey = Survey.from_dict(specification())
    assert survey.oracle.report_format.bits == 6
    honest = pack(survey.oracle.report_format, survey.privatize(["chrome"]).data).tobytes()
    assert wire.decode(forged(survey, honest), survey.oracle, survey.version)


def test_a_key_decides_whichever_way_it_came(collector, ways):
    async def story(client):
        survey = await published(client, ways)
        name, body = key(), batch(survey)
        for headers in (BYTES, LONG, BYTES):
            assert (await send(client, survey, body, headers, name=name)).json() == {"accepted": 1}
        other = next(each for each in iter(lambda: batch(survey), None) if each != body)
        for headers in (BYTES, LONG):
            assert (await send(client, survey, other, headers, name=name)).status_code == 409
        name = key()
        answers = await asyncio.gather(*(send(client, survey, body, name=name) for _ in range(20)))
        assert {answer.content for answer in answers} == {b'{"accepted":1}'}

    play(collector, story)
    assert rows(collector.store, "SELECT sum(n) FROM segments") == [(2,)]


def test_a_report_that_cannot_be_hurts_none_that_is_committed_with_it(collector, ways):
    async def story(client):
        survey = await published(client, ways)
        bodies = [batch(survey) if number % 3 else forged(survey, b"\0") for number in range(30)]
        answers = await asyncio.gather(*(send(client, survey, body) for body in bodies))
        assert [answer.status_code for answer in answers] == [200 if number % 3 else 422 for number in range(30)]
        assert answers[0].json()["index"] == 0

    play(collector, story)
    assert rows(collector.store, "SELECT sum(n) FROM segments") == [(20,)]


@pytest.mark.parametrize("collect", [{"submit": "token"}, {"submit": "ticket"}, {"closes": "2999-01-01T00:00:00Z"}])
def test_surveys_that_not_everybody_may_always_answer_take_the_long_way(collector, ways, collect):
    async def story(client):
        survey = await published(client, ways, **collect)
        answer = await send(client, survey)
        assert answer.status_code == (200 if "closes" in collect else 401)
        assert ways.taken() == (0, 1)

    play(collector, story)


def test_a_survey_that_was_closed_or_deleted_behind_the_back_takes_nothing(collector, ways):
    async def story(client):
        survey = await published(client, ways)
        assert (await send(client, survey)).status_code == 200
        (number,) = rows(collector.store, "SELECT number FROM surveys")[0]
        collector.store.close_surveys([number], "2026-11-01T00:00:00Z")
        assert (await send(client, survey)).json()["type"] == "urn:fldp:closed"
        collector.store.reopen_survey(number)
        ways.taken()
        assert (await send(client, survey)).status_code == 200
        collector.store.delete_surveys([number])
        assert (await send(client, survey)).status_code == 404

    play(collector, story)
    assert rows(collector.store, "SELECT count(*) FROM keys") == [(0,)]


@pytest.mark.parametrize("setting", [{"rate": 1000.0}, {"log_senders": True}])
def test_what_looks_at_each_request_closes_the_fast_path(tmp_path, ways, setting):
    collector = Collector(Settings(data=tmp_path, **setting), SqliteStore(tmp_path / "fldp.db"))

    async def story(client):
        survey = await published(client, ways)
        assert (await send(client, survey)).status_code == 200
        assert ways.taken() == (0, 1)

    try:
        play(collector, story)
    finally:
        collector.stop()


def test_a_body_in_pieces_is_read_to_its_end(collector, ways):
    async def story(client):
        survey = await published(client, ways)
        body = batch(survey)

        async def pieces():
            for start in range(0, len(body), 7):
                yield body[start : start + 7]
                await asyncio.sleep(0)

        path = f"/v1/versions/{survey.version}/reports"
        headers = {"Idempotency-Key": key(), "Content-Length": f"{len(body)}", **BYTES}
        answer = await client.post(path, content=pieces(), headers=headers)
        assert answer.json() == {"accepted": 1}

    play(collector, story)


def test_too_many_at_a_time_are_refused_and_counted_nowhere(tmp_path, ways):
    collector = Collector(Settings(data=tmp_path, max_in_flight=3), SqliteStore(tmp_path / "fldp.db"))

    async def story(client):
        survey = await published(client, ways)
        commit = collector.store.commit

        def slowly(submissions, day):
            time.sleep(0.2)
            return commit(submissions, day)

        collector.store.commit = slowly
        answers = await asyncio.gather(*(send(client, survey) for _ in range(30)))
        codes = [answer.status_code for answer in answers]
        assert set(codes) == {200, 503}
        assert {answer.headers["retry-after"] for answer in answers if answer.status_code == 503} == {"1"}
        assert rows(collector.store, "SELECT sum(n) FROM segments") == [(codes.count(200),)]
        assert collector.load.in_flight == 0
        assert (await send(client, survey)).status_code == 200

    try:
        play(collector, story)
    finally:
        collector.stop()


def scope_of(survey, body):
    headers = {"host": "x", "content-length": f"{len(body)}", "idempotency-key": key()}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    path = f"/v1/versions/{survey.version}/reports"
    return {"type": "http", "method": "POST", "path": path, "query_string": b"", "scheme": "http", "headers": raw}


def ask(collector, survey, pieces, then=None):
    """Send pieces of a body to the application itself; return the status of its answer."""

    async def run():
        await collector.surveys.get(survey.version)
        statuses, waiting = [], list(pieces)

        async def receive():
            if not waiting:
                await asyncio.sleep(3600)
            return waiting.pop(0)

        async def send(message):
            statuses.extend([message["status"]] if "status" in message else [])

        task = asyncio.ensure_future(create_app(collector)(scope_of(survey, batch(survey)), receive, send))
        if then is not None:
            await then(task)
        await task
        return statuses

    return asyncio.run(run())


def slow_collector(tmp_path, **settings):
    tmp_path.mkdir(exist_ok=True)
    collector = Collector(Settings(data=tmp_path, **settings), SqliteStore(tmp_path / "fldp.db"))
    survey = Survey.from_dict(specification(minimum=1))
    collector.store.publish(StoredSurvey.new(survey, collector.now))
    return collector, survey


@pytest.mark.parametrize("pieces", [[], [{"type": "http.request", "body": b"FLDP", "more_body": True}]])
def test_a_body_that_does_not_come_is_waited_for_no_longer_than_ever(tmp_path, ways, pieces):
    collector, survey = slow_collector(tmp_path, idle_seconds=1.5)
    seen = []

    async def watch(task):
        while not task.done():
            seen.append(collector.load.slow.used)
            await asyncio.sleep(0.05)

    def has_a_place():
        """Whether it has a place among the slow clients: a loop that is late itself gives it more time instead."""
        seen.clear()
        assert ask(collector, survey, list(pieces), watch) == [408]
        return max(seen) == 1

    try:
        until(has_a_place)
    finally:
        collector.stop()
    assert (collector.load.slow.used, collector.load.buffered.used, collector.load.in_flight, collector.open) == (
        0,
        0,
        0,
        0,
    )


def test_a_slow_client_without_a_place_is_cut_off(tmp_path):
    collector, survey = slow_collector(tmp_path, max_slow=1, idle_seconds=600)
    collector.load.slow.take(1)
    try:
        assert ask(collector, survey, []) == [408]
    finally:
        collector.stop()
    assert collector.load.slow.used == 1


def test_a_client_that_hangs_up_is_no_mistake(tmp_path):
    collector, survey = slow_collector(tmp_path)
    try:
        assert ask(collector, survey, [{"type": "http.disconnect"}]) == [400]
    finally:
        collector.stop()
    assert rows(collector.store, "SELECT count(*) FROM keys") == [(0,)]


def test_who_waits_when_the_collector_stops_is_told_to_come_again(tmp_path):
    collector, survey = slow_collector(tmp_path)

    async def stop(task):
        while not collector.requests:
            await asyncio.sleep(0.01)
        collector.stopping = True
        task.cancel()

    try:
        assert ask(collector, survey, [], stop) == [503]
    finally:
        collector.stop()


def test_a_store_that_fails_is_answered_503_and_the_next_report_is_counted(collector, ways, monkeypatch):
    async def story(client):
        survey = await published(client, ways, origins=[ORIGIN])
        with monkeypatch.context() as broken:
            broken.setattr(collector.store, "commit", lambda *_: (_ for _ in ()).throw(StoreError("disk full")))
            answer = await send(client, survey, headers=BYTES | {"Origin": ORIGIN})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert answer.json()["type"] == "urn:fldp:unavailable"
        assert answer.headers["access-control-allow-origin"] == ORIGIN
        assert (await send(client, survey)).status_code == 200

    play(collector, story)


def test_a_request_is_logged_and_sampled(tmp_path, capfd):
    """A line each, or one of so many that went well; what was refused always has one."""
    for every, good in ((1, 6), (3, 2)):
        collector, survey = slow_collector(tmp_path / str(every))
        logs.configure(True, every=every)
        try:
            for _ in range(6):
                body = {"type": "http.request", "body": batch(survey), "more_body": False}
                assert ask(collector, survey, [body]) == [200]
            assert ask(collector, survey, [{"type": "http.disconnect"}]) == [400]
        finally:
            collector.stop()
        lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
        requests = [line for line in lines if line["event"] == "request"]
        assert [line["status"] for line in requests].count(200) == good
        assert [line["status"] for line in requests].count(400) == 1
        assert {line["route"] for line in requests} == {"/v1/versions/{id}/reports"}
        assert {line.get("every") for line in requests if line["status"] == 200} == {every if every > 1 else None}


def test_who_is_refused_waits_a_moment_and_only_so_many_do(tmp_path, monkeypatch):
    """Who tries again at once must not keep the collector busy with refusing, nor hold more than there may be."""
    collector, survey = slow_collector(tmp_path, max_in_flight=2)
    monkeypatch.setattr(load_limits, "PAUSE", 3600)
    collector.load.in_flight = 2
    statuses = []

    async def send(message):
        statuses.extend([message["status"]] if "status" in message else [])

    async def story():
        await collector.surveys.get(survey.version)
        app, body = create_app(collector), batch(survey)
        asked = [asyncio.ensure_future(app(scope_of(survey, body), giving({}, None), send)) for _ in range(3)]
        done, waiting = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        assert (len(done), len(waiting), statuses) == (1, 2, [503])
        for each in waiting:
            each.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    try:
        asyncio.run(story())
    finally:
        collector.stop()


@pytest.mark.parametrize(("size", "status", "taken"), [(100, 200, (1, 0)), (5_000, 200, (0, 1)), (17_000, 431, (0, 1))])
def test_a_long_header_takes_the_full_way_and_one_beyond_the_limit_is_refused(collector, ways, size, status, taken):
    async def story(client):
        survey = await published(client, ways)
        answer = await send(client, survey, headers=BYTES | {"X": "x" * size})
        assert (answer.status_code, ways.taken()) == (status, taken)

    play(collector, story)
    assert rows(collector.store, "SELECT count(*) FROM keys") == [(int(status == 200),)]
