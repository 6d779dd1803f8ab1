"""One description of the HTTP interface: what follows from it, and what a new route takes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fldp.collector.app import create_app, handlers_of
from fldp.collector.http.calls import Call, reply
from fldp.collector.routes import tokens_and_health
from fldp.interface.models import Query, ReplyModel
from fldp.interface.openapi import document
from fldp.interface.operations import BY_NAME, OPERATIONS, Operation, table
from fldp.interface.reading import ModelError, from_json, from_query
from support.collector_app import collector, play  # noqa: F401

DOCUMENT = (Path(__file__).parents[2] / "docs" / "collector.md").read_text()


def test_the_table_in_the_documents_is_the_one_that_is_written_here():
    assert f"\n\n{table()}\n" in DOCUMENT


def test_every_operation_has_one_name_and_one_handler():
    assert len(BY_NAME) == len(OPERATIONS) == len({(each.method, each.path) for each in OPERATIONS})
    assert handlers_of(OPERATIONS).keys() == BY_NAME.keys()
    with pytest.raises(LookupError, match=r"must have one name, got \['static'\]"):
        handlers_of([operation for operation in OPERATIONS if operation.name != "static"])


def test_a_link_of_the_table_is_not_in_the_openapi_document():
    described = document()["paths"]["/v1/versions/{id}/tally"]["get"]
    assert described["summary"] == "the tally as bytes"
    assert [part["name"] for part in described["parameters"]] == ["id", "from", "to", "If-None-Match"]


class Weather(ReplyModel, frozen=True):
    """How it is outside."""

    sky: str
    degrees: float


async def weather(call: Call[Query, None]):
    assert call.token is not None
    return reply(Weather(sky="blue", degrees=21.5))


TOY = Operation("weather", "GET", "/v1/weather", "read", "how it is outside", reply=Weather)


def test_a_new_route_is_a_handler_and_a_model(collector, monkeypatch):
    operations = [*OPERATIONS, TOY]
    with pytest.raises(LookupError, match="weather"):
        create_app(collector, operations)
    monkeypatch.setattr(weather, "__module__", tokens_and_health.__name__)
    monkeypatch.setattr(tokens_and_health, "weather", weather, raising=False)

    async def story(client):
        answer = await client.get("/v1/weather")
        assert (answer.status_code, answer.json()) == (200, {"sky": "blue", "degrees": 21.5})
        assert (await client.get("/v1/weather?in=2")).json()["type"] == "urn:fldp:parameter"
        assert (await client.post("/v1/weather")).status_code == 405
        client.headers.pop("Authorization")
        assert (await client.get("/v1/weather")).status_code == 401

    play(collector, story, operations)
    described = document(operations)
    route = described["paths"]["/v1/weather"]["get"]
    assert (route["operationId"], route["x-scope"]) == ("weather", "read")
    assert {"200", "400", "401", "403", "422", "503"} == route["responses"].keys()
    (content,) = route["responses"]["200"]["content"].values()
    shape = described["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
    assert shape["required"] == ["sky", "degrees"]
    assert table(operations).endswith("| `GET /v1/weather` | `read` | how it is outside |\n")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
BODIES = {operation.body for operation in OPERATIONS if isinstance(operation.body, type)}
QUERIES = {operation.query for operation in OPERATIONS if operation.query}


@pytest.mark.parametrize("model", sorted(BODIES | QUERIES, key=str), ids=lambda model: model.__name__)
@given(data=st.data())
@pytest.mark.long
def test_whatever_is_sent_is_a_model_or_a_list_of_mistakes(model, data):
    names = st.sampled_from([*model.__struct_encode_fields__, "other"])
    if model in QUERIES:
        read, sent = from_query, data.draw(st.lists(st.tuples(names, st.text(max_size=12)), max_size=4))
    else:
        read, sent = from_json, json.dumps(data.draw(st.dictionaries(names, VALUES, max_size=4))).encode()
    try:
        assert isinstance(read(model, sent), model)
    except ModelError as error:
        said = error.mistakes.messages, str(error)
    else:
        return
    assert said[0]
    assert said[1] == "; ".join(said[0])
