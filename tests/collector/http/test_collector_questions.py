"""Surveys of several questions at a collector: published, sent, counted, every table over HTTP."""

import io

import numpy as np
import pyarrow.parquet
import pytest

from fldp import Client, Participant, wire
from fldp.participant_store import MemoryStore
from support.collector_server import Server
from support.commands import shell

FIELDS = {
    "name": "desktop",
    "questions": [
        {"name": "os", "question": "Which system?", "labels": ["linux", "mac", "windows"], "optional": True},
        {"name": "plan", "question": "Do you pay?", "labels": ["no", "yes"]},
        {"name": "rare", "question": "Do you smoke?", "labels": ["no", "yes"]},
    ],
    "tables": {"cross": [["os", "plan"]]},
    "oracle": {"epsilon": 2.0, "base": "ss", "views": [[0, 1], [2]], "weights": [99, 1]},
    "collect": {"minimum": 50},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"))
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def survey(server):
    survey = server.publish(FIELDS)
    rng = np.random.default_rng(1)
    rows = [
        {"os": system, "plan": "yes" if (system == "mac") == (rng.random() < 0.9) else "no", "rare": "no"}
        for system in rng.choice(["linux", "mac", "windows", ""], 2000)
    ]
    reports = survey.privatize(rows, rng=2)
    assert server.send(survey, wire.encode(reports, survey.version)).json() == {"accepted": 2000}
    return survey


def get(server, survey, **query):
    with server.client(server.token) as client:
        return client.get(f"/v1/versions/{survey.version}/estimates", params=query)


def test_questions_are_watched_and_tables_of_two_are_not(server, survey):
    with Client(server.url, token=server.token) as client:
        tables = survey.estimate(client.tally(survey))
    watched = tables["os"].watched(5000)
    for row in (
        get(server, survey, anytime="true").json()["questions"][:1],
        [get(server, survey, anytime="true", question="os").json()],
    ):
        assert (row[0]["anytime"], row[0]["simultaneous"]) == ({"planned": 5000}, True)
        assert sorted(each["low"] for each in row[0]["rows"]) == pytest.approx(sorted(watched.interval()[:, 0]))
    assert get(server, survey, anytime="true", cross="os,plan").json() == get(server, survey, cross="os,plan").json()
    refused = get(server, survey, anytime="true", consistent="true")
    assert (refused.status_code, "unbiased" in refused.text) == (422, True)


def test_tables_are_those_of_the_library(server, survey):
    with Client(server.url, token=server.token) as client:
        tables = survey.estimate(client.tally(survey))
        assert client.estimates(survey)["views"][0] == {"questions": "os x plan", "people": tables.people[0]}
    whole = get(server, survey).json()
    assert [each["question"] for each in whole["questions"]] == ["os", "plan", "rare"]
    assert [row["count"] for row in whole["questions"][0]["rows"]] == pytest.approx(tables["os"].counts)
    assert (whole["eta"], whole["rows"], whole["biased"]) == (1, [], False)
    crossed = get(server, survey, cross="os,plan").json()
    assert [cell["count"] for cell in crossed["cells"]] == pytest.approx(tables.cross("os", "plan").counts.reshape(-1))
    assert crossed["independence"]["p_value"] < 1e-6
    repaired = get(server, survey, cross="os,plan", consistent="true").json()
    assert repaired["biased"]
    assert min(cell["count"] for cell in repaired["cells"]) >= 0
    one = get(server, survey, question="plan", format="csv").text.splitlines()
    assert one[0] == "table,cell,count,stderr,low,high,frequency"
    assert len(one) == 3
    file = io.BytesIO(get(server, survey, format="parquet").content)
    assert pyarrow.parquet.read_table(file).column("table").to_pylist().count("os x plan") == 8


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"question": "rare"}, 403, "too few reports are about 'rare': nothing is shown for fewer than 50"),
        ({"question": "age"}, 422, "the question must be one of os, plan, rare"),
        ({"cross": "os"}, 422, "cross must name two questions"),
        ({"cross": "os,rare"}, 422, "are not asked together in any view"),
        ({"question": "os", "associations": "true"}, 422, "one of question, cross and associations"),
        ({"post": "clip"}, 422, "method must be one of 'consistent'"),
    ],
)
def test_refusals_say_why(server, survey, query, status, said):
    answer = get(server, survey, **query)
    assert answer.status_code == status
    assert said in answer.json()["detail"]


def test_a_question_of_too_few_people_is_a_note(server, survey):
    rare = get(server, survey).json()["questions"][2]
    assert rare == {"question": "rare", "rows": [], "note": "fewer than 50 reports are about it"}


def test_windows_of_several_questions_are_not_compared(server, survey):
    with server.client(server.token) as client:
        query = {"from": "2026-01-01", "to": "2026-01-02", "other_from": "2026-02-01"}
        answer = client.get(f"/v1/versions/{survey.version}/compare", params=query)
    assert answer.status_code == 422
    assert "several questions" in answer.json()["detail"]


def test_a_person_answers_through_a_client(server, survey):
    participant = Participant(MemoryStore())
    batch = participant.answer(survey, {"os": "mac", "plan": "yes", "rare": "no"}, origin=server.url)
    assert not batch.repeated
    assert server.send(survey, batch.report).json() == {"accepted": 1}


def test_the_shell_shows_every_question(server, survey):
    out, _ = shell("estimates", "desktop", "--to", server.url, token=server.token)
    assert "os: the 4 largest of 4 estimates" in out
    assert "One report is for all questions together" in out
