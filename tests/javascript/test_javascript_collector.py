"""The client in JavaScript and a real collector: loaded, answered, sent twice, counted once."""

import json
import subprocess

import numpy as np
import pytest

from fldp import Client, wire
from fldp.survey import Survey
from support.collector_server import Server
from support.javascript import HERE, node

LABELS = ["chrome", "firefox", "safari", "edge", "other 🦊"]
FALSE_ALARM = 1e-7  # of each test of estimates; there are two


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("data"))
    yield server.url, server.token
    server.stop()


@pytest.fixture
def client(service):
    with Client(*service) as client:
        yield client


def published(client, name, oracle, **collect):
    fields = {
        "name": name,
        "question": "Which browser?",
        "labels": LABELS,
        "oracle": oracle,
        "collect": {"minimum": 1, **collect},
    }
    survey = Survey.from_dict(fields)
    client.create(survey)
    return survey


def reach(variance):
    """How far an estimate may be off, by the inequality of Bernstein, for all labels; a report adds at most 4."""
    likely, most = np.log(2 * len(LABELS) / FALSE_ALARM), 4.0
    return most * likely / 3 + np.sqrt((most * likely / 3) ** 2 + 2 * variance * likely)


def told(service, survey, people):
    request = json.dumps({"url": service[0], "name": survey.name, "people": people})
    command = [node(), str(HERE / "javascript_people.mjs")]
    done = subprocess.run(command, input=request, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "oracle", [{"name": "fhr", "epsilon": 2.0}, {"name": "oue", "epsilon": 1.5}], ids=lambda o: o["name"]
)
def test_answers_are_counted_once_and_estimate_the_truth(service, client, oracle):
    survey = published(client, f"people-{oracle['name']}", oracle)
    truth = np.array([120, 60, 20, 0, 100])
    people = [{"label": label} for label, count in zip(LABELS, truth, strict=True) for _ in range(count)]
    answers = told(service, survey, people)
    assert {(one["state"], one["left"]) for one in answers} == {("sent", 0)}
    tally = client.tally(survey)
    reports = [wire.decode(bytes.fromhex(one["batch"]), survey.oracle, survey.version) for one in answers]
    assert tally.n == len(people)
    assert tally == survey.oracle.tally(np.concatenate([one.data for one in reports]))
    estimate = survey.estimate(tally)
    assert (np.abs(estimate.counts - truth) <= reach(survey.oracle.variance(len(people), truth))).all()


def test_a_ticket_is_spent_on_one_answer(service, client):
    survey = published(client, "tickets", {"name": "grr", "epsilon": 1.0}, submit="ticket")
    good, other = client.tickets(survey, 2)
    answers = told(service, survey, [{"label": "edge", "ticket": good}])[0]
    assert (answers["state"], answers["left"]) == ("sent", 0)
    again, wrong, none, fine = told(
        service,
        survey,
        [
            {"label": "edge", "ticket": good},
            {"label": "edge", "ticket": "fldp_x"},
            {"label": "edge"},
            {"label": "edge", "ticket": other},
        ],
    )
    assert (again["error"], again["status"]) == ("CollectorError", 403)
    assert (wrong["error"], wrong["status"]) == ("CollectorError", 401)
    assert none["error"] == "ParameterError"
    assert fine["state"] == "sent"
    assert client.tally(survey).n == 2


def test_a_survey_that_is_closed_or_unknown_is_refused(service, client):
    survey = published(client, "closing", {"name": "grr", "epsilon": 1.0})
    client.close(survey.name)
    answers = told(service, survey, [{"label": "edge"}])[0]
    assert answers["error"] == "BudgetError"
    assert "survey closing must be open" in answers["message"]
    client.delete(survey.name, all=True)
    answers = told(service, survey, [{"label": "edge"}])[0]
    assert (answers["error"], answers["status"]) == ("CollectorError", 404)
