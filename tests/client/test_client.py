"""The client against servers that run: what it asks, what it believes, what it keeps to itself."""

import asyncio
import errno
import inspect
import io
import json
import logging
import os
import pickle
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request
from datetime import date
from types import SimpleNamespace

import pytest

import fldp
from fldp import AsyncClient, Client, CollectorError, Participant, wire
from fldp.client import derived_key, messages, retry
from fldp.client.download import Saved
from fldp.client.messages import Reply, Request, retry_after
from fldp.client.retry import Patience
from fldp.participant_store import MemoryStore
from support.client import TOKEN, self_signed, survey
from support.cutting_proxy import proxied
from support.ports import free_port
from support.serving import double
from support.waiting import until


@pytest.fixture(scope="module")
def server():
    with double() as url:
        yield url


@pytest.fixture
def at(server):
    """Make clients of one fault of the server."""
    clients = []

    def make(fault="plain", token=None, retries=3, timeout=20.0, patience=1.0, **options):
        clients.append(
            Client(f"{server}/{fault}", token, retries=retries, timeout=timeout, patience=patience, **options)
        )
        return clients[-1]

    yield make
    for client in clients:
        client.disconnect()


@pytest.fixture
def asked(at, request):
    """A survey of this test alone."""
    name = "s" + derived_key(request.node.nodeid)[:20].lower().replace("_", "0").replace("-", "0")
    published = survey(name)
    at().create(published)
    return published


def number(at, asked):
    return {row["version"]: row["n"] for row in at().surveys()}[asked.version]


def seen(server, part):
    with urllib.request.urlopen(f"{server}/seen") as answer:
        return [request for request in json.load(answer) if part in request["path"]]


def reports(asked, count=100):
    return asked.oracle.privatize([k % 5 for k in range(count)])


# --- sending


def test_a_batch_is_counted(at, asked):
    assert at().send(reports(asked), asked) == 100
    assert at().send(wire.encode(reports(asked, 7), asked.version)) == 7
    assert number(at, asked) == 107


def test_without_a_key_equal_batches_count_each(at, asked):
    same = reports(asked, 3)
    for _ in range(3):
        at().send(same, asked)
    assert number(at, asked) == 9


def test_with_a_key_they_count_once(at, asked):
    same, key = reports(asked, 3), derived_key("site 7", 1)
    assert [at().send(same, asked, key=key) for _ in range(3)] == [3, 3, 3]
    assert number(at, asked) == 3
    with pytest.raises(CollectorError, match=r"this key was used for something else \(status 409\)") as error:
        at().send(reports(asked, 4), asked, key=key)
    assert error.value.refused


@pytest.mark.parametrize("moment", ["at once", "within the request", "before the answer", "within the answer"])
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_connection_that_breaks_is_tried_again_and_counts_once(server, at, moment, kind):
    asked = survey(f"cut-{moment.replace(' ', '-')}-{kind.__name__.lower()}")
    at().create(asked)
    with proxied(f"{server}/plain", moment, cuts=2) as url:
        if kind is Client:
            with Client(url, patience=0.2) as client:
                assert client.send(reports(asked), asked) == 100
        else:

            async def send():
                async with AsyncClient(url, patience=0.2) as client:
                    return await client.send(reports(asked), asked)

            assert asyncio.run(send()) == 100
    assert number(at, asked) == 100


@pytest.mark.parametrize("fault", ["busy", "lost", "failed"])
def test_what_fails_for_a_moment_is_tried_again(at, asked, fault):
    assert at(fault).send(reports(asked), asked) == 100
    assert number(at, asked) == 100


def test_a_busy_collector_is_given_up(at, asked, server):
    with pytest.raises(CollectorError, match=r"/always: busy for ever \(status 503\)$") as error:
        at("always", retries=2, patience=0.05).send(reports(asked), asked)
    assert error.value.status == 503
    assert not error.value.refused
    assert len(seen(server, f"/always/v1/versions/{asked.version}")) == 3


