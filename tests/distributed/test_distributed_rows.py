"""Privatizing columns: the same reports whatever the frame, the batches and the attempt; nothing that says whose."""

import hashlib
import hmac
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import fldp
from fldp.distributed import privatize, tally
from fldp.distributed.lake import row_privatizer
from fldp.errors import DomainError, FldpError, ParameterError
from fldp.randomness.row_words import RowWords, RunKey
from fldp.support import canonical_json
from fldp.wire import describe
from support.lakes import FHR, in_order, people

KEY = RunKey(bytes(range(32)))
ORACLES = [FHR, fldp.GRR(epsilon=1.0, domain_size=9), fldp.OUE(epsilon=1.0, domain_size=100)]
SURVEY = fldp.Survey.from_dict(
    {
        "name": "browser",
        "question": "Which?",
        "labels": ["chrome", "firefox", "safari", "edge", "other"],
        "oracle": {"name": "fhr", "epsilon": 1.0},
    }
)


def slow_words(key, question, identifier, value, count):
    """Draw the words of one row as the docstring of run_key says, with nothing shared with it but the ciphers."""
    secrets = {}
    for purpose in (b"tags", b"words"):
        text = b"fldp rows 1\0" + purpose + b"\0" + canonical_json.dumps(question)
        secrets[purpose] = hmac.new(key, text, hashlib.sha256).digest()
    kinds = {int: b"i", str: b"s", bytes: b"b"}
    coded = [
        kinds[type(cell)] + (cell if isinstance(cell, bytes) else str(cell).encode()) for cell in (identifier, value)
    ]
    message = str(len(coded[0])).encode() + b":" + coded[0] + coded[1]
    tag = hashlib.blake2b(message, digest_size=12, key=secrets[b"tags"]).digest()
    stream = b""
    for counter in range(count):
        cipher = Cipher(algorithms.AES256(secrets[b"words"]), modes.ECB()).encryptor()
        stream += cipher.update(tag + counter.to_bytes(4, "little"))
    return [int.from_bytes(stream[8 * k : 8 * k + 8], "little") for k in range(count)]


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_reports_are_those_of_a_slow_implementation(oracle):
    table = people(60)
    question = {"column": "value", "oracle": describe(oracle), "survey": None}
    expected = []
    for row in table.to_pylist():
        words = np.array([slow_words(bytes(KEY), question, row["who"], row["value"], oracle.words)], np.uint64)
        out = oracle.report_format.empty(1)
        oracle.perturb(np.array([row["value"]], np.int64), words, out)
        expected.append(tuple(out[0]) if out.dtype.names else (out[0].tobytes() if out.ndim > 1 else out[0],))
    assert in_order(privatize(table, "value", "who", oracle, run_key=KEY)) == sorted(expected)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_the_same_reports_whatever_the_batches_the_order_and_the_frame(oracle, monkeypatch):
    table = people(300)
    whole = in_order(privatize(table, "value", "who", oracle, run_key=KEY))
    monkeypatch.setattr(row_privatizer, "_BATCH", 7)
    shuffled = table.take(np.random.default_rng(3).permutation(len(table)))
    assert in_order(privatize(shuffled, "value", "who", oracle, run_key=RunKey(bytes(KEY)))) == whole
    assert in_order(privatize(table.to_pandas(), "value", "who", oracle, run_key=KEY)) == whole


def test_a_survey_takes_labels_and_names_itself_in_the_schema():
    table = pa.table({"who": [1, 2, 3], "browser": ["safari", "edge", "safari"]})
    reports = privatize(table, "browser", "who", SURVEY, run_key=KEY)
    assert SURVEY.version.encode() in reports.schema.metadata[b"fldp"]
    categories = table.to_pandas().astype({"browser": "category"})
    assert in_order(privatize(categories, "browser", "who", SURVEY, run_key=KEY)) == in_order(reports)
    with pytest.raises(DomainError, match="unknown label at position 0"):
        privatize(pa.table({"who": [1], "browser": ["lynx"]}), "browser", "who", SURVEY)


