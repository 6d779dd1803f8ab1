"""How the values of a survey differ in the protection that they need: what is declared by labels, as values."""

import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from fldp.data.values import numbered
from fldp.errors import ParameterError
from fldp.estimation.expected_error import required
from fldp.oracles import get
from fldp.oracles.base.frequency_oracle import MAX_VALUES
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import StringOracle
from fldp.oracles.base.ticket_words import DERIVABLE, can_derive
from fldp.oracles.base.treatment import Treatment
from fldp.support.web_origin import origin_of
from fldp.survey.mistakes import MistakeList
from fldp.survey.search_table import check_search

DIFFERING = ("sensitive", "budgets", "distance")

Values = Callable[[str], int | None]


def check_treatment(
    fields: dict[str, Any], labels: tuple[str, ...] | None, size: int | None, found: MistakeList
) -> Treatment:
    """Return what is declared of so many values, by their labels where they have any; or findings.

    >>> found = MistakeList()
    >>> check_treatment({"sensitive": ["tea"]}, ("water", "tea"), 2, found).parameters
    {'sensitive': (1,)}
    >>> check_treatment({"budgets": {"7": 0.5}}, None, 9, found).parameters
    {'budgets': ((7, 0.5),)}
    """
    given = {key: fields[key] for key in DIFFERING if key in fields}
    if size is None or not given:
        return Treatment()
    before, key = found.count, next(iter(given))
    values: Values = partial(numbered, domain_size=size) if labels is None else _by_label(labels).get
    made = {name: _by_value(name, thing, values, found) for name, thing in given.items()}
    treatment = None if found.count > before else found.attempt(partial(Treatment, **made), (key,))
    if treatment is not None:
        found.attempt(partial(treatment.check_domain, size), (key,))
    return treatment or Treatment()


def _by_label(labels: tuple[str, ...]) -> dict[str, int]:
    return {label: value for value, label in enumerate(labels)}


def _by_value(key: str, thing: Any, values: Values, found: MistakeList) -> Any:
    """Replace labels by their values."""
    if thing is None:
        found.add((key,), "left out where nothing is declared", thing)
    if key == "sensitive" and isinstance(thing, list):
        return [_value(key, label, values, found) for label in thing]
    if key == "budgets" and isinstance(thing, dict):
        return {_value(key, label, values, found): budget for label, budget in thing.items()}
    return thing


def _value(key: str, label: Any, values: Values, found: MistakeList) -> int | None:
    is_number = isinstance(label, int) and not isinstance(label, bool) and abs(label) < MAX_VALUES
    text = str(label) if is_number else label
    value = values(text) if isinstance(text, str) else None
    if value is None:
        found.add((key,), "of labels of the survey", label)
    return value


COLLECT_DEFAULTS: dict[str, Any] = {
    "submit": "open",
    "origins": [],
    "opens": None,
    "closes": None,
    "retention": "raw",
    "minimum": 100,
}
REPEATS = ("once", "daily")  # how often a person may answer; named only where it is not the first
MAX_LABEL, MAX_TEXT, MAX_LABELS = 200, 2000, 1_000_000
_NAME = re.compile(r"[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?")
_TEXTS = ("name", "question", "title", "description", "topic")
STRINGS = "strings"
_DOMAINS = ("labels", "domain_size", "labels_file", "domain")


Domain = tuple[tuple[str, ...] | None, dict[str, Any] | None]


def check_survey(fields: Any, folder: Path | None) -> tuple[dict[str, Any], MistakeList]:
    """Return the arguments of a Survey and no findings, or findings."""
    found = MistakeList()
    if not isinstance(fields, dict):
        found.say((), f"a survey must be a table of keys, got {type(fields).__name__}")
        return {}, found
    fields = {key: value for key, value in fields.items() if (key, value) != ("format", "fldp-survey-1")}
    found.unknown((), fields, {*_TEXTS, *_DOMAINS, *DIFFERING, "search", "oracle", "collect"}, "a key of a survey")
    made = _texts(fields, found)
    labels, domain = _domain(fields, folder, found)
    treatment = check_treatment(fields, labels, (domain or {}).get("domain_size"), found)
    if domain == {}:
        found.unknown((), (key for key in DIFFERING if key in fields), (), "for strings, which nobody can list")
    search = check_search(fields, _oracle, found) if "search" in fields else None
    oracle: Oracle | None = search.oracle if search else None
    if "search" not in fields:
        oracle = _oracle(fields.get("oracle"), domain, found, treatment)
    collect = _collect(fields.get("collect", {}), oracle, found)
    _derive(collect, oracle, found)
    made |= {"labels": labels, "oracle": oracle, "search": search, "collect": collect, "treatment": treatment}
    return made, found


