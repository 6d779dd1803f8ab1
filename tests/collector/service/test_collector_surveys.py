"""Surveys that a collector keeps ready: how many, which version is shown, and none that is being deleted."""

import asyncio
import json
import threading

import pytest

from fldp import Survey
from fldp.collector.config.settings import Settings
from fldp.collector.routes import surveys as routes
from fldp.collector.service import survey_cache as module
from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import Problem
from fldp.collector.storage.protocol import StoredSurvey, StoreError
from fldp.collector.storage.sqlite.store import SqliteStore
from support.collector_app import collector, play  # noqa: F401
from support.collector_server import batch, key, specification
from support.waiting import LONG, until


async def publish(client, question="?", **collect):
    fields = {**specification(**collect), "question": question}
    assert (await client.post("/v1/surveys", json=fields)).status_code == 201
    return Survey.from_dict(fields)


def test_nothing_is_shown_of_a_survey_while_it_is_being_deleted(collector, monkeypatch):
    began, go = threading.Event(), threading.Event()
    purge = collector.store.purge

    def slow():
        began.set()
        assert go.wait(LONG)
        purge()

    async def story(client):
        survey = await publish(client, minimum=5)
        where = f"/v1/versions/{survey.version}"
        await client.post(f"{where}/reports", content=batch(survey, 9), headers={"Idempotency-Key": key()})
        assert (await client.get(f"{where}/estimates")).status_code == 200
        monkeypatch.setattr(collector.store, "purge", slow)
        deleting = asyncio.create_task(client.delete("/v1/surveys/browser?all=true"))
        await asyncio.to_thread(began.wait, 20)
        for path in (
            "estimates",
            "tally",
            "days",
            "compare?to=2020-01-01&other_from=2020-01-02",
            "integrity",
            "export",
        ):
            assert (await client.get(f"{where}/{path}")).status_code == 404
        assert (await client.get("/v1/surveys/browser")).status_code == 404
        go.set()
        assert (await deleting).status_code == 204
        again = await publish(client, minimum=5)
        assert again.version == survey.version
        assert (await client.get(f"{where}/estimates")).json()["type"] == "urn:fldp:too-few"

    play(collector, story)


def test_the_newest_open_version_is_shown_and_asked_for_its_origins(collector, monkeypatch):
    read = []
    parse = StoredSurvey.parse
    monkeypatch.setattr(StoredSurvey, "parse", lambda entry: read.append(entry) or parse(entry))

    async def story(client):
        first = await publish(client, "first", origins=["https://a.example"])
        for number in range(5):
            closed = await publish(client, f"later {number}", origins=["https://b.example"])
            await client.post(f"/v1/surveys/browser/close?version={closed.version}")
        collector.forget()
        read.clear()
        shown = (await client.get("/v1/surveys/browser")).json()
        assert (shown["version"], shown["state"]) == (first.version, "open")
        assert Survey.from_dict(shown["survey"]).version == first.version
        assert [entry.version for entry in read] == [first.version]  # those that are closed are not even read
        for origin, status in (("https://a.example", 204), ("https://b.example", 405)):
            asks = {"Origin": origin, "Access-Control-Request-Method": "GET"}
            assert (await client.options("/v1/surveys/browser", headers=asks)).status_code == status

    play(collector, story)


def test_a_version_that_is_succeeded_while_it_is_looked_up_gives_way_to_its_successor(collector, monkeypatch):
    find = collector.store.find

    async def story(client):
        first = await publish(client, "first")
        collector.forget()
        fields = {**specification(), "question": "second"}
        successor = StoredSurvey.new(Survey.from_dict(fields), collector.now)

        def succeeded_just_before(version):
            entry = find(version)
            if version == first.version and collector.store.succeed(entry.number, successor):
                return find(version)
            return entry

        monkeypatch.setattr(collector.store, "find", succeeded_just_before)
        shown = (await client.get("/v1/surveys/browser")).json()
        assert (shown["version"], shown["state"]) == (successor.version, "open")

    play(collector, story)


def test_what_was_just_published_is_not_parsed_again(collector, monkeypatch):
    read = []
    parse = StoredSurvey.parse
    monkeypatch.setattr(StoredSurvey, "parse", lambda entry: read.append(entry) or parse(entry))

    async def story(client):
        survey = await publish(client)
        assert (await collector.surveys.get(survey.version)).survey == survey
        assert (await collector.surveys.get(survey.version, fresh=True)).survey == survey
        assert read == []

    play(collector, story)


def test_a_list_of_surveys_reads_only_what_is_new(collector, monkeypatch):
    """Opened, closed and deleted versions are listed as they are, and no specification is read twice."""
    find, read = collector.store.find, []
    monkeypatch.setattr(collector.store, "find", lambda version: read.append(version) or find(version))

    async def states(client):
        read.clear()
        return {row["question"]: row["state"] for row in (await client.get("/v1/surveys")).json()}

    async def story(client):
        published = [await publish(client, f"number {number}") for number in range(3)]
        collector.forget()
        assert await states(client) == {f"number {number}": "open" for number in range(3)}
        assert sorted(read) == sorted(survey.version for survey in published)
        assert len(await states(client)) == 3
        assert read == []
        collector.store.close_surveys([collector.store.find(published[1].version).number], "2026-11-02T00:00:00Z")
        assert (await states(client))["number 1"] == "closed"  # though another collector closed it
        assert read == [published[1].version]
        collector.store.delete_surveys([collector.store.find(published[0].version).number])
        assert await states(client) == {"number 1": "closed", "number 2": "open"}

    play(collector, story)


