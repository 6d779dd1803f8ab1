"""Parsers of what others send, and of what operators and people write: headers, replies, addresses, settings."""

import json
from contextlib import suppress
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fldp import wire
from fldp.client.address import Address
from fldp.client.messages import Reply, problem, retry_after
from fldp.client.replies import checked, tally_of, verified
from fldp.collector.config import proxies
from fldp.collector.config.settings import PREFIX, Settings
from fldp.collector.service.tokens import ticket_digest
from fldp.distributed.lake.layout import Window
from fldp.interface.operations import OPERATIONS
from fldp.interface.reading import ModelError, from_json, from_query
from fldp.participant.notes import RelayedKeys
from fldp.support.identifiers import VERSION
from fldp.telemetry.sending import PlainReply
from fldp.wire.single_reports import SingleReports
from support.hostile_text import contents, refused_or_read, texts
from support.parsed import REPORTS, SURVEY, read

PROXIES = proxies.networks("10.0.0.0/8, ::1")
ONE = wire.encode(REPORTS[0], SURVEY.version)
SINGLES = SingleReports(SURVEY.oracle, SURVEY.version)
PUBLISHED = json.dumps({"survey": SURVEY.canonical, "version": SURVEY.version, "state": "open"})
TOLD = json.dumps({"type": "urn:fldp:survey", "title": "no", "detail": "why", "index": 3, "mistakes": ["one", "two"]})
MODELS = [operation.body for operation in OPERATIONS if isinstance(operation.body, type)]
QUERIES = [operation.query for operation in OPERATIONS if operation.query]


def scope(**headers):
    """Return a request of somebody who is trusted."""
    raw = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
    return {"client": ("10.0.0.1", 1), "scheme": "http", "headers": raw}


def variables(text):
    """Return an environment in which every setting says this."""
    return {setting.metadata["variable"] or PREFIX + setting.name.upper(): text for setting in fields(Settings)}


def models(read_one, of, data):
    """Read data as every model; what does not fit is a list of mistakes."""
    for model in of:
        with suppress(ModelError):
            assert isinstance(read_one(model, data), model)


def replied(data):
    """Read a reply as that of every operation, in turn."""
    for operation in OPERATIONS:
        if isinstance(operation.reply, type):
            refused_or_read(lambda body, name=operation.name: checked(Reply(200, {}, body), name), data)


def single(data):
    """Read a batch of one report in both ways, which must agree."""
    packed = SINGLES.packed(data)
    if packed is None:
        return None
    reports, good = SINGLES.decode([packed])
    assert read(lambda body: wire.decode(body, SURVEY.oracle, SURVEY.version), data) == (reports if good[0] else None)
    return reports


TEXTS = {
    "address of a collector": ("https://collector.example:8443/surveys/", Address.of),
    "address of a database": (
        "postgresql://collector:secret@db.example:5433/fldp?sslmode=require",
        lambda text: Settings.load({"database": text}, {}),
    ),
    "proxies": ("127.0.0.1, 10.0.0.0/8", lambda text: Settings.load({"trusted_proxies": text}, {})),
    "environment": ("1", lambda text: Settings.load({}, variables(text))),
    "time to wait": ("Wed, 18 Nov 2026 12:00:00 GMT", lambda text: retry_after({"retry-after": text})),
    "keys of a relay": (RelayedKeys("https://relay.example", b"keys", 1.5).encoded, RelayedKeys.decode),
    "day of a lake": ("2026-11-15", lambda text: Window.of(None, text, None)),
    "folder of a lake": (
        "lake/survey=2dff65b8/day=2026-11-15/x.parquet",
        Window.of(None, "2026-11-01", "2026-11-30").has,
    ),
    "version": (SURVEY.version, lambda text: VERSION("survey", "version", text)),
    "ticket": (f"fldp_ticket_{'a' * 43}", ticket_digest),
    "query": ("5", lambda text: models(from_query, QUERIES, [("top", text), ("from", text), ("post", text)])),
}
BYTES = {
    "forwarded for": (b"6.6.6.6, [2001:db8::7]:80", lambda data: proxies.sender(scope(x_forwarded_for=data), PROXIES)),
    "forwarded by": (b"https", lambda data: proxies.scheme(scope(x_forwarded_proto=data), PROXIES)),
    "host": (b"localhost:8080", lambda data: proxies.is_local({**scope(host=data), "client": ("::1", 1)}, ())),
    "single report": (ONE, single),
    "body": (b'{"scope": "read", "survey": null}', lambda data: models(from_json, MODELS, data)),
    "reply": (PUBLISHED.encode(), replied),
    "published survey": (PUBLISHED.encode(), lambda data: verified(Reply(200, {}, data), SURVEY.name, None)),
    "problem": (TOLD.encode(), lambda data: problem(Reply(422, {}, data), ["secret"])),
    "tally of a collector": (
        wire.encode_tally(SURVEY.oracle.tally(REPORTS), SURVEY.version),
        lambda data: tally_of(Reply(200, {}, data), SURVEY.version, SURVEY.oracle),
    ),
    "confirmation": (b'{"accepted":1}', lambda data: PlainReply(200, data).confirms("accepted")),
}


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=30)
@given(data=st.data())
def test_any_text_is_read_or_refused(name, data):
    example, parse = TEXTS[name]
    refused_or_read(parse, data.draw(texts(example)))


@pytest.mark.parametrize("name", BYTES)
@settings(max_examples=30)
@given(data=st.data())
def test_any_bytes_are_read_or_refused(name, data):
    example, parse = BYTES[name]
    refused_or_read(parse, data.draw(contents(example)))


@pytest.mark.parametrize("name", sorted({*TEXTS, *BYTES} - {"body", "environment", "query", "reply"}))
def test_the_examples_are_read(name):
    """So what is changed in them is near to what parsers take."""
    example, parse = {**TEXTS, **BYTES}[name]
    assert parse(example) is not None


@given(st.lists(st.ip_addresses(), min_size=1, max_size=4), st.text(max_size=20))
def test_the_sender_is_the_nearest_stranger_whatever_the_stranger_wrote(addresses, written):
    """Trusted proxies add what they were asked from; what stands before that is of no account."""
    stranger = next((each for each in addresses if not any(each in net for net in PROXIES)), None)
    if stranger is None or getattr(stranger, "ipv4_mapped", None):
        return
    forwarded = f"{written}, {stranger}, 10.1.2.3".encode("latin-1", "replace")
    assert proxies.sender(scope(x_forwarded_for=forwarded), PROXIES) == stranger