def words_of(identifier, value=b"i0", key=KEY, **question):
    return tuple(RowWords(key, {"column": "a", **question}, [identifier], [value]).words(4))


def test_words_differ_with_everything_they_derive_from():
    other = RunKey(bytes(32))
    drawn = [words_of(b"i1"), words_of(b"s1"), words_of(b"b1"), words_of(b"i1", b"i1"), words_of(b"i1", key=other)]
    drawn += [words_of(b"i1", column="b"), words_of(b"i1", survey="x"), words_of(b"i1i1", b"i0")]
    drawn += [words_of(b"i11", b"i0"), words_of(b"i1", b"1i0")]
    assert len({word for row in drawn for word in row}) == 4 * len(drawn)


def test_integers_of_every_width_are_the_same_people():
    def reports(kind):
        who = pa.array([1, 2, 3], kind) if pa.types.is_integer(kind) else pa.array(["1", "2", "3"]).cast(kind)
        return in_order(privatize(pa.table({"who": who, "value": [5, 6, 7]}), "value", "who", FHR, run_key=KEY))

    assert reports(pa.int8()) == reports(pa.int64()) == reports(pa.uint64()) != reports(pa.string())
    assert reports(pa.string()) == reports(pa.large_string()) == reports(pa.dictionary(pa.int8(), pa.string()))
    assert reports(pa.string()) != reports(pa.binary()) == reports(pa.large_binary())
    fixed = pa.table({"who": pa.array([b"1", b"2", b"3"], pa.binary(1)), "value": [5, 6, 7]})
    assert in_order(privatize(fixed, "value", "who", FHR, run_key=KEY)) == reports(pa.binary())


def test_the_noise_is_that_of_the_oracle():
    """The share of kept values is p; false alarm below 1e-9 (six standard errors), seed fixed by the key."""
    oracle = fldp.GRR(epsilon=1.0, domain_size=4)
    table = pa.table({"who": np.arange(100_000), "value": np.full(100_000, 2)})
    kept = (privatize(table, "value", "who", oracle, run_key=KEY)["symbol"].to_numpy() == 2).mean()
    p = np.e / (np.e + 3)
    assert abs(kept - p) < 6 * np.sqrt(p * (1 - p) / 100_000)


def test_the_result_says_nothing_about_who():
    frame = people(2000).to_pandas().set_index("who", drop=False)
    reports = privatize(frame, "value", "who", FHR, run_key=KEY)
    assert list(reports.columns) == ["plus", "minus"]
    assert isinstance(reports.index, pd.RangeIndex)
    one = [in_order(privatize(people(2000).slice(k, 1), "value", "who", FHR, run_key=KEY))[0] for k in range(20)]
    assert list(reports.head(20).itertuples(index=False, name=None)) != one


def test_without_a_key_every_call_is_another_report():
    assert in_order(privatize(people(300), "value", "who", FHR)) != in_order(
        privatize(people(300), "value", "who", FHR)
    )


def test_a_person_with_two_rows_is_refused_unless_the_caller_vouches():
    table = pa.concat_tables([people(10), people(4)])
    for frame in (table, table.to_pandas()):
        with pytest.raises(DomainError, match="identifier who must be different in every row, but 4 rows repeat one"):
            privatize(frame, "value", "who", FHR)
    twice = in_order(privatize(table, "value", "who", FHR, run_key=KEY, check_unique=False))
    once = in_order(privatize(people(4), "value", "who", FHR, run_key=KEY))
    assert all(twice.count(report) >= 2 for report in once)


