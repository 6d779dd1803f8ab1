"""Comparing two windows: what is called changed, how often wrongly, and what is refused."""

import numpy as np
import pytest

from fldp import FHR, GRR, Sampled, Survey, simulate, wire
from fldp.presentation.comparison import facts
from support.collector_server import Server, key

BEFORE, AFTER = [700, 200, 100, 0, 0], [300, 600, 100, 0, 0]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"))
    yield server
    assert server.stop() == 0


def merge(server, survey, counts, day):
    values = np.repeat(np.arange(len(counts)), counts)
    tally = survey.oracle.tally(survey.oracle.privatize(values, rng=int(day[-2:])))
    with server.client(server.token, **{"Idempotency-Key": key()}) as client:
        path = f"/v1/versions/{survey.version}/merge"
        assert client.post(path, params={"day": day}, content=wire.encode_tally(tally, survey.version)).is_success
    return survey.estimate(tally)


def test_every_number_is_that_of_the_formula():
    oracle = FHR(epsilon=1.0, domain_size=5)
    one, two = (oracle.estimate(simulate(oracle, counts, rng=seed)) for seed, counts in enumerate((BEFORE, AFTER)))
    compared, change = facts(one, two, 0.9), one.compare(two, people="population")
    intervals, p_values = change.interval(0.9, simultaneous=True), change.adjusted_p_values
    assert {row["value"] for row in compared["rows"]} == set(range(5))
    for row in compared["rows"]:
        value = row["value"]
        assert row["difference"] == pytest.approx(two.counts[value] / two.n - one.counts[value] / one.n)
        assert (row["low"], row["high"]) == pytest.approx(tuple(intervals[value]))
        assert row["p_value"] == pytest.approx(p_values[value])
        assert row["changed"] == (p_values[value] <= 0.1)
    clear = [abs(change.z[row["value"]]) for row in compared["rows"]]
    assert clear == sorted(clear, reverse=True)
    assert compared["changed"] == sum(row["changed"] for row in compared["rows"])
    assert facts(one, two, 0.9, top=2)["rows"] == compared["rows"][:2]


@pytest.mark.parametrize("oracle", [FHR(epsilon=1.0, domain_size=9), GRR(epsilon=4.0, domain_size=9)], ids=repr)
def test_no_change_is_rarely_called_one(oracle):
    """400 pairs of random people of one population at level 0.8: right code names more than 108 in 1 of 2,000 runs.

    And it is not asleep: nine independent values would give 73 or so.
    """
    shares = [0.1, 0.22, 0.15, 0.12, 0.08, 0.2, 0.06, 0.0, 0.07]
    draw = np.random.default_rng(11)

    def estimate_of(people):
        return oracle.estimate(simulate(oracle, draw.multinomial(people, shares), rng=int(draw.integers(1 << 60))))

    false = sum(facts(estimate_of(1000), estimate_of(5000), 0.8)["changed"] > 0 for _ in range(400))
    assert 30 < false <= 108


def test_two_windows_of_a_collector(server):
    survey = server.publish(name="windows", minimum=500)
    one, two = (merge(server, survey, counts, day) for counts, day in ((BEFORE, "2026-10-01"), (AFTER, "2026-10-05")))
    asked = {"from": "2026-10-01", "to": "2026-10-03", "other_from": "2026-10-04", "other_to": "2026-10-05"}
    with server.admin as client:
        path = f"/v1/versions/{survey.version}/compare"
        reply = client.get(path, params=asked)
        assert reply.json() == facts(one, two, 0.95)
        assert (reply.json()["n"], reply.json()["other_n"], reply.json()["level"]) == (1000, 1000, 0.95)
        assert {row["label"] for row in reply.json()["rows"] if row["changed"]} == {"chrome", "firefox"}
        top = client.get(path, params={**asked, "top": 1, "level": 0.5, "decoder": "paper"}).json()
        assert (len(top["rows"]), top["level"]) == (1, 0.5)
        for wrong in ({"other_from": "2026-10-03"}, {"to": "2026-09-01"}, {"other_to": "x"}, {"post": "clip"}):
            assert client.get(path, params={**asked, **wrong}).status_code == 422, wrong
        assert client.get(path).status_code == 422
        few = client.get(path, params={**asked, "other_from": "2026-10-06", "other_to": "2026-10-07"})
        assert (few.status_code, few.json()["type"]) == (403, "urn:fldp:too-few")


