"""The client's way through a relay, with a relay and a gateway in the process."""

import json

import pytest

from fldp.client.messages import Reply, Request
from fldp.client.relay import RelayTransport
from fldp.errors import CollectorError, ParameterError
from fldp.oblivious import ohttp
from fldp.oblivious.bhttp import SIZES, BinaryReply, BinaryRequest, pad

ASKED = Request("GET", "/v1/surveys/browser", {"version": "ab"}, {"If-None-Match": "x", "Fldp-Ticket": "secret"})
UNKNOWN_KEY = Reply(400, {}, json.dumps({"type": "https://iana.org/assignments/http-problem-types#ohttp-key"}).encode())


class Below:
    """A transport to a relay, whose collector has ``keys``; ``answers`` are given instead of its own."""

    def __init__(self, *keys, answers=()):
        self.keys, self.answers, self.asked, self.inside = list(keys), list(answers), [], []

    async def request(self, request):
        self.asked.append((request.method, request.path, len(request.body), request.token))
        if request.path == "/keys":
            return Reply(200, {}, ohttp.encode_keys([self.keys[0].config]))
        if self.answers:
            return self.answers.pop(0)
        try:
            data, exchange = ohttp.decapsulate(self.keys[:1], request.body)
        except ohttp.OpenError:
            return UNKNOWN_KEY
        self.inside.append(BinaryRequest.decode(data))
        reply = BinaryReply(200, ((b"content-type", b"application/json"),), b"{}")
        return Reply(200, {}, exchange.encapsulate(pad(reply.encode())))

    async def pause(self, seconds): ...

    async def work(self, job):
        return job()

    def disconnect(self): ...


def ask(transport, request=ASKED):
    """Run a request to its end: nothing in it waits."""
    try:
        transport.request(request).send(None)
    except StopIteration as end:
        return end.value


def key(number=1):
    return ohttp.GatewayKey.generate(number)


def test_keys_are_fetched_once_and_only_known_headers_go_inside():
    below = Below(key())
    transport = RelayTransport(below)
    for _ in range(2):
        assert ask(transport) == Reply(200, {"content-type": "application/json"}, b"{}")
    assert [path for _, path, _, _ in below.asked] == ["/keys", "/", "/"]
    assert below.inside[0].path == b"/v1/surveys/browser?version=ab"
    assert below.inside[0].headers == ((b"fldp-ticket", b"secret"),)
    assert {length for _, path, length, _ in below.asked if path == "/"} == {SIZES[0] + 55}
    assert not any(token for *_, token in below.asked)


def test_a_changed_key_is_fetched_again_once():
    below = Below(key(1), key(2))
    transport = RelayTransport(below)
    ask(transport)
    below.keys.pop(0)
    assert ask(transport).status == 200
    assert [path for _, path, _, _ in below.asked] == ["/keys", "/", "/", "/keys", "/"]


def test_a_relay_with_an_old_key_is_not_asked_for_ever():
    below = Below(key(), answers=[UNKNOWN_KEY])
    assert ask(RelayTransport(below)) == UNKNOWN_KEY
    assert [path for _, path, _, _ in below.asked] == ["/keys", "/"]


@pytest.mark.parametrize("status", [429, 502, 503])
def test_what_the_relay_says_itself_is_passed_on(status):
    assert ask(RelayTransport(Below(key(), answers=[Reply(status, {})]))).status == status


def test_an_answer_of_somebody_else_is_refused():
    data, exchange = ohttp.decapsulate([one := key()], ohttp.encapsulate(one.config, data := pad(b""))[0])
    foreign = Reply(200, {}, exchange.encapsulate(data))
    with pytest.raises(CollectorError, match="is not the collector's"):
        ask(RelayTransport(Below(key(), answers=[foreign])))


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/surveys"), ("DELETE", "/v1/surveys/browser"), ("GET", f"/v1/versions/{'ab' * 32}/estimates")],
)
def test_nothing_else_goes_through_a_relay(method, path):
    below = Below(key())
    with pytest.raises(ParameterError, match="through a relay surveys are read and answered"):
        ask(RelayTransport(below), Request(method, path))
    assert below.asked == []


def test_what_is_too_large_for_a_relay_is_said():
    request = Request("POST", f"/v1/versions/{'ab' * 32}/reports", body=bytes(70_000))
    with pytest.raises(ParameterError, match="larger than 65536; send it without a relay"):
        ask(RelayTransport(Below(key())), request)
