"""Queries and new tokens: all mistakes at once, in the same words wherever they are checked."""

import pytest
from starlette.requests import Request

import fldp
from fldp import Survey
from fldp.collector.http.query import compared_days, days_of, estimated_days, format_of
from fldp.collector.service.problems import Problem
from fldp.interface.models import MAX_ROWS, CompareQuery, EstimatesQuery, Query, WindowQuery
from fldp.interface.reading import ModelError, from_query
from support.collector_app import collector, play  # noqa: F401
from support.collector_server import specification
from support.publishing import publish
from support.shell import fldp as shell

ORACLE = fldp.FHR(epsilon=1.0, domain_size=100)


def read(query, model=EstimatesQuery):
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": query.encode(), "headers": []}
    return from_query(model, Request(scope).query_params.multi_items())


def mistakes(query, model=EstimatesQuery):
    with pytest.raises(ModelError) as caught:
        read(query, model)
    return caught.value.mistakes.messages


def misunderstood(check, *arguments):
    with pytest.raises(Problem) as caught:
        check(*arguments)
    fields = caught.value.fields
    assert (fields["status"], fields["type"]) == (422, "urn:fldp:parameter")
    assert fields["detail"] == "; ".join(fields["mistakes"])
    return fields["mistakes"]


def test_a_query_is_read():
    query = read("from=2026-01-01&to=2026-02-01&top=10&level=0.9&decoder=paper&format=csv")
    assert (query.top, query.level, query.decoder, query.post, query.method) == (10, 0.9, "paper", None, None)
    assert estimated_days(query, ORACLE) == days_of(query) == ("2026-01-01", "2026-02-01")
    asks = Request({"type": "http", "headers": [(b"accept", b"text/csv")]})
    assert [format_of(asks, read(text)) for text in ("", "format=json")] == ["csv", "json"]
    assert read("").level == 0.95
    windows = compared_days(read("to=2026-01-01&other_from=2026-02-01", CompareQuery), ORACLE)
    assert [window[0][:4] for window in windows] == ["0000", "2026"]


def test_all_mistakes_of_a_query_are_answered_at_once():
    assert mistakes("from=x&top=0&level=2&post=z&format=doc&colour=red&top=3") == [
        "top must be given once",
        "'colour' is not a parameter; the parameters are: from, to, top, level, decoder, post, method, question, "
        "cross, associations, consistent, format, anytime",
        "from must be a day such as 2026-11-01, got 'x'",
        "level must be a number from 0.01 to 0.999999, got '2'",
        "post must be one of 'bayes', 'clip', 'norm-sub', 'simplex', got 'z'",
        "format must be one of 'csv', 'json', 'parquet', got 'doc'",
    ]
    wrong = read("from=2026-02-01&to=2026-01-01&decoder=y&method=em")
    assert misunderstood(estimated_days, wrong, ORACLE) == [
        "from must not be after to",
        "decoder must be one of 'full', 'paper', got 'y'",
        "this survey has no method",
    ]


def test_a_query_with_mistakes_is_a_problem_of_its_parameters(collector):
    async def story(client):
        answer = await client.get("/v1/surveys?a=1&b=2")
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:fldp:parameter")
        assert answer.json()["detail"] == "; ".join(answer.json()["mistakes"])
        assert len(answer.json()["mistakes"]) == 2

    play(collector, story)


@pytest.mark.parametrize(
    "top",
    [
        *("0", "-1", "1.5", "1.0", "1e3", "%2B1", " 1", "\u0661", "1_0"),
        f"{MAX_ROWS + 1}",
        "9" * 100,
        "9" * 5000,
        "",
        "x",
    ],
)
def test_a_number_of_rows_is_written_in_digits(top):
    assert mistakes(f"top={top}")[0].startswith("top must be an integer from 1 to 2147483648, got ")


@pytest.mark.parametrize(
    "level", ["0", "1", "nan", "inf", "1e400", "-1e400", "0_1.0", "\u0660.\u0665", "0." + "9" * 50, "", "x", "true"]
)
def test_a_level_is_a_plain_number(level):
    assert mistakes(f"level={level}")[0].startswith("level must be a number from 0.01 to 0.999999, got ")


@pytest.mark.parametrize("day", ["2026-02-30", "2026-1-1", "20260101", "1762000000", "2026-01-01T00:00:00Z", "", "now"])
def test_a_day_is_written_in_one_form(day):
    assert mistakes(f"from={day}", WindowQuery) == [f"from must be a day such as 2026-11-01, got {day!r}"]


def test_null_is_a_text_like_any_other():
    for name in ("from", "top", "level", "post", "format"):
        assert mistakes(f"{name}=null")[0].startswith(f"{name} must be ")
    assert read("decoder=null").decoder == "null"


def test_windows_are_checked_by_their_own_names():
    assert misunderstood(days_of, read("from=2026-02-01&to=2026-01-01", WindowQuery)) == ["from must not be after to"]
    assert mistakes("other_from=x&from=y", CompareQuery) == [
        "from must be a day such as 2026-11-01, got 'y'",
        "other_from must be a day such as 2026-11-01, got 'x'",
    ]
    shared = read("to=2026-01-02&other_from=2026-01-02", CompareQuery)
    assert misunderstood(compared_days, shared, ORACLE) == ["the two windows must not have a day in common"]


def test_where_no_parameter_is_known_none_is_taken():
    assert read("", Query) == Query()
    assert mistakes("a=1&b=2", Query) == [
        "'a' is not a parameter; the parameters are: none",
        "'b' is not a parameter; the parameters are: none",
    ]


WRONG = {"scope": "root", "survey": "No Name"}
PAST = {"scope": "read", "survey": "a", "expires": "2020-01-01T00:00:00Z"}


@pytest.mark.parametrize(("wrong", "count"), [(WRONG, 2), (PAST, 1), (PAST | {"expires": "soon"}, 1)])
def test_a_new_token_has_one_set_of_rules_for_route_and_shell(collector, tmp_path, wrong, count):
    async def story(client):
        answer = await client.post("/v1/tokens", json=wrong)
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:fldp:malformed")
        refused.extend(answer.json()["mistakes"])
        more = await client.post("/v1/tokens", json={**WRONG, "colour": "red"})
        assert more.json()["mistakes"][0] == "'colour' is not a field; the fields are: scope, survey, expires"
        assert len(more.json()["mistakes"]) == 3
        assert (await client.post("/v1/tokens", json={"scope": 5})).status_code == 422
        assert (await client.post("/v1/tokens", json={"scope": "read", "survey": "a", "expires": None})).is_success

    refused = []
    play(collector, story)
    assert len(refused) == count
    options = [part for name in ("survey", "expires") if name in wrong for part in (f"--{name}", wrong[name])]
    said = shell("token", "create", wrong["scope"], *options, "--data", tmp_path, code=2).stderr
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
