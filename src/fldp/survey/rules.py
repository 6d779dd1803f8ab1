"""Rules of a survey's fields: texts, domain, treatment of values, oracle, and the rules of collecting."""

import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeGuard

from fldp.data.scale import Scale
from fldp.data.values import numbered
from fldp.errors import ParameterError
from fldp.estimation.expected_error import required
from fldp.oracles import get
from fldp.oracles.base.frequency_oracle import MAX_VALUES
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.ticket_words import DERIVABLE, can_derive
from fldp.oracles.base.treatment import Treatment
from fldp.support.exact_numbers import share_text
from fldp.support.identifiers import LANGUAGE, SURVEY_NAME
from fldp.support.validation import Constraint, MistakeList, fail, integer, is_integer, one_of
from fldp.support.web_origin import origin_of
from fldp.survey import pass_rules
from fldp.survey.number import NUMBER, SAMPLED, check_number, pinned, planned, suits
from fldp.survey.questions_table import check_questions
from fldp.survey.search_table import check_search

STRINGS = "strings"
DIFFERING = ("sensitive", "budgets", "distance")


class CollectRules(TypedDict):
    """The rules of collecting, as a survey's version names them."""

    submit: str
    origins: list[str]
    opens: str | None
    closes: str | None
    retention: str
    minimum: int
    repeat: NotRequired[str]
    derive: NotRequired[bool]
    oblivious: NotRequired[bool]
    release: NotRequired[int]
    issuer_key: NotRequired[str]
    issuer: NotRequired[str]


COLLECT_DEFAULTS: CollectRules = {
    "submit": "open",
    "origins": [],
    "opens": None,
    "closes": None,
    "retention": "raw",
    "minimum": 100,
}
RELEASES = (1_000, 10**12)  # how many more reports it may take before those who read see them
REPEATS = (
    "once",
    "daily",
    "weekly",
    "monthly",
)  # how often a person may answer; a survey names it only if it is not the first
FORMAT = "fldp-survey-1"
MAX_LABEL, MAX_TEXT, MAX_LABELS, MAX_MINIMUM = 200, 2000, 1_000_000, 10**9
_TEXTS = ("name", "question", "title", "description", "topic", "language")
_FORMS = {"name": SURVEY_NAME, "topic": SURVEY_NAME, "language": LANGUAGE}
_DOMAINS = ("labels", "domain_size", "labels_file", "domain", NUMBER)

Domain = tuple[tuple[str, ...] | None, dict[str, Any] | None]
ValueOf = Callable[[str], int | None]


def check_survey(fields: object, folder: Path | None) -> tuple[dict[str, Any], MistakeList]:
    """Return the arguments of a ``Survey``, and the mistakes; the arguments are good if there are none."""
    mistakes = MistakeList()
    if not isinstance(fields, dict):
        mistakes.note((), f"a survey must be a table of keys, got {type(fields).__name__}")
        return {}, mistakes
    fields = {key: value for key, value in fields.items() if (key, value) != ("format", FORMAT)}
    if "questions" in fields:
        return _several(fields, folder, mistakes), mistakes
    mistakes.unknown((), fields, {*_TEXTS, *_DOMAINS, *DIFFERING, "search", "oracle", "collect"}, "a key of a survey")
    arguments = _texts(fields, mistakes)
    labels, domain = _domain(fields, folder, mistakes)
    number = check_number((NUMBER,), fields[NUMBER], mistakes) if NUMBER in fields else None
    domain = domain if number is None else {"domain_size": number.size}
    treatment = check_treatment(fields, labels, (domain or {}).get("domain_size"), mistakes)
    _check_alike(fields, domain, mistakes)
    search = check_search(fields, _oracle, mistakes) if "search" in fields else None
    if NUMBER in fields:
        oracle = _number_oracle(fields.get("oracle"), number, mistakes)
    elif "search" in fields:
        oracle = search.oracle if search else None
    else:
        oracle = _oracle(fields.get("oracle"), domain, mistakes, treatment)
    arguments |= {"labels": labels, "oracle": oracle, "search": search, "treatment": treatment}
    arguments |= {"collect": _checked_collect(fields, oracle, mistakes)}
    return arguments | ({} if number is None else {"number": number}), mistakes


