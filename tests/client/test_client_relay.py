"""The client's way through a relay, with a relay and a gateway in the process."""

import json
import time
from contextlib import nullcontext

import pytest

from fldp.client.messages import Reply, Request
from fldp.client.relay import RelayTransport
from fldp.client.relay_keys import DAY, RelayKeys
from fldp.errors import CollectorError, ParameterError
from fldp.oblivious import ohttp
from fldp.oblivious.bhttp import SIZES, BinaryReply, BinaryRequest, pad
from fldp.participant.notes import RelayedKeys
from fldp.participant.participant import Participant
from fldp.participant.store import MemoryStore

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


RELAY, SITE = "https://relay.example", "https://collector.example"


def through(below, relay=RELAY):
    return RelayTransport(below, RelayKeys(relay, SITE))


def ask(transport, request=ASKED, person=None):
    """Run a request to its end, for a person: nothing in it waits."""

    async def asked():
        async with nullcontext() if person is None else transport.kept_by(person):
            return await transport.request(request)

    try:
        asked().send(None)
    except StopIteration as end:
        return end.value


def key(number=1):
    return ohttp.GatewayKey.generate(number)


def test_keys_are_fetched_once_and_only_known_headers_go_inside():
    below = Below(key())
    transport = through(below)
    for _ in range(2):
        assert ask(transport) == Reply(200, {"content-type": "application/json"}, b"{}")
    assert [path for _, path, _, _ in below.asked] == ["/keys", "/", "/"]
    assert below.inside[0].path == b"/v1/surveys/browser?version=ab"
    assert below.inside[0].headers == ((b"fldp-ticket", b"secret"),)
    assert {length for _, path, length, _ in below.asked if path == "/"} == {SIZES[0] + 55}
    assert not any(token for *_, token in below.asked)


def test_a_changed_key_is_fetched_again_once():
    below = Below(key(1), key(2))
    transport = through(below)
    ask(transport)
    below.keys.pop(0)
    assert ask(transport).status == 200
    assert [path for _, path, _, _ in below.asked] == ["/keys", "/", "/", "/keys", "/"]


def test_a_relay_with_an_old_key_is_not_asked_for_ever():
    below = Below(key(), answers=[UNKNOWN_KEY])
    with pytest.raises(CollectorError, match=r"hands out keys that the collector does not have; try again in a minute"):
        ask(through(below))
    assert [path for _, path, _, _ in below.asked] == ["/keys", "/"]


@pytest.mark.parametrize("status", [429, 502, 503])
def test_what_the_relay_says_itself_is_passed_on(status):
    assert ask(through(Below(key(), answers=[Reply(status, {})]))).status == status


def test_a_relay_that_sends_elsewhere_is_named_and_not_followed():
    moved = Reply(308, {"location": "https://other.example/"})
    below = Below(key(), answers=[moved])
    wrong = r"^the relay answers with a redirect to https://other.example/, which is not followed; give relay= by"
    with pytest.raises(CollectorError, match=wrong):
        ask(through(below))
    assert [path for _, path, _, _ in below.asked] == ["/keys", "/"]


def test_an_answer_of_somebody_else_is_refused():
    data, exchange = ohttp.decapsulate([one := key()], ohttp.encapsulate(one.config, data := pad(b""))[0])
    foreign = Reply(200, {}, exchange.encapsulate(data))
    with pytest.raises(CollectorError, match="is not the collector's"):
        ask(through(Below(key(), answers=[foreign])))


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/surveys"), ("DELETE", "/v1/surveys/browser"), ("GET", f"/v1/versions/{'ab' * 32}/estimates")],
)
def test_nothing_else_goes_through_a_relay(method, path):
    below = Below(key())
    with pytest.raises(ParameterError, match="through a relay surveys are read and answered"):
        ask(through(below), Request(method, path))
    assert below.asked == []


def test_what_is_too_large_for_a_relay_is_said():
    request = Request("POST", f"/v1/versions/{'ab' * 32}/reports", body=bytes(70_000))
    with pytest.raises(ParameterError, match="larger than 65536; send it without a relay"):
        ask(through(Below(key())), request)