# ------------------------------------------------------------------------------------------------ several questions

QUESTIONS = [
    {"name": "os", "question": "Which system?", "labels": ["mac", "linux", "other"]},
    {"name": "tool", "question": "Which tool?", "labels": ["pen", "key"], "optional": True},
    {"name": "load", "question": "How many seconds?", "number": {"low": 0, "high": 30, "bins": 4}},
]


def records(people, shares, draw):
    """Draw records of three answers, each for itself; the last answer to the optional question is none."""
    systems = draw.choice(3, people, p=shares)
    return np.stack([systems, draw.integers(0, 3, people), draw.integers(0, 4, people)], axis=1)


def test_no_change_of_one_question_of_several_is_rarely_called_one():
    """300 pairs of random people at level 0.8: right code names more than 85 in 1 of 1,000 runs, and asleep under 20.

    With 300 people a third of the reports are about the question, so few that their number matters.
    """
    oracle = Sampled(epsilon=2.0, answers=[3, 3, 4], views=1)
    draw, same = np.random.default_rng(5), [0.6, 0.3, 0.1]

    def estimate_of(people, shares):
        seed = int(draw.integers(1 << 60))
        return oracle.estimate(oracle.privatize(records(people, shares, draw), rng=seed)).estimate(0)

    false = sum(facts(estimate_of(300, same), estimate_of(900, same), 0.8)["changed"] > 0 for _ in range(300))
    assert 20 < false <= 85
    assert (
        sum(facts(estimate_of(2000, same), estimate_of(2000, [0.3, 0.6, 0.1]), 0.95)["changed"] >= 2 for _ in range(20))
        == 20
    )
    one = estimate_of(300, same)
    assert one.compare(one).n == (one.tables.people[0],) * 2


def test_one_question_of_several_is_compared_by_its_name(server):
    fields = {"name": "several", "questions": QUESTIONS, "oracle": {"epsilon": 2.0}, "collect": {"minimum": 100}}
    survey = server.publish(Survey.from_dict(fields).canonical)
    draw, tables = np.random.default_rng(6), []
    days = {"2026-10-01": (3000, [0.7, 0.2, 0.1]), "2026-10-02": (3000, [0.2, 0.7, 0.1]), "2026-10-03": (120, None)}
    for day, (people, shares) in days.items():
        tally = survey.oracle.tally(survey.oracle.privatize(records(people, shares, draw), rng=int(day[-2:])))
        with server.client(server.token, **{"Idempotency-Key": key()}) as client:
            path = f"/v1/versions/{survey.version}/merge"
            assert client.post(path, params={"day": day}, content=wire.encode_tally(tally, survey.version)).is_success
        tables.append(survey.estimate(tally))
    windows = {"to": "2026-10-01", "other_from": "2026-10-02", "other_to": "2026-10-02"}
    path, tables, small = f"/v1/versions/{survey.version}/compare", tables[:2], tables[2]
    with server.admin as client:
        reply = client.get(path, params={**windows, "question": "os"}).json()
        assert reply.pop("question") == "os"
        assert reply == facts(*(each.estimate("os") for each in tables), 0.95)
        assert {row["label"] for row in reply["rows"] if row["changed"]} == {"mac", "linux"}
        assert reply["n"] < 3000
        numbers = client.get(path, params={**windows, "question": "load"}).json()
        assert (numbers["values"], numbers["changed"]) == (4, 0)
        for wrong in ({}, {"question": "nothing"}):
            refused = client.get(path, params=windows | wrong)
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:fldp:parameter")
            assert "such as os" in refused.json()["detail"]
        few = client.get(path, params={"to": "2026-09-01", "other_from": "2026-10-02", "question": "os"})
        assert (few.status_code, few.json()["type"]) == (403, "urn:fldp:too-few")
        assert small.about([0]) < 100 < small.n  # enough reports, and too few of them about the question
        for first, second in (("2026-10-01", "2026-10-03"), ("2026-10-03", "2026-10-02")):
            asked = {"from": first, "to": first, "other_from": second, "other_to": second, "question": "os"}
            few = client.get(path, params=asked)
            assert (few.status_code, few.json()["type"]) == (403, "urn:fldp:too-few")
            assert "too few reports are about 'os'" in few.json()["detail"]