def test_two_values_of_a_person_get_independent_noise():
    """Of equal words, two unary reports would differ in the two values alone."""
    oracle = fldp.OUE(epsilon=1.0, domain_size=64)
    table = pa.table({"who": ["ann", "ann"], "value": [3, 5]})
    one, other = privatize(table, "value", "who", oracle, run_key=KEY, check_unique=False)["bits"].to_pylist()
    assert (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).bit_count() > 2


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"who": [1, None], "value": [1, 2]}, "column who must not have missing cells, but row 1 is missing"),
        ({"who": [1, 2], "value": [None, 2]}, "column value must not have missing cells, but row 0 is missing"),
        ({"who": [1.5], "value": [1]}, "column who must be of integers, text or bytes, got double"),
        ({"who": [1], "value": [1.0]}, "column value must be of integers, text or bytes, got double"),
        ({"who": [1], "value": [True]}, "column value must be of integers, text or bytes, got bool"),
        ({"who": [1], "value": ["1"]}, "values must be integers from 0 to 1022, got a value of type str "),
        ({"who": [1], "value": [1023]}, "values must be integers from 0 to 1022, got a value of type int "),
        ({"value": [1]}, "identifier must name a column, got 'who'"),
        ({"who": [1]}, "column must name a column, got 'value'"),
    ],
    ids=["no one", "nothing", "float person", "float", "truth", "text", "too large", "no identifier", "no column"],
)
def test_bad_rows(frame, message):
    with pytest.raises(DomainError, match=message):
        privatize(pa.table(frame), "value", "who", FHR)


def test_bad_arguments():
    table = people(3)
    with pytest.raises(DomainError, match="identifier must be a column other than the values, got 'value'"):
        privatize(table, "value", "value", FHR)
    with pytest.raises(DomainError, match="oracle must be an oracle or a survey, got str"):
        privatize(table, "value", "who", "fhr")
    with pytest.raises(DomainError, match="run_key must be a RunKey, got bytes"):
        privatize(table, "value", "who", FHR, run_key=bytes(32))
    with pytest.raises(DomainError, match="frame must be of pandas, pyarrow, Dask or Spark, got dict"):
        privatize({"who": [1]}, "value", "who", FHR)
    with pytest.raises(DomainError, match="columns must be of one type each"):
        privatize(pd.DataFrame({"who": [1, "1"], "value": [1, 2]}), "value", "who", FHR)


def test_strings():
    """A survey of strings and its oracle alike; the key of the survey's version is another one."""
    oracle = {"name": "cms", "epsilon": 4.0, "hashes": 16, "width": 16}
    survey = fldp.Survey.from_dict({"name": "pages", "question": "Which?", "domain": "strings", "oracle": oracle})
    table = pa.table({"who": ["ann", "bob"], "page": ["a.example", "b.example"]})
    for target in (survey, survey.oracle):
        written = privatize(table, "page", "who", target, run_key=KEY)
        assert written == privatize(table, "page", "who", target, run_key=KEY)
        assert tally(written, survey.oracle).tally.n == 2


def test_an_empty_frame_gives_an_empty_frame():
    assert len(privatize(people(0), "value", "who", FHR)) == 0
    assert list(privatize(people(0).to_pandas(), "value", "who", FHR).columns) == ["plus", "minus"]


def test_a_run_key_shows_itself_nowhere():
    secret = b"correct horse battery staple 123"
    key = RunKey(secret)
    task = row_privatizer.Privatizer("value", "who", FHR, key)
    assert not any(
        part in text for part in ("correct", "636f72") for text in (repr(key), str(key), repr(task), f"{task}")
    )
    assert pickle.loads(pickle.dumps(key)) == key != RunKey()
    assert bytes(key) == secret
    for wrong in (secret[1:], "x" * 32, 7):
        with pytest.raises(ParameterError, match="secret must be None or 32 bytes of an earlier run") as refused:
            RunKey(wrong)
        assert "orrect" not in str(refused.value)


def test_words_are_of_rows_and_of_nothing_else():
    words = RowWords(KEY, {}, [b"i1"], [b"i0"])
    with pytest.raises(FldpError, match="has no child streams; every word belongs to a row"):
        words.child("x")
    words.words(2)
    with pytest.raises(FldpError, match="no words are left: all 1 rows are drawn"):
        words.words(2)
