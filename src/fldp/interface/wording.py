"""Wording: the rule of a type, as an error says it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from fldp.support.canonical_json import Json


def rule(kind: object) -> str:
    """Return what a value of a type must be, in words.

    >>> from fldp.interface import models
    >>> rule(models.Level), rule(models.Version | None)
    ('a number from 0.01 to 0.999999', '64 hexadecimal digits in lower case')
    """
    return _words(schema_of(kind))


def _words(schema: Mapping[str, Any]) -> str:
    if "x-rule" in schema:
        return str(schema["x-rule"])
    if "enum" in schema:
        return f"one of {', '.join(map(repr, schema['enum']))}"
    if "anyOf" in schema:
        return " or ".join(map(_words, schema["anyOf"]))
    if (form := schema.get("format")) in _FORMATS:
        return _FORMATS[form]
    entries = schema.get("items") or schema.get("additionalProperties")
    noun = _NOUNS.get(schema.get("type", ""), "a value") + _limits(schema)
    return f"{noun}, each {_words(entries)}" if entries else noun


_FORMATS = {"date": "a day such as 2026-11-01", "date-time": "a time such as 2030-01-01T00:00:00Z"}
_NOUNS = {
    "integer": "an integer",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
    "boolean": "true or false",
}
_SIZES = {"string": ("Length", "characters"), "array": ("Items", "entries"), "object": ("Properties", "entries")}


def schema_of(kind: object) -> dict[str, Json]:
    """Return the schema of a type without None: what may be None may be left out."""
    schema = msgspec.json.schema(kind)
    options = [option for option in schema.get("anyOf", [schema]) if option != {"type": "null"}]
    return options[0] if len(options) == 1 else schema


def _limits(schema: Mapping[str, Any]) -> str:
    if (kind := schema.get("type", "")) in _SIZES:
        size, unit = _SIZES[kind]
        limits = _between(schema.get(f"min{size}"), schema.get(f"max{size}"))
        return f" of {limits} {unit}" if limits else ""
    if "exclusiveMinimum" in schema:
        high = _between(None, schema.get("maximum"))
        return f" above {schema['exclusiveMinimum']}" + (f" and {high}" if high else "")
    limits = _between(schema.get("minimum"), schema.get("maximum"))
    return f" {'of' if limits.startswith('at') else 'from'} {limits}" if limits else ""


def _between(low: float | None, high: float | None) -> str:
    if high is None:
        return "" if low is None else f"at least {low}"
    return f"at most {high}" if low is None else f"{low} to {high}"
