"""Surveys that keep no reports: a batch is tallied where it is read, if that is smaller, and never reaches the disk."""

import pytest

from fldp import Survey, Tally, wire
from fldp.collector.service.folding import fold_day
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.protocol import REPORTS, TAKEN_TALLY, TALLY
from fldp.collector.storage.segments import packed
from fldp.collector.storage.window import ALL, DayWindow
from fldp.conformance.vectors import craft
from support.collector_app import collector, play  # noqa: F401
from support.collector_requests import key, specification

LEAST = 170  # reports of 6 bits, which take no less than the 128 bytes of a tally of 2 x 8 numbers


async def publish(client, **collect):
    survey = Survey.from_dict(specification(minimum=1, retention="tally", **collect))
    assert (await client.post("/v1/surveys", json=survey.canonical)).status_code == 201
    return survey


def drawn(survey, count):
    return survey.oracle.privatize([number % 5 for number in range(count)])


async def post(client, survey, what, content, name):
    encode = wire.encode_tally if isinstance(content, Tally) else wire.encode
    body = encode(content, survey.version)
    answer = await client.post(f"/v1/versions/{survey.version}/{what}", content=body, headers={"Idempotency-Key": name})
    return answer.status_code, answer.json()


def segments(collector):
    with collector.store.snapshot() as snapshot:
        return [(part.kind, part.n) for part in snapshot.segments(1, ALL, folded=False)]


def held(collector, survey):
    with collector.store.snapshot() as snapshot:
        return DayWindow(1).tally(snapshot, survey.oracle)


def on_disk(collector):
    path = collector.store.path
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


@pytest.fixture
def still(collector):
    """A collector that folds when it is told to."""
    collector._folder.stop()
    return collector


@pytest.mark.parametrize(("size", "kind"), [(LEAST - 1, REPORTS), (LEAST, TALLY), (2000, TALLY)])
def test_reports_reach_the_disk_only_where_they_are_smaller_than_their_tally(still, size, kind):
    async def story(client):
        survey = await publish(client)
        reports = drawn(survey, size)
        assert await post(client, survey, "reports", reports, key()) == (200, {"accepted": size})
        assert segments(still) == [(kind, size)]
        (row,) = packed([reports])
        assert (row.data in on_disk(still)) == (kind == REPORTS)
        assert held(still, survey) == survey.oracle.tally(reports)
        assert fold_day(still.store, 1, still.today, survey) == size
        assert segments(still) == []
        assert held(still, survey) == survey.oracle.tally(reports)
        assert fsck(still.store)[1] == []

    play(still, story)


def test_a_survey_that_keeps_its_reports_keeps_all_of_them(still):
    async def story(client):
        survey = Survey.from_dict(specification(minimum=1, retention="raw"))
        await client.post("/v1/surveys", json=survey.canonical)
        await post(client, survey, "reports", drawn(survey, LEAST), key())
        assert segments(still) == [(REPORTS, LEAST)]

    play(still, story)


def test_a_tallied_batch_is_counted_once_and_taken_out_once(still):
    async def story(client):
        survey, name = await publish(client), key()
        reports, others = drawn(survey, 300), drawn(survey, 200)
        for _ in range(2):
            assert await post(client, survey, "reports", reports, name) == (200, {"accepted": 300})
        assert (await post(client, survey, "reports", others, name))[0] == 409
        assert await post(client, survey, "reports", others, key()) == (200, {"accepted": 200})
        assert held(still, survey) == survey.oracle.tally(reports) + survey.oracle.tally(others)
        for _ in range(2):
            assert await post(client, survey, "withdrawals", reports, name) == (200, {"withdrawn": 300})
        assert (TAKEN_TALLY, -300) in segments(still)
        for _ in range(2):
            assert held(still, survey) == survey.oracle.tally(others)
            fold_day(still.store, 1, still.today, survey)
        assert segments(still) == []
        assert (await post(client, survey, "reports", reports, name))[0] == 410
        assert fsck(still.store)[1] == []

    play(still, story)


def test_a_withdrawal_that_comes_first_forestalls_a_tallied_batch(still):
    async def story(client):
        survey, name = await publish(client), key()
        reports = drawn(survey, 300)
        assert await post(client, survey, "withdrawals", reports, name) == (200, {"withdrawn": 0})
        assert (await post(client, survey, "reports", reports, name))[0] == 410
        assert segments(still) == []

    play(still, story)


def test_a_closed_survey_refuses_a_tallied_batch_and_takes_a_tally_of_another_collector(still):
    async def story(client):
        survey, name = await publish(client), key()
        reports = drawn(survey, 300)
        await post(client, survey, "reports", reports, name)
        closed = await client.post(f"/v1/surveys/{survey.name}/close")
        assert closed.status_code == 200
        assert (await post(client, survey, "reports", reports, key()))[0] == 403
        assert await post(client, survey, "reports", reports, name) == (200, {"accepted": 300})
        assert await post(client, survey, "merge", survey.oracle.tally(reports), key()) == (200, {"accepted": 300})
        assert held(still, survey).n == 600

    play(still, story)


def test_an_impossible_report_in_a_batch_to_be_tallied_refuses_all_of_it(still):
    async def story(client):
        survey = await publish(client)
        fields = {"oracle": wire.describe(survey.oracle), "survey": survey.version}
        body = craft(fields, [(200, bytes(150))], 200)  # their two positions are the same
        headers = {"Idempotency-Key": key()}
        answer = await client.post(f"/v1/versions/{survey.version}/reports", content=body, headers=headers)
        assert (answer.status_code, answer.json()["index"]) == (422, 0)
        assert segments(still) == []

    play(still, story)