def test_one_that_asks_for_an_hour_is_not_waited_for(at, asked, server):
    with pytest.raises(CollectorError, match="it asks to come back in 3,600 s"):
        at("hour").send(reports(asked), asked)
    assert len(seen(server, f"/hour/v1/versions/{asked.version}")) == 1


def test_a_refusal_is_not_repeated(at, asked, server):
    with pytest.raises(CollectorError, match=r"no such survey \(status 404\)") as error:
        at().survey("nobody")
    assert error.value.refused
    assert len(seen(server, "/plain/v1/surveys/nobody")) == 1


def test_what_must_not_happen_twice_is_not_asked_twice(at, server):
    with pytest.raises(CollectorError, match="whether it was done is not known"):
        at("slow", TOKEN, timeout=0.3).create_token("read")
    until(lambda: seen(server, "/slow/v1/tokens"))  # it may be read after nobody waits for it any more
    assert len(seen(server, "/slow/v1/tokens")) == 1
    with pytest.raises(CollectorError, match="504"):
        at("lost", TOKEN).create_token("read")
    assert len(seen(server, "/lost/v1/tokens")) == 1
    for ask in (lambda client: client.create_token("read"), lambda client: client.surveys()):  # which have no key
        with pytest.raises(CollectorError, match="500"):
            ask(at("failed", TOKEN))
    assert len(seen(server, "/failed/v1/tokens")) == len(seen(server, "/failed/v1/surveys")) == 1


def test_a_slow_answer_is_a_failure(at, asked):
    with pytest.raises(CollectorError, match=r"gives no answer within 0.3 s$") as error:
        at("slow", timeout=0.3, retries=1, patience=0.01).surveys()
    assert error.value.status is None


def test_an_answer_that_drips_is_a_failure(at, monkeypatch):
    monkeypatch.setattr(messages, "MAX_SECONDS", 0.5)
    with pytest.raises(CollectorError, match=r"the answer is not complete after 0\.5 s"):
        at("drip", retries=0).surveys()


def test_nobody_there():
    url = f"http://127.0.0.1:{free_port()}"
    said = rf"^{url}: cannot be reached \(.+\); check the address, and that the collector runs$"
    with Client(url, retries=0) as client, pytest.raises(CollectorError, match=said):
        client.surveys()

    async def ask():
        async with AsyncClient(url, retries=0) as client:
            await client.surveys()

    with pytest.raises(CollectorError, match=said):
        asyncio.run(ask())


def test_delays_double_up_to_a_limit_and_are_never_shorter_than_asked():
    patience = Patience(longest=10.0)
    for attempt in range(40):
        drawn = [patience.delay(attempt, None) for _ in range(200)]
        limit = min(10.0, 0.5 * 2**attempt)
        assert 0 <= min(drawn) < limit / 3 < 2 * limit / 3 < max(drawn) <= limit  # each third: wrong once in 1e35
        assert all(3 <= patience.delay(attempt, 3.0) <= 10 for _ in range(50))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        ("-1", None),
        ("9" * 5000, None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015", None),
        ("", None),
        ("1.5", None),
    ],
)
def test_retry_after(text, seconds):
    assert retry_after({"retry-after": text}) == seconds


# --- hostile answers


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("garbage", "the answer is not JSON"),
        ("deep", "the answer is not JSON"),
        ("digits", "the answer is not JSON"),
        ("huge", "the answer is larger than 33,554,432 bytes"),
        ("packed", "the answer is compressed, although no compression was requested"),
        ("crash", r"no reason given \(status 500\)"),
        ("list", "the answer is not a collector's: Expected `object`, got `array`"),
        ("truth", "the answer is not a collector's: Expected `int`, got `bool` - at `..accepted`"),
        ("fewer", "accepted must be 100, got 0"),
        ("redirect", "answers with a redirect to /plain/stolen, which is not followed"),
    ],
)
def test_a_hostile_answer_is_one_line(at, asked, fault, message):
    with pytest.raises(CollectorError, match=message) as error:
        at(fault, TOKEN, retries=0).send(reports(asked), asked)
    assert "\n" not in str(error.value)
    assert TOKEN not in str(error.value)


