"""Passes by HTTP: a key, a survey that names it, tickets, passes for them, and one report for each pass."""

import asyncio
import base64
import hashlib

import pytest

from fldp import Survey, wire
from fldp.collector.service.load_limits import RateLimit
from fldp.collector.storage.fsck import fsck
from fldp.oracles.base import ticket_words
from fldp.passes.issuing import PrivateKey
from fldp.passes.tokens import REPLY_TYPE, PassSecret, PassTerms, pass_text
from support.collector_app import collector, play  # noqa: F401 - a fixture
from support.collector_requests import batch, key, specification
from support.passes import KEY, asking, issued, pass_survey

OLH = {"name": "olh", "epsilon": 1.0}


async def published(client, **collect):
    """Publish a survey with a key of the collector, and return it with two tickets."""
    answer = await client.post("/v1/issuers")
    assert answer.status_code == 201
    oracle = collect.pop("oracle", None)
    fields = specification(oracle=oracle, minimum=1, submit="pass", issuer_key=answer.json()["issuer_key"], **collect)
    survey = Survey.from_dict(fields)
    assert (await client.post("/v1/surveys", json=survey.canonical)).status_code == 201
    reply = await client.post(f"/v1/versions/{survey.version}/tickets", json={"count": 2})
    return survey, reply.json()["tickets"]


async def send(client, survey, text, body=None, name=None, what="reports"):
    headers = {"Idempotency-Key": name or key(), "Content-Type": "application/octet-stream", "Fldp-Ticket": text}
    return await client.post(f"/v1/versions/{survey.version}/{what}", content=body or batch(survey), headers=headers)


def issued_as(survey, kind):
    """Return a token of another type, truly signed: an issuer does not see what it signs."""
    secret, key = PassSecret.draw(KEY.public), KEY.public
    message = kind + secret.nonce + hashlib.sha256(survey.pass_terms.challenge).digest() + key.key_id
    signature = key.unblind(message, KEY.sign(key.blind(message, secret.salt, secret.blinding)), secret.blinding)
    return pass_text(message + signature)


def refusal(answer):
    return answer.status_code, answer.json()["type"].removeprefix("urn:fldp:")


def test_a_ticket_buys_a_pass_and_a_pass_counts_once(collector):
    async def story(client):
        survey, (ticket, other) = await published(client)
        path = f"/v1/versions/{survey.version}/passes"
        secret, request = asking(survey, ticket)
        first, again = await client.post(path, **request), await client.post(path, **request)
        assert first.status_code == 200
        assert first.headers["content-type"] == REPLY_TYPE
        assert len(first.content) == 256
        assert again.content == first.content
        assert refusal(await client.post(path, **asking(survey, ticket)[1])) == (403, "ticket-spent")
        text = survey.pass_terms.pass_of(secret, first.content)
        name, body = key(), batch(survey)
        assert (await send(client, survey, text, body, name)).json() == {"accepted": 1}
        assert (await send(client, survey, text, body, name)).json() == {"accepted": 1}
        assert refusal(await send(client, survey, text)) == (403, "ticket-spent")
        assert refusal(await send(client, survey, ticket)) == (401, "pass")
        assert refusal(await send(client, survey, other)) == (401, "pass")
        assert (await send(client, survey, text, batch(survey, 2))).status_code == 413
        assert (await send(client, survey, text, body, name, "withdrawals")).json() == {"withdrawn": 1}
        assert refusal(await send(client, survey, text)) == (403, "ticket-spent")
        assert fsck(collector.store)[1] == []

    play(collector, story)


def test_a_bad_request_costs_no_ticket(collector):
    async def story(client):
        survey, (ticket, _) = await published(client)
        path, (_, good) = f"/v1/versions/{survey.version}/passes", asking(survey, ticket)
        body, n = good["content"], survey.pass_terms.key.n
        for bad in (
            b"",
            body[:-1],
            b"\0\1" + body[2:],
            body[:2] + bytes([body[2] ^ 255]) + body[3:],
            body[:3] + n.to_bytes(256),
        ):
            assert refusal(await client.post(path, **{**good, "content": bad})) == (422, "malformed")
        assert (await client.post(path, **{**good, "content": bytes(2000)})).status_code == 413
        plain = {"Fldp-Ticket": ticket, "Content-Type": "text/plain"}
        assert refusal(await client.post(path, content=body, headers=plain)) == (415, "media-type")
        for unknown in ("", "x", "fldp_ticket_" + "A" * 43):
            headers = {**good["headers"], "Fldp-Ticket": unknown}
            assert refusal(await client.post(path, content=body, headers=headers)) == (401, "ticket")
        assert (await client.post(path, **good)).status_code == 200

    play(collector, story)


