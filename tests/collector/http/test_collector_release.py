"""Release in steps: those who read see whole days only, and two looks differ by as many reports as the survey says."""

from datetime import UTC, datetime

import pytest

import fldp
from fldp import Survey, wire
from fldp.presentation.card import as_text
from fldp.survey.survey import Survey as Described
from support.collector_app import collector, play  # noqa: F401
from support.collector_server import key, specification
from support.publishing import publish

STEP = 1000


def stepped(**more):
    return Survey.from_dict(specification(oracle={"name": "oue", "epsilon": 1.0}, minimum=1, release=STEP, **more))


def test_two_looks_differ_by_a_step_at_least(collector):
    asked, time = stepped(), [datetime(2026, 11, 1, 12, tzinfo=UTC)]
    collector.clock = lambda: time[0]

    async def story(client):
        where = await publish(client, asked)
        response = await client.post("/v1/tokens", json={"scope": "read"})
        reader = {"Authorization": f"Bearer {response.json()['token']}"}

        async def send(day, n):
            time[0] = datetime(2026, 11, day, 12, tzinfo=UTC)
            tally = asked.oracle.tally(asked.oracle.privatize([0] * n, rng=day))
            body, headers = wire.encode_tally(tally, asked.version), {"Idempotency-Key": key()}
            assert (await client.post(f"{where}/merge", content=body, headers=headers)).status_code == 200

        async def seen(day):
            time[0] = datetime(2026, 11, day, 12, tzinfo=UTC)
            reply = (await client.get(f"{where}/estimates", headers=reader)).json()
            return reply.get("n") or reply["type"]

        await send(1, 700)
        assert await seen(5) == "urn:fldp:too-few"
        await send(5, 600)
        assert await seen(5) == "urn:fldp:too-few"  # the day is not over
        assert await seen(6) == "urn:fldp:too-few"  # something may still be counted under it
        assert await seen(7) == 1300
        await send(8, 999)
        assert await seen(20) == 1300
        await send(20, 5)
        assert await seen(30) == 2304
        assert (await client.get(f"{where}/estimates")).json()["n"] == 2304
        for path, query in (
            ("estimates", {"from": "2026-11-05"}),
            ("days", {}),
            ("export", {}),
            ("tally", {"to": "2026-11-05"}),
            ("integrity", {"from": "2026-11-05"}),
            (
                "compare",
                {"from": "2026-11-01", "to": "2026-11-01", "other_from": "2026-11-05", "other_to": "2026-11-05"},
            ),
        ):
            refused = await client.get(f"{where}/{path}", params=query, headers=reader)
            assert (refused.status_code, refused.json()["type"]) == (403, "urn:fldp:release"), path
        assert (await client.get(f"{where}/days")).status_code == 200  # with an admin token
        tally = await client.get(f"{where}/tally", headers=reader)
        assert wire.decode_tally(tally.content, asked.oracle, asked.version).n == 2304
        assert (await client.get(f"{where}/integrity", headers=reader)).json()["n"] == 2304
        late = asked.oracle.tally(asked.oracle.privatize([0], rng=1))
        body, headers = wire.encode_tally(late, asked.version), {"Idempotency-Key": key()}
        past = await client.post(f"{where}/merge", params={"day": "2026-11-01"}, content=body, headers=headers)
        assert past.status_code == 422
        assert "must not change" in past.text

    play(collector, story)


def test_only_a_survey_that_names_it_has_another_version():
    plain = specification(oracle={"name": "oue", "epsilon": 1.0}, minimum=1)
    assert "release" not in Survey.from_dict(plain).collect
    assert (Survey.from_dict(plain).release, stepped().release) == (None, STEP)
    assert Survey.from_dict(plain).version != stepped().version
    with pytest.raises(fldp.FldpError, match="release must be an integer from 1000"):
        Described.from_dict(specification(release=10))


def test_the_card_counts_a_step_as_the_crowd():
    card = fldp.card(stepped(), users=1_000_000, rng=1)
    assert card.crowd is None  # half of a step is too few to speak of
    wide = Survey.from_dict(specification(oracle={"name": "oue", "epsilon": 1.0}, release=50_000))
    said = as_text(fldp.card(wide, users=1_000_000, rng=1), width=400)
    assert "published totals of at least 50,000 answers" in said
    assert "in steps of at least 50,000 answers. A reader who looks twice still sees a crowd of that size" in said
