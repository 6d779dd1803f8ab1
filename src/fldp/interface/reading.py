"""Reading what was sent: a mapping or JSON becomes a model, or a list of everything that is wrong with it."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

Model = TypeVar("Model", bound=msgspec.Struct)


class ModelError(ValueError):
    """What is wrong with a query or a body, a line for each mistake; none of them shows a value."""

    def __init__(self, mistakes: Iterable[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("; ".join(self.mistakes))


def from_query(model: type[Model], parameters: Iterable[tuple[str, str]]) -> Model:
    """Read the parameters of an address, each of them text and given once.

    >>> from fldp.interface.models import EstimatesQuery
    >>> from_query(EstimatesQuery, [("top", "5")]).top
    5
    >>> from_query(EstimatesQuery, [("top", "0"), ("from", "2026-02-30")])
    Traceback (most recent call last):
    fldp.interface.reading.ModelError: from must be a day such as 2026-11-01; top must be an integer from 1 to 2147483648
    """
    given: dict[str, Any] = {}
    repeated = []
    for name, value in parameters:
        if name in given:
            repeated.append(f"{name} must be given once")
        given[name] = value if value != "null" else _NOT_NULL
    return _converted(model, given, repeated, noun="parameter", strict=False)


def from_json(model: type[Model], body: bytes) -> Model:
    """Read a JSON object.

    >>> from fldp.interface.models import TokenOrder
    >>> from_json(TokenOrder, b'{"scope": "root", "age": 7}')
    Traceback (most recent call last):
    fldp.interface.reading.ModelError: unknown field; the fields are: scope, survey, expires; scope must be one of admin, read, send
    """
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ModelError(["the body must be JSON"]) from None
    if not isinstance(fields, dict):
        raise ModelError(["the body must be a JSON object"])
    return _converted(model, fields, (), noun="field", strict=True)


_NOT_NULL = object()  # msgspec takes the text null for None where it converts texts


def _converted(
    model: type[Model], given: Mapping[str, Any], mistakes: Iterable[str], *, noun: str, strict: bool
) -> Model:
    try:
        found = msgspec.convert(given, model, strict=strict)
    except msgspec.ValidationError:
        raise ModelError([*mistakes, *_mistakes(model, given, noun, strict=strict)]) from None
    if mistakes:
        raise ModelError(mistakes)
    return found


def _mistakes(model: type[Model], given: Mapping[str, Any], noun: str, *, strict: bool) -> Iterable[str]:
    """Convert field by field, since msgspec stops at the first mistake."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(model)}
    if given.keys() - fields:
        yield f"unknown {noun}; the {noun}s are: {', '.join(fields) or 'none'}"
    for name, field in fields.items():
        if name not in given:
            if field.required:
                yield f"{name} is missing"
        elif not _fits(given[name], field.type, strict=strict):
            yield f"{name} must be {rule(field.type)}"


def _fits(value: Any, kind: Any, *, strict: bool) -> bool:
    try:
        msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError:
        return False
    return True


def rule(kind: Any) -> str:
    """Return what a value of a type must be, in words.

    >>> from fldp.interface import models
    >>> rule(models.Level), rule(models.SurveyName | None)
    ('a number from 0.01 to 0.999999', '1 to 64 of the characters a-z, 0-9, - and _, with a letter or digit at both ends')
    """
    schema = msgspec.json.schema(kind)
    schema = next((each for each in schema.get("anyOf", [schema]) if each != {"type": "null"}), schema)
    if "x-rule" in schema:
        return str(schema["x-rule"])
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if schema.get("format") == "date":
        return "a day such as 2026-11-01"
    if schema.get("format") == "date-time":
        return "a time such as 2030-01-01T00:00:00Z"
    return _NOUNS.get(schema.get("type", ""), "a value") + _range(schema)


_NOUNS = {
    "integer": "an integer",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "an object",
    "boolean": "true or false",
}


def _range(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if "exclusiveMinimum" in schema:
        return f" above {schema['exclusiveMinimum']}" + (f" and at most {high}" if high is not None else "")
    return f" of at least {low}" if low is not None else ""
