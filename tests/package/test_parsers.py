"""Every parser of what comes from outside: whatever comes is read, or refused with an error that its callers expect."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fldp
from fldp import Responder, Survey, wire
from fldp.cli.oracle_options import build_oracle
from fldp.cli.prior import read_prior
from fldp.collector.config.clock import parse_time
from fldp.collector.config.settings import Settings
from fldp.collector.http.candidates import parse_candidates, parse_wanted
from fldp.experiments.datasets.from_files import from_file
from fldp.experiments.runner.specification import Specification
from fldp.experiments.runner.table import COLUMNS, Table
from fldp.oblivious.bhttp import BinaryReply, BinaryRequest
from fldp.oblivious.ohttp import GatewayKey, decapsulate, decode_keys, encapsulate, encode_keys
from fldp.passes.blind_rsa import PublicKey
from fldp.passes.issuing import PrivateKey
from fldp.passes.tokens import PassSecret, key_text, read_key
from fldp.privacy import notions
from fldp.privacy.laws import read_table
from fldp.support.web_origin import origin_of
from fldp.telemetry.modes import choices, choices_path
from fldp.telemetry.page import read_view
from fldp.telemetry.rules import lint
from fldp.wire import files
from fldp.wire.cells import read_candidates, read_cells
from fldp.wire.record_cells import read_rows
from support.hostile_text import contents, refused_or_read, texts
from support.parsed import FIELDS, REPORTS, SURVEY
from support.passes import KEY, issued, pass_survey

PASSED, GATEWAY, SECRET = pass_survey(), GatewayKey.generate(3), PassSecret.draw(KEY.public)
TODAY = date(2026, 11, 16)
METRICS = """format = "fldp-metrics-1"
app = "paint"
collector = "https://collector.example"
epsilon = 1.0
[metric.theme]
kind = "choice"
values = ["light", "dark"]
why = "to know"
owner = "a@b.example"
expires = 2027-06-30
"""
TOML = """name = "browser"
question = "Which one?"
labels = ["a", "b", "c"]
oracle = { name = "fhr", epsilon = 1.0 }
[collect]
minimum = 10
"""
CHOICE = 'mode = "on"\nsince = "2026-01-01"\n[app.paint]\nmode = "local"\n'
EXPERIMENT = 'datasets = ["zipf"]\noracles = ["oue"]\nepsilons = [1.0, 2]\nruns = 3\n'
TABLE = "label,count\nchrome,5\nedge,-2.5\n"
GIVEN = {"epsilon": 2.0, "domain": 5}
MEASURED = ",".join(COLUMNS) + "\n"


def chosen(path):
    """Read what a person chose: what cannot be read means off, so nothing is refused."""
    variables = {"XDG_CONFIG_HOME": str(Path(path).parent)}
    Path(path).replace(_made(Path(choices_path(variables))))
    assert isinstance(choices(variables), dict)
    return choices(variables)


def _made(path):
    path.parent.mkdir(exist_ok=True)
    return path


# What a parser reads: a good example, and the parser.
TEXTS = {
    "survey as TOML": (TOML, lambda text: Survey.parse(text, is_json=False)),
    "survey as JSON": (json.dumps(FIELDS), lambda text: Survey.parse(text, is_json=True)),
    "survey of a responder": (json.dumps(SURVEY.canonical), lambda text: Responder.from_dict(_json(text))),
    "metrics": (METRICS, lambda text: lint(text, "metrics.toml", TODAY)),
    "metrics as JSON": ('{"format": "fldp-metrics-1"}', lambda text: lint(text, "metrics.json", TODAY)),
    "claim": ("FLDP(1, 1/2)", notions.parse),
    "claim about values": ("ULDP(1, [0, 3])", notions.parse),
    "time": ("2026-11-01T12:00:00Z", parse_time),
    "origin": ("https://collector.example:8443", origin_of),
    "budgets in the shell": ("0:0.5, 3:1", lambda text: build_oracle("idue", {**GIVEN, "budgets": text})),
    "values in the shell": ("0, 3", lambda text: build_oracle("urr", {**GIVEN, "sensitive": text})),
    "key of an issuer": (key_text(KEY.public), read_key),
    "pass": (issued(PASSED), PASSED.pass_terms.nonce),
}
FILES = {
    "settings": (
        "toml",
        'host = "127.0.0.1"\nport = 8000\nrate = 2.5\n',
        lambda path: Settings.load({}, {}, Path(path)),
    ),
    "choice of a person": ("toml", CHOICE, chosen),
    "experiment": ("toml", EXPERIMENT, Specification.load),
    "prior": ("csv", TABLE, lambda path: read_prior(path, SURVEY, 5)),
    "cells": ("csv", "name,os\na,b\n,\n", lambda path: list(read_cells(path, "os"))),
    "only column": ("csv", "os\na\n", lambda path: list(read_cells(path))),
    "candidates": ("txt", "a\nb\n\n", read_candidates),
    "rows": ("csv", "name;os\na;b\n;\n", lambda path: list(read_rows(path, ["os", "name"]))),
    "law": (
        "csv",
        "0.5,0.5\n0.25,0.75\n",
        lambda path: fldp.verify(read_table(Path(path)), notion=notions.parse("LDP(1)")),
    ),
    "counts": ("csv", "item,count\na,5\nb,0\n", lambda path: from_file(0, path)),
    "measurements": ("csv", MEASURED, Table.read),
    "view": ("json", "{}", lambda path: read_view(Path(path))),
    "batch": ("fldp", wire.encode(REPORTS, SURVEY.version), files.read),
}
BYTES = {
    "batch": (wire.encode(REPORTS, SURVEY.version), wire.decode),
    "tally": (wire.encode_tally(SURVEY.oracle.tally(REPORTS), SURVEY.version), wire.decode_tally),
    "secrets of a pass": (SECRET.encoded, PassSecret.decode),
    "public key": (KEY.public.spki, PublicKey.from_spki),
    "private key": (KEY.encoded, PrivateKey.decode),
    "private key as PEM": (KEY.pem, PrivateKey.from_pem),
    "request for a pass": (PASSED.pass_terms.request(SECRET), PASSED.pass_terms.blinded),
    "keys of a gateway": (encode_keys([GATEWAY.config]), decode_keys),
    "encrypted request": (encapsulate(GATEWAY.config, b"a request")[0], lambda data: decapsulate([GATEWAY], data)),
    "binary request": (BinaryRequest(b"POST", b"/v1", ((b"a", b"b"),), b"content").encode(), BinaryRequest.decode),
    "binary reply": (BinaryReply(200, ((b"a", b"b"),), b"content").encode(), BinaryReply.decode),
    "candidates": (b'{"candidates": ["firefox", "chrome"]}', lambda data: parse_candidates(data, 10)),
    "prior": (b'{"prior": [1, 2, 3, 4, 5]}', lambda data: parse_wanted(data, SURVEY, "bayes", 10)),
}


def _json(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


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


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=30)
@given(data=st.data())
def test_any_file_is_read_or_refused(name, data, tmp_path_factory):
    ending, example, parse = FILES[name]
    path = tmp_path_factory.getbasetemp() / f"any.{ending}"
    path.write_bytes(data.draw(contents(example)))
    refused_or_read(parse, str(path))


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 3000, "x = " + "9" * 5000, "[" * 3000, "9" * 5000, "\0", "x =", '"\ud800"']
)
def test_what_stops_the_parsers_of_others_is_refused(text, tmp_path):
    """Too deep, too long, cut off, and half a character: Python's own parsers raise errors of many kinds."""
    for _, parse in TEXTS.values():
        refused_or_read(parse, text)
    data = text.encode("utf-8", "surrogatepass")
    for _, parse in BYTES.values():
        refused_or_read(parse, data)
    for ending, _, parse in FILES.values():
        path = tmp_path / f"odd.{ending}"
        path.write_bytes(data)
        refused_or_read(parse, str(path))


@pytest.mark.parametrize("name", [*TEXTS, *BYTES, *FILES])
def test_the_examples_are_read(name, tmp_path):
    """So what is changed in them is near to what parsers take."""
    for example, parse in (table[name] for table in (TEXTS, BYTES) if name in table):
        assert parse(example) is not None
    if name in FILES and name != "view":
        ending, example, parse = FILES[name]
        path = tmp_path / f"good.{ending}"
        path.write_bytes(example.encode() if isinstance(example, str) else example)
        assert parse(str(path)) is not None