def test_a_bad_report_is_named(at, asked):
    other = survey("never-published")
    with pytest.raises(CollectorError, match="422") as error:
        at()._finish(at()._post(asked.version, _piece(other), None))
    assert error.value.index == 3
    assert pickle.loads(pickle.dumps(error.value)).index == 3


def _piece(asked):
    from fldp.client.uploading import UploadPart

    return UploadPart(0, 2, wire.encode(reports(asked, 2), asked.version), derived_key("x"))


# --- secrets


def test_a_token_is_never_shown(at, asked, caplog, server):
    client, ticket = at("echo", TOKEN, retries=0), "T1cket" * 4
    with caplog.at_level(logging.DEBUG), pytest.raises(CollectorError) as error:
        client.send(reports(asked), asked, ticket=ticket)
    assert str(error.value) == f"{server}/echo: Bearer [secret] [secret] [31m is wrong (status 401)"
    with caplog.at_level(logging.DEBUG), pytest.raises(CollectorError):
        at("always", TOKEN, retries=1, patience=0.01).surveys()
    shown = [caplog.text, repr(client), repr(client._line), repr(vars(client)), repr(client._line.transport._settings)]
    assert "trying again" in caplog.text
    assert not [text for text in shown if TOKEN in text or ticket in text]


@pytest.mark.parametrize("bad", ["a b", "line\nbreak", "ünï", "", "x" * 600, 7])
def test_a_token_that_cannot_be_a_header_is_refused_and_not_shown(bad):
    with pytest.raises(fldp.ParameterError, match="a token must be") as error:
        Client("https://collector.example", bad)
    assert not str(bad) or str(bad) not in str(error.value)


def test_redirects_get_no_token(at, server):
    with pytest.raises(CollectorError, match="redirect"):
        at("redirect", TOKEN).surveys()
    assert not seen(server, "stolen")


def test_the_token_goes_where_it_is_needed_and_nowhere_else(at, asked, server):
    client = at("plain", TOKEN)
    client.surveys()
    client.survey(asked.name)
    client.answer(asked, "edge", participant=Participant(MemoryStore()))
    requests = [(r["path"].rpartition("/plain")[2], "authorization" in r["headers"]) for r in seen(server, "/plain/")]
    public = [f"/v1/surveys/{asked.name}", f"/v1/surveys/{asked.name}", f"/v1/versions/{asked.version}/reports"]
    assert requests[-4:] == [("/v1/surveys", True), *((path, False) for path in public)]


def test_no_cookies_are_kept(at, asked, server):
    client = at("cookie")
    for _ in range(3):
        client.survey(asked.name)
    requests = seen(server, f"/cookie/v1/surveys/{asked.name}")
    assert len(requests) == 3
    assert not [request for request in requests if "cookie" in request["headers"]]