def _checked_collect(fields: dict[str, Any], oracle: Oracle | None, mistakes: MistakeList) -> dict[str, Any]:
    """Return the rules of collection, also checked against the oracle and the search."""
    collect = _collect(fields.get("collect", {}), oracle, mistakes)
    _check_derive(collect, oracle, mistakes)
    if "search" in fields:
        _check_search_rules(collect, mistakes)
    return collect


def _check_alike(fields: dict[str, Any], domain: dict[str, Any] | None, mistakes: MistakeList) -> None:
    """Refuse values that differ in protection where they cannot: cells of a number, and strings."""
    differing = [key for key in DIFFERING if key in fields]
    if NUMBER in fields:
        mistakes.unknown((), differing, (), "for a number, whose cells are alike")
    if domain == {}:
        mistakes.unknown((), differing, (), "for strings, which nobody can list")


def _check_search_rules(collect: Mapping[str, Any], mistakes: MistakeList) -> None:
    pass_rules.refuse_search(collect, mistakes)
    if "repeat" in collect:
        rule = "'once' in a search, which everybody answers in one round"
        mistakes.add(("collect", "repeat"), rule, collect["repeat"])


def _several(fields: dict[str, Any], folder: Path | None, mistakes: MistakeList) -> dict[str, Any]:
    """Return the arguments of a survey of several questions."""
    keys = {*_TEXTS, "questions", "tables", "oracle", "collect"} - {"question"}
    mistakes.unknown((), fields, keys, "a key of a survey of several questions")
    arguments = _texts({key: value for key, value in fields.items() if key != "question"}, mistakes, ("name",))
    arguments |= check_several(fields, folder, mistakes)
    oracle = arguments.get("oracle")
    collect = _collect(fields.get("collect", {}), oracle, mistakes)
    _check_derive(collect, oracle, mistakes)
    return arguments | {"collect": collect}


def check_several(fields: dict[str, Any], folder: Path | None, mistakes: MistakeList) -> dict[str, Any]:
    """Return several questions, how they are asked, and their oracle, by the names of a survey's arguments."""
    return check_questions(fields, folder, mistakes, _domain, _text)


def _texts(
    fields: dict[str, Any], mistakes: MistakeList, needed: tuple[str, ...] = ("name", "question")
) -> dict[str, Any]:
    for key in needed:
        if key not in fields:
            mistakes.note((key,), f"{key} is missing")
    texts = {key: fields[key] for key in _TEXTS if key in fields}
    for key, text in texts.items():
        mistakes.check((key,), _FORMS.get(key, _text), text)
    return texts


def _text(owner: str, name: str, value: object) -> str:
    if not _is_text(value, MAX_TEXT):
        raise fail(owner, name, f"a text of 1 to {MAX_TEXT} characters", value)
    return str(value)


def _is_text(value: object, max_length: int) -> TypeGuard[str]:
    """Whether this is text without control characters, lone surrogates, or white space at its ends."""
    if not isinstance(value, str) or not 0 < len(value) <= max_length or value != value.strip():
        return False
    return value.isprintable() or not any(unicodedata.category(c) in ("Cc", "Cs") and c != "\n" for c in value)


def is_label(value: object) -> bool:
    """Whether this can be a label: one line of text."""
    return _is_text(value, MAX_LABEL) and "\n" not in str(value)


