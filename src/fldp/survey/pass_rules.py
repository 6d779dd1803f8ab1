"""Rules of surveys that take passes: a key that signs them, who has it, and what does not go together with them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fldp.errors import WireError
from fldp.passes.tokens import PassTerms, read_key
from fldp.support.validation import MistakeList
from fldp.support.web_origin import origin_of

if TYPE_CHECKING:
    from fldp.survey.rules import CollectRules

KEYS = ("issuer_key", "issuer")
_WHERE = "left out unless submit is 'pass'"
KEY_LENGTH = 456
_KEY = f"the {KEY_LENGTH} characters that fldp issuer create prints"
_ISSUER = "an origin in its usual form, such as https://issuer.example, or left out where the collector issues"


def check_pass(fields: Mapping[str, object], submit: object, mistakes: MistakeList) -> dict[str, object]:
    """Return the rules of collecting that are about passes: none where a survey takes none."""
    named = {key: fields[key] for key in KEYS if key in fields}
    if submit != "pass":
        for key, value in named.items():
            mistakes.add(("collect", key), _WHERE, value)
        return {}
    if "issuer_key" not in named:
        mistakes.note(("collect", "issuer_key"), f"collect.issuer_key is missing: {_KEY}")
    elif not _is_key(named["issuer_key"]):
        mistakes.add(("collect", "issuer_key"), _KEY, named["issuer_key"])
    if "issuer" in named and not _is_origin(named["issuer"]):
        mistakes.add(("collect", "issuer"), _ISSUER, named["issuer"])
    if fields.get("repeat", "once") != "once":
        mistakes.add(("collect", "repeat"), "'once' with passes, of which each person has one", fields["repeat"])
    return named


def refuse_search(collect: Mapping[str, object], mistakes: MistakeList) -> None:
    """Refuse passes in a search: each of its rounds is another version, and a pass is good for one."""
    if collect.get("submit") == "pass":
        mistakes.add(
            ("collect", "submit"), "'open', 'token' or 'ticket' in a search, whose rounds are versions", "pass"
        )


def _is_key(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(read_key(value))
    except WireError:
        return False


def _is_origin(value: Any) -> bool:
    try:
        return isinstance(value, str) and origin_of(value) == value
    except ValueError:
        return False


def terms_of(collect: "CollectRules", version: str) -> PassTerms | None:
    """Return the terms of passes to a version of a survey, None where it takes none."""
    if collect["submit"] != "pass":
        return None
    return PassTerms.of(read_key(collect["issuer_key"]), collect.get("issuer"), version)
