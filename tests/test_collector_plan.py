"""Planning over HTTP: what fldp plan says, and every mistake refused."""

import json

import numpy as np
import pytest

from collector_server import Server
from fldp import plan_view, wire
from fldp.estimate import z_score
from fldp.plan import plan
from fldp.string_plan import facts, plan_strings

GOOD = {"domain_size": 9, "users": 1000, "epsilon": 1.0}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("collector"), max_values=5000)
    yield made
    assert made.stop() == 0


@pytest.mark.parametrize("more", [{}, {"eta": 0.5}, {"domain_size": 5000}], ids=str)
def test_it_is_what_the_planner_says(server, more):
    with server.admin as client:
        answer = client.post("/v1/plan", json=GOOD | more)
    assert answer.json() == json.loads(plan_view.as_json(plan(**GOOD | more), None))


def test_of_strings_it_is_what_the_planner_of_strings_says(server):
    asked = {"users": 1000, "epsilon": 2.0}
    with server.admin as client:
        answer = client.post("/v1/plan", json={"domain": "strings", **asked}).json()
        for wrong in ({"users": 0}, {"epsilon": -1}, {"epsilon": 1e9}, {"eta": 0.5}, {"domain": "numbers"}):
            refused = client.post("/v1/plan", json={"domain": "strings", **asked, **wrong})
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:fldp:malformed"), wrong
    assert answer == json.loads(json.dumps(facts(plan_strings(**asked))))
    for row in answer["rows"]:
        oracle = wire.build(row["oracle"])
        errors = [np.sqrt(oracle.variance(1000, 1000 * share)) / 1000 for share in (0.0, row["detectable"])]
        assert (row["error_rare"], row["detectable"] / errors[1]) == pytest.approx((errors[0], z_score(0.95)), rel=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"domain_size": 5001},
        {"domain_size": 1},
        {"domain_size": True},
        {"domain_size": "9"},
        {"users": 0},
        {"users": 10**300},
        {"epsilon": -1},
        {"epsilon": 1e-300},
        {"eta": 2},
        {"eta": None, "epsilon": None},
        {"other": 1},
    ],
    ids=str,
)
def test_mistakes_are_refused(server, wrong):
    with server.admin as client:
        answer = client.post("/v1/plan", json=GOOD | wrong)
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:fldp:malformed")
