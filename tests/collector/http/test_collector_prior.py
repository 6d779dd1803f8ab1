"""Public knowledge over HTTP: ``POST .../estimates?post=bayes`` with a prior, in the client and in the shell."""

import json

import httpx
import numpy as np
import pytest

import fldp
from fldp import Client, CollectorError, Survey
from support.serving import collector as served
from support.serving import shell

SIZE = 120
COUNTS = np.floor(3000 / np.arange(1, SIZE + 1)).astype(np.int64)
LABELS = [f"word {k}" for k in range(SIZE)]
ASKED = Survey.from_dict(
    {"name": "words", "question": "Which?", "labels": LABELS, "oracle": {"name": "oue", "epsilon": 1.0}}
)
STRINGS = Survey.from_dict(
    {"name": "texts", "question": "Which?", "domain": "strings", "oracle": {"name": "cms", "epsilon": 2.0}}
)
NUMBER = Survey.from_dict(
    {"name": "number", "question": "?", "number": {"low": 0, "high": 1, "bins": 8}, "oracle": {"epsilon": 1.0}}
)
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with served(tmp_path_factory.mktemp("data")) as address, Client(*address) as client:
        for survey in (ASKED, STRINGS, NUMBER):
            client.create(survey)
        client.merge(fldp.simulate(ASKED.oracle, COUNTS, rng=3), ASKED)
        client.send(STRINGS.privatize(["tea"] * 300 + ["mate"] * 100, rng=1), STRINGS)
        client.send(NUMBER.privatize([0.5] * 200, rng=1), NUMBER)
        yield address


@pytest.fixture
def client(service):
    with Client(*service) as client:
        yield client


def counts_of(reply):
    counts = np.zeros(SIZE)
    counts[[row["value"] for row in reply["rows"]]] = [row["count"] for row in reply["rows"]]
    return counts


def test_the_collector_mixes_in_what_the_library_does_and_calls_it_biased(client):
    plain = ASKED.estimate(client.tally(ASKED))
    expected = fldp.postprocess(plain, "bayes", prior=COUNTS)
    mixed = client.estimates(ASKED, post="bayes", prior=COUNTS)
    assert counts_of(mixed) == pytest.approx(expected.counts)
    assert (mixed["biased"], mixed["method"]) == (True, "bayes")
    assert "expected are mixed in" in mixed["remark"]
    alone = client.estimates(ASKED, post="bayes")
    assert "remark" not in alone
    assert ((counts_of(mixed) - COUNTS) ** 2).sum() < 0.5 * ((counts_of(alone) - COUNTS) ** 2).sum()
    assert client.estimate(ASKED, post="bayes", prior=COUNTS).counts == pytest.approx(expected.counts)
    month = client.estimates(ASKED, post="bayes", prior=plain.counts)  # of which some are negative
    assert counts_of(month) == pytest.approx(fldp.postprocess(plain, "bayes", prior=plain.counts).counts)


def test_strings_have_one_number_for_each_candidate(client):
    named = {"candidates": ["tea", "mate"], "post": "bayes"}
    estimates = client.estimates(STRINGS, **named, prior=[3, 1])
    assert estimates["biased"]
    with pytest.raises(CollectorError, match="prior must be 2 numbers in the order of the values"):
        client.estimates(STRINGS, **named, prior=[3, 1, 1])


GOOD = [1.0] * SIZE


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"prior": GOOD[:-1]}, "prior must be 120 numbers in the order of the values, not all of them 0, got 119"),
        ({"prior": [*GOOD, 1.0]}, "got 121"),
        ({"prior": [0] * SIZE}, "not all of them 0"),
        ({"prior": [-1.0, *GOOD[1:]]}, "each a number from 0 to 9007199254740992"),
        ({"prior": [1e300, *GOOD[1:]]}, "each a number from 0 to 9007199254740992"),
        ({"prior": ["1", *GOOD[1:]]}, "each a number from 0"),
        ({"prior": 7}, "prior must be a list of 1 to 33554432 entries"),
        ({}, "prior is missing: give one number"),
        ({"prior": GOOD, "candidates": LABELS}, "candidates are for surveys of strings"),
        ({"prior": GOOD, "weights": GOOD}, "'weights' is not a field"),
        (b'{"prior": [NaN]}', "the body must be JSON with finite numbers"),
        (b'{"prior": [1e999]}', "the body must be JSON with finite numbers"),
    ],
    ids=range(12),
)
def test_what_is_no_prior_is_refused_and_says_why(service, body, said):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    reply = posted(service, ASKED, content, post="bayes")
    assert (reply.status_code, said in reply.json()["detail"]) == (422, True), reply.text


def posted(service, survey, content, **query):
    url, token = service
    headers = {**JSON, "Authorization": f"Bearer {token}"}
    return httpx.post(f"{url}/v1/versions/{survey.version}/estimates", params=query, content=content, headers=headers)


def test_a_prior_is_for_empirical_bayes_and_for_shares(service, client):
    body = json.dumps({"prior": GOOD}).encode()
    assert "GET the estimates" in posted(service, ASKED, body, post="norm-sub").text
    assert "GET the estimates" in posted(service, NUMBER, json.dumps({"prior": [1.0] * 8}).encode(), post="bayes").text
    texts = json.dumps({"candidates": ["tea"], "prior": [1.0]}).encode()
    assert "left out, unless post is bayes" in posted(service, STRINGS, texts).text
    with pytest.raises(fldp.ParameterError, match="prior must be left out, unless post is 'bayes'"):
        client.estimate(ASKED, prior=GOOD)
    with pytest.raises(fldp.ParameterError, match="prior must be finite numbers"):
        client.estimates(ASKED, post="bayes", prior=[float("nan")])


def test_the_shell_takes_a_file(service, client, tmp_path):
    file = tmp_path / "census.csv"
    file.write_text(
        "label,count\n" + "".join(f"{label},{count}\n" for label, count in zip(LABELS, COUNTS, strict=True))
    )
    asked = ("estimates", ASKED.name, "--to", service[0], "--token", service[1])
    told = json.loads(shell(*asked, "--post", "bayes", "--prior", file, "--json")[0])
    assert counts_of(told) == pytest.approx(counts_of(client.estimates(ASKED, post="bayes", prior=COUNTS)))
    text = shell(*asked, "--post", "bayes", "--prior", file)[0]
    assert "By bayes: biased." in text
    assert "expected are mixed in" in text
    assert "--prior needs --post bayes" in shell(*asked, "--prior", file, code=2)[1]
    number = ("estimates", NUMBER.name, "--to", service[0], "--token", service[1], "--post", "bayes", "--prior", file)
    assert "--prior is for surveys of one question" in shell(*number, code=2)[1]
