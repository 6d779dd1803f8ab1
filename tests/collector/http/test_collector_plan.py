"""Planning over HTTP: what fldp plan says, and every mistake refused."""

import json

import numpy as np
import pytest

from fldp import Survey, wire
from fldp.data.comparison import z_score
from fldp.estimation.number_planner import plan_number
from fldp.estimation.planner import plan
from fldp.estimation.question_planner import planned
from fldp.estimation.string_planner import facts, plan_strings
from fldp.oracles.unequal.exponential import Exponential
from fldp.presentation import plan as plan_view
from support.collector_server import Server

GOOD = {"domain_size": 9, "users": 1000, "epsilon": 1.0}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"), max_values=5000)
    yield server
    assert server.stop() == 0


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"eta": 0.5},
        {"domain_size": 5000},
        {"epsilon_permanent": 2.0},
        {"sensitive": [7, 2]},
        {"budgets": {"0": 0.5, "8": 0.25}},
        {"budgets": [[0, 0.5], [8, 0.25]]},
        {"distance": "ring"},
        {"distance": "line", "domain_size": 5000},
    ],
    ids=str,
)
def test_it_is_what_the_planner_says(server, more):
    with server.admin as client:
        answer = client.post("/v1/plan", json=GOOD | more)
    if "budgets" in more:  # an object of JSON has texts for keys
        more = {"budgets": {int(value): budget for value, budget in dict(more["budgets"]).items()}}
    assert answer.json() == json.loads(plan_view.as_json(plan(**GOOD | more), None))


def test_values_are_named_by_their_labels_as_in_a_survey(server):
    asked = {"users": 1000, "epsilon": 2.0}
    for named, meant in (
        ({"sensitive": ["hiv"]}, {"sensitive": [1]}),
        ({"budgets": {"hiv": 0.5, "flu": 1}}, {"budgets": [(1, 0.5), (0, 1.0)]}),
        ({}, {}),
    ):
        with server.admin as client:
            answer = client.post("/v1/plan", json={"labels": ["flu", "hiv", "none"], **asked, **named}).json()
        assert answer == json.loads(plan_view.as_json(plan(domain_size=3, **asked, **meant), None))
    assert answer["rows"][0]["exposure"] == "No report rules out any value for certain."


def test_what_a_row_says_suits_the_form(server):
    with server.admin as client:
        rows = client.post("/v1/plan", json=GOOD | {"sensitive": [7]}).json()["rows"]
    assert {row["oracle"]["name"] for row in rows if row["derives"]} == {"olh", "hrr", "fwr"}
    assert "named for certain by" in next(row for row in rows if row["oracle"]["name"] == "urr")["exposure"]
    assert [row["oracle"]["name"] for row in rows if row["recommended"]] == [rows[0]["oracle"]["name"]]
    assert sum(row["shortest"] for row in rows) == 1


def test_of_strings_it_is_what_the_planner_of_strings_says(server):
    asked = {"users": 1000, "epsilon": 2.0}
    with server.admin as client:
        answer = client.post("/v1/plan", json={"domain": "strings", **asked}).json()
        lasting = client.post("/v1/plan", json={"domain": "strings", **asked, "epsilon_permanent": 3}).json()
        for wrong in (
            {"users": 0},
            {"epsilon": -1},
            {"epsilon": 1e9},
            {"eta": 0.5},
            {"domain": "numbers"},
            {"domain": ["strings"]},
            {"domain_size": 9},
            {"sensitive": ["x"]},
            {"epsilon_permanent": 1},
            {"epsilon_permanent": "2"},
        ):
            refused = client.post("/v1/plan", json={"domain": "strings", **asked, **wrong})
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:fldp:malformed"), wrong
    assert answer == json.loads(json.dumps(facts(plan_strings(**asked))))
    assert lasting == json.loads(json.dumps(facts(plan_strings(**asked, epsilon_permanent=3.0))))
    assert lasting["reason"].endswith("All reports of one person together keep epsilon 3, however many.")
    for row in answer["rows"] + lasting["rows"]:
        oracle = wire.build(row["oracle"])
        errors = [np.sqrt(oracle.variance(1000, 1000 * share)) / 1000 for share in (0.0, row["detectable"])]
        assert (row["error_rare"], row["detectable"] / errors[1]) == pytest.approx((errors[0], z_score(0.95)), rel=1e-3)


@pytest.mark.parametrize("goal", [{"goal": "mean"}, {"bins": 16, "apart": [0]}, {"edges": [0, 1, 5, 9, 30]}], ids=str)
def test_of_a_number_it_is_the_oracle_of_the_survey_and_the_plan_of_its_cells(server, goal):
    asked = {"number": {"low": 0, "high": 30, "unit": "s", **goal}, "users": 4000, "epsilon": 2.0}
    with server.admin as client:
        answer = client.post("/v1/plan", json=asked).json()
        for wrong in ({"eta": 0.5}, {"epsilon_permanent": 3.0}, {"domain_size": 9}, {"number": {"low": 0}}):
            refused = client.post("/v1/plan", json=asked | wrong)
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:fldp:malformed"), wrong
    fields = {"name": "x", "question": "?", "number": asked["number"]}
    survey = Survey.from_dict({**fields, "oracle": {"epsilon": 2.0}})
    assert Survey.from_dict({**fields, "oracle": answer["oracle"]}).version == survey.version
    cells = 256 if "goal" in goal else goal.get("bins", 4)
    expected = plan_number(4000, 2.0, bins=cells, goal=goal.get("goal", "distribution"))
    assert answer["rows"] == [vars(row) for row in expected.rows]
    assert (answer["eta"], answer["bits"]) == (1.0, survey.oracle.report_format.bits)
    assert "No report rules out any value" in answer["gives_away"]