def test_surveys_are_kept_ready_by_number_and_by_size(collector, monkeypatch):
    async def story(client):
        published = [await publish(client, f"number {number}") for number in range(6)]
        text = len(collector.store.find(published[0].version).specification)
        for most, size, left in ((4, 10**9, 4), (64, 3 * text + 10, 3), (64, 1, 1)):
            monkeypatch.setattr(module, "MAX_SURVEYS", most)
            monkeypatch.setattr(module, "MAX_TEXT", size)
            collector.forget()
            for survey in published:
                assert (await collector.surveys.get(survey.version)).survey.version == survey.version
            assert list(collector.surveys._surveys) == [survey.version for survey in published[-left:]]

    play(collector, story)


def test_a_survey_that_cannot_be_read_is_a_failure_of_the_store(collector):
    async def story(client):
        survey = await publish(client)
        collector.forget()
        with collector.store._writing() as connection:
            connection.execute("UPDATE surveys SET specification = '{'")
        answer = await client.get(f"/v1/versions/{survey.version}/estimates")
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:fldp:unavailable")
        assert "{" not in answer.json()["detail"]

    play(collector, story)


def interrupted(store, monkeypatch, times):
    """Have deletions fail half-way, some times; return how many are left, to be changed."""
    real, left = store._purge_some, [times]

    def failing(table, number):
        if table == "keys" and left[0]:
            left[0] -= 1
            raise StoreError("the disk is full")
        return real(table, number)

    monkeypatch.setattr(store, "_purge_some", failing)
    return left


def owners(store):
    query = " UNION ".join(f"SELECT survey FROM {table}" for table in ("segments", "tallies", "keys", "tickets"))
    with store._reading() as connection:
        return {row[0] for row in connection.execute(query)}


def test_a_deletion_that_failed_half_way_goes_on_when_it_is_repeated(tmp_path, monkeypatch):
    collector = Collector(Settings(data=tmp_path, fold_seconds=3600), SqliteStore(tmp_path / "fldp.db"))

    async def story(client):
        survey = await publish(client, name="deleted")
        path = f"/v1/versions/{survey.version}/reports"
        headers = {"Idempotency-Key": key(), "Content-Type": "application/octet-stream"}
        assert (await client.post(path, content=batch(survey), headers=headers)).status_code == 200
        interrupted(collector.store, monkeypatch, 2)
        for _ in range(2):
            assert (await client.delete("/v1/surveys/deleted?all=true")).status_code == 503
            assert owners(collector.store)
        assert (await client.delete("/v1/surveys/deleted?version=" + "0" * 64)).status_code == 404
        assert (await client.delete(f"/v1/surveys/deleted?version={survey.version}")).status_code == 204
        assert not owners(collector.store)
        assert (await client.delete("/v1/surveys/deleted?all=true")).status_code == 404

    try:
        play(collector, story)
    finally:
        collector.stop()


def test_a_deletion_that_failed_half_way_is_completed_without_being_repeated(tmp_path, monkeypatch):
    collector = Collector(Settings(data=tmp_path, fold_seconds=0.05), SqliteStore(tmp_path / "fldp.db"))

    async def story(client):
        survey = await publish(client, name="deleted")
        path = f"/v1/versions/{survey.version}/reports"
        headers = {"Idempotency-Key": key(), "Content-Type": "application/octet-stream"}
        assert (await client.post(path, content=batch(survey), headers=headers)).status_code == 200
        left = interrupted(collector.store, monkeypatch, 10**9)  # whoever comes first, the request or the folder
        assert (await client.delete("/v1/surveys/deleted?all=true")).status_code == 503
        left[0] = 0
        until(lambda: not owners(collector.store) and not collector.store.deletions())

    try:
        play(collector, story)
    finally:
        collector.stop()


def test_weeks_and_months_are_for_plain_ldp(collector):
    """Etas of many draws multiply to nothing, so such a survey is not published."""

    async def story(client):
        for repeat in ("weekly", "monthly"):
            fields = {**specification(repeat=repeat), "oracle": {"name": "fhr", "epsilon": 1.0}}
            refused = await client.post("/v1/surveys", json=fields)
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:fldp:survey")
            assert "etas multiply to nothing" in refused.json()["mistakes"][0]
            fields["oracle"] = {"name": "grr", "epsilon": 1.0}
            assert (await client.post("/v1/surveys", json=fields)).status_code == 201
        odd = {**fields, "collect": {"repeat": "hourly"}}
        assert (await client.post("/v1/surveys", json=odd)).status_code == 422

    play(collector, story)


STRINGS = {
    "name": "pages",
    "question": "Which page do you open most?",
    "domain": "strings",
    "oracle": {"name": "cms", "epsilon": 1.0, "hashes": 16, "width": 256},
}


@pytest.mark.parametrize(
    ("body", "most", "told"),
    [
        (b'{"name": "\xff"}', 100, "the body must be UTF-8 text"),
        (json.dumps(specification()).encode(), 3, "the number of values must be at most 3, got 5"),
        (json.dumps(STRINGS).encode(), 100, "the tally must have at most 400 numbers, got 4112"),
    ],
)
def test_a_survey_that_is_too_large_or_no_text_is_refused(body, most, told):
    with pytest.raises(Problem) as refused:
        routes._parsed(body, most)
    assert (refused.value.status, refused.value.fields["mistakes"]) == (422, [told])