def _texts(fields: dict[str, Any], found: MistakeList) -> dict[str, Any]:
    for key in ("name", "question"):
        if key not in fields:
            found.say((key,), f"{key} is missing")
    made = {key: fields[key] for key in _TEXTS if key in fields}
    for key, value in made.items():
        if not _is_text(value, MAX_TEXT):
            found.add((key,), f"a text of 1 to {MAX_TEXT} characters", value)
        elif key in ("name", "topic") and not _NAME.fullmatch(value):
            found.add((key,), "1 to 64 of the characters a-z, 0-9, - and _, with a letter or digit at both ends", value)
    return made


def _is_text(value: Any, most: int) -> bool:
    """Tell whether this is text without control characters, halves of characters, or blanks at its ends."""
    if not isinstance(value, str) or not 0 < len(value) <= most or value != value.strip():
        return False
    return value.isprintable() or not any(unicodedata.category(c) in ("Cc", "Cs") and c != "\n" for c in value)


def _domain(fields: dict[str, Any], folder: Path | None, found: MistakeList) -> Domain:
    """Return the labels, and what the oracle is told of the domain: nothing where it is strings."""
    given = [key for key in _DOMAINS if key in fields]
    if len(given) != 1:
        what = (
            "is missing: give labels, labels_file, domain_size or domain = 'strings'"
            if not given
            else f"is given twice: {', '.join(given)}"
        )
        found.say((given[-1] if given else "labels",), f"the domain {what}")
        return None, None
    if given == ["domain_size"]:
        size = fields["domain_size"]
        if isinstance(size, bool) or not isinstance(size, int) or not 2 <= size <= MAX_VALUES:
            found.add(("domain_size",), f"an integer from 2 to {MAX_VALUES}", size)
            return None, None
        return None, {"domain_size": size}
    if given == ["domain"]:
        if fields["domain"] != STRINGS:
            found.add(("domain",), f"{STRINGS!r}", fields["domain"])
            return None, None
        return None, {}
    key = given[0]
    labels = fields[key] if key == "labels" else _from_file(fields[key], folder, found)
    return check_labels(key, labels, found)


def _from_file(name: Any, folder: Path | None, found: MistakeList) -> list[str] | None:
    if folder is None or not isinstance(name, str):
        found.add(("labels_file",), "the name of a file beside the survey's", name)
        return None
    try:
        return (folder / name).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError):
        found.add(("labels_file",), "a UTF-8 text file with a label on each line", name)
        return None


def check_labels(key: str, labels: Any, found: MistakeList) -> Domain:
    """Return the labels, and what the oracle is told of them; or findings."""
    if labels is None and key == "labels_file":  # a mistake that was found already
        return None, None
    if not isinstance(labels, list) or not 2 <= len(labels) <= MAX_LABELS:
        found.add((key,), f"a list of 2 to {MAX_LABELS} labels", labels)
        return None, None
    seen: dict[str, int] = {}
    for position, label in enumerate(labels):
        if not _is_text(label, MAX_LABEL) or "\n" in label:
            found.add(
                (key,), f"texts of 1 to {MAX_LABEL} characters without blanks at the ends (label {position})", label
            )
            continue
        plain = unicodedata.normalize("NFC", label)
        if plain in seen:
            found.add((key,), f"all different (label {position} is label {seen[plain]} again)", label)
        seen.setdefault(plain, position)
    return tuple(map(str, labels)), {"domain_size": len(labels)}


def _oracle(
    fields: Any, domain: dict[str, Any] | None, found: MistakeList, treatment: Treatment | None = None
) -> Oracle | None:
    if not isinstance(fields, dict):
        found.say(("oracle",), "the table [oracle] is missing, with a name and its parameters")
        return None
    name = fields.get("name", "")
    if not isinstance(name, str) or len(name) > MAX_LABEL:
        found.add(("oracle", "name"), "the name of an oracle", name)
        return None
    try:
        cls = get(name)
    except ParameterError as error:
        found.say(("oracle", "name"), str(error))
        return None
    declared = {name: value for name, value in (treatment or Treatment()).parameters.items() if name in cls.params}
    wanted = declared | {name: value for name, value in fields.items() if name != "name"}
    before = found.count
    if domain is not None and issubclass(cls, StringOracle) == ("domain_size" in domain):
        is_for = f"for strings, as in domain = {STRINGS!r}" if "domain_size" in domain else "for values that are listed"
        found.say(("oracle", "name"), f"oracle.name must suit the domain, got {name!r}, which is {is_for}")
    _parameters(cls, wanted, found)
    if domain is None or found.count > before:
        return None
    return found.attempt(partial(cls, **domain, **wanted), ("oracle",))