def fetched(below):
    return [path for _, path, _, _ in below.asked].count("/keys")


def test_a_person_remembers_keys_from_one_run_to_the_next(tmp_path):
    below = Below(key())
    for _ in range(3):
        person, transport = Participant(tmp_path / "answers.db"), through(below)
        assert ask(transport, person=person).status == 200
        assert not transport.keys.have_changed
    assert fetched(below) == 1
    assert (tmp_path / "answers.db.notes").stat().st_mode & 0o777 == 0o600


def test_keys_that_change_within_a_day_are_told_in_the_next_run(tmp_path):
    person, below = Participant(tmp_path / "answers.db"), Below(key(1), key(2))
    ask(through(below), person=person)
    below.keys.pop(0)
    transport = through(below)
    assert ask(transport, person=person).status == 200
    assert transport.keys.have_changed
    again = through(below)
    ask(again, person=person)
    assert not again.keys.have_changed  # it was told once, and these are the keys by now
    assert fetched(below) == 2


def test_another_relay_is_asked_itself_and_compared():
    person, same = Participant(MemoryStore()), key(1)
    ask(through(Below(same)), person=person)
    for one, changed in ((same, False), (key(2), True)):
        below = Below(one)
        transport = through(below, f"https://other{one.number}.example")
        ask(transport, person=person)
        assert [path for _, path, _, _ in below.asked] == ["/keys", "/"]  # not with what a relay before handed out
        assert transport.keys.have_changed == changed


@pytest.mark.parametrize("hours", [-25, 25])
def test_keys_are_fetched_again_after_a_day_and_then_may_be_others(monkeypatch, hours):
    person, below, real = Participant(MemoryStore()), Below(key(1), key(2)), time.time
    transport = through(below)
    ask(transport, person=person)
    below.keys.pop(0)
    monkeypatch.setattr(time, "time", lambda: real() + hours / 24 * DAY)
    for one in (transport, through(below)):
        assert ask(one, person=person).status == 200
        assert not one.keys.have_changed
    assert fetched(below) == 2


def test_two_people_of_one_client_remember_what_it_has():
    below, people = Below(key()), [Participant(MemoryStore()) for _ in range(2)]
    transport = through(below)
    for person in people:
        ask(transport, person=person)
    assert fetched(below) == 1
    assert people[0].relayed_keys(origin=SITE) == people[1].relayed_keys(origin=SITE)


def test_one_client_notices_what_another_one_was_given():
    """Whoever has newer keys keeps them: the person's store, or the client."""
    person, old, new = Participant(MemoryStore()), Below(key(1)), Below(key(2))
    first, second = through(old), through(new)
    ask(first)
    ask(second, person=person)
    first.keys.join(person)
    assert first.keys.have_changed
    assert first.keys.current == second.keys.current == person.relayed_keys(origin=SITE).keys


@pytest.mark.parametrize("text", ["[]", "null", '["x", "zz", 1]', '["https://relay.example", "0102", 1e999]', "x"])
def test_a_note_that_is_something_else_is_none(tmp_path, text):
    assert RelayedKeys.decode(text) is None or text.endswith("1e999]")
    store, below = MemoryStore(), Below(key())
    with store.exclusive() as book:
        book.keep_note(SITE, "relay", text)
    assert ask(through(below), person=Participant(store)).status == 200
    assert fetched(below) == 1


def test_a_store_without_notes_works_and_forgets():
    class Forgetful:
        """A store of before."""

        def exclusive(self):
            return nullcontext(object())

    below = Below(key())
    for _ in range(2):
        ask(through(below), person=Participant(Forgetful()))
    assert fetched(below) == 2


def test_keys_that_are_none_are_not_kept():
    person, below = Participant(MemoryStore()), Below(key())
    below.request = _no_keys
    with pytest.raises(CollectorError, match="the relay hands out no keys"):
        ask(through(below), person=person)
    assert person.relayed_keys(origin=SITE) is None


async def _no_keys(request):
    return Reply(200, {}, b"\0\3abc")
