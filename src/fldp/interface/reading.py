"""Reading what was sent: a mapping or JSON becomes a model, or a list of everything that is wrong with it."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec

from fldp.interface.wording import rule, schema_of
from fldp.support.validation import MistakeList

Model = TypeVar("Model", bound=msgspec.Struct)
_MISFITS = (msgspec.ValidationError, UnicodeEncodeError)  # the latter of half a character
_UNREADABLE = object()  # stands for a text that msgspec would take for more than it says


class ModelError(ValueError):
    """All that is wrong with a query or a body."""

    def __init__(self, mistakes: MistakeList) -> None:
        self.mistakes = mistakes
        super().__init__("; ".join(mistakes.messages))


def from_query(model: type[Model], parameters: Iterable[tuple[str, str]]) -> Model:
    """Read the parameters of an address, each of them text and given once.

    >>> from fldp.interface.models import EstimatesQuery
    >>> from_query(EstimatesQuery, [("top", "5")]).top
    5
    >>> from_query(EstimatesQuery, [("top", "0"), ("post", "x")])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fldp.interface.reading.ModelError: top must be an integer from 1 to 2147483648, got '0'; post must be one of ...
    """
    texts: dict[str, str] = {}
    mistakes = MistakeList()
    for name, text in parameters:
        if name in texts and name in model.__struct_encode_fields__:
            mistakes.note((name,), f"{name} must be given once")
        texts[name] = text
    _note_unknown(model, texts, "parameter", mistakes)
    if not mistakes:
        try:
            return msgspec.convert(_readable(model, texts), model, strict=False)
        except _MISFITS:
            pass
    _check_fields(model, texts, _readable(model, texts), mistakes, strict=False)
    raise ModelError(mistakes)


def _readable(model: type[Model], texts: Mapping[str, str]) -> dict[str, Any]:
    """Mark the texts that msgspec reads too kindly: null, where it is no text, and integers such as 1e3 and 1.0."""
    readers = _readers(model)
    return {name: text if readers[name](text) else _UNREADABLE for name, text in texts.items() if name in readers}


@cache
def _readers(model: type[Model]) -> dict[str, Callable[[str], bool]]:
    """Return, for each parameter, whether msgspec may be given a text of it."""
    schemas = {field.encode_name: schema_of(field.type) for field in msgspec.structs.fields(model)}
    return {name: _READERS.get(schema.get("format", schema.get("type")), _not_null) for name, schema in schemas.items()}


def _not_null(text: str) -> bool:
    return text != "null"


_READERS: dict[Any, Callable[[str], bool]] = {
    "string": lambda text: True,  # noqa: ARG005
    "integer": lambda text: text.isascii() and text.isdigit(),
}


def from_json(model: type[Model], body: bytes) -> Model:
    """Read a JSON object.

    >>> from fldp.interface.models import TokenOrder
    >>> from_json(TokenOrder, b'{"scope": "root", "age": 7}')  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fldp.interface.reading.ModelError: 'age' is not a field; the fields are: scope, survey, expires; scope must ...
    """
    try:
        return msgspec.json.decode(body, type=model)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ModelError(_mistakes(model, body)) from None


def _mistakes(model: type[Model], body: bytes) -> MistakeList:
    """Read a body again, field by field, since msgspec stops at the first mistake."""
    mistakes, fields = MistakeList(), None
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        mistakes.note((), "the body must be JSON with finite numbers")
    else:
        if not isinstance(fields, dict):
            mistakes.note((), "the body must be a JSON object")
    if isinstance(fields, dict):
        _note_unknown(model, fields, "field", mistakes)
        _check_fields(model, fields, fields, mistakes, strict=True)
    return mistakes


def _note_unknown(model: type[Model], names: Iterable[str], noun: str, mistakes: MistakeList) -> None:
    known = model.__struct_encode_fields__
    mistakes.unknown((), names, known, f"a {noun}; the {noun}s are: {', '.join(known) or 'none'}")


def _check_fields(
    model: type[Model], shown: Mapping[str, Any], fields: Mapping[str, Any], mistakes: MistakeList, *, strict: bool
) -> None:
    for field in msgspec.structs.fields(model):
        name = field.encode_name
        if name not in fields:
            if field.required:
                mistakes.note((name,), f"{name} is missing")
        elif not _fits(fields[name], field.type, strict=strict):
            mistakes.add((name,), rule(field.type), shown[name])


def _fits(value: Any, kind: Any, *, strict: bool) -> bool:
    try:
        msgspec.convert(value, kind, strict=strict)
    except _MISFITS:
        return False
    return True
