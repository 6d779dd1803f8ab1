"""Planning over HTTP: what fldp plan says, and every mistake refused."""

import json

import pytest

from collector_server import Server
from fldp import plan_view
from fldp.plan import plan

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
