"""What is written is read as it was: every format that programs exchange or keep, over drawn contents."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fldp import FHR, GRR, OLH, OUE, SS, Survey, wire
from fldp.collector.config.clock import parse_time, text
from fldp.experiments.runner.journal import Journal
from fldp.oblivious.ohttp import GatewayKey, decapsulate, decode_keys, encapsulate, encode_keys
from fldp.participant.notes import RelayedKeys
from fldp.participant.past_answers import all_sent, with_new_day
from fldp.participant.stored_answer import StoredAnswer
from fldp.participant.text_files import ChanceFile
from fldp.passes.blind_rsa import PublicKey
from fldp.passes.tokens import PassSecret, key_text, read_key
from fldp.telemetry.modes import choices, choose
from fldp.wire import files
from support.parsed import FIELDS
from support.passes import KEY

VERSION = "ab" * 32
NAMES = st.from_regex("[a-z0-9]([a-z0-9_-]{0,20}[a-z0-9])?", fullmatch=True)
PRINTABLE = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=12)


@pytest.mark.parametrize("family", [GRR, OUE, OLH, SS, FHR], ids=lambda family: family.name)
@settings(max_examples=10)
@given(data=st.data())
def test_reports_and_tallies(family, data):
    """``tests/wire`` has every oracle, with values that are not drawn."""
    oracle = family(epsilon=1.0, domain_size=data.draw(st.sampled_from([5, 15, 40])))
    values = data.draw(st.lists(st.integers(0, oracle.domain_size - 1), min_size=1, max_size=20))
    reports = oracle.privatize(values, rng=data.draw(st.integers(0, 99)))
    version = data.draw(st.sampled_from([None, VERSION]))
    assert wire.decode(wire.encode(reports, version), oracle, version) == reports
    tally = oracle.tally(reports)
    assert wire.decode_tally(wire.encode_tally(tally, version), oracle, version) == tally


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["edge", "other"]), min_size=1, max_size=30), st.sampled_from(["fldp", "parquet"]))
def test_files_of_reports(tmp_path_factory, values, ending):
    survey = Survey.from_dict(FIELDS)
    path = str(tmp_path_factory.getbasetemp() / f"reports.{ending}")
    reports = survey.privatize(values, rng=1)
    files.write_reports(path, survey.oracle, [reports], survey.version)
    content = files.read(path)
    assert (content.tally, content.survey) == (survey.oracle.tally(reports), survey.version)


@given(NAMES, PRINTABLE, st.lists(PRINTABLE, min_size=2, max_size=6, unique=True))
def test_surveys(name, question, labels):
    try:
        survey = Survey.from_dict({**FIELDS, "name": name, "question": question, "labels": labels})
    except ValueError:  # such as labels that look the same
        return
    assert Survey.from_dict(survey.canonical) == survey
    assert Survey.from_dict(survey.canonical).version == survey.version


@given(st.binary(max_size=300), st.integers(0, 255))
@settings(max_examples=20)
def test_encrypted_requests_and_replies(content, number):
    key = GatewayKey.generate(number)
    (config,) = decode_keys(encode_keys([key.config]))
    sent, exchange = encapsulate(config, content)
    request, answered = decapsulate([key], sent)
    assert request == content
    assert exchange.decapsulate(answered.encapsulate(content)) == content


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=48, max_size=48), st.integers(1, KEY.public.n - 1))
def test_secrets_and_keys_of_passes(nonce, salt, blinding):
    secret = PassSecret(nonce, salt, blinding)
    assert PassSecret.decode(secret.encoded) == secret
    assert PublicKey.from_spki(KEY.public.spki) == read_key(key_text(KEY.public)) == KEY.public


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=6))
def test_answers_of_many_days(batches):
    kept = StoredAnswer.with_new_key(batches[0]).with_checksum
    for batch in batches[1:]:
        kept = with_new_day(kept, StoredAnswer.with_new_key(batch).with_checksum)
    assert [answer.report for answer in all_sent(kept)] == batches[::-1]


@given(st.binary(max_size=80), st.floats(0, 1e12), st.text(max_size=30))
def test_keys_of_a_relay(keys, at, relay):
    handed = RelayedKeys(relay, keys, at)
    assert RelayedKeys.decode(handed.encoded) == handed


@settings(max_examples=20)
@given(st.dictionaries(NAMES, st.integers(0, (1 << 64) - 1), max_size=4))
def test_chances(tmp_path_factory, words):
    chances = ChanceFile(tmp_path_factory.mktemp("ledger") / "answers.db.chances")
    for version, word in words.items():
        chances.add("https://collector.example", version, word)
    assert {version: chances.find("https://collector.example", version) for version in words} == words


@settings(max_examples=20)
@given(st.dictionaries(st.integers(0, 99), st.lists(st.floats(allow_nan=False), max_size=3), max_size=4))
def test_journals(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("experiment") / "journal"
    with Journal(path, {"runs": 3}) as journal:
        for cell, values in cells.items():
            journal.add(cell, values)
    with Journal(path, {"runs": 3}) as journal:
        assert journal.done == cells


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from(["on", "local", "off"]), st.none() | NAMES), max_size=4))
def test_choices_of_a_person(tmp_path_factory, chosen):
    variables, expected = {"XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("config"))}, {}
    for mode, app in chosen:
        choose(mode, app, "2026-11-01", variables)
        one = {"mode": mode, "since": "2026-11-01"}
        expected = one if app is None else {**expected, "app": {**expected.get("app", {}), app: one}}
    assert choices(variables) == expected


@given(st.datetimes(datetime(2000, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC)))
def test_times(time):
    assert parse_time(text(time)) == time.replace(microsecond=0)