def test_there_are_no_passes_where_nobody_issues_them(collector):
    async def story(client):
        ticketed = Survey.from_dict(specification(submit="ticket"))
        apart = pass_survey("apart")
        for survey in (ticketed, apart):
            assert (await client.post("/v1/surveys", json=survey.canonical)).status_code == 201
            path = f"/v1/versions/{survey.version}"
            ticket = (await client.post(f"{path}/tickets", json={"count": 1})).json()["tickets"][0]
            answer = await client.post(f"{path}/passes", **asking(apart, ticket)[1])
            assert answer.status_code == 404
        answer = await client.post(f"/v1/versions/{'0' * 64}/passes", **asking(apart, ticket)[1])
        assert answer.status_code == 404
        assert (await send(client, apart, issued(apart))).json() == {"accepted": 1}

    play(collector, story)


def test_nothing_is_signed_before_its_ticket_is_spent(collector, monkeypatch):
    """Whatever fails in between, no ticket is worth two passes."""
    steps, spend, sign = [], collector.order_pass, collector.pass_issuer.sign

    async def spent(*order):
        await spend(*order)
        steps.append("spent")

    async def signed(*asked):
        steps.append("signed")
        return await sign(*asked)

    async def story(client):
        survey, (ticket, _) = await published(client)
        path = f"/v1/versions/{survey.version}/passes"
        monkeypatch.setattr(collector, "order_pass", spent)
        monkeypatch.setattr(collector.pass_issuer, "sign", signed)
        assert (await client.post(path, **asking(survey, ticket)[1])).status_code == 200
        assert steps == ["spent", "signed"]
        assert refusal(await client.post(path, **asking(survey, ticket)[1])) == (403, "ticket-spent")
        assert steps == ["spent", "signed"]

    play(collector, story)


def test_passes_are_asked_for_no_faster_than_reports_may_come(collector, monkeypatch):
    async def story(client):
        survey, (ticket, other) = await published(client)
        path = f"/v1/versions/{survey.version}/passes"
        monkeypatch.setattr(collector.load, "rate", RateLimit(1e-6))  # one now, and the next in days
        assert (await client.post(path, **asking(survey, ticket)[1])).status_code == 200
        assert refusal(await client.post(path, **asking(survey, other)[1])) == (429, "rate")

    play(collector, story)


def test_a_closed_survey_signs_no_new_pass(collector):
    async def story(client):
        survey, (ticket, other) = await published(client)
        path, (_, request) = f"/v1/versions/{survey.version}/passes", asking(survey, ticket)
        first = await client.post(path, **request)
        await client.post("/v1/surveys/browser/close")
        assert refusal(await client.post(path, **asking(survey, other)[1])) == (403, "closed")
        assert (await client.post(path, **request)).content == first.content

    play(collector, story)


@pytest.mark.parametrize("hours", [{"opens": "2999-01-01T00:00:00Z"}, {"closes": "2026-01-01T00:00:00Z"}])
def test_nor_does_one_outside_of_its_hours(collector, hours):
    async def story(client):
        survey, (ticket, _) = await published(client, **hours)
        answer = await client.post(f"/v1/versions/{survey.version}/passes", **asking(survey, ticket)[1])
        assert refusal(answer) == (403, "closed")

    play(collector, story)


def test_a_key_is_for_one_version_and_known_here(collector):
    async def story(client):
        survey, _ = await published(client)
        changed = {**survey.canonical, "question": "Which one?"}
        answer = await client.post("/v1/surveys", json=changed)
        assert refusal(answer) == (422, "survey")
        assert "signs for another version" in answer.json()["mistakes"][0]
        await client.delete("/v1/surveys/browser?all=true")
        assert refusal(await client.post("/v1/surveys", json=changed)) == (422, "survey")
        assert (await client.post("/v1/surveys", json=survey.canonical)).status_code == 201
        apart = pass_survey("apart").canonical
        here = {**apart, "collect": {name: rule for name, rule in apart["collect"].items() if name != "issuer"}}
        answer = await client.post("/v1/surveys", json=here)
        assert "a key of this collector" in answer.json()["mistakes"][0]

    play(collector, story)


