"""Route by route from the OpenAPI document: who may do what, and answers as they are described."""

import re
import socket
import time

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from fldp import wire
from fldp.collector.http.middleware import HEADERS
from fldp.collector.http.page_files import policy
from fldp.interface.openapi import document
from fldp.interface.operations import OPERATIONS
from fldp.oblivious import ohttp
from fldp.oblivious.bhttp import BinaryRequest
from support.collector_server import Server, batch, key, specification
from support.collector_store import STORES, stored_in
from support.waiting import until

DOCUMENT = document()
DESCRIBED = [(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods]
PUBLIC = {("GET", path) for path in ("/healthz", "/readyz", "/openapi.json", "/v1/surveys/{name}")}
PUBLIC |= {("GET", path) for path in ("/", "/s/{name}", "/static/{file}")}
PUBLIC |= {("POST", "/v1/ohttp"), ("GET", "/v1/ohttp/keys"), ("GET", "/v1/surveys/{name}/versions")}
PAGES = ("/", "/s/{name}", "/static/{file}")
CACHED = dict.fromkeys(PAGES, "no-cache")  # a browser asks each time whether they have changed
SCOPES = {(method, path): DOCUMENT["paths"][path][method.lower()]["x-scope"] for method, path in DESCRIBED}


@pytest.fixture(scope="module", params=STORES)
def server(request, tmp_path_factory):
    settings = {"trusted_proxies": "127.0.0.0/8", "ohttp": "true", **stored_in(request.param)}
    server = Server(tmp_path_factory.mktemp("collector"), **settings)
    yield server
    assert server.stop() == 0


AMONG = {("POST", "/v1/versions/{id}/estimates"), ("POST", "/v1/versions/{id}/compare")}
STRINGS = {
    "name": "words",
    "question": "Which word?",
    "domain": "strings",
    "oracle": {"name": "hcms", "epsilon": 1, "hashes": 4, "width": 8},
    "collect": {"submit": "token", "minimum": 1},
}


def filled(server, survey):
    server.send(survey, batch(survey, 5), Authorization=f"Bearer {server.token}")
    tally = wire.encode_tally(survey.oracle.tally(survey.privatize([survey.label(0)])), survey.version)
    with server.client(server.token, **{"Idempotency-Key": key()}) as client:
        merged = client.post(f"/v1/versions/{survey.version}/merge", params={"day": "2026-10-01"}, content=tally)
    assert merged.status_code == 200
    return survey


@pytest.fixture(scope="module")
def survey(server):
    """A survey with reports of two days; where the answers are strings, another one, ``server.words``."""
    server.words = filled(server, server.publish(STRINGS))
    return filled(server, server.publish(submit="token", minimum=1))


def encapsulated(server, survey):
    """A good request for the gateway."""
    with server.client() as client:
        (config, *_) = ohttp.decode_keys(client.get("/v1/ohttp/keys").content)
    return ohttp.encapsulate(config, BinaryRequest(b"GET", f"/v1/surveys/{survey.name}".encode()).encode())[0]


def request(server, survey, method, path, token=None, extra=None):
    """A good request to a route, as far as it goes without knowing more."""
    survey = server.words if (method, path) in AMONG else survey
    tally = survey.oracle.tally(survey.privatize([survey.label(0)]))
    bodies = {
        "/v1/surveys": {"json": specification(name="made")},
        "/v1/tokens": {"json": {"scope": "read"}},
        "/v1/plan": {"json": {"domain_size": 5, "users": 100, "epsilon": 1}},
        "/v1/ohttp": {"content": encapsulated(server, survey), "headers": {"Content-Type": ohttp.REQUEST_TYPE}},
        "/v1/versions/{id}/tickets": {"json": {"count": 1}},
        "/v1/versions/{id}/estimates": {"json": {"candidates": ["a", "b"]}},
        "/v1/versions/{id}/compare": {"json": {"candidates": ["a", "b"]}},
        "/v1/versions/{id}/reports": {"content": batch(survey)},
        "/v1/versions/{id}/withdrawals": {"content": batch(survey)},
        "/v1/versions/{id}/merge": {"content": wire.encode_tally(tally, survey.version)},
        "/v1/versions/{id}/merge/withdrawals": {"content": wire.encode_tally(tally, survey.version)},
    }
    named = "doomed" if method == "DELETE" or path.endswith(("/close", "/reopen")) else survey.name
    where = path.replace("{name}", named).replace("{id}", survey.version).replace("{file}", "shared/page.css")
    queries = {
        ("DELETE", "/v1/surveys/{name}"): {"all": "true"},
        **{
            (verb, "/v1/versions/{id}/compare"): {"to": "2026-10-01", "other_from": "2026-10-02"}
            for verb in ("GET", "POST")
        },
    }
    with server.client(token, **{"Idempotency-Key": key()}) as client:
        return client.request(
            method, where, params=queries.get((method, path)), **(bodies.get(path, {}) if method == "POST" else {})
        )


def test_the_document_describes_exactly_the_routes_that_there_are():
    assert sorted(DESCRIBED) == sorted((operation.method, operation.path) for operation in OPERATIONS)
    access = {(operation.method, operation.path): operation.access for operation in OPERATIONS}
    assert {route for route, who in access.items() if who == "public"} == PUBLIC
    assert {route for route, scope in SCOPES.items() if scope == "public"} == PUBLIC
    special = {
        ("GET", "/metrics"): "local",
        **{("POST", f"/v1/versions/{{id}}/{what}"): "sender" for what in ("reports", "withdrawals", "passes")},
    }
    assert {route: special.get(route, scope) for route, scope in SCOPES.items()} == access


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_the_document_is_served_to_all_and_names_no_survey(server, survey):
    with server.client() as client:
        answer = client.get("/openapi.json")
    assert answer.json() == DOCUMENT
    assert survey.version not in answer.text


@pytest.fixture(scope="module")
def tokens(server):
    expired = server.make_token("admin", expires=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 8)))
    revoked = server.make_token("admin")
    with server.admin as client:
        assert client.delete(f"/v1/tokens/{revoked['id']}").status_code == 204
        assert client.delete(f"/v1/tokens/{revoked['id']}").status_code == 204
    good = {scope: server.make_token(scope)["token"] for scope in ("admin", "read", "send")}
    other = {scope: server.make_token(scope, survey="another")["token"] for scope in ("admin", "read", "send")}
    own = {scope: server.make_token(scope, survey="browser")["token"] for scope in ("admin", "read", "send")}
    with server.client(expired["token"]) as client:
        until(lambda: client.get("/v1/tokens").status_code == 401)
    wrong = good["admin"][:-2] + ("AA" if not good["admin"].endswith("AA") else "BB")
    bad = [None, "", "x", wrong, expired["token"], revoked["token"], "fldp_admin_" + "A" * 43, good["admin"] + "A"]
    return {"bad": bad, "good": good, "other": other, "own": own}


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("route", DESCRIBED, ids=" ".join)
def test_who_may_do_what(server, survey, tokens, route):
    server.publish(name="doomed")
    scope = SCOPES[route]
    if route[1].endswith("/passes"):  # a ticket is asked for, and no token looked at: see the tests of passes
        assert request(server, survey, *route, tokens["good"]["admin"]).status_code == 404
        return
    if scope == "public":
        assert request(server, survey, *route).status_code in (200, 503)
        return
    for token in tokens["bad"]:
        answer = request(server, survey, *route, token)
        assert answer.status_code == 401, token
        assert answer.headers["www-authenticate"] == "Bearer"
    for name in {"admin", "read", "send"} - {"admin", scope}:
        assert request(server, survey, *route, tokens["good"][name]).status_code == 403, name
    listed = route == ("GET", "/v1/surveys")
    for name in {"admin", scope}:
        answer = request(server, survey, *route, tokens["other"][name])
        assert answer.status_code == (200 if listed else 403), name
        assert not listed or answer.json() == []
    assert request(server, survey, *route, tokens["good"][scope]).status_code < 300 or "tokens/{id}" in route[1]


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_token_of_one_survey_is_good_for_that_one(server, survey, tokens):
    with server.client(tokens["own"]["read"]) as client:
        assert client.get(f"/v1/versions/{survey.version}/estimates").status_code == 200
        assert {row["name"] for row in client.get("/v1/surveys").json()} == {"browser"}
        assert client.get("/metrics").status_code == 403
    with server.client(tokens["own"]["admin"]) as client:
        assert client.get("/v1/tokens").status_code == 403
        assert client.post("/v1/surveys", json=specification(name="else")).status_code == 403
    assert server.send(survey, Authorization=f"Bearer {tokens['own']['send']}").status_code == 200


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_metrics_are_for_the_machine_itself_unless_it_is_behind_a_proxy(server, tmp_path):
    with server.client() as client:
        assert client.get("/metrics").status_code == 401
    alone = Server(tmp_path)
    try:
        with alone.client() as client:
            answer = client.get("/metrics")
            assert answer.status_code == 200
            assert re.search(r"^fldp_in_flight \d", answer.text, re.MULTILINE)
            assert client.get("/metrics", headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 401
            assert client.get("/metrics", headers={"Authorization": "Bearer x"}).status_code == 401
    finally:
        alone.stop()


def plainly(server, *lines):
    """Send a request for the metrics with the headers that are given and no others; return the status."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as connection:
        connection.sendall("\r\n".join(["GET /metrics HTTP/1.1", "Connection: close", *lines, "", ""]).encode())
        return int(connection.makefile("rb").readline().split()[1])


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_metrics_are_for_no_page_that_points_its_own_name_to_this_machine(server, tmp_path):
    alone = Server(tmp_path)
    try:
        for host in ("localhost", f"127.0.0.1:{alone.port}", "[::1]:80", "127.1.2.3"):
            assert plainly(alone, f"Host: {host}") == 200, host
        rebound = f"Host: rebound.example:{alone.port}"
        for lines in ((rebound,), (), ("Host: localhost", rebound), ("Host: localhost", "Host: localhost")):
            assert plainly(alone, *lines) in (400, 401), lines
            assert plainly(alone, *lines, f"Authorization: Bearer {alone.token}") in (200, 400), lines
        assert plainly(alone, rebound, f"Authorization: Bearer {alone.token}") == 200
    finally:
        alone.stop()


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("route", DESCRIBED, ids=" ".join)
def test_every_answer_has_the_security_headers(server, survey, route):
    for token in (None, server.token):
        answer = request(server, survey, *route, token) if route[0] == "GET" else request(server, survey, *route)
        own = {"content-security-policy": policy([])} if route[1] in ("/", "/s/{name}") else {}
        for name, value in (HEADERS | own).items():
            assert answer.headers[name] == value
        kept = "private, no-cache" if "etag" in answer.headers else "no-store"
        assert answer.headers["cache-control"] == (
            kept if route[1].startswith("/v1") else CACHED.get(route[1], "no-store")
        )
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert {"type", "title", "status", "detail"} <= answer.json().keys()
            assert answer.json()["status"] == answer.status_code


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_unknown_paths_and_methods(server):
    with server.admin as client:
        for path in ("/v1", "/v1/surveys/", "/V1/surveys", "/v1/surveys/a/b", "/healthz/", "//v1/surveys"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["status"]) == (404, 404), path
        for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
            answer = client.request(method, "/v1/surveys")
            assert answer.status_code == 405
            assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


CHECKED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
    "unsupported_method",
    "missing_required_header",
)


def described_answers(server, chosen, prepare):
    """Send what the document allows and what it does not to the chosen operations; return the statuses."""
    import schemathesis  # slow to load: only where it is used

    schema = schemathesis.openapi.from_dict({**DOCUMENT, "servers": [{"url": server.url}]})
    schema.config.update(base_url=server.url)
    checks = [check for check in schemathesis.checks.CHECKS.get_all() if check.__name__ in CHECKED]
    assert len(checks) == len(CHECKED)
    statuses = []
    for result in schema.get_all_operations():
        operation = result.ok()
        # Their bodies are encrypted or blinded: see the tests of the gateway and of passes.
        if not chosen(operation) or operation.path == "/v1/ohttp" or operation.path.endswith("/passes"):
            continue

        @settings(max_examples=12, deadline=None, derandomize=True, phases=[Phase.generate], database=None,
                  suppress_health_check=list(HealthCheck))  # fmt: skip
        @given(case=operation.as_strategy())
        def sent(case):
            if len(statuses) % 2:
                prepare(case)
            case.headers = {**(case.headers or {}), "Authorization": f"Bearer {server.token}"}
            statuses.append(case.call_and_validate(checks=checks, timeout=300).status_code)

        sent()
    return statuses


def ends_something(operation):
    return operation.method.upper() == "DELETE" or operation.path.endswith(("close", "reopen"))


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_the_document_tells_the_truth(server, survey):
    before = server.counts()[survey.version]

    def prepare(case):
        if "id" in (case.path_parameters or {}):
            among = (case.method.upper(), case.operation.path) in AMONG
            case.path_parameters["id"] = (server.words if among else survey).version

    statuses = described_answers(server, lambda operation: not ends_something(operation), prepare)
    assert len(statuses) > 100
    assert server.counts()[survey.version] == before


def test_the_document_tells_the_truth_of_what_ends_something(tmp_path):
    """On a collector of its own: half of the requests are about a survey or a token that is there."""
    server = Server(tmp_path)
    try:
        kept = server.publish(name="kept")
        server.send(kept, batch(kept, 3))

        def prepare(case):
            parameters = case.path_parameters
            if "name" in parameters:
                survey = server.publish(name="doomed")
                server.send(survey)
                parameters["name"] = "doomed"
                case.query = {name: value for name, value in (case.query or {}).items() if name != "version"}
                case.query |= {"all": "true"} if case.method.upper() == "DELETE" else {"version": survey.version}
            else:
                parameters["id"] = server.make_token("read")["id"]

        statuses = described_answers(server, ends_something, prepare)
        assert {200, 204, 404, 422} <= set(statuses)
        assert server.counts()[kept.version] == 3
        assert server.fsck().returncode == 0
        assert not [line for line in server.logged if line["level"] == "error"]
    finally:
        server.stop()


def test_versions_of_a_survey(server):
    first = server.publish(specification(name="versions"))
    fields = {**specification(name="versions"), "question": "Which browser do you like?"}
    second = server.publish(fields)
    with server.admin as client:
        assert client.get("/v1/surveys/versions").json()["version"] == second.version
        old = client.get("/v1/surveys/versions", params={"version": first.version}).json()
        assert (old["version"], old["survey"]["question"]) == (first.version, first.question)
        assert server.send(first).json() == server.send(second).json() == {"accepted": 1}
        closed = client.post("/v1/surveys/versions/close", params={"version": second.version}).json()
        assert (closed["version"], closed["state"]) == (second.version, "closed")
        assert client.get("/v1/surveys/versions").json()["version"] == first.version
        refused = server.send(second)
        assert (refused.status_code, refused.json()["type"]) == (403, "urn:fldp:closed")
        opened = client.post("/v1/surveys/versions/reopen").json()
        assert (opened["version"], opened["state"], opened["closed"]) == (second.version, "open", None)
        assert client.get("/v1/surveys/versions").json()["version"] == second.version
        assert server.send(second).json() == {"accepted": 1}
        assert client.post("/v1/surveys/versions/reopen").json() == opened  # one that is open stays so
        client.post("/v1/surveys/versions/close")
        older = client.post("/v1/surveys/versions/reopen", params={"version": first.version}).json()
        assert (older["version"], older["state"]) == (first.version, "open")
        assert server.send(second).status_code == 403
        assert client.delete("/v1/surveys/versions").status_code == 422
        assert client.delete("/v1/surveys/versions", params={"version": second.version}).status_code == 204
        assert client.get(f"/v1/versions/{second.version}/tally").status_code == 404
        assert client.get("/v1/surveys/versions").json()["version"] == first.version
        assert client.delete("/v1/surveys/versions", params={"all": "true"}).status_code == 204
        assert client.get("/v1/surveys/versions").status_code == 404


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_bad_survey_is_told_all_its_mistakes(server):
    with server.admin as client:
        answer = client.post("/v1/surveys", json={**specification(minimum=0), "question": ""})
        assert answer.status_code == 422
        assert len(answer.json()["mistakes"]) == 2
        for size in (2**31 - 1, 2**40, 10**30):
            fields = {"name": "big", "question": "?", "domain_size": size, "oracle": {"name": "fhr", "epsilon": 1}}
            assert client.post("/v1/surveys", json=fields).status_code == 422
        answer = client.post("/v1/surveys", content=b'{"name": ', headers={"Content-Type": "application/json"})
        assert answer.status_code == 422
        assert "not JSON" in answer.json()["mistakes"][0]


def test_nothing_of_a_sender_is_logged(server, survey):
    sent = key()
    with server.client(server.token, **{"User-Agent": "somebody-in-particular"}) as client:
        server.send(survey, name=sent, client=client)
        client.get("/v1/surveys/whoever-asks")
    text = (server.folder / "log").read_text()
    for secret in ("somebody-in-particular", sent, server.token, "127.0.0.1", "whoever-asks"):
        assert secret not in text
    assert {"route", "method", "status", "milliseconds"} <= server.logged[-1].keys()


def test_senders_are_logged_if_that_is_switched_on(tmp_path):
    server = Server(tmp_path, log_senders="true")
    try:
        with server.client(**{"User-Agent": "somebody"}) as client:
            client.get("/healthz")
    finally:
        server.stop()
    (line,) = [line for line in server.logged if line.get("route") == "/healthz"]
    assert (line["peer"], line["agent"]) == ("127.0.0.1", "somebody")


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_origins(server):
    survey = server.publish(name="pages", origins=["https://a.example", "https://b.example"])
    plain = server.publish(name="plain")
    asks = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    with server.client() as client:
        where = f"/v1/versions/{survey.version}/reports"
        answer = client.options(where, headers=asks)
        assert answer.status_code == 204
        assert answer.headers["access-control-allow-origin"] == "https://a.example"
        assert "idempotency-key" in answer.headers["access-control-allow-headers"]
        for origin in ("https://c.example", "https://a.example.org", "null", "http://a.example"):
            refused = client.options(where, headers={**asks, "Origin": origin})
            assert refused.status_code == 405
            assert "access-control-allow-origin" not in refused.headers
            sent = server.send(survey, client=client, Origin=origin)
            assert "access-control-allow-origin" not in sent.headers
        assert client.options(f"/v1/versions/{plain.version}/reports", headers=asks).status_code == 405
        for other in (f"/v1/versions/{survey.version}/estimates", "/v1/tokens", "/v1/surveys"):
            assert client.options(other, headers=asks).status_code == 405
            answer = client.get(other, headers={"Origin": "https://a.example"})
            assert not any(name.startswith("access-control") for name in answer.headers)
        sent = server.send(survey, client=client, Origin="https://b.example")
        assert sent.headers["access-control-allow-origin"] == "https://b.example"
        bad = server.send(survey, b"x", client=client, Origin="https://b.example")
        assert (bad.status_code, bad.headers["access-control-allow-origin"]) == (422, "https://b.example")
        shown = client.get("/v1/surveys/pages", headers={"Origin": "https://a.example"})
        assert shown.headers["access-control-allow-origin"] == "https://a.example"
        assert shown.headers["vary"] == "Origin"
