"""A number over HTTP: what the dashboard asks for is answered, for one look where there are no intervals for more."""

import numpy as np
import pytest

from fldp import Survey, wire
from support.collector_app import collector, play  # noqa: F401 - a fixture
from support.collector_requests import key

FIELDS = {
    "name": "seconds",
    "question": "How long did it take?",
    "number": {"low": 0, "high": 20, "unit": "s", "bins": 16},
    "oracle": {"epsilon": 1.0},
    "collect": {"minimum": 1},
}


@pytest.mark.parametrize("goal", ["distribution", "mean"])
def test_the_dashboard_s_questions_have_answers(collector, goal):
    number = FIELDS["number"] if goal == "distribution" else {"low": 0, "high": 20, "unit": "s", "goal": "mean"}
    survey = Survey.from_dict({**FIELDS, "number": number})
    values = np.random.default_rng(1).uniform(0, 20, 500)

    async def story(client):
        assert (await client.post("/v1/surveys", json=survey.canonical)).status_code == 201
        where = f"/v1/versions/{survey.version}"
        tally = wire.encode_tally(survey.oracle.tally(survey.privatize(values, rng=3)), survey.version)
        for day in ("2026-10-01", "2026-10-05"):
            merged = await client.post(
                f"{where}/merge", params={"day": day}, content=tally, headers={"Idempotency-Key": key()}
            )
            assert merged.status_code == 200, merged.content
        reply = await client.get(f"{where}/estimates", params={"anytime": "true"})
        assert reply.status_code == 200, reply.content
        assert reply.json()["number"]["goal"] == goal
        windows = {"to": "2026-10-01", "other_from": "2026-10-02", "anytime": "true"}
        assert (await client.get(f"{where}/compare", params=windows)).status_code == 200

    play(collector, story)
