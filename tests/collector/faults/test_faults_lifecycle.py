"""The short form of ``make soak PART=faults`` for surveys that come and go while reports are committed and folded."""

import asyncio
import random
from collections import Counter
from types import SimpleNamespace
from unittest.mock import AsyncMock, Mock

import numpy as np
import pytest

from soak.faults import changes, lifecycle_runs, runs
from soak.faults.model import Kind, Phase, SurveyModel, survey
from soak.faults.silence import Silence
from support.postgres_server import PostgresServer


@pytest.fixture
def cluster():
    """A server of its own: it is stopped and started under the load."""
    server = PostgresServer()
    yield server
    server.remove()


PAUSE = 0.1  # seconds between two requests of a worker: less to compute, and as many faults
DONE = ("deleted within a fold", "deleted within a commit", "deleted within tickets", "restores", "rounds of searches")


def test_nothing_is_lost_and_nothing_of_a_deleted_survey_is_left(tmp_path):
    result = lifecycle_runs.sqlite(runs.sqlite(tmp_path), 1, 1, tmp_path, pause=PAUSE)
    assert result.problems == []
    assert [result.counted[name] for name in DONE] == [2, 1, 1, 1, 3]
    assert result.counted["kills"] == 2
    assert result.counted["surveys reopened"] >= 1


def test_the_same_with_two_collectors_and_a_database_that_goes_away(tmp_path, cluster):
    make = runs.postgres(tmp_path, cluster.database())
    result = lifecycle_runs.postgres(make, 2, 1, tmp_path, cluster, pause=PAUSE)
    assert result.problems == []
    assert [result.counted[name] for name in DONE] == [2, 1, 1, 1, 3]
    assert result.counted["restarts of PostgreSQL"] == 1


@pytest.mark.parametrize("kind", ["folds the deleted", "inherits keys"])
def test_a_collector_that_is_wrong_is_found_out(tmp_path, kind):
    assert lifecycle_runs.wrong(runs.sqlite(tmp_path), kind, tmp_path).problems


# ------------------------------------------------------------------------------------------------- the judge itself


@pytest.fixture
def model():
    model = SurveyModel(survey("judged"), 1)
    model.begin()
    model.enter(Phase.OPEN)
    return model


def held(model, *symbols):
    return np.bincount(np.concatenate([[], *symbols]).astype(int), minlength=model.survey.oracle.domain_size)


def test_an_acknowledged_report_counts_once(model):
    request = model.request(3)
    model.attempt(request)
    model.settle(request)
    assert model.judge(held(model, request.symbols)) == []
    assert "3 acknowledged reports are lost" in model.judge(held(model))[0]
    assert "counted [2] times" in model.judge(held(model, request.symbols, request.symbols))[0]


def test_a_request_without_an_answer_counts_as_a_whole_or_not_at_all(model):
    request = model.request(3)
    model.attempt(request)
    assert model.judge(held(model)) == model.judge(held(model, request.symbols)) == []
    assert "in part" in model.judge(held(model, request.symbols[:2]))[0]


def test_what_was_refused_while_it_was_closed_counts_once_after_it_reopens(model):
    request = model.request(2)
    model.attempt(request)
    model.refuse(request)
    assert "must not be" in model.judge(held(model, request.symbols))[0]
    model.revive()
    assert list(model.late) == [request]
    assert model.judge(held(model, request.symbols)) == []
    assert "must not be" in model.judge(held(model, request.symbols, request.symbols))[0]


@pytest.mark.parametrize("kind", [Kind.CONFLICT, Kind.SPENT])
def test_what_must_be_refused_never_counts(model, kind):
    request = model.request(1, kind)
    model.attempt(request)
    assert model.judge(held(model)) == []
    assert "must not be" in model.judge(held(model, request.symbols))[0]


def test_nothing_of_the_life_before_counts(model):
    before, flying = model.request(2), model.request(2)
    model.attempt(before)
    model.settle(before)
    model.flying.clear()
    model.attempt(flying)
    model.end()
    model.begin()
    assert "must not be" in model.judge(held(model, before.symbols))[0]
    assert model.judge(held(model, flying.symbols)) == model.judge(held(model)) == []


def test_a_key_in_flight_is_not_used_again_for_another_request(model):
    answered, repeated = model.request(1), model.request(1)
    for request in (answered, repeated):
        model.attempt(request)
        model.settle(request)
    model.flying.remove(answered)
    model.end()
    assert model.earlier == [answered, repeated]
    assert model.reusable == [answered]


def test_a_backup_holds_what_was_acknowledged_before_it(model):
    before, during, after = (model.request(1) for _ in range(3))
    model.attempt(before)
    model.settle(before)
    state = model.state()
    model.attempt(during)
    model.settle(during)
    sent = list(model.done)
    model.attempt(after)
    model.settle(after)
    model.go_back(state, sent)
    assert model.judge(held(model, before.symbols)) == []
    assert model.judge(held(model, before.symbols, during.symbols)) == []
    assert "lost" in model.judge(held(model, during.symbols))[0]
    assert "must not be" in model.judge(held(model, before.symbols, after.symbols))[0]
    assert list(model.late) == [during, after]


def test_a_deletion_within_a_commit_waits_for_nothing_that_waits_for_the_commit(model):
    """Else both would stand still until the request is given up, after a minute."""
    waiting, refused = model.request(1), model.request(1, Kind.CONFLICT)
    for request in (waiting, refused):
        model.attempt(request)
    in_the_way = []

    async def reach(more):
        if run.servers[0].release.called and model.refusing:
            model.flying.remove(refused)

    run = SimpleNamespace(
        servers=[Mock()],
        traffic=Mock(),
        silence=Silence(),
        rng=random.Random(1),
        result=SimpleNamespace(counted=Counter()),
        among=lambda phase: [model],
        reach=reach,
        delete=AsyncMock(side_effect=lambda deleted: in_the_way.append(deleted.refusing)),
        compare=AsyncMock(),
    )
    asyncio.run(changes.delete_within_commit(run))
    assert in_the_way == [False]