ASKED = [
    {"name": "os", "question": "Which system?", "labels": ["mac", "linux", "other"], "optional": True},
    {"name": "load", "question": "How many seconds?", "number": {"low": 0, "high": 30, "bins": 8}},
]


def test_of_several_questions_it_is_the_oracle_of_the_survey_and_the_error_of_every_table(server):
    asked = {"questions": ASKED, "tables": {"cross": "all"}, "users": 4000, "epsilon": 2.0}
    with server.admin as client:
        answer = client.post("/v1/plan", json=asked).json()
        for wrong in (
            {"questions": []},
            {"questions": [ASKED[0]] * 2},
            {"questions": [{**ASKED[0], "labels": ["one"]}]},
            {"questions": "os"},
            {"tables": {"cross": [["os", "plan"]]}},
            {"tables": []},
            {"users": 0},
            {"epsilon": -1},
            {"epsilon": 1e9},
            {"eta": 0.5},
            {"domain_size": 9},
        ):
            refused = client.post("/v1/plan", json=asked | wrong)
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:fldp:malformed"), wrong
        alone = client.post("/v1/plan", json=GOOD | {"tables": {}})
        assert alone.status_code == 422
    survey = Survey.from_dict(
        {"name": "x", **{k: asked[k] for k in ("questions", "tables")}, "oracle": {"epsilon": 2.0}}
    )
    expected = planned(survey.oracle, 4000)
    assert wire.build(answer["oracle"]) == survey.oracle
    assert (answer["eta"], answer["bits"], answer["users"]) == (1.0, survey.oracle.report_format.bits, 4000)
    assert answer["gives_away"] == "No report rules out any value for certain."
    assert [row["questions"] for row in answer["rows"]] == [[0], [1], [0, 1]]
    assert [row["stderr"] for row in answer["rows"]] == [expected.stderr(table) for table in expected.tables]
    assert sum(view["people"] for view in answer["views"]) == pytest.approx(4000, rel=1e-9)


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
        {"epsilon_permanent": 0.1},
        {"epsilon_permanent": 2.0, "eta": 0.5},
        {"epsilon_permanent": 2.0, "sensitive": [1]},
        {"number": {"low": 0, "high": 1}},
        {"sensitive": [9]},
        {"sensitive": []},
        {"sensitive": [1, 1]},
        {"sensitive": [True]},
        {"sensitive": [[1]]},
        {"sensitive": [{}]},
        {"sensitive": [-1]},
        {"sensitive": 10**400},
        {"sensitive": "all"},
        {"sensitive": None},
        {"budgets": {}},
        {"budgets": {"9": 0.5}},
        {"budgets": {"01": 0.5}},
        {"budgets": {"1": -0.5}},
        {"budgets": {"1": None}},
        {"budgets": {"1": 10**400}},
        {"budgets": [[1, 0.5], [1, 0.25]]},
        {"budgets": [[1]]},
        {"budgets": 1},
        {"distance": "moon"},
        {"distance": ["line"]},
        {"distance": [[0, 1], [1, 0]]},
        {"distance": "line", "sensitive": [1]},
        {"distance": "line", "eta": 0.5},
        {"labels": ["a", "b"]},
    ],
    ids=lambda wrong: str(wrong)[:40],
)
def test_mistakes_are_refused(server, wrong):
    refused(server, GOOD | wrong)


def refused(server, asked):
    """Assert that a plan is refused in one short line, and return that line."""
    with server.admin as client:
        answer = client.post("/v1/plan", json=asked)
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:fldp:malformed")
    said = answer.json()["detail"]
    assert "\n" not in said
    assert len(said) < 200, said
    return said


@pytest.mark.parametrize(
    ("labels", "more"),
    [
        ("ab", {}),
        (["a"], {}),
        (["a", "a"], {}),
        (["a", ["b"]], {}),
        (["a", None], {"sensitive": ["a"]}),
        (["a", "b"], {"sensitive": ["c"]}),
        (["a", "b"], {"sensitive": [0]}),
        (["a", "b"], {"budgets": {"c": 0.5}}),
        ([str(k) for k in range(5001)], {}),
    ],
    ids=lambda part: str(part)[:40],
)
def test_labels_with_mistakes_are_refused(server, labels, more):
    refused(server, {"labels": labels, "users": 1000, "epsilon": 1.0, **more})


def test_what_is_too_large_is_refused_before_anything_is_made_of_it(server, monkeypatch):
    """Neither a matrix of distances nor the lists are made for a domain that is too large, nor lists that are."""
    surveys = []
    monkeypatch.setattr(Exponential, "_shares", property(surveys.append))
    assert "domain_size must be an integer from 2 to 512" in str(
        plan(domain_size=1 << 20, users=9, epsilon=1.0, distance="line").skipped["exponential"]
    )
    assert not surveys
    for size in (5001, 1 << 31, 10**400):
        assert "from 2 to 5000" in refused(server, GOOD | {"domain_size": size, "distance": "line"})
    assert "1 to 256" in refused(server, GOOD | {"domain_size": 5000, "sensitive": list(range(257))})
    budgets = {str(k): 0.5 for k in range(101)}
    assert "1 to 100" in refused(server, GOOD | {"domain_size": 5000, "budgets": budgets})
    with server.admin as client:
        assert client.post("/v1/plan", json=GOOD | {"sensitive": [0] * 40_000}).status_code == 413
