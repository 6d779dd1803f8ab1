"""Through a relay, with real processes: the same tally as directly, and what each party can note down."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from fldp.client import Client, derived_key
from fldp.errors import CollectorError, ParameterError
from fldp.participant.participant import Participant
from support.collector_server import Server, specification
from support.collector_store import STORES, stored_in
from support.ports import free_port
from support.relays import recording as recording_relay
from support.relays import relay


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


def tally(collector, survey):
    with Client(collector.url, collector.token) as client:
        return client.tally(survey)


def test_the_tally_is_that_of_direct_sending(collector):
    direct, relayed = (collector.publish(specification(name=name, minimum=1)) for name in ("direct", "relayed"))
    reports = direct.privatize(np.random.default_rng(5).choice(direct.labels, 60))
    with relay(collector.url) as address, Client(collector.url) as near, Client(collector.url, relay=address) as far:
        for place, report in enumerate(reports):
            key = derived_key("test", place)
            assert near.send(report, direct, key=key) == far.send(report, relayed, key=key) == 1
            assert far.send(report, "relayed", key=key) == 1  # the same key counts once
    assert (tally(collector, direct).state == tally(collector, relayed).state).all()
    assert tally(collector, relayed).n == 60


def test_a_person_answers_through_a_relay_once(alone, tmp_path):
    survey = alone.publish(specification(minimum=1, oblivious=True))
    person = Participant(tmp_path / "ledger")
    with relay(alone.url) as address:
        with Client(alone.url) as direct, pytest.raises(CollectorError, match=r"through a relay only; give relay="):
            direct.answer("browser", survey.label(0), participant=person)
        with Client(alone.url, relay=address) as client:
            for _ in range(2):
                client.answer("browser", survey.label(0), participant=person)
    assert alone.counts()[survey.version] == 1
    assert [charge.origin for charge in person.history()] == [alone.url]


def test_what_went_through_a_relay_never_goes_directly_afterwards(alone, tmp_path):
    """Neither the same report again nor its withdrawal, in another run either: both name it beside the address."""
    survey = alone.publish(specification(minimum=1))
    with relay(alone.url) as address:
        with Client(alone.url, relay=address) as client:
            client.answer("browser", survey.label(0), participant=Participant(tmp_path / "ledger"))
        person = Participant(tmp_path / "ledger")
        with Client(alone.url) as direct:
            with pytest.raises(CollectorError, match=r"was answered through a relay; give relay="):
                direct.answer("browser", survey.label(0), participant=person)
            with pytest.raises(CollectorError, match=r"was answered through a relay; give relay="):
                direct.withdraw("browser", participant=person)
        assert not person.withdrawn(survey.version, origin=alone.url)
        with Client(alone.url, relay=address) as client:
            assert client.withdraw("browser", participant=person) == 1
    assert alone.counts()[survey.version] == 0


def test_answers_cannot_be_told_apart_by_what_the_relay_sees(alone, tmp_path):
    labels = [f"label number {number:03}" * (1 + number % 3) for number in range(300)]
    fields = {**specification(oracle={"name": "oue", "epsilon": 1.0}), "labels": labels}
    alone.publish(fields)
    records = []
    for number, label in enumerate((labels[0], labels[150], labels[299])):
        with recording_relay(alone.url) as (address, seen), Client(alone.url, relay=address) as client:
            client.answer("browser", label, participant=Participant(tmp_path / str(number)))
        records.append(seen)
    assert records[0] == records[1] == records[2]
    assert [(method, path) for method, path, *_ in records[0]] == [("GET", "/keys"), ("POST", "/"), ("POST", "/")]
    assert {length for method, _, _, length, _, _ in records[0] if method == "POST"} == {1079}


def test_every_message_of_a_small_survey_has_one_size(alone, tmp_path):
    survey = alone.publish(specification())
    with recording_relay(alone.url) as (address, seen), Client(alone.url, relay=address) as client:
        client.answer("browser", survey.label(0), participant=Participant(tmp_path / "ledger"))
        with pytest.raises(CollectorError, match="there is no survey named unknown"):
            client.survey("unknown")
    assert {(length, answered) for method, _, _, length, _, answered in seen if method == "POST"} == {(1079, 1056)}


def test_the_collector_sees_the_relay_alone(alone, tmp_path):
    survey = alone.publish(specification())
    with relay(alone.url) as address, Client(alone.url, relay=address) as client:
        client.answer("browser", survey.label(0), participant=Participant(tmp_path / "ledger"))
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    inside = [line for line in lines if line.get("route") == "/v1/versions/{id}/reports"]
    outside = [line for line in lines if line.get("route") == "/v1/ohttp"]
    assert [(line["peer"], line["agent"]) for line in inside] == [("unknown", "")]
    assert {line["agent"] for line in outside} == {"fldp-relay"}


def test_a_client_goes_on_when_the_key_changes_and_says_so(alone, tmp_path):
    survey, known_as = alone.publish(specification(minimum=1)), "https://collector.example"
    person = Participant(tmp_path / "ledger")
    with recording_relay(alone.url) as (address, _), Client(known_as, relay=address) as client:
        client.answer("browser", survey.label(0), participant=person)
        assert not client.has_new_keys
    rotated = [sys.executable, "-m", "fldp", "gateway", "rotate", "--data", str(alone.data)]
    for _ in range(2):  # the first key is gone after two
        done = subprocess.run(rotated, capture_output=True, text=True, check=True, env=os.environ)
    assert "key 3 is the newest" in done.stderr
    alone.restart()
    with recording_relay(alone.url) as (address, _), Client(known_as, relay=address) as client:
        assert client.withdraw("browser", participant=Participant(tmp_path / "ledger")) == 1
        assert client.has_new_keys
    assert alone.counts()[survey.version] == 0


def test_nothing_goes_directly_when_the_relay_is_away(alone):
    alone.publish(specification())
    away = f"http://127.0.0.1:{free_port()}"
    with Client(alone.url, relay=away, retries=0) as client, pytest.raises(CollectorError, match="cannot be reached"):
        client.survey("browser")


def test_what_needs_a_token_is_refused_before_anything_is_sent():
    with pytest.raises(ParameterError, match=r"relay and token cannot go together"):
        Client("https://collector.example", "fldp_read_x", relay="https://relay.example")
    with pytest.raises(ParameterError, match=r"the relay must be reached by https, got http://relay.example"):
        Client("https://collector.example", relay="http://relay.example")
    refused = pytest.raises(ParameterError, match=r"surveys are read and answered, nothing else")
    with Client("https://collector.example", relay="https://relay.example") as client, refused:
        client.surveys()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--to", "collector.example"], "fldp: --to must be an address such as https://collector.example"),
        (["--to", "https://c.example", "--trusted-proxies", "x"], "--trusted-proxies must be addresses or networks"),
        (
            ["--to", "https://c.example", "--tls-key", "key.pem"],
            "--tls-key must be given together",
        ),
    ],
)
def test_mistakes_are_one_line(options, why):
    done = subprocess.run(
        [sys.executable, "-m", "fldp", "relay", *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1