def _domain(fields: dict[str, Any], folder: Path | None, mistakes: MistakeList) -> Domain:
    """Return the labels, and the oracle's parameters for the domain: none if it is strings."""
    keys = [key for key in _DOMAINS if key in fields]
    if len(keys) != 1:
        problem = (
            f"is given twice: {', '.join(keys)}"
            if keys
            else "is missing: give labels, labels_file, domain_size, number or domain = 'strings'"
        )
        mistakes.note((keys[-1] if keys else "labels",), f"the domain {problem}")
        return None, None
    match keys[0]:
        case "domain_size":
            size = mistakes.check(("domain_size",), integer(2, MAX_VALUES), fields["domain_size"])
            return None, None if size is None else {"domain_size": size}
        case "domain":
            if fields["domain"] == STRINGS:
                return None, {}
            mistakes.add(("domain",), f"{STRINGS!r}", fields["domain"])
            return None, None
        case "number":
            return None, None
        case "labels_file":
            labels = _labels_from_file(fields["labels_file"], folder, mistakes)
            return (None, None) if labels is None else check_labels("labels_file", labels, mistakes)
    return check_labels("labels", fields["labels"], mistakes)


def _labels_from_file(name: Any, folder: Path | None, mistakes: MistakeList) -> list[str] | None:
    if folder is None or not isinstance(name, str):
        mistakes.add(("labels_file",), "the name of a file beside the survey's", name)
        return None
    try:
        return (folder / name).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError):
        mistakes.add(("labels_file",), "a UTF-8 text file with a label on each line", name)
        return None


def check_labels(key: str, labels: object, mistakes: MistakeList) -> Domain:
    """Return the labels, and the oracle's parameters for them."""
    if not isinstance(labels, list) or not 2 <= len(labels) <= MAX_LABELS:
        mistakes.add((key,), f"a list of 2 to {MAX_LABELS} labels", labels)
        return None, None
    seen: dict[str, int] = {}
    for position, label in enumerate(labels):
        if not is_label(label):
            rule = f"texts of 1 to {MAX_LABEL} characters without blanks at the ends (label {position})"
            mistakes.add((key,), rule, label)
            continue
        normal = unicodedata.normalize("NFC", label)
        if normal in seen:
            mistakes.add((key,), f"all different (label {position} is label {seen[normal]} again)", label)
        seen.setdefault(normal, position)
    return tuple(map(str, labels)), {"domain_size": len(labels)}


def check_treatment(
    fields: Mapping[str, object], labels: tuple[str, ...] | None, size: int | None, mistakes: MistakeList
) -> Treatment:
    """Return the declared treatment of ``size`` values, which are named by their labels if they have any.

    >>> mistakes = MistakeList()
    >>> check_treatment({"sensitive": ["tea"]}, ("water", "tea"), 2, mistakes).parameters
    {'sensitive': (1,)}
    >>> check_treatment({"budgets": {"7": 0.5}}, None, 9, mistakes).parameters
    {'budgets': ((7, 0.5),)}
    """
    declared = {key: fields[key] for key in DIFFERING if key in fields}
    if size is None or not declared:
        return Treatment()
    before, key = mistakes.count, next(iter(declared))
    value_of: ValueOf = partial(numbered, domain_size=size)
    if labels is not None:
        value_of = {label: value for value, label in enumerate(labels)}.get
    by_value = {name: _by_value(name, declaration, value_of, mistakes) for name, declaration in declared.items()}
    treatment = None if mistakes.count > before else mistakes.attempt(partial(Treatment, **by_value), (key,))
    if treatment is not None:
        mistakes.attempt(partial(treatment.check_domain, size), (key,))
    return treatment or Treatment()


def _by_value(key: str, declared: Any, value_of: ValueOf, mistakes: MistakeList) -> Any:
    """Replace labels by their values."""
    if declared is None:
        mistakes.add((key,), "left out where nothing is declared", declared)
    if key == "sensitive" and isinstance(declared, list):
        return [_value(key, label, value_of, mistakes) for label in declared]
    if key == "budgets" and isinstance(declared, dict):
        return {_value(key, label, value_of, mistakes): budget for label, budget in declared.items()}
    return declared


