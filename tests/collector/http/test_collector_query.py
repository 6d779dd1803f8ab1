"""Queries and new tokens: all mistakes at once, in the same words wherever they are checked."""

import pytest
from starlette.requests import Request

import fldp
from fldp import Survey
from fldp.collector.http.query import MAX_ROWS, Contrast, Query, days_of, parameters
from fldp.collector.service.problems import Problem
from support.collector_app import collector, play  # noqa: F401
from support.collector_server import specification
from support.publishing import publish
from support.shell import fldp as shell

ORACLE = fldp.FHR(epsilon=1.0, domain_size=100)


def request(query):
    return Request({"type": "http", "method": "GET", "path": "/", "query_string": query.encode(), "headers": []})


def mistakes(query, read=lambda given: Query.of(given, ORACLE)):
    with pytest.raises(Problem) as caught:
        read(request(query))
    fields = caught.value.fields
    assert (fields["status"], fields["type"]) == (422, "urn:fldp:parameter")
    assert fields["detail"] == "; ".join(fields["mistakes"])
    return fields["mistakes"]


def test_a_query_is_read():
    query = Query.of(request("from=2026-01-01&to=2026-02-01&top=10&level=0.9&decoder=paper&format=csv"), ORACLE)
    assert query == Query(("2026-01-01", "2026-02-01"), 10, 0.9, "paper", None, None, "csv")
    assert (Query.of(request(""), ORACLE).level, Query.of(request(""), ORACLE).format) == (0.95, "json")
    contrast = Contrast.of(request("to=2026-01-01&other_from=2026-02-01"), ORACLE)
    assert [window[0][:4] for window in contrast.windows] == ["0000", "2026"]
    assert days_of(request("from=2026-01-01"))[0] == "2026-01-01"


def test_all_mistakes_of_a_query_are_answered_at_once():
    assert mistakes("from=x&top=0&level=2&decoder=y&post=z&method=em&format=doc&colour=red&top=3") == [
        "'colour' is not a parameter; the parameters are: from, to, top, level, decoder, post, method, format",
        "top must be given once",
        "from must be a day such as 2026-11-01, got 'x'",
        "level must be a number from 0.01 to 0.999999, got 2.0",
        "decoder must be one of 'full', 'paper', got 'y'",
        "post must be one of 'clip', 'norm-sub', 'simplex', got 'z'",
        "this survey has no method",
        "format must be one of 'json', 'csv', 'parquet', got 'doc'",
    ]


@pytest.mark.parametrize(
    "top", ["0", "-1", "1.5", "1e3", "+1", " 1", "\u0661", "1_0", f"{MAX_ROWS + 1}", "9" * 100, "", "x"]
)
def test_a_number_of_rows_is_written_in_digits(top):
    assert mistakes(f"top={top.replace('+', '%2B')}")[0].startswith("top must be an integer from 1 to 2147483648, got ")


@pytest.mark.parametrize("level", ["0", "1", "nan", "inf", "0_1.0", "\u0660.\u0665", "0." + "9" * 50, "", "x"])
def test_a_level_is_a_plain_number(level):
    assert mistakes(f"level={level}")[0].startswith("level must be a number from 0.01 to 0.999999, got ")


def test_windows_are_checked_by_their_own_names():
    assert mistakes("from=2026-02-01&to=2026-01-01", days_of) == ["from must not be after to"]
    assert mistakes("other_from=x&from=y", lambda given: Contrast.of(given, ORACLE)) == [
        "from must be a day such as 2026-11-01, got 'y'",
        "other_from must be a day such as 2026-11-01, got 'x'",
    ]
    shared = "to=2026-01-02&other_from=2026-01-02"
    assert mistakes(shared, lambda given: Contrast.of(given, ORACLE)) == [
        "the two windows must not have a day in common"
    ]


def test_where_no_parameter_is_known_none_is_taken():
    assert parameters(request("")) == {}
    assert mistakes("a=1&b=2", parameters) == [
        "'a' is not a parameter; the parameters are: none",
        "'b' is not a parameter; the parameters are: none",
    ]


WRONG = {"scope": "root", "survey": "No Name", "expires": "2020-01-01T00:00:00Z"}


def test_a_new_token_has_one_set_of_rules_for_route_and_shell(collector, tmp_path):
    async def story(client):
        answer = await client.post("/v1/tokens", json={**WRONG, "colour": "red"})
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:fldp:malformed")
        assert len(answer.json()["mistakes"]) == 4
        assert (await client.post("/v1/tokens", json={"scope": 5})).status_code == 422
        assert (await client.post("/v1/tokens", json={"scope": "read", "survey": "a", "expires": None})).is_success
        refused.extend(answer.json()["mistakes"][1:])

    refused = []
    play(collector, story)
    options = ("--survey", WRONG["survey"], "--expires", WRONG["expires"], "--data", tmp_path)
    said = shell("token", "create", WRONG["scope"], *options, code=2).stderr
    assert f"token: {'; '.join(refused)}" in said


def test_the_number_of_mistakes_of_a_survey_is_said_in_english(collector):
    asked = Survey.from_dict(specification())

    async def story(client):
        await publish(client, asked)
        wrong = {**specification(), "colour": "red"}
        one = await client.post("/v1/surveys", json=wrong)
        assert one.json()["detail"] == "the survey has 1 mistake"
        two = await client.post("/v1/surveys", json={**wrong, "taste": "sweet"})
        assert two.json()["detail"] == "the survey has 2 mistakes"
        many = await client.post("/v1/surveys", json={**wrong, **{f"x{number}": 1 for number in range(30)}})
        assert many.json()["detail"] == "the survey has 31 mistakes"
        assert many.json()["mistakes"][-1] == "and 11 more mistakes"

    play(collector, story)
