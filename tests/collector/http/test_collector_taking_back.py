"""POST .../withdrawals: who may take back what, what is answered, and what others see of it."""

import secrets

import pytest

from fldp import Survey, wire
from fldp.collector.service.folding import fold_day
from fldp.collector.storage.fsck import fsck
from support.collector_app import collector, play  # noqa: F401
from support.collector_requests import batch, key, specification

JSON = {"Accept": "application/json"}


async def publish(client, name="browser", **collect):
    survey = Survey.from_dict(specification(name, minimum=1, **collect))
    assert (await client.post("/v1/surveys", json=survey.canonical)).status_code == 201
    return survey


async def post(client, survey, what, body, name, **headers):
    path = f"/v1/versions/{survey.version}/{what}"
    answer = await client.post(path, content=body, headers={"Idempotency-Key": name, **headers})
    return answer.status_code, answer.json()


async def n_of(client, survey):
    """Return the number of reports, and of withdrawn ones, as all three routes say them."""
    path = f"/v1/versions/{survey.version}"
    estimates, tally = await client.get(f"{path}/estimates"), await client.get(f"{path}/tally")
    days = (await client.get(f"{path}/days")).json()
    said = estimates.json()
    decoded = wire.decode_tally(tally.content, survey.oracle, survey.version)
    assert said["n"] == decoded.n == sum(row["n"] for row in days)
    withdrawn = {said["withdrawn"], sum(row["withdrawn"] for row in days)}
    withdrawn |= {int(answer.headers["fldp-withdrawn"]) for answer in (estimates, tally)}
    assert len(withdrawn) == 1
    return said["n"], withdrawn.pop()


@pytest.mark.parametrize("retention", ["raw", "tally"])
def test_what_was_sent_is_taken_out_once_and_for_ever(collector, retention):
    async def story(client):
        survey = await publish(client, retention=retention)
        sent = [(key(), batch(survey, size)) for size in (1, 5, 7)]
        for name, body in sent:
            await post(client, survey, "reports", body, name)
        assert await n_of(client, survey) == (13, 0)
        fold_day(collector.store, 1, collector.today, survey)
        for name, body in sent[:2]:
            for _ in range(2):
                size = 1 if name == sent[0][0] else 5
                assert await post(client, survey, "withdrawals", body, name) == (200, {"withdrawn": size})
            status, problem = await post(client, survey, "reports", body, name)
            assert (status, problem["type"]) == (410, "urn:fldp:withdrawn")
        assert await n_of(client, survey) == (7, 6)
        fold_day(collector.store, 1, collector.today, survey)
        assert await n_of(client, survey) == (7, 6)
        assert fsck(collector.store)[1] == []

    play(collector, story)


def test_another_body_is_a_conflict_and_changes_nothing(collector):
    async def story(client):
        survey, name = await publish(client), key()
        await post(client, survey, "reports", batch(survey, 2), name)
        status, problem = await post(client, survey, "withdrawals", batch(survey, 3), name)
        assert (status, problem["type"]) == (409, "urn:fldp:conflict")
        assert await n_of(client, survey) == (2, 0)
        status, problem = await post(client, survey, "withdrawals", b"no batch", name)
        assert (status, problem["type"]) == (422, "urn:fldp:malformed")
        status, problem = await post(client, survey, "withdrawals", batch(survey, 3), "short")
        assert (status, problem["type"]) == (400, "urn:fldp:key")

    play(collector, story)


def test_a_withdrawal_may_come_first(collector):
    async def story(client):
        survey, name, body = await publish(client), key(), None
        body = batch(survey)
        await post(client, survey, "reports", batch(survey), key())
        for _ in range(2):
            assert await post(client, survey, "withdrawals", body, name) == (200, {"withdrawn": 0})
        status, problem = await post(client, survey, "reports", body, name)
        assert (status, problem["type"]) == (410, "urn:fldp:withdrawn")
        assert await n_of(client, survey) == (1, 0)
        assert fsck(collector.store)[1] == []

    play(collector, story)


def test_random_keys_take_nothing(collector):
    """Nobody takes out what is not theirs: 100 tries with the body of somebody's report, and other keys."""

    async def story(client):
        survey, body = await publish(client), None
        body = batch(survey)
        await post(client, survey, "reports", body, key())
        before = (await client.get(f"/v1/versions/{survey.version}/tally")).content
        for _ in range(100):
            answer = await post(client, survey, "withdrawals", body, secrets.token_urlsafe(24))
            assert answer == (200, {"withdrawn": 0})
        assert (await client.get(f"/v1/versions/{survey.version}/tally")).content == before
        assert fsck(collector.store)[1] == []

    play(collector, story)


def test_it_works_after_closing_and_not_after_deletion(collector):
    async def story(client):
        survey, name = await publish(client), key()
        body = batch(survey, 4)
        await post(client, survey, "reports", body, name)
        await post(client, survey, "reports", batch(survey), key())
        assert (await client.post("/v1/surveys/browser/close")).status_code == 200
        assert await post(client, survey, "withdrawals", body, name) == (200, {"withdrawn": 4})
        assert await n_of(client, survey) == (1, 4)
        assert (await client.delete("/v1/surveys/browser?all=true")).status_code == 204
        assert (await post(client, survey, "withdrawals", body, name))[0] == 404

    play(collector, story)