def test_no_proxy_reads_along_on_this_machine(server, monkeypatch):
    before = len(seen(server, "/plain/v1/surveys"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with Client(f"{server}/plain", TOKEN, retries=0) as client:
        client.surveys()
    monkeypatch.undo()
    assert len(seen(server, "/plain/v1/surveys")) == before + 1


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://collector.example", True),
        ("http://127.0.0.1:8000", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:8000/path", True),
        ("http://localhost:8000", True),
        ("http://collector.example", False),
        ("http://10.0.0.1", False),
        ("http://localhost.example.org", False),
    ],
)
def test_no_token_over_plain_http_to_another_machine(url, good):
    Client(url).disconnect()
    Client(url, TOKEN, allow_insecure=True).disconnect()
    if good:
        Client(url, TOKEN).disconnect()
        return
    with pytest.raises(fldp.ParameterError, match="must not go over plain http") as error:
        Client(url, TOKEN)
    assert TOKEN not in str(error.value)
    with Client(url) as client, pytest.raises(fldp.ParameterError, match="a ticket must not go over plain http"):
        client.send(reports(survey()), survey(), ticket="ticket")


@pytest.mark.parametrize(
    "url",
    [
        *("", "collector.example", "ftp://collector.example", "https://", "https://user:pass@collector.example"),
        *("https://a.example?x=1", "https://a.example/#x", "https://a.example/../x", "https://a.example:0", None, 7),
        *("https://a.example\n.b.example", "https://a.example\\@b.example", "javascript:1", "https://a b.example"),
    ],
)
def test_bad_addresses(url):
    with pytest.raises(fldp.ParameterError, match="Client: url must be an address such as") as error:
        Client(url)
    assert "pass@" not in str(error.value)


def test_certificates_are_checked(tmp_path):
    with Untrusted(tmp_path) as (url, context), Client(url, retries=2) as client:
        with pytest.raises(CollectorError, match=rf"^{url}: its certificate is not trusted: self.signed certificate"):
            client.surveys()
        with Client(url, tls=context) as trusting:
            assert trusting.surveys() == []


class Untrusted:
    """A server with a certificate that it has signed by itself."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        key, certificate = self_signed()
        (self.folder / "both.pem").write_bytes(key + certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "both.pem")
        self.socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, args=(context,), daemon=True).start()
        trusting = ssl.create_default_context(cadata=certificate.decode())
        return f"https://127.0.0.1:{self.socket.getsockname()[1]}", trusting

    def serve(self, context):
        while True:
            try:
                plain, _ = self.socket.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(plain, server_side=True) as connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]")
            except OSError:
                plain.close()

    def __exit__(self, *error):
        self.socket.close()


# --- answering


def test_an_answer_counts_once_however_often_it_is_given(at, asked, tmp_path):
    first = at().answer(asked.name, "firefox", participant=Participant(tmp_path / "answers.db"))
    again = at().answer(asked, "chrome", participant=Participant(tmp_path / "answers.db"))
    assert (first.repeated, again.repeated) == (False, True)
    assert (first.report, first.key) == (again.report, again.key)
    assert number(at, asked) == 1


def test_a_delay_is_a_random_time_between_drawing_and_sending(at, asked, tmp_path, monkeypatch):
    waits = []

    async def pause(_, seconds):
        waits.append((seconds, len(Participant(tmp_path / str(len(waits))).history()), number(at, asked)))

    monkeypatch.setattr("fldp.client.transport.BlockingTransport.pause", pause)
    for turn in range(20):
        at().answer(asked.name, "firefox", participant=Participant(tmp_path / str(turn)), delay=60)
    times, drawn, sent = zip(*waits, strict=True)
    assert (drawn, sent) == ((1,) * 20, tuple(range(20)))  # stored before, sent after
    assert len(set(times)) == 20
    assert 0 <= min(times) < 30 < max(times) <= 60  # each fails once in 10^6 runs
    with pytest.raises(ValueError, match="delay must be a number from 0 to 604800, got -1"):
        at().answer(asked.name, "firefox", participant=Participant(MemoryStore()), delay=-1)


def test_a_delay_is_drawn_once_and_kept_over_a_crash(at, asked, tmp_path, monkeypatch):
    """Who is killed while waiting waits for the same moment, and not at all when it has passed."""
    moments, now = [], 1e9

    async def pause(_, seconds):
        moments.append(now + seconds)
        if len(moments) < 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("fldp.client.transport.BlockingTransport.pause", pause)
    for place in ("client.operations.answering", "participant.notes"):
        monkeypatch.setattr(f"fldp.{place}.time", SimpleNamespace(time=lambda: now))
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            at().answer(asked.name, "firefox", participant=Participant(tmp_path / "answers.db"), delay=3600)
        now += 1
    assert moments[0] == pytest.approx(moments[1], abs=1e-3)
    assert number(at, asked) == 0
    now += 3600
    at().answer(asked.name, "firefox", participant=Participant(tmp_path / "answers.db"), delay=3600)
    assert moments[2] == now
    assert number(at, asked) == 1
    now -= 86_400  # a clock that was set back
    at().answer(asked.name, "firefox", participant=Participant(tmp_path / "answers.db"), delay=60)
    assert moments[3] == now + 60


def test_people_with_the_same_report_count_each(at):
    """Of a coin there are two reports, so twenty people share them."""
    coin = survey("coin", labels=["yes", "no"], oracle={"name": "rr", "epsilon": 1.0})
    at().create(coin)
    answers = [
        at().answer("coin", "yes", participant=Participant(MemoryStore()), confirm=lambda notices: True)
        for _ in range(20)
    ]
    assert len({answer.report for answer in answers}) <= 2
    assert len({answer.key for answer in answers}) == 20
    assert number(at, coin) == 20


def test_an_answer_whose_acknowledgement_was_lost_is_sent_under_its_key(at, asked, tmp_path, server):
    participant = Participant(tmp_path / "answers.db")
    with pytest.raises(CollectorError, match="504"):
        at("lost", retries=0).answer(asked.name, "edge", participant=participant)
    with pytest.raises(CollectorError, match="504"):
        at("lost", retries=0).answer(asked.name, "edge", participant=participant)
    assert at("lost", retries=0).answer(asked.name, "edge", participant=participant).repeated
    sent = seen(server, f"/lost/v1/versions/{asked.version}/reports")
    assert len({request["headers"]["idempotency-key"] for request in sent}) == 1
    assert number(at, asked) == 1


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("other", CollectorError, "the answer is not about survey"),
        ("forged", fldp.WireError, "the version of survey .* must be [0-9a-f]{64}, got"),
        ("closed", CollectorError, "takes no answer now: it is not open"),
        ("huge", CollectorError, "larger than"),
        ("deep", CollectorError, "not JSON"),
    ],
)
def test_a_survey_that_is_not_what_it_claims_costs_nothing(at, asked, fault, error, message):
    participant = Participant(MemoryStore())
    with pytest.raises(error, match=message):
        at(fault, retries=0).answer(asked, "edge", participant=participant)
    assert participant.history() == ()


def test_a_forged_survey_is_refused(at, asked):
    with pytest.raises(CollectorError, match="claims a wrong version for survey"):
        at("forged").survey(asked.name)


@pytest.mark.parametrize("submit", ["ticket", "token"])
def test_an_answer_that_would_be_refused_costs_nothing(at, submit, server):
    published = survey(f"needs-{submit}", collect={"submit": submit})
    at().create(published)
    participant = Participant(MemoryStore())
    with pytest.raises(CollectorError, match=f"it needs a {submit}"):
        at().answer(published.name, "edge", participant=participant)
    assert participant.history() == ()
    at("plain", TOKEN).answer(
        published.name, "edge", participant=participant, ticket="T1" if submit == "ticket" else None
    )
    (sent,) = seen(server, f"/plain/v1/versions/{published.version}/reports")
    assert sent["headers"].get("fldp-ticket") == ("T1" if submit == "ticket" else None)
    assert sent["headers"].get("authorization") == (None if submit == "ticket" else f"Bearer {TOKEN}")


def test_the_person_is_asked(at):
    few = survey("few", labels=["yes", "no"], oracle={"name": "rr", "epsilon": 1.0})
    at().create(few)
    shown = []
    with pytest.raises(fldp.BudgetError, match="declined"):
        at().answer("few", "yes", participant=Participant(MemoryStore()), confirm=lambda notices: shown.append(notices))
    assert shown == [("it has 2 labels, fewer than 3",)]


def test_answers_of_an_event_loop(at, server, tmp_path):
    published = survey("loop")
    at().create(published)

    async def answers():
        async with AsyncClient(f"{server}/busy", patience=0.2) as client:
            people = [Participant(tmp_path / f"{k}.db") for k in range(8)]
            return await asyncio.gather(*(client.answer("loop", "edge", participant=person) for person in people))

    assert len({answer.key for answer in asyncio.run(answers())}) == 8
    assert number(at, published) == 8


# --- the rest


def test_both_clients_can_do_the_same():
    public = [name for name in dir(Client) if not name.startswith("_")]
    assert public == [name for name in dir(AsyncClient) if not name.startswith("_")]
    with Client("https://collector.example") as client:
        assert str(inspect.signature(client.survey)).startswith("(name: str, *, version:")
        assert client.survey.__doc__.startswith("Return the newest open version")


def test_an_export_is_whole_or_not_there(at, asked, tmp_path):
    assert at("parquet").export(asked, tmp_path / "all.parquet", since=date(2026, 11, 3)) == 27
    assert (tmp_path / "all.parquet").read_bytes().endswith(b"PAR1")
    with pytest.raises(CollectorError, match="is not a whole file of parquet"):
        at("cut").export(asked, tmp_path / "cut.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["all.parquet"]


def test_a_full_disk_is_not_a_broken_wire(at, asked):
    class Full(io.RawIOBase):
        name = "all.parquet"

        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    client, request = (
        at("parquet"),
        Request("GET", f"/v1/versions/{asked.version}/export", sink=Saved(Full(), "parquet")),
    )
    with pytest.raises(fldp.FldpError, match=r"^all.parquet: cannot be written: No space left on device$"):
        client._finish(client._line.ask(request, lambda reply: reply))


def test_bad_arguments(at, asked):
    client = at()
    for action, message in [
        (lambda: client.send(reports(asked)), "survey must be the one that the reports answer"),
        (lambda: client.send(wire.encode(reports(asked))), "a survey's version must be 64 hexadecimal digits"),
        (lambda: client.send(reports(asked), asked, key="short"), "key must be 22 to 128 of the characters"),
        (lambda: client.survey("../tokens"), "the name of a survey must be"),
        (lambda: client.revoke_token("a/b"), "the id of a token must be"),
        (lambda: client.delete("browser"), "what is deleted must be version=, or all=True"),
        (lambda: client.delete("browser", version="x", all=True), "what is deleted must be"),
        (lambda: client.create({"name": "x"}), "survey must be a Survey"),
        (lambda: client.tickets(asked, 10**6), "count must be an integer from 1 to 100000"),
        (lambda: Client("https://a.example", retries=-1), "retries must be"),
        (lambda: Client("https://a.example", timeout=0), "timeout must be"),
    ]:
        with pytest.raises(fldp.ParameterError, match=message):
            action()
    with pytest.raises(fldp.WireError, match="is expected"):
        client.send(wire.encode(reports(asked), asked.version), survey("another"))


def test_importing_fldp_does_not_load_httpx():
    code = "import sys, fldp, fldp.client; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_httpx_the_fix_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(fldp.FldpError, match=r"needs httpx, install it with: pip install 'fldp\[client\]'"):
        Client("https://collector.example")


def test_a_problem_of_any_shape_is_an_error():
    for body in [
        b"",
        b"{",
        b"[]",
        b'{"detail": 7}',
        b'{"detail": null, "title": ["x"]}',
        b'{"mistakes": 5, "index": "a"}',
    ]:
        error = messages.problem(Reply(400, {}, body))
        assert error.refused
        assert "(status 400)" in str(error)
    said = messages.problem(Reply(422, {}, b'{"detail": "bad", "mistakes": ["one\\n", {"a": 1}], "type": "urn:x"}'))
    assert (said.mistakes, said.kind) == (("one", "{'a': 1}"), "urn:x")
    assert retry.log.name == "fldp.client"
