"""Surveys of strings at a collector, on both stores: published, counted, estimated, exported, checked, moved."""

import io
import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pyarrow.parquet
import pytest

from fldp import Client, CollectorError, Participant, wire
from fldp.collector.http.candidates import parse_candidates
from fldp.collector.service.problems import Problem
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.segments import packed, total
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.data.reports import Reports, Tally
from fldp.oracles import CMS
from fldp.participant_store import MemoryStore
from fldp.presentation.comparison import facts
from fldp.wire import parquet
from support.collector_server import Server, key
from support.collector_store import STORES, stored_in
from support.serving import shell

WORDS = ["firefox", "crème brûlée", "https://example.org/?q=1", '"quoted", and\ncut', "🦊"]
EARLIER = "2026-10-01"
JSON, HALF = {"Content-Type": "application/json"}, b'{"candidates": ["\\ud800"]}'


SIZES = {
    "cms": {"hashes": 16, "width": 32},
    "hcms": {"hashes": 16, "width": 32},
    "rappor": {"epsilon_permanent": 6.0, "bits": 32, "cohorts": 8},
}


def fields(name, oracle, **collect):
    return {
        "name": name,
        "question": "Which word?",
        "domain": "strings",
        "oracle": {"epsilon": 3.0, **SIZES[oracle["name"]], **oracle},
        "collect": {"minimum": 50, **collect},
    }


