"""The audit log: a line for each administrative request, with who, what, which survey and when, and no secret."""

import json
import re
from contextlib import contextmanager

import pytest

from fldp import wire
from fldp.collector.http.audit import AuditEntry, is_audited
from fldp.interface.operations import OPERATIONS
from support.collector_server import Server, batch, key, specification
from support.waiting import until

AUDITED = {operation.name for operation in OPERATIONS if is_audited(operation)}
FIELDS = {"time", "level", "event", *AuditEntry.__dataclass_fields__}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"), log="false")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def survey(server):
    survey = server.publish(minimum=1, retention="raw", submit="ticket")
    with server.admin as client:
        (ticket,) = client.post(f"/v1/versions/{survey.version}/tickets", json={"count": 1}).json()["tickets"]
    assert server.send(survey, batch(survey), **{"Fldp-Ticket": ticket}).status_code == 200
    until(lambda: len(lines(server)) == 2)
    return survey


def lines(server):
    return [line for line in server.logged if line["event"] == "administration"]


@pytest.fixture(scope="module")
def who(server):
    with new_lines(server, 1):
        return server.tokens()[0]["id"]


@contextmanager
def new_lines(server, count):
    """Give a list that has these lines at the end: a line is written when its answer has been sent."""
    before, added = len(lines(server)), []
    yield added
    until(lambda: len(lines(server)) >= before + count)
    added += lines(server)[before:]
    assert len(added) == count


def requests(survey):
    """For each operation a request, and what the log says of it besides who asked."""
    known = {"survey": survey.name, "version": survey.version}
    tally = wire.encode_tally(survey.oracle.tally(survey.privatize([survey.label(0)] * 3)), survey.version)
    one = f"/v1/versions/{survey.version}"
    new = specification(name="made")
    return {
        "create_survey": (("POST", "/v1/surveys", {"json": new}), {"survey": "made", "status": 201}),
        "plan": (("POST", "/v1/plan", {"json": {"domain_size": 5, "users": 9, "epsilon": 1}}), {"status": 200}),
        "close_survey": (("POST", "/v1/surveys/made/close", {}), {"survey": "made", "status": 200}),
        "reopen_survey": (("POST", "/v1/surveys/made/reopen", {}), {"survey": "made", "status": 200}),
        "delete_survey": (("DELETE", "/v1/surveys/made?all=true", {}), {"survey": "made", "status": 204}),
        "merge": (("POST", f"{one}/merge", {"content": tally}), {**known, "count": 3, "status": 200}),
        "withdraw_merge": (
            ("POST", f"{one}/merge/withdrawals", {"content": tally}),
            {**known, "count": 0, "status": 200},
        ),
        "create_tickets": (("POST", f"{one}/tickets", {"json": {"count": 7}}), {**known, "count": 7, "status": 201}),
        "create_issuer": (("POST", "/v1/issuers", {}), {"status": 201}),
        "export": (("GET", f"{one}/export", {}), {**known, "status": 200}),
        "tokens": (("GET", "/v1/tokens", {}), {"status": 200}),
        "create_token": (("POST", "/v1/tokens", {"json": {"scope": "read", "survey": "made"}}), {"survey": "made"}),
        "revoke_token": (("DELETE", "/v1/tokens/0123456789abcdef", {}), {"status": 404}),
    }


def test_every_administrative_route_leaves_one_line(server, survey, who):
    asked = requests(survey)
    assert asked.keys() == AUDITED  # a new route of this kind needs a request here
    for action, ((method, path, body), expected) in asked.items():
        with new_lines(server, 1) as added, server.client(server.token, **{"Idempotency-Key": key()}) as client:
            answer = client.request(method, path, **body)
        (line,) = added
        assert line.keys() == FIELDS
        assert (line["action"], line["by"], line["scope"], line["schema"]) == (action, who, "admin", 1)
        assert line["status"] == answer.status_code
        assert {name: line[name] for name in expected} == expected
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line["time"])


def test_a_token_that_is_made_and_revoked_is_named_by_its_id(server, who):
    with new_lines(server, 2) as added, server.admin as client:
        token = server.make_token("read")
        assert client.delete(f"/v1/tokens/{token['id']}").status_code == 204
    assert {(line["action"], line["target"]) for line in added} == {
        ("create_token", token["id"]),
        ("revoke_token", token["id"]),
    }
    assert {line["by"] for line in added} == {who}


def test_refused_requests_are_logged_with_who_tried(server, survey):
    reader = server.make_token("read")
    until(lambda: lines(server)[-1]["target"] == reader["id"])
    with new_lines(server, 1) as refused, server.client(reader["token"]) as client:
        assert client.delete(f"/v1/surveys/{survey.name}?all=true").status_code == 403
    with new_lines(server, 1) as exported, server.client(reader["token"]) as client:
        assert client.get(f"/v1/versions/{survey.version}/export").status_code == 200
    with new_lines(server, 1) as unknown, server.client("fldp_admin_" + "A" * 43) as client:
        assert client.delete(f"/v1/surveys/{survey.name}?all=true").status_code == 401
    (refused,), (exported,), (unknown,) = refused, exported, unknown
    assert (refused["by"], refused["scope"], refused["survey"], refused["status"]) == (
        reader["id"],
        "read",
        survey.name,
        403,
    )
    assert (exported["action"], exported["by"], exported["version"]) == ("export", reader["id"], survey.version)
    assert (unknown["by"], unknown["scope"], unknown["survey"], unknown["status"]) == (None, None, survey.name, 401)


def test_no_secret_and_nothing_that_a_stranger_wrote(server, survey):
    hostile = "fldp_read_" + "B" * 43
    with new_lines(server, 5), server.admin as client:
        token = server.make_token("send")
        tickets = client.post(f"/v1/versions/{survey.version}/tickets", json={"count": 3}).json()["tickets"]
        client.delete(f"/v1/surveys/{hostile}?all=true")
        client.get(f"/v1/versions/{hostile}/export")
        client.delete(f"/v1/tokens/{hostile}")
    text = json.dumps(server.logged)
    for secret in (server.token, token["token"], hostile, *tickets):
        assert secret not in text


def test_others_leave_no_line(server, survey):
    with new_lines(server, 1), server.admin as client:
        client.get("/v1/surveys")
        client.get(f"/v1/versions/{survey.version}/estimates")
        client.get("/healthz")
        client.get("/v1/tokens")  # which does, after them


def test_it_can_be_switched_off(tmp_path):
    quiet = Server(tmp_path, audit="false")
    try:
        quiet.publish()
    finally:
        quiet.stop()
    assert lines(quiet) == []
    assert [line["event"] for line in quiet.logged if line["event"] == "request"]
