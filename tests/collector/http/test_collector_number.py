"""A number over HTTP: what the dashboard asks for is answered, with intervals that hold at every look."""

import numpy as np
import pytest

from fldp import Survey, wire
from fldp.presentation.comparison import facts
from fldp.presentation.number import figures
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
        half = survey.oracle.tally(survey.privatize(values, rng=3))
        tally = wire.encode_tally(half, survey.version)
        for day in ("2026-10-01", "2026-10-05"):
            merged = await client.post(
                f"{where}/merge", params={"day": day}, content=tally, headers={"Idempotency-Key": key()}
            )
            assert merged.status_code == 200, merged.content
        reply = await client.get(f"{where}/estimates", params={"anytime": "true"})
        assert reply.status_code == 200, reply.content
        watched, plain = survey.estimate(half + half).watched(100), survey.estimate(half + half)
        assert reply.json()["number"] == figures(watched)
        assert reply.json()["anytime"] == {"planned": 100}, "a hundred times the minimum"
        once = (await client.get(f"{where}/estimates")).json()
        assert once["number"] == figures(plain)
        assert "anytime" not in once
        windows = {"to": "2026-10-01", "other_from": "2026-10-02", "anytime": "true"}
        change = (await client.get(f"{where}/compare", params=windows)).json()
        assert change == facts(survey.estimate(half), survey.estimate(half), 0.95, anytime=100)
        assert change["anytime"] == {"planned": 100}
        shrunk = await client.get(f"{where}/estimates", params={"post": "bayes"})
        assert shrunk.status_code == 422
        assert "got 'bayes'" in shrunk.text

    play(collector, story)