def _value(key: str, label: Any, value_of: ValueOf, mistakes: MistakeList) -> int | None:
    text = str(label) if is_integer(label) and abs(label) < MAX_VALUES else label
    value = value_of(text) if isinstance(text, str) else None
    if value is None:
        mistakes.add((key,), "of labels of the survey", label)
    return value


def _oracle(
    fields: Any, domain: dict[str, Any] | None, mistakes: MistakeList, treatment: Treatment | None = None
) -> Oracle | None:
    if not isinstance(fields, dict):
        mistakes.note(("oracle",), "the table [oracle] is missing, with a name and its parameters")
        return None
    name = fields.get("name", "")
    if not isinstance(name, str) or len(name) > MAX_LABEL:
        mistakes.add(("oracle", "name"), "the name of an oracle", name)
        return None
    cls = mistakes.attempt(partial(get, name), ("oracle", "name"))
    if cls is None:
        return None
    declared = {name: value for name, value in (treatment or Treatment()).parameters.items() if name in cls.params}
    parameters = declared | {name: value for name, value in fields.items() if name != "name"}
    before = mistakes.count
    if domain is not None and ("domain_size" in cls.params) != ("domain_size" in domain):
        is_for = f"for strings, as in domain = {STRINGS!r}" if "domain_size" in domain else "for values that are listed"
        mistakes.note(("oracle", "name"), f"oracle.name must suit the domain, got {name!r}, which is {is_for}")
    _check_parameters(cls, parameters, mistakes)
    if domain is None or mistakes.count > before:
        return None
    if "domain_size" in domain and not _takes(cls, domain["domain_size"], mistakes):
        return None
    return mistakes.attempt(partial(cls, **domain, **parameters), ("oracle",))


def _takes(cls: type[Oracle], answers: int, mistakes: MistakeList) -> bool:
    """Whether an oracle takes this number of answers; mistakes are in the words of a survey."""
    check = partial(cls.params["domain_size"], cls.__name__, "the number of answers", answers)
    return mistakes.attempt(check, ("oracle", "name")) is not None


def _number_oracle(fields: Any, number: Scale | None, mistakes: MistakeList) -> Oracle | None:
    """Return the oracle of a number: planned if the survey names an epsilon alone, as a version names it otherwise."""
    if number is None or not isinstance(fields, dict):
        return None if number is None else _oracle(fields, None, mistakes)
    if "name" not in fields:
        return planned(fields, number, mistakes)
    if fields["name"] == SAMPLED:
        return pinned(fields, number, mistakes)
    oracle = _oracle(fields, {"domain_size": number.size}, mistakes)
    if oracle is not None and not suits(oracle, number):
        mistakes.note(("oracle", "name"), f"oracle.name must be one for numbers, or left out, got {fields['name']!r}")
        return None
    return oracle


def _check_parameters(cls: type[Oracle], parameters: dict[str, Any], mistakes: MistakeList) -> None:
    """Check the parameters one by one, all but the domain's."""
    mistakes.unknown(("oracle",), parameters, cls.params.keys() - {"domain_size"}, f"a parameter of {cls.name}")
    for name in required(cls):
        if name != "domain_size" and name not in parameters:
            mistakes.note(("oracle", name), f"oracle.{name} is missing")
    for name, value in parameters.items():
        if name in cls.params:
            mistakes.attempt(partial(cls.params[name], cls.__name__, name, value), ("oracle", name))