@pytest.fixture(scope="module", params=STORES)
def server(request, tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"), **stored_in(request.param))
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module", params=sorted(SIZES))
def asked(request, server):
    """A survey with 300 reports of today and a merged tally of an earlier day, and the reports."""
    name = request.param
    survey = server.publish(fields(name, {"name": name}, retention="tally" if name == "hcms" else "raw"))
    reports = survey.privatize((WORDS * 60)[:300], rng=7)
    assert server.send(survey, wire.encode(reports, survey.version)).json() == {"accepted": 300}
    earlier = survey.oracle.tally(survey.privatize(["firefox"] * 80, rng=8))
    with server.client(server.token, **{"Idempotency-Key": key()}) as client:
        path, body = f"/v1/versions/{survey.version}/merge", wire.encode_tally(earlier, survey.version)
        assert client.post(path, params={"day": EARLIER}, content=body).json() == {"accepted": 80}
    return survey, reports, earlier


def test_estimates_are_those_of_the_library(server, asked):
    survey, reports, earlier = asked
    path, body = f"/v1/versions/{survey.version}/estimates", {"candidates": [*WORDS, "nobody's"]}
    expected = survey.estimate(survey.oracle.tally(reports) + earlier, **body)
    with server.admin as client:
        reply = client.post(path, json=body)
        assert "etag" not in reply.headers
        rows = reply.json()["rows"]
        assert [row["label"] for row in rows] == body["candidates"]
        assert [row["count"] for row in rows] == pytest.approx(expected.counts.tolist())
        assert [row["stderr"] for row in rows] == pytest.approx(expected.stderr.tolist())
        assert reply.json()["rest"] == pytest.approx({"count": expected.rest.count, "stderr": expected.rest.stderr})
        today = client.post(path, json=body, params={"from": "2026-10-02"}).json()
        assert today["n"] == 300
        top = client.post(path, json=body, params={"top": 1, "post": "norm-sub", "level": 0.5}).json()
        assert (len(top["rows"]), top["biased"], top["level"]) == (1, True, 0.5)
        saved = client.post(path, json=body, params={"format": "parquet"}).content
        assert pyarrow.parquet.read_table(io.BytesIO(saved))["label"].to_pylist() == body["candidates"]
        assert client.post(path, json=body, params={"format": "csv"}).text.startswith("value,label,count")


def test_two_windows_are_compared_over_candidates(server, asked):
    survey, reports, earlier = asked
    body = {"candidates": WORDS}
    expected = facts(survey.estimate(earlier, **body), survey.estimate(survey.oracle.tally(reports), **body), 0.95)
    with server.admin as client:
        reply = client.post(
            f"/v1/versions/{survey.version}/compare", json=body, params={"to": EARLIER, "other_from": "2026-10-02"}
        ).json()
    assert reply == expected
    assert (reply["n"], reply["other_n"], reply["people"]) == (80, 300, "population")


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("asked", ["hcms"], indirect=True)
def test_what_is_no_list_of_candidates_is_refused(server, asked):
    survey, listed = asked[0], server.publish(name="listed")
    with server.admin as client:
        for route in ("estimates", "compare"):
            path = f"/v1/versions/{survey.version}/{route}"
            window = {"to": EARLIER, "other_from": "2026-10-02"} if route == "compare" else {}
            refusals = [
                client.get(path, params=window),
                client.post(f"/v1/versions/{listed.version}/{route}", params=window, json={"candidates": ["a", "b"]}),
                *(client.post(path, params=window, content=body, headers=JSON) for body in (b"[", HALF)),
                *(client.post(path, params=window, json=body) for body in ([], {}, {"candidates": "a"})),
                *(
                    client.post(path, params=window, json={"candidates": candidates})
                    for candidates in ([], [1], ["a", "a"])
                ),
                *(client.post(path, params=window, json={"candidates": [text]}) for text in ("", "x" * 1025)),
                client.post(path, params=window, json={"candidates": ["a"], "more": 1}),
            ]
            for answer in refusals:
                assert (answer.status_code, answer.json()["type"]) == (422, "urn:fldp:candidates"), answer.text
            plain = client.post(path, params=window, content=b"a", headers={"Content-Type": "text/csv"})
            assert plain.status_code == 415
            large = client.post(path, params=window, json={"candidates": ["x" * 1024] * (1 << 14)})
            assert large.status_code == 413
        few = server.publish(fields("few", {"name": "hcms"}))
        answer = client.post(f"/v1/versions/{few.version}/estimates", json={"candidates": ["a"]})
        assert (answer.status_code, answer.json()["type"]) == (403, "urn:fldp:too-few")


def test_there_may_be_so_many_candidates_and_no_more():
    body = json.dumps({"candidates": list("abc")}).encode()
    assert parse_candidates(body, 3) == ("a", "b", "c")
    with pytest.raises(Problem, match="at most 2 candidates"):
        parse_candidates(body, 2)


def test_reports_that_the_oracle_cannot_produce_are_refused(server, asked):
    survey = asked[0]
    other = replace(survey.oracle, epsilon=2.0)
    wrong = wire.encode(other.privatize(["a"]), survey.version)
    assert server.send(survey, wrong).status_code == 422
    assert server.send(survey, wire.encode(survey.privatize(["a"]), survey.version)[:-1]).status_code == 422


def test_raw_reports_come_out_as_they_went_in(server, asked):
    survey, reports, _ = asked
    with server.admin as client:
        reply = client.get(f"/v1/versions/{survey.version}/export")
    if survey.collect["retention"] == "tally":
        assert reply.status_code == 409
        return
    _, version, parts = parquet.read(io.BytesIO(reply.content), survey.oracle)
    assert survey.oracle.tally(Reports.concatenate(list(parts))) == survey.oracle.tally(reports)
    assert version == survey.version


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("asked", ["hcms"], indirect=True)
def test_the_client_and_the_shell_ask_for_candidates(server, asked, tmp_path):
    survey, reports, _ = asked
    with Client(server.url, server.token) as client:
        estimates = client.estimates(survey, candidates=WORDS, since="2026-10-02")
        expected = survey.estimate(reports, candidates=WORDS)
        assert [row["count"] for row in estimates["rows"]] == pytest.approx(expected.counts.tolist())
        client.save_estimates(survey, tmp_path / "saved.csv", candidates=iter(WORDS))
        assert "firefox" in (tmp_path / "saved.csv").read_text()
        with pytest.raises(CollectorError, match="POST the candidates"):
            client.estimates(survey)
        person, _ = Participant(MemoryStore()), server.publish(fields("answered", {"name": "cms", "epsilon": 1.0}))
        answer = client.answer("answered", "a word of my own", participant=person)
        assert client.answer("answered", "another word", participant=person).report == answer.report
    path = tmp_path / "candidates.txt"
    path.write_text("firefox\n🦊\nnobody's\n")
    said, _ = shell("estimates", survey.name, "--to", server.url, "--candidates", path, token=server.token)
    assert "The 3 largest of the candidates' estimates" in said
    options = ("--candidates", path, "--json")
    rows = json.loads(shell("estimates", survey.name, "--to", server.url, *options, token=server.token)[0])["rows"]
    assert [row["label"] for row in rows] == ["firefox", "🦊", "nobody's"]


@pytest.mark.parametrize("asked", ["cms"], indirect=True)
def test_all_of_it_can_be_moved_and_is_counted_again_then(server, asked, tmp_path):
    """Restoring checks everything, as fsck does."""
    where = [part for name, value in server.settings.items() for part in (f"--{name}", value)]
    shell("backup", tmp_path / "moved", *(where or ["--data", server.data]))
    _, said = shell("restore", tmp_path / "moved", "--data", tmp_path)
    with closing(SqliteStore(tmp_path / "fldp.db")) as store:
        good, bad = fsck(store)
    assert not bad
    assert any(asked[0].version[:16] in line for line in good), said


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("asked", ["rappor"], indirect=True)
def test_candidates_of_rappor_are_fitted_or_selected(server, asked):
    survey, reports, earlier = asked
    many = [*WORDS, *(f"word {k}" for k in range(400))]
    path, body = f"/v1/versions/{survey.version}/estimates", {"candidates": many}
    with server.admin as client:
        refused = client.post(path, json=body)
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:fldp:candidates")
        assert "to be fitted together" in refused.json()["detail"]
        chosen = client.post(path, json=body, params={"method": "select"}).json()
        assert client.post(path, json=body, params={"method": "em"}).status_code == 422
        listed = server.publish(name="listed")
        assert client.get(f"/v1/versions/{listed.version}/estimates?method=linear").status_code == 422
    expected = survey.estimate(survey.oracle.tally(reports) + earlier, candidates=many, method="select")
    assert {row["label"]: row["count"] for row in chosen["rows"]} == pytest.approx(
        dict(zip(expected.labels, expected.counts.tolist(), strict=True))
    )


def test_many_small_segments_of_a_large_sketch_add_to_one_state():
    """A state of 8 MiB for each report would take minutes."""
    oracle = CMS(4.0)
    reports = oracle.privatize([f"word {k}" for k in range(200)], rng=3)
    rows = [packed([reports[k : k + 1]])[0] for k in range(len(reports))]
    summed = total(oracle, rows)
    assert summed == oracle.tally(reports)
    assert total(oracle, []) == Tally.empty(oracle)
    assert np.array_equal(summed.state.sum(axis=0)[:1], [200])
