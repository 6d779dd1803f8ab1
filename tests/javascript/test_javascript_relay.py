"""The client in JavaScript through a relay: Python's gateway reads it, and it reads Python's gateway."""

import json
import random
import subprocess

import numpy as np
import pytest

from fldp import Client, wire
from fldp.oblivious import ohttp
from fldp.oblivious.bhttp import SIZES, BinaryReply, BinaryRequest, pad
from support.collector_server import Server, specification
from support.collector_store import STORES, stored_in
from support.javascript import HERE, node
from support.relays import recording, relay

LABELS = [f"label number {number:03}" * (1 + number % 3) for number in range(300)]


@pytest.fixture(params=STORES)
def collector(request, tmp_path):
    server = Server(tmp_path, ohttp="true", log_senders="true", **stored_in(request.param))
    yield server
    assert server.stop() == 0


@pytest.fixture
def alone(tmp_path):
    server = Server(tmp_path, ohttp="true", log_senders="true")
    yield server
    assert server.stop() == 0


def told(url, name, labels, address=None):
    """Have people answer, one after the other; return what became of each."""
    request = {"url": url, "name": name, "people": [{"label": label} for label in labels], "relay": address}
    command = [node(), str(HERE / "javascript_people.mjs")]
    done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_both_languages_read_each_other():
    numbers = random.Random(11)
    command = [node(), str(HERE / "javascript_encapsulating.mjs")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def said(line):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        for number in range(150):
            key = ohttp.GatewayKey.generate(number)
            content = numbers.randbytes(numbers.choice((0, 1, 63, 64, 900, 5_000, 17_000, 64_000)))
            asked = {"route": f"/v1/{number}?x=%20", "method": "POST", "content": content.hex()}
            headers = {"Content-Type": "a/b", "Idempotency-Key": "k" * numbers.choice((1, 70)), "Cookie": "who"}
            keys = ohttp.encode_keys([key.config, ohttp.GatewayKey.generate(255).config]).hex()
            sent = bytes.fromhex(said(json.dumps({**asked, "headers": headers, "keys": keys})))
            data, exchange = ohttp.decapsulate([key], sent)
            assert len(data) in SIZES
            request = BinaryRequest.decode(data)
            assert (request.method, request.path, request.content) == (b"POST", asked["route"].encode(), content)
            assert (request.scheme, request.authority) == (b"https", b"")
            names = {name: value for name, value in headers.items() if name != "Cookie"}
            assert {name.decode(): value.decode() for name, value in request.headers} == {
                name.lower(): value for name, value in names.items()
            }
            status = numbers.choice((200, 403, 404, 503))
            reply = BinaryReply(status, ((b"content-type", b"x"), (b"retry-after", b"7")), content[:60_000])
            read = said(exchange.encapsulate(pad(reply.encode())).hex())
            assert read == {"status": status, "wait": "7", "content": content[:60_000].hex()}
        process.stdin.close()
        assert process.wait(300) == 0


def test_the_tally_is_that_of_what_was_sent(collector):
    survey = collector.publish(specification(minimum=1, oblivious=True))
    labels = np.random.default_rng(6).choice(survey.labels, 40).tolist()
    with relay(collector.url) as address:
        answers = told(collector.url, survey.name, labels, address)
    assert {(one["state"], one["left"]) for one in answers} == {("sent", 0)}  # each was sent twice
    reports = [wire.decode(bytes.fromhex(one["batch"]), survey.oracle, survey.version) for one in answers]
    with Client(collector.url, collector.token) as client:
        assert client.tally(survey) == survey.oracle.tally(np.concatenate([one.data for one in reports]))
    inside = [line for line in collector.logged if line.get("route") == "/v1/versions/{id}/reports"]
    assert {(line["peer"], line["agent"]) for line in inside} == {("unknown", "")}
    assert {line["agent"] for line in collector.logged if line.get("route") == "/v1/ohttp"} == {"fldp-relay"}


def test_answers_cannot_be_told_apart_by_what_the_relay_sees(alone):
    survey = alone.publish({**specification(oracle={"name": "oue", "epsilon": 1.0}), "labels": LABELS})
    records = []
    for label in (LABELS[0], LABELS[150], LABELS[299]):
        with recording(alone.url) as (address, seen):
            assert told(alone.url, survey.name, [label], address)[0]["state"] == "sent"
        records.append(seen)
    assert records[0] == records[1] == records[2]
    asked = [(one.method, one.path) for one in records[0]]
    assert asked == [("GET", "/keys"), ("POST", "/"), ("POST", "/"), ("GET", "/keys"), ("POST", "/")]
    assert {one.length for one in records[0] if one.method == "POST"} == {1079}


def test_every_message_of_a_small_survey_has_one_size(alone):
    survey = alone.publish(specification())
    with recording(alone.url) as (address, seen):
        assert told(alone.url, survey.name, [survey.label(0)], address)[0]["state"] == "sent"
        assert told(alone.url, "unknown", ["x"], address)[0]["status"] == 404
    assert {(one.length, one.answered) for one in seen if one.method == "POST"} == {(1079, 1056)}


def test_what_would_go_directly_is_refused_before_it_is_drawn(alone):
    survey = alone.publish(specification(minimum=1, oblivious=True))
    (refused,) = told(alone.url, survey.name, [survey.label(0)])
    assert (refused["error"], refused["status"]) == ("ParameterError", None)
    assert "takes answers through a relay only" in refused["message"]
    assert alone.counts()[survey.version] == 0