def test_tokens_and_tickets(collector):
    async def story(client):
        survey = await publish(client, "token", submit="token")
        name, body = key(), batch(survey)
        await post(client, survey, "reports", body, name)
        assert (await post(client, survey, "withdrawals", body, name, Authorization="Bearer no"))[0] == 401
        assert await post(client, survey, "withdrawals", body, name) == (200, {"withdrawn": 1})

        survey = await publish(client, "ticket", submit="ticket")
        reply = await client.post(f"/v1/versions/{survey.version}/tickets", json={"count": 2})
        first, second = reply.json()["tickets"]
        name, body = key(), batch(survey)
        await post(client, survey, "reports", body, name, **{"Fldp-Ticket": first})
        status, problem = await post(client, survey, "withdrawals", body, key())  # of a key that nobody knows
        assert (status, problem["type"]) == (401, "urn:fldp:ticket")
        assert (await post(client, survey, "withdrawals", body, key(), **{"Fldp-Ticket": "x" * 22}))[0] == 401
        assert await post(client, survey, "withdrawals", body, name) == (200, {"withdrawn": 1})  # it need not be shown
        status, problem = await post(client, survey, "reports", body, key(), **{"Fldp-Ticket": first})
        assert (status, problem["type"]) == (403, "urn:fldp:ticket-spent")  # it stays spent
        early, ticket = key(), {"Fldp-Ticket": second}
        assert await post(client, survey, "withdrawals", body, early, **ticket) == (200, {"withdrawn": 0})
        assert (await post(client, survey, "reports", body, key(), **ticket))[0] == 403  # this has spent it
        assert (await post(client, survey, "reports", body, early, **ticket))[0] == 410
        assert fsck(collector.store)[1] == []

    play(collector, story)


def test_an_entity_tag_changes_although_the_number_is_the_same(collector):
    """One goes and another comes: as many as before, and not the same."""

    async def story(client):
        survey, name = await publish(client), key()
        body, path = batch(survey, 3), f"/v1/versions/{survey.version}/estimates"
        await post(client, survey, "reports", body, name)
        first = await client.get(path)
        again = {"If-None-Match": first.headers["etag"]}
        assert (await client.get(path, headers=again)).status_code == 304
        await post(client, survey, "withdrawals", body, name)
        await post(client, survey, "reports", batch(survey, 3), key())
        second = await client.get(path, headers=again)
        assert (second.status_code, second.json()["n"], second.json()["withdrawn"]) == (200, 3, 3)

    play(collector, story)


def test_a_merged_tally_is_taken_back_by_an_administrator(collector):
    async def story(client):
        survey, name = await publish(client), key()
        tally = wire.encode_tally(survey.oracle.tally(survey.oracle.privatize([1] * 9)), survey.version)
        await post(client, survey, "reports", batch(survey, 2), key())
        await post(client, survey, "merge?day=2026-11-01", tally, name)
        assert (await n_of(client, survey)) == (11, 0)
        assert (await post(client, survey, "merge/withdrawals", tally, name))[0] == 409  # of another day
        taken = await post(client, survey, "merge/withdrawals?day=2026-11-01", tally, name)
        assert taken == (200, {"withdrawn": 9})
        refused = await post(client, survey, "merge/withdrawals", tally, key(), Authorization="")
        assert refused[0] == 401
        path = f"/v1/versions/{survey.version}"
        assert (await client.get(f"{path}/estimates")).json()["n"] == 2
        assert (await post(client, survey, "merge?day=2026-11-01", tally, name))[0] == 410
        fold_day(collector.store, 1, "2026-11-01", survey)
        assert fsck(collector.store)[1] == []

    play(collector, story)


def test_the_list_of_versions_shows_every_version_that_there_was(collector):
    async def story(client):
        surveys = [await publish(client, retention=kept) for kept in ("raw", "tally")]
        public = {"Authorization": ""}
        listed = (await client.get("/v1/surveys/browser/versions", headers=public)).json()
        assert [row["version"] for row in listed] == [survey.version for survey in reversed(surveys)]
        assert all(row.keys() == {"version", "created", "closed", "deleted"} for row in listed)
        await client.post(f"/v1/surveys/browser/close?version={surveys[0].version}")
        await client.delete(f"/v1/surveys/browser?version={surveys[0].version}")
        last = (await client.get("/v1/surveys/browser/versions", headers=public)).json()[1]
        assert (last["version"], last["deleted"], bool(last["closed"])) == (surveys[0].version, True, True)
        assert (await client.post("/v1/surveys", json=surveys[0].canonical)).status_code == 201
        listed = (await client.get("/v1/surveys/browser/versions")).json()
        assert [(row["version"], row["deleted"]) for row in listed] == [(survey.version, False) for survey in surveys]
        assert (await client.get("/v1/surveys/other/versions")).status_code == 404

    play(collector, story)


def test_days_below_the_minimum_say_nothing(collector):
    async def story(client):
        survey = Survey.from_dict(specification(minimum=3))
        await client.post("/v1/surveys", json=survey.canonical)
        name, body = key(), batch(survey, 2)
        await post(client, survey, "reports", body, name)
        await post(client, survey, "reports", batch(survey, 2), key())
        assert [
            (row["n"], row["withdrawn"]) for row in (await client.get(f"/v1/versions/{survey.version}/days")).json()
        ] == [(4, 0)]
        await post(client, survey, "withdrawals", body, name)
        assert (await client.get(f"/v1/versions/{survey.version}/days")).json() == [{"day": collector.today, "n": None}]
        assert (await client.get(f"/v1/versions/{survey.version}/estimates")).status_code == 403

    play(collector, story)
