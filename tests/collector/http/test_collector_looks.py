"""Intervals that hold at every look, over HTTP: those of the library, planned by what the survey fixes."""

import json

import fldp
from fldp import Survey, wire
from fldp.data.anytime_estimate import watch
from fldp.oracles.kit import Stream, analysis
from fldp.presentation.comparison import facts
from fldp.presentation.tables import as_json
from support.collector_app import collector, play  # noqa: F401
from support.collector_server import key, specification
from support.publishing import publish


def test_the_collector_has_intervals_for_every_look(collector):
    asked = Survey.from_dict(specification(oracle={"name": "oue", "epsilon": 1.0}, minimum=200))
    tallies = [asked.oracle.tally(asked.oracle.privatize([value] * 600, rng=value)) for value in (0, 1)]

    async def story(client):
        where = await publish(client, asked)
        for day, tally in zip(("2026-11-01", "2026-11-02"), tallies, strict=True):
            headers, body = {"Idempotency-Key": key()}, wire.encode_tally(tally, asked.version)
            sent = await client.post(f"{where}/merge", params={"day": day}, content=body, headers=headers)
            assert sent.status_code == 200
        whole = asked.estimate(tallies[0] + tallies[1])
        once = (await client.get(f"{where}/estimates")).json()
        every = (await client.get(f"{where}/estimates", params={"anytime": "true"})).json()
        assert once == {"withdrawn": 0, **json.loads(as_json(whole, 0.95, None))}
        assert every == {"withdrawn": 0, **json.loads(as_json(watch(whole, 20_000), 0.95, None))}
        assert (every["anytime"], every["simultaneous"]) == ({"planned": 20_000}, True)
        assert (await client.get(f"{where}/estimates", params={"anytime": "true", "format": "csv"})).status_code == 200
        days = {"from": "2026-11-01", "to": "2026-11-01", "other_from": "2026-11-02", "other_to": "2026-11-02"}
        change = (await client.get(f"{where}/compare", params={**days, "anytime": "true"})).json()
        assert change == facts(*(asked.estimate(tally) for tally in tallies), 0.95, anytime=20_000)
        assert change["anytime"] == {"planned": 20_000}
        biased = await client.get(f"{where}/estimates", params={"anytime": "true", "post": "clip"})
        assert biased.status_code == 422
        assert "anytime is for unbiased estimates" in biased.text
        assert (await client.get(f"{where}/estimates", params={"anytime": "often"})).status_code == 422

    play(collector, story)


def test_the_form_of_new_surveys_says_what_the_dashboard_will_show():
    """The reach of a plan is half of the interval that a survey of so many people gets, all values at every look."""
    row = next(row for row in fldp.plan(domain_size=5, users=10_000, epsilon=1.0).rows if row.oracle.name == "oue")
    oracle = row.oracle
    estimate = oracle.estimate(fldp.simulate(oracle, [2000] * 5, rng=1))
    low, high = estimate.interval(0.95, simultaneous=True, anytime=10_000).T / estimate.n
    assert abs(float((high - low).mean() / 2) / row.reach - 1) < 0.02


def test_days_of_people_who_keep_something_are_not_independent():
    """Of 60 surveys of ten days, 95 % intervals of all days together miss more than a quarter of the time."""
    oracle = fldp.LWR(epsilon=1.0, epsilon_permanent=1.1, domain_size=4)
    missed, values = 0, [0] * 150 + [1] * 150
    for run in range(60):
        days = analysis(oracle).history(values, 10, Stream(run))
        pooled = oracle.estimate(oracle.tally(fldp.Reports(oracle, days.reshape(-1, *days.shape[2:]))))
        low, high = pooled.interval(0.95).T / pooled.n
        missed += int(not low[0] <= 0.5 <= high[0])
    assert missed > 15


def test_the_collector_says_so_and_promises_nothing_for_many_looks(collector):
    oracle = {"name": "lwr", "epsilon": 0.5, "epsilon_permanent": 1.0}
    asked = Survey.from_dict(specification(oracle=oracle, repeat="daily"))

    async def story(client):
        where = await publish(client, asked)
        for day in ("2026-11-01", "2026-11-02"):
            tally = asked.oracle.tally(asked.oracle.privatize([0] * 600, rng=1))
            headers, body = {"Idempotency-Key": key()}, wire.encode_tally(tally, asked.version)
            assert (
                await client.post(f"{where}/merge", params={"day": day}, content=body, headers=headers)
            ).status_code == 200
        whole = (await client.get(f"{where}/estimates", params={"anytime": "true"})).json()
        assert "share what their devices keep" in whole["remark"]
        assert "anytime" not in whole
        one = {"from": "2026-11-01", "to": "2026-11-01", "anytime": "true"}
        single = (await client.get(f"{where}/estimates", params=one)).json()
        assert "remark" not in single
        assert "anytime" in single

    play(collector, story)
