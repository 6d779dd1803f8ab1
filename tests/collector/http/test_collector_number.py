"""A survey of a number at a collector: published, answered, estimated with its figures."""

import pytest

import fldp
from fldp import Survey, wire
from support.collector_app import collector, play  # noqa: F401
from support.publishing import publish

ASKED = {"name": "load", "question": "How many seconds did the last page take?", "collect": {"minimum": 10}}
MEAN = Survey.from_dict(
    {**ASKED, "number": {"low": 0, "high": 30, "unit": "s", "goal": "mean"}, "oracle": {"epsilon": 2.0}}
)
CELLS = Survey.from_dict(
    {**ASKED, "number": {"low": 0, "high": 30, "bins": 8}, "oracle": {"name": "wave", "epsilon": 4.0, "width": 1}}
)


@pytest.mark.parametrize("survey", [MEAN, CELLS], ids=["mean", "cells"])
def test_figures_come_with_the_estimates(collector, survey):
    async def story(client):
        path = await publish(client, survey)
        reports = survey.privatize([3.0, 12.0] * 2000, rng=1)
        body = wire.encode(reports, survey.version)
        sent = await client.post(f"{path}/reports", content=body, headers={"Idempotency-Key": "k" * 32})
        assert sent.status_code in (200, 201), sent.text
        reply = (await client.get(f"{path}/estimates")).json()
        expected = survey.estimate(reports)
        assert reply["number"]["mean"]["value"] == pytest.approx(expected.mean().value)
        assert reply["number"]["mean"]["unit"] == survey.number.unit
        if survey is MEAN:
            assert reply["rows"] == []
            assert "cells" not in reply["number"]
        else:
            assert reply["rows"][0]["label"] == "0 to 3.75"
            assert [row["cdf"] for row in reply["number"]["cdf"]] == pytest.approx(expected.cdfs.tolist())
            assert [value["q"] for value in reply["number"]["quantiles"]] == [0.25, 0.5, 0.75]
            assert sum(row["share"] for row in reply["number"]["cells"]) == pytest.approx(1)
        text = (await client.get(f"{path}/estimates?format=csv")).text
        assert text.startswith("what,value," if survey is MEAN else "label,start,end,share,stderr,low,high\n0 to 3.75,")
        bytes_of = await client.get(f"{path}/estimates?format=parquet")
        assert bytes_of.content[:4] == b"PAR1"

    play(collector, story)


def test_a_number_is_read_back_as_it_was_published(collector):
    async def story(client):
        await publish(client, MEAN)
        reply = (await client.get("/v1/surveys/load")).json()
        assert fldp.Survey.from_dict(reply["survey"]).version == MEAN.version == reply["version"]

    play(collector, story)
