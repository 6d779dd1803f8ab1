"""Answers have places of their own, and one that nobody waits for is not computed."""

import select
from collections import Counter
from contextlib import ExitStack

import pytest

from support.answers import ask, cpu_seconds, gauge, head, published
from support.collector_server import Server, batch
from support.waiting import until

FLIGHTS, ANSWERS, ASKED = 8, 20, 40


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path, threads=1, max_in_flight=2 * ASKED, max_answers=2 * ASKED)
    yield server
    assert server.stop() == 0


def test_an_answer_that_nobody_waits_for_is_not_computed(server):
    survey = published(server)
    with server.admin as client:
        client.get(f"/v1/versions/{survey.version}/estimates")  # what is loaded once
        before = cpu_seconds(server)
        client.get(f"/v1/versions/{survey.version}/estimates?level=0.5")
        once = cpu_seconds(server) - before
        with ExitStack() as stack:
            for number in range(ASKED):
                ask(server, survey, stack, number)
            until(lambda: gauge(server, "open_requests") > ASKED // 2)
            before = cpu_seconds(server)
        assert client.get(f"/v1/versions/{survey.version}/estimates?level=0.6", timeout=300).status_code == 200
        # One that had begun, and that of the client who waits; some may have begun before the others hung up.
        assert cpu_seconds(server) - before < ASKED / 4 * once
    assert gauge(server, "answers_total") < ASKED / 2
    assert gauge(server, "answers_abandoned_total") > ASKED / 2
    until(lambda: gauge(server, "answers_pending") == 0)
    until(lambda: gauge(server, "open_requests") == 1)
    statuses = Counter(line["status"] for line in server.logged if line.get("route", "").endswith("/estimates"))
    assert statuses[499] == gauge(server, "answers_abandoned_total")


def test_reports_are_counted_while_no_answer_can_be_taken(tmp_path):
    server = Server(tmp_path, threads=1, max_in_flight=FLIGHTS, max_answers=ANSWERS)
    survey, other = published(server), server.publish(name="other")
    with ExitStack() as stack:
        asking = [ask(server, survey, stack, number) for number in range(ASKED)]
        # Requests hold a slot until they wait for their answer, so all of them must be refused or wait by now.
        until(lambda: len(select.select(asking, [], [], 0)[0]) + gauge(server, "answers_pending") >= ASKED)
        sent = [server.send(other, batch(other)).status_code for _ in range(3 * FLIGHTS)]
        assert sent == [200] * len(sent)
        answered, _, _ = select.select(asking, [], [], 300)
        refused = [reply for reply in map(head, answered) if reply.startswith(b"http/1.1 503")]
        assert refused
        assert all(b"\r\nretry-after: 1" in reply for reply in refused)
        assert 0 < gauge(server, "answers_pending") <= ANSWERS
    until(lambda: gauge(server, "answers_pending") == 0)
    assert server.counts()[other.version] == len(sent)
    assert server.stop() == 0
    assert not [line for line in server.logged if line["level"] == "error"]