def _parameters(cls: type[Oracle], wanted: dict[str, Any], found: MistakeList) -> None:
    """Find what is wrong with the parameters one by one; that of the domain is not among them."""
    found.unknown(("oracle",), wanted, cls.params.keys() - {"domain_size"}, f"a parameter of {cls.name}")
    for name in required(cls):
        if name != "domain_size" and name not in wanted:
            found.say(("oracle", name), f"oracle.{name} is missing")
    for name, value in wanted.items():
        if name in cls.params:
            found.attempt(partial(cls.params[name], cls.__name__, name, value), ("oracle", name))


def _collect(fields: Any, oracle: Oracle | None, found: MistakeList) -> dict[str, Any]:
    if not isinstance(fields, dict):
        found.add(("collect",), "a table", fields)
        return {}
    found.unknown(("collect",), fields, {*COLLECT_DEFAULTS, "repeat", "derive"}, "a rule of collecting")
    made = {key: fields.get(key, default) for key, default in COLLECT_DEFAULTS.items()}
    made |= _repeat(fields.get("repeat", REPEATS[0]), oracle, found)
    if fields.get("derive", False) is not False:
        made["derive"] = fields["derive"]  # left out where it is false, so that versions are what they were without it
    if made["submit"] not in ("open", "token", "ticket"):
        found.add(("collect", "submit"), "'open', 'token' or 'ticket'", made["submit"])
    if made["retention"] not in ("raw", "tally"):
        found.add(("collect", "retention"), "'raw' or 'tally'", made["retention"])
    minimum = made["minimum"]
    if isinstance(minimum, bool) or not isinstance(minimum, int) or not 1 <= minimum <= 10**9:
        found.add(("collect", "minimum"), "an integer from 1 to 1000000000", minimum)
    if not isinstance(made["origins"], list) or not all(map(_is_origin, made["origins"])):
        found.add(
            ("collect", "origins"),
            "a list of origins in their usual form, such as https://example.org",
            made["origins"],
        )
    for key in ("opens", "closes"):
        made[key] = _time(made[key], ("collect", key), found)
    if made["opens"] and made["closes"] and made["opens"] >= made["closes"]:
        found.add(("collect", "closes"), "after it opens", made["closes"])
    return made


def _derive(collect: dict[str, Any], oracle: Oracle | None, found: MistakeList) -> None:
    """Check that what is public in reports may come from tickets, where that is asked for."""
    if "derive" not in collect:
        return
    if collect["derive"] is not True:
        found.add(("collect", "derive"), "true or false", collect["derive"])
    elif collect["submit"] != "ticket":
        found.add(("collect", "derive"), "false unless submit is 'ticket'", True)
    elif oracle is not None and not can_derive(oracle):
        found.say(("collect", "derive"), f"collect.derive: the oracle must be {DERIVABLE}, got {oracle!r}")


def _repeat(value: Any, oracle: Oracle | None, found: MistakeList) -> dict[str, Any]:
    """Return the rule if it is named at all; only what is kept in two stages may be reported again."""
    if value not in REPEATS:
        found.add(("collect", "repeat"), "'once' or 'daily'", value)
    elif value == "daily" and oracle is not None and not oracle.refreshes:
        found.add(("collect", "repeat"), f"'once', since a report of {oracle.title} is repeated as it is", value)
    return {} if value == REPEATS[0] else {"repeat": value}


def _is_origin(value: Any) -> bool:
    """Tell whether this is an origin in the one form that browsers send, since another would never match."""
    try:
        return bool(origin_of(value) == value)
    except ParameterError:
        return False


def _time(value: Any, path: tuple[str, ...], found: MistakeList) -> str | None:
    """Return a time as UTC in one form; TOML gives times, JSON gives text."""
    if value is None:
        return None
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        if time.tzinfo is None:
            raise ValueError
        time = time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        found.add(path, "a time with its offset, such as 2026-11-01T00:00:00Z", value)
        return None
    if time.year < 1970:  # times are compared as text, and a year below 1000 has fewer digits
        found.add(path, "a time from 1970 on", value)
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