def test_only_an_admin_makes_keys_and_none_is_shown_twice(collector):
    async def story(client):
        keys = [(await client.post("/v1/issuers")).json()["issuer_key"] for _ in range(2)]
        assert len(set(keys)) == 2
        assert all(len(base64.urlsafe_b64decode(text)) == 342 for text in keys)
        token = (await client.post("/v1/tokens", json={"scope": "read"})).json()["token"]
        held = {"Authorization": f"Bearer {token}"}
        assert refusal(await client.post("/v1/issuers", headers=held)) == (403, "forbidden")
        token = (await client.post("/v1/tokens", json={"scope": "admin", "survey": "browser"})).json()["token"]
        held = {"Authorization": f"Bearer {token}"}
        assert refusal(await client.post("/v1/issuers", headers=held)) == (403, "forbidden")

    play(collector, story)


def test_forged_and_foreign_passes_are_refused(collector):
    async def story(client):
        survey, foreign = pass_survey(), pass_survey("other")
        assert (await client.post("/v1/surveys", json=survey.canonical)).status_code == 201
        other = PrivateKey.generate()
        terms = PassTerms(other.public, survey.pass_terms.challenge)
        forged = [
            issued(foreign),
            issued(Survey.from_dict({**survey.canonical, "question": "Which?"})),
            issued(type("", (), {"pass_terms": terms}), other),
            "fldp_pass_" + "A" * 472,
            "",
        ]
        for text in forged:
            assert refusal(await send(client, survey, text)) == (401, "pass")
        good = issued(survey)
        assert refusal(await send(client, survey, issued_as(survey, b"\0\3"))) == (401, "pass")
        for place in range(10, len(good), 7):
            flipped = good[:place] + ("A" if good[place] != "A" else "B") + good[place + 1 :]
            assert refusal(await send(client, survey, flipped)) == (401, "pass")
        token = base64.urlsafe_b64decode(good[10:])
        larger = int.from_bytes(token[98:]) + KEY.public.n
        if larger < 1 << 2048:
            twin = "fldp_pass_" + base64.urlsafe_b64encode(token[:98] + larger.to_bytes(256)).decode()
            assert refusal(await send(client, survey, twin)) == (401, "pass")
        assert (await send(client, survey, good)).status_code == 200
        assert (await client.get("/v1/surveys")).json()[0]["n"] == 1

    play(collector, story)


def test_a_pass_decides_masks_that_nobody_chooses(collector):
    async def story(client):
        survey, (ticket, _) = await published(client, oracle=OLH, derive=True)
        secret, request = asking(survey, ticket)
        answer = await client.post(f"/v1/versions/{survey.version}/passes", **request)
        text = survey.pass_terms.pass_of(secret, answer.content)
        for chosen in (batch(survey), wire.encode(survey.privatize_with(ticket, "edge"), survey.version)):
            assert refusal(await send(client, survey, text, chosen)) == (422, "not-derived")
        reports = survey.privatize_with(text, "edge")
        assert ticket_words.fits(survey.oracle, reports.data[0], text, survey.version)
        assert (await send(client, survey, text, wire.encode(reports, survey.version))).json() == {"accepted": 1}

    play(collector, story)


def test_a_withdrawal_before_its_report_costs_the_pass(collector):
    async def story(client):
        survey = pass_survey()
        await client.post("/v1/surveys", json=survey.canonical)
        text, name, body = issued(survey), key(), batch(survey)
        headers = {"Idempotency-Key": name}
        path = f"/v1/versions/{survey.version}/withdrawals"
        assert refusal(await client.post(path, content=body, headers=headers)) == (401, "ticket")
        assert (await send(client, survey, text, body, name, "withdrawals")).json() == {"withdrawn": 0}
        assert refusal(await send(client, survey, text, body, name)) == (410, "withdrawn")
        assert refusal(await send(client, survey, text)) == (403, "ticket-spent")

    play(collector, story)


def test_a_pass_that_comes_many_times_at_once_counts_once(collector):
    async def story(client):
        survey = pass_survey()
        await client.post("/v1/surveys", json=survey.canonical)
        texts = [issued(survey) for _ in range(4)]
        answers = await asyncio.gather(*(send(client, survey, text) for text in texts * 5))
        assert sorted(answer.status_code for answer in answers) == [200] * 4 + [403] * 16
        assert (await client.get("/v1/surveys")).json()[0]["n"] == 4

    play(collector, story)


@pytest.mark.parametrize("what", ["passes", "reports"])
def test_neither_takes_a_way_around_the_relay(collector, what):
    async def story(client):
        survey, (ticket, _) = await published(client, oblivious=True)
        request = asking(survey, ticket)[1]
        answer = await client.post(f"/v1/versions/{survey.version}/{what}", **request)
        assert refusal(answer) == (403, "relay-only")

    play(collector, story)