def _collect(fields: Any, oracle: Oracle | None, mistakes: MistakeList) -> dict[str, Any]:
    if not isinstance(fields, dict):
        mistakes.add(("collect",), "a table", fields)
        return {}
    known = {*COLLECT_DEFAULTS, "repeat", "derive", "oblivious", "release", *pass_rules.KEYS}
    mistakes.unknown(("collect",), fields, known, "a rule of collecting")
    collect = {
        key: mistakes.check(("collect", key), _COLLECT[key], fields.get(key, default))
        for key, default in COLLECT_DEFAULTS.items()
    }
    collect |= _repeat(fields.get("repeat", REPEATS[0]), oracle, mistakes)
    collect |= pass_rules.check_pass(fields, collect["submit"], mistakes)
    for name in ("derive", "oblivious"):
        if fields.get(name, False) is not False:
            collect[name] = fields[name]  # left out where it is false: older versions do not name it
    if collect.get("oblivious", True) is not True:
        mistakes.add(("collect", "oblivious"), "true or false", collect["oblivious"])
    if "release" in fields:  # left out where it is not given: older versions do not name it
        collect["release"] = mistakes.check(("collect", "release"), integer(*RELEASES), fields["release"])
    if collect["opens"] and collect["closes"] and collect["opens"] >= collect["closes"]:
        mistakes.add(("collect", "closes"), "after it opens", collect["closes"])
    return collect


def _check_derive(collect: dict[str, Any], oracle: Oracle | None, mistakes: MistakeList) -> None:
    """Check that the public randomness of reports can derive from tickets, where the survey asks for it."""
    if "derive" not in collect:
        return
    if collect["derive"] is not True:
        mistakes.add(("collect", "derive"), "true or false", collect["derive"])
    elif collect["submit"] not in ("ticket", "pass"):
        mistakes.add(("collect", "derive"), "false unless submit is 'ticket' or 'pass'", True)
    elif oracle is not None and not can_derive(oracle):
        mistakes.note(("collect", "derive"), f"collect.derive: the oracle must be {DERIVABLE}, got {oracle!r}")


def keeps(oracle: Oracle) -> bool:
    """Whether people store something of their first answer, which all of their reports are drawn from."""
    return oracle.memoization is not None


def _repeat(value: Any, oracle: Oracle | None, mistakes: MistakeList) -> dict[str, Any]:
    """Return the rule if it is not the default; only a permanent response may be reported daily."""
    if value not in REPEATS:
        mistakes.add(("collect", "repeat"), "'once', 'daily', 'weekly' or 'monthly'", value)
    elif value == "daily" and oracle is not None and not keeps(oracle):
        rule = f"'once', 'weekly' or 'monthly', since {oracle.title} keeps nothing that a day's report could be made of"
        mistakes.add(("collect", "repeat"), rule, value)
    return {} if value == REPEATS[0] else {"repeat": value}


def check_plain(repeat: str, oracle: Oracle, mistakes: MistakeList) -> None:
    """Refuse a new survey whose answers of many weeks or months would rule out all values but one."""
    if repeat in ("weekly", "monthly") and oracle.eta != 1 and not keeps(oracle):
        why = f"{oracle.title} has eta {share_text(oracle.eta)} in each of many draws, and etas multiply to nothing"
        mistakes.add(("collect", "repeat"), f"'once' ({why}), or the oracle one of plain LDP", repeat)


def check_origins(owner: str, name: str, value: object) -> list[str]:
    """Accept origins in the one form that browsers send, since another would never match."""
    if not isinstance(value, list) or not all(map(_is_origin, value)):
        raise fail(owner, name, "a list of origins in their usual form, such as https://example.org", value)
    return value


def _is_origin(value: Any) -> bool:
    try:
        return bool(origin_of(value) == value)
    except ParameterError:
        return False


def _time(owner: str, name: str, value: Any) -> str | None:
    """Accept no time, or a time with its offset, as UTC in one form; TOML gives times, JSON gives text."""
    if value is None:
        return None
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        if time.tzinfo is None:
            raise ValueError
        time = time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise fail(owner, name, "a time with its offset, such as 2026-11-01T00:00:00Z", value) from None
    if time.year < 1970:  # times are compared as text, and a year below 1000 has fewer digits
        raise fail(owner, name, "a time from 1970 on", value)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


_COLLECT: dict[str, Constraint] = {
    "submit": one_of("open", "token", "ticket", "pass"),
    "origins": check_origins,
    "opens": _time,
    "closes": _time,
    "retention": one_of("raw", "tally"),
    "minimum": integer(1, MAX_MINIMUM),
}
