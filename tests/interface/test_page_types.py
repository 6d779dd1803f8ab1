"""The types that the pages have of replies say what the models say, and every path in the code is an operation's."""

import re
from pathlib import Path

import msgspec
import pytest

from fldp.interface import models
from fldp.interface.operations import OPERATIONS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fldp"
TYPES = (SOURCE / "collector" / "static" / "shared" / "replies.d.ts").read_text()
NAMED_OTHERWISE = {"TokenRow": "TokenFacts", "DayRow": "DayCount", "Comparison": "Changes"}
ALIKE = ["SurveyRow", "EstimateRow", "NumberValue", "NumberCellRow", "NumberEdge", "NumberFigures", "ChangeRow"]
ALIKE += ["IntegrityTest", "Integrity", *NAMED_OTHERWISE]
PARTS = {  # replies that a page tells apart, of one model
    **dict.fromkeys(("Estimates", "TableEstimates", "CrossTable"), "Estimates"),
    **dict.fromkeys(("Plan", "QuestionPlan", "NumberPlan"), "PlanReply"),
}


def fields_of(interface):
    """Return the fields of an interface of the pages at its first level: their types, and whether they are optional."""
    body = re.search(rf"^export interface {interface} \{{\n(.*?)^\}}", TYPES, re.M | re.S)[1]
    lines = re.findall(r"^  readonly (\w+)(\??): (.*?);?$", body, re.M)
    return {name: (written, bool(optional)) for name, optional, written in lines}


def typed(schema):
    """Return a JSON schema as TypeScript."""
    if "anyOf" in schema:
        return " | ".join(map(typed, schema["anyOf"]))
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if schema["type"] == "array":
        return f"readonly {typed(schema['items'])}[]"
    return {"integer": "number"}.get(schema["type"], schema["type"])


def schema_of(model):
    return msgspec.json.schema(getattr(models, model))["$defs"][model]


def matches(written, schema):
    """Whether a type of the pages is a model's; any of a few strings is a string."""
    model = typed(schema)
    return written == model or (written == "string" and re.fullmatch(r'"\w+"( \| "\w+")*', model) is not None)


@pytest.mark.parametrize("interface", ALIKE)
def test_a_page_has_the_types_of_the_model(interface):
    schema = schema_of(NAMED_OTHERWISE.get(interface, interface))
    for name, (written, optional) in fields_of(interface).items():
        assert optional == (name not in schema["required"]), name
        assert matches(written, schema["properties"][name]) or "planned" in written, name


@pytest.mark.parametrize("interface", PARTS)
def test_a_page_reads_fields_that_there_are(interface):
    schema = schema_of(PARTS[interface])
    assert fields_of(interface).keys() <= schema["properties"].keys()


def test_every_interface_of_a_whole_reply_is_compared():
    every = set(re.findall(r"^export interface (\w+)", TYPES, re.M))
    rows = {"AnsweredRow", "QuestionEstimates", "RowShare", "AssociationRow", "OracleFields", "PlanRow"}  # in ``Rows``
    assert every == {*ALIKE, *PARTS, *rows}


PATH = re.compile(r"""(?<!\"\")["'`]/?(v1/[^"'`\s?]*)""")
KNOWN = [operation.path.removeprefix("/") for operation in OPERATIONS]
HOLES = re.compile(r"\$?\{[^}]*\}")


def is_known(path):
    """Whether a path is one of an operation; what is filled in, there or here, may be anything."""
    written = re.compile(HOLES.sub("[^/]*", path))
    return any(written.fullmatch(known) or re.fullmatch(HOLES.sub("[^/]+", known), path) for known in KNOWN)


def test_every_path_in_the_code_is_an_operations():
    files = [path for folder in (SOURCE, ROOT / "js" / "src") for path in folder.rglob("*")]
    own = [path for path in files if path.suffix in (".py", ".ts", ".js") and not path.name.startswith("fldp")]
    paths = {match for path in own for match in PATH.findall(path.read_text())}
    assert len(paths) > 30
    assert [path for path in paths if not is_known(path)] == []
    assert not is_known("v1/survey") and is_known("v1/versions/${version}/days")  # noqa: PT018
