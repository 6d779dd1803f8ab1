"""The route that says whether reports look honest: what it says is what the library says of what is stored."""

import fldp
from fldp import Survey, wire
from fldp.collector.service import windows
from fldp.presentation.integrity import facts
from fldp.privacy.poisoning import poison
from support.collector_app import collector, play  # noqa: F401
from support.collector_server import key, specification
from support.publishing import publish


def test_the_collector_says_whether_reports_look_honest(collector, monkeypatch):
    asked = Survey.from_dict(specification(oracle={"name": "oue", "epsilon": 1.0}, minimum=500))
    users = asked.oracle.privatize([0] * 1000, rng=1)
    fakes = poison(asked.oracle, [1, 2, 3], 300, rng=2)

    async def story(client):
        where = await publish(client, asked)

        async def send(reports):
            headers = {"Idempotency-Key": key()}
            body = wire.encode(reports, asked.version)
            assert (await client.post(f"{where}/reports", content=body, headers=headers)).status_code == 200

        async def told(**query):
            return (await client.get(f"{where}/integrity", params=query)).json()

        await send(users[:400])
        assert (await told())["type"] == "urn:fldp:too-few"
        await send(users[400:])
        honest = await told()
        assert honest == facts(fldp.integrity(users, anytime=True), asked.label)
        assert (honest["passed"], honest["source"], honest["n"]) == (True, "reports", 1000)
        await send(fakes)
        odd = await told()
        assert odd == facts(fldp.integrity(fldp.Reports.concatenate([users, fakes]), anytime=True), asked.label)
        assert not odd["passed"]
        assert odd["anytime"]  # all days are watched; a window is for one look
        assert "anytime" not in await told(**{"from": "2020-01-01"})
        assert "cannot all be honest" in odd["conclusion"]
        assert any("(firefox and safari)" in test["worst"] or "and edge)" in test["worst"] for test in odd["tests"])
        assert (await told(to="2020-01-01"))["type"] == "urn:fldp:too-few"
        assert (await told(days="3"))["type"] == "urn:fldp:parameter"
        for most, source in ((1299, "tally"), (1300, "reports")):  # of five bits, a report takes a byte
            monkeypatch.setattr(windows, "MAX_BYTES", most)
            assert (await told())["source"] == source

    play(collector, story)


def test_of_merged_tallies_only_the_tally_is_tested(collector):
    asked = Survey.from_dict(specification(oracle={"name": "oue", "epsilon": 1.0}, minimum=1, retention="tally"))
    tally = asked.oracle.tally(asked.oracle.privatize([0] * 50, rng=1))

    async def story(client):
        where = await publish(client, asked)
        headers = {"Idempotency-Key": key()}
        body = wire.encode_tally(tally, asked.version)
        assert (await client.post(f"{where}/merge", content=body, headers=headers)).status_code == 200
        assert (await client.get(f"{where}/integrity")).json() == facts(
            fldp.integrity(tally, anytime=True), asked.label
        )

    play(collector, story)
