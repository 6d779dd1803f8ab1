"""Servers that keep to no rule, and what the client lets them do: little, and not for long."""

import asyncio
import json
import ssl
import threading
from itertools import chain, repeat

import pytest

import fldp
from fldp import AsyncClient, Client, CollectorError, Participant
from fldp.client import derived_key, messages
from fldp.participant_store import MemoryStore
from support.client import TOKEN, estimates_reply, self_signed, survey
from support.client_kinds import asked
from support.raw_server import answer, raw
from support.serving import shell
from support.waiting import LONG

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def slowly(start, part, seconds=0.05):
    """Send the same without an end, each time soon enough not to be a silence."""
    return lambda asked: chain([start], chain.from_iterable(repeat([part, seconds])))


ENDLESS = {
    "a header": slowly(HEAD + b"X: ", b"x"),
    "headers": slowly(HEAD, b"X: x\r\n"),
    "greetings": slowly(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "greetings at once": slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0.001),
    "a chunk's length": slowly(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
    "chunks": slowly(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "a body without a length": slowly(HEAD + b"Connection: close\r\n\r\n[", b" "),
    "a trailer": slowly(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n", b"X: x\r\n"),
}


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("what", ENDLESS)
def test_what_drips_without_an_end_is_cut(kind, what, monkeypatch):
    monkeypatch.setattr(messages, "MAX_SECONDS", 1.0)
    with raw(ENDLESS[what]) as (url, seen), pytest.raises(CollectorError, match="is not complete after") as error:
        asked(kind, url, lambda client: client.surveys(), retries=1, patience=0.01)
    assert len(seen) == 2
    assert error.value.status is None
    for thread in threading.enumerate():
        if thread.name == "fldp watch":
            thread.join(LONG)
            assert not thread.is_alive()


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_what_drips_in_private_is_cut_too(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(messages, "MAX_SECONDS", 0.5)
    key, certificate = self_signed()
    (tmp_path / "both.pem").write_bytes(key + certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "both.pem")
    trusting = ssl.create_default_context(cadata=certificate.decode())
    for what in ("a header", "a body without a length"):
        with raw(ENDLESS[what], context) as (url, _), pytest.raises(CollectorError, match="is not complete after"):
            asked(kind, url, lambda client: client.surveys(), retries=0, tls=trusting)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_file_that_comes_slowly_gets_more_time_but_not_without_an_end(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(messages, "MAX_SECONDS", 4.0)
    head, part = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nPAR1", b"." * 10_000
    with raw([head, *[part, 0.2] * 24, b"PAR1"]) as (url, _):  # 4.8 s, and 240,000 bytes give 59 s more
        assert asked(kind, url, lambda client: client.export("ab" * 32, tmp_path / "all.parquet")) == 240_008
    with raw(slowly(head, b".")) as (url, _), pytest.raises(CollectorError, match="is not complete after"):
        asked(kind, url, lambda client: client.export("ab" * 32, tmp_path / "cut.parquet"), retries=0)
    assert [path.name for path in tmp_path.iterdir()] == ["all.parquet"]


def test_one_thread_watches_and_ends_when_nothing_goes_on(monkeypatch):
    monkeypatch.setattr(messages, "MAX_SECONDS", 4.0)  # what is answered at once is in time on a busy machine, too

    def watching():
        return [thread for thread in threading.enumerate() if thread.name == "fldp watch"]

    def script(lines):
        return [12.0, *answer(b"[]")] if "tokens" in lines[0] else answer(b"[]")

    with raw(script) as (url, _), Client(url, retries=0) as client:
        for _ in range(2):
            assert [client.surveys() for _ in range(5)] == [[]] * 5
            assert len(watching()) <= 1
            for thread in watching():
                thread.join(LONG)  # it sleeps once and finds nothing to watch
            assert watching() == []
        with pytest.raises(CollectorError, match="is not complete after"):
            client.tokens()


def test_one_that_is_cut_can_ask_again(monkeypatch):
    """The next request finds no dead connection, and an answer in time is not cut."""
    monkeypatch.setattr(messages, "MAX_SECONDS", 4.0)
    turns = iter([ENDLESS["a header"], lambda asked: [HEAD + b"Content-Length: 2\r\n\r\n[]"]])
    with raw(lambda asked: next(turns)(asked)) as (url, seen), Client(url, patience=0.01) as client:
        assert client.surveys() == []
    assert len(seen) == 2


def said(script, operation):
    """Return what a client says of an answer."""
    with raw(script) as (url, _), Client(url, TOKEN, retries=0) as client, pytest.raises(CollectorError) as error:
        operation(client)
    assert "\n" not in str(error.value)
    return error.value


# --- a 200 that is not a collector's

VERSION = "ab" * 32
ROW = {"value": 0, "label": "a", "count": 1.0, "stderr": 1.0, "low": 0, "high": 2.0, "frequency": 0.1}
TIMES = {"created": "2026-11-01T00:00:00Z", "expires": None, "revoked": None}
MADE = {"id": "t1", "scope": "read", "survey": None, "token": "fldp_read_x", **TIMES}
STATE = {"name": "browser", "version": VERSION, "created": "2026-11-01", "closed": None, "submit": "open"}
LISTED = {**STATE, "state": "open", "question": "?", "decoders": [], "methods": [], "n": 1}
FOUND = estimates_reply(ROW)


@pytest.mark.parametrize("body", [b"<html>Please log in</html>", b"{}", b"[]", b"null", b"7", b'{"status": "ok"}', b""])
def test_a_page_that_answers_everything_is_believed_nothing(body):
    """A portal says 200 to whatever it is asked: nothing was deleted, revoked, closed, published or counted."""
    operations = [
        lambda client: client.delete("browser", all=True),
        lambda client: client.revoke_token("t1"),
        lambda client: client.close("browser"),
        lambda client: client.reopen("browser"),
        lambda client: client.create(survey()),
        lambda client: client.send(survey().privatize(["edge"]), survey()),
        lambda client: client.survey("browser"),
        lambda client: client.estimates(VERSION),
        lambda client: client.tally(VERSION),
        lambda client: client.tickets(VERSION, 3),
        lambda client: client.create_token("read"),
        lambda client: client.answer("browser", "edge", participant=Participant(MemoryStore())),
    ]
    with raw(answer(body)) as (url, _), Client(url, TOKEN, retries=0) as client:
        for operation in operations:
            with pytest.raises(CollectorError, match=r"^http://127.0.0.1:[0-9]+: [^\n]+$"):
                operation(client)


@pytest.mark.parametrize(
    ("reply", "operation", "message"),
    [
        (
            {**MADE, "scope": "admin"},
            lambda c: c.create_token("read"),
            "another token than one to read, for survey any",
        ),
        ({**MADE, "token": "\x1b]0;x"}, lambda c: c.create_token("read"), "a token has unexpected characters"),
        ({**MADE, "token": "two words"}, lambda c: c.create_token("read"), "another token than one to read"),
        ([{**MADE, "id": "\x9b31m"}], lambda c: c.tokens(), "a token has unexpected characters"),
        ({"tickets": ["a", "b"]}, lambda c: c.tickets(VERSION, 3), "must hold 3 tickets, got 2"),
        ({"tickets": ["a", "b", "b"]}, lambda c: c.tickets(VERSION, 3), "must hold 3 tickets, got 2"),
        ({"tickets": ["a", "b", 7]}, lambda c: c.tickets(VERSION, 3), "Expected `str`, got `int` - at `$.tickets["),
        ({"tickets": ["a", "b", "c\n"]}, lambda c: c.tickets(VERSION, 3), "must hold 3 tickets, got 2"),
        ({**FOUND, "rows": [7]}, lambda c: c.estimates(VERSION), "Expected `object`, got `int` - at `$.rows["),
        ({**FOUND, "rows": [{**ROW, "label": 7}]}, lambda c: c.estimates(VERSION), "got `int` - at `$.rows[0].label`"),
        ({**FOUND, "rest": {"count": 1}}, lambda c: c.estimates(VERSION), "missing required field `stderr`"),
        (
            {**STATE, "name": "other", "state": "closed"},
            lambda c: c.close("browser"),
            "did not say that survey browser is closed",
        ),
        ({**STATE, "state": "open"}, lambda c: c.close("browser"), "did not say that survey browser is closed"),
        ({**STATE, "state": "closed"}, lambda c: c.reopen("browser"), "did not say that survey browser is open again"),
        ({**STATE, "name": "other", "state": "open"}, lambda c: c.reopen("browser"), "is open again"),
        ([{**LISTED, "state": "\x1b[2J"}], lambda c: c.surveys(), "Invalid enum value - at `$[0].state`"),
        ([{**LISTED, "version": "x"}], lambda c: c.surveys(), "Expected `str` matching regex"),
        ([{**LISTED, "question": "\ud800", "\ud800": 1}], lambda c: c.surveys(), "a text is no Unicode"),
        ([{"day": "../x", "n": 1}], lambda c: c.days(VERSION), "at `$[0].day`"),
        ([{"day": "2026-11-01", "n": -1}], lambda c: c.days(VERSION), "at `$[0].n`"),
    ],
)
def test_what_is_made_is_what_was_asked_for(reply, operation, message):
    assert message in str(said(answer(json.dumps(reply).encode()), operation))


def test_nothing_has_changed_is_no_answer_to_a_first_question():
    assert "unexpected 304 Not Modified" in str(
        said(answer(b"", "304 Not Modified"), lambda client: client.estimates(VERSION))
    )


# --- secrets

TICKET, KEY = "T1cket" * 5, derived_key("a key")


def problem(**fields):
    return answer(json.dumps(fields).encode(), "422 No")


@pytest.mark.parametrize("secret", [TOKEN, TICKET, KEY])
@pytest.mark.parametrize(
    "script",
    [
        lambda secret: problem(detail=secret),
        lambda secret: problem(detail="a" * 480 + secret),  # what is cut off in the middle is still a secret
        lambda secret: problem(detail=["a", {"b": secret}]),
        lambda secret: problem(detail="bad", mistakes=[secret, "a" * 490 + secret, {"a": [secret]}]),
        lambda secret: problem(type="a" * 80 + secret),
        lambda secret: answer(b"", "302 Found", "text/html", f"Location: https://evil.example/{'a' * 170}?{secret}"),
        lambda secret: answer(json.dumps({"accepted": "a" * 30 + secret}).encode()),
        lambda secret: [f"HTTP/1.1 200 OK\r\n{'a' * 50} {secret}\r\n\r\n".encode()],
        lambda secret: [f"{'a' * 150}{secret}\r\n\r\n".encode()],
    ],
)
def test_a_secret_that_is_repeated_is_not_shown(secret, script):
    batch = survey().privatize(["edge"])
    error = said(script(secret), lambda client: client.send(batch, survey(), key=KEY, ticket=TICKET))
    shown = " ".join([str(error), repr(error), str(error.kind), *error.mistakes])
    assert not [part for part in (secret[k : k + 8] for k in range(len(secret) - 7)) if part in shown]


def test_a_label_is_not_shown():
    """A survey that no longer has what a person holds must not make a program write it into its log."""
    asked, person = survey(), Participant(MemoryStore())
    published = json.dumps({"version": asked.version, "survey": asked.canonical, "state": "open"}).encode()
    with raw(answer(published)) as (url, seen), Client(url) as client:
        with pytest.raises(fldp.DomainError) as error:
            client.answer("browser", "a rare disease", participant=person, labels=asked.labels)
        assert seen == []  # it is the program that lacks it, and the collector learns nothing of that
        with pytest.raises(CollectorError) as other:
            client.answer("browser", "a rare disease", participant=person)  # what it sends is not acknowledged
        assert len(seen) == 2
    assert "rare" not in str(error.value) + str(other.value)
    sent = person.answer(asked, "edge", origin="https://a.example")
    assert sent.key not in repr(sent)
    assert repr(sent.report)[2:-1] not in repr(sent)


def test_a_survey_of_mistakes_is_one_short_line():
    asked = survey()
    broken = {**asked.canonical, "labels": [f" {k}\x1b" for k in range(10_000)]}
    script = answer(json.dumps({"version": asked.version, "survey": broken, "state": "open"}).encode())
    for operation in (
        lambda client: client.survey("browser"),
        lambda client: client.answer("browser", "edge", participant=Participant(MemoryStore())),
    ):
        error = str(said(script, operation))
        assert "the answer is not a survey" in error
        assert len(error) < 700
        assert "\x1b" not in error


# --- the environment, and misuse


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "ftp://user:pa55word@proxy.example"),
        ("HTTPS_PROXY", "http://user:pa55word@[::1"),
        ("SSL_CERT_FILE", "/nowhere/pa55word"),
    ],
)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_an_environment_that_makes_no_sense_is_one_line(monkeypatch, kind, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(fldp.FldpError, match="check what the environment says") as error:
        kind("https://collector.example", TOKEN)
    assert "pa55word" not in str(error.value)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_client_that_was_disconnected_says_so(kind):
    async def late():
        client = AsyncClient("http://127.0.0.1:9")
        await client.disconnect()
        await client.surveys()

    def blocking():
        client = Client("http://127.0.0.1:9")
        client.disconnect()
        client.surveys()

    with pytest.raises(CollectorError, match="the client is disconnected; make another one"):
        blocking() if kind is Client else asyncio.run(late())


def test_an_empty_day_is_not_all_days():
    """A variable of a script that is empty must not widen what is asked for."""
    with raw(answer(b"{}")) as (url, seen), Client(url, TOKEN) as client, pytest.raises(CollectorError):
        client.estimates(VERSION, since="", until="2026-11-03")
    assert seen[0][0] == f"GET /v1/versions/{VERSION}/estimates?from=&to=2026-11-03&format=json HTTP/1.1"


def test_half_a_character_names_a_sender():
    assert derived_key("\udcff") != derived_key("\udcfe")


def test_nothing_reaches_the_terminal_unseen(tmp_path):
    """A collector can put what it likes into its answers; escape sequences are not printed."""
    asked = survey()
    (tmp_path / "survey.json").write_text(json.dumps(asked.canonical))
    bad = "\x1b]0;x\x07\x9b2J"
    row = {**LISTED, "question": bad, bad: bad, "created": bad}
    created = {**STATE, "version": asked.version, "created": bad, "submit": bad, "state": "open", bad: bad}
    for reply, command in [([row], ["list"]), (created, ["create", tmp_path / "survey.json"])]:
        for form in ([], ["--json"]):
            with raw(answer(json.dumps(reply).encode())) as (url, _):
                out, beside = shell("survey", *command, *form, "--to", url, token=TOKEN)
            assert not [c for c in out + beside if not (c.isprintable() or c == "\n")]
