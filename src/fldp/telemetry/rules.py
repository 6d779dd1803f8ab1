"""Rules of a ``metrics.toml``: every mistake with its line, and warnings about what can be better."""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from fldp.client.address import Address
from fldp.errors import ParameterError
from fldp.participant.epochs import MAX_EPOCHS
from fldp.participant.limits import Limit, Limits
from fldp.support.exact_numbers import decimal, number_text
from fldp.support.identifiers import SURVEY_NAME, VERSION
from fldp.support.validation import Constraint, MistakeList, fail, integer, is_number, line, number, one_of
from fldp.survey.mistakes import Mistake, SurveyError, located
from fldp.survey.parsing import parse_fields, read_text
from fldp.survey.rules import check_labels, check_origins
from fldp.survey.visible_text import check_labels_visible
from fldp.telemetry.metrics import FORMAT, KINDS, MODES, NUMBERS, OTHER, PERIODS, UNSET, AppMetrics, metrics_of
from fldp.telemetry.specification import REPEATS, cost, survey_name

MAX_EPSILON, ADVISED_EPSILON, MAX_VALUES, MAX_WEIGHT = 2, 1, 200, 100
ADVISED_LIFE = timedelta(days=366)
_KEYS = (
    "format",
    "app",
    "collector",
    "relay",
    "origins",
    "period",
    "epsilon",
    "default",
    "metric",
    "versions",
    "surveys",
)
_METRIC_KEYS = ("kind", "values", "edges", "take", "weight", "why", "owner", "expires")
_NEEDED = ("format", "app", "collector", "epsilon", "metric")
_FREE_TEXT = re.compile(r"[@/\\]|.{41}|(?:\S+\s+){4}")


class Lint(NamedTuple):
    """What is wrong with a file, what could be better, and its metrics if nothing is wrong."""

    errors: list[Mistake]
    warnings: list[Mistake]
    metrics: AppMetrics | None


def lint(text: str, source: str, today: date, before: AppMetrics | None = None) -> Lint:
    """Check the text of a file; ``before`` is what was published under the same names."""
    try:
        fields = parse_fields(text, is_json=source.endswith(".json"), source=source)
    except SurveyError as error:
        return Lint(list(error.mistakes), [], None)
    errors, warnings = MistakeList(), MistakeList()
    _check(fields, today, errors)
    metrics = None if errors else metrics_of(fields)  # type: ignore[arg-type]
    if metrics is not None:
        _check_budget(metrics, errors, warnings)
        _check_changes(metrics, before, errors, warnings)
        _advise(metrics, today, warnings)
    return Lint(located(errors, text), located(warnings, text), None if errors else metrics)


def load(path: Path, today: date) -> AppMetrics:
    """Read the metrics of a file without mistakes, or raise all of them."""
    linted = lint(read_text(path), str(path), today)
    if linted.metrics is None:
        raise SurveyError(str(path), linted.errors, len(linted.errors))
    return linted.metrics


def _check(fields: object, today: date, mistakes: MistakeList) -> None:
    if not isinstance(fields, dict):
        mistakes.note((), f"metrics must be a table of keys, got {type(fields).__name__}")
        return
    mistakes.unknown((), fields, _KEYS, "a key of metrics")
    for key in _NEEDED:
        if key not in fields:
            mistakes.note((key,), f"{key} is missing")
    for key, constraint in _TOP.items():
        if key in fields:
            mistakes.check((key,), constraint, fields[key])
    tables = fields.get("metric", {})
    if not isinstance(tables, dict) or not tables:
        mistakes.add(("metric",), "tables such as [metric.theme]", tables)
        return
    for name, table in tables.items():
        _check_metric(str(fields.get("app", "")), name, table, today, mistakes)


def _check_metric(app: str, name: str, table: Any, today: date, mistakes: MistakeList) -> None:
    path = ("metric", name)
    if not SURVEY_NAME.matches(survey_name(app, name)) or "." in name:
        mistakes.note(path, f"metric {name!r:.80} must be such that {app}-{name!s:.80} is {SURVEY_NAME.rule}")
    if not isinstance(table, dict):
        mistakes.add(path, "a table of keys", table)
        return
    mistakes.unknown(path, table, _METRIC_KEYS, "a key of a metric")
    for key in ("kind", "why", "owner", "expires"):
        if key not in table:
            mistakes.note((*path, key), f"{'.'.join(path)}.{key} is missing")
    for key in ("why", "owner"):
        if key in table:
            mistakes.check((*path, key), line, table[key])
    if "expires" in table:
        _check_expiry(path, table["expires"], today, mistakes)
    if "weight" in table:
        mistakes.check((*path, "weight"), integer(1, MAX_WEIGHT), table["weight"])
    kind = mistakes.check((*path, "kind"), one_of(*KINDS), table.get("kind", "flag"))
    if kind is not None:
        mistakes.check((*path, "take"), one_of(*KINDS[kind]), table.get("take", KINDS[kind][0]))
        _check_values(path, kind, table, mistakes)


def _check_expiry(path: tuple[str, ...], value: object, today: date, mistakes: MistakeList) -> None:
    day = mistakes.check((*path, "expires"), _day, value)
    if day is not None and day < today:
        mistakes.note((*path, "expires"), f"{'.'.join(path)} has expired on {day}: take it out, or move expires")


def _check_values(path: tuple[str, ...], kind: str, table: Mapping[str, Any], mistakes: MistakeList) -> None:
    listed, parted = kind in ("choice", "version"), kind in NUMBERS
    for key, allowed, needed in (("values", listed, listed), ("edges", parted, kind == "number")):
        if key in table and not allowed:
            mistakes.note((*path, key), f"{'.'.join(path)}.{key} must be left out for the kind {kind}")
        elif key not in table and needed:
            mistakes.note((*path, key), f"{'.'.join(path)}.{key} is missing")
    if listed and "values" in table:
        _check_listed((*path, "values"), table["values"], mistakes)
    if parted and "edges" in table:
        _check_edges((*path, "edges"), table["edges"], mistakes)


def _check_listed(path: tuple[str, ...], values: object, mistakes: MistakeList) -> None:
    name = ".".join(path)
    if not isinstance(values, list) or not 1 <= len(values) <= MAX_VALUES:
        mistakes.add(path, f"a list of 1 to {MAX_VALUES} texts", values)
        return
    own_mistakes = MistakeList()
    labels, _ = check_labels(name, [*values, UNSET], own_mistakes)
    check_labels_visible(name, labels or (), own_mistakes)
    for message in own_mistakes.messages:
        mistakes.note(path, message)


def _check_edges(path: tuple[str, ...], edges: object, mistakes: MistakeList) -> None:
    listed = edges if isinstance(edges, list) and 0 < len(edges) < MAX_VALUES else []
    numbers = [float(edge) for edge in listed if is_number(edge) and math.isfinite(edge)]
    if not listed or len(numbers) < len(listed) or any(b <= a for a, b in pairwise(numbers)):
        mistakes.add(path, f"a list of 1 to {MAX_VALUES - 1} numbers, each larger than the one before", edges)


def _check_budget(metrics: AppMetrics, errors: MistakeList, warnings: MistakeList) -> None:
    """Check that what is asked for fits the limits that people have by default, in a month and in a year."""
    limits = Limits.renewing()
    in_month, in_year = MAX_EPOCHS[REPEATS[metrics.period]]
    month = limits.month or limits.month_total
    _check_first_reports(metrics, month, errors)
    _check_span(metrics, in_month, month, "month", errors)
    if any(not metric.lasts for metric in metrics.metrics.values()):
        _check_span(metrics, in_year, limits.year, "year", errors)
    if not errors and _worst(metrics, in_month) > month.max_epsilon:
        warnings.note(
            ("epsilon",),
            "in a month in which several metrics are first reported, which costs twice their epsilon, "
            f"some reports do not fit the default limit of {number_text(month.max_epsilon)} and are not sent",
        )


def _check_first_reports(metrics: AppMetrics, month: Limit, errors: MistakeList) -> None:
    for metric in metrics.metrics.values():
        first = cost(metrics, metric)
        if first > month.max_epsilon:
            errors.note(
                ("metric", metric.name),
                f"metric.{metric.name} costs epsilon {number_text(first)} when it is first reported, and the default "
                f"limit of a month is {number_text(month.max_epsilon)}: nobody would ever report it; "
                f"set epsilon to {number_text(decimal(month.max_epsilon) * decimal(metrics.epsilon) / first)} or less",
            )


def _check_span(metrics: AppMetrics, count: int, limit: Limit, span: str, errors: MistakeList) -> None:
    epsilon = decimal(metrics.epsilon)
    if count * epsilon > limit.max_epsilon:
        most = math.floor(decimal(limit.max_epsilon) / count * 1000) / 1000
        errors.note(
            ("epsilon",),
            f"{count} reports of epsilon {number_text(epsilon)} do not fit the default limit of a {span}, "
            f"{number_text(limit.max_epsilon)}: set epsilon to {number_text(most)} or less",
        )


def _worst(metrics: AppMetrics, count: int) -> Fraction:
    """Return the most that some reports in a row can cost: first reports of attributes, then numbers."""
    once = [cost(metrics, metric) for metric in metrics.metrics.values() if metric.lasts][:count]
    again = [cost(metrics, metric) for metric in metrics.metrics.values() if not metric.lasts][:1]
    return sum(once, Fraction(0)) + sum(again, Fraction(0)) * (count - len(once))


def _check_changes(metrics: AppMetrics, before: AppMetrics | None, errors: MistakeList, warnings: MistakeList) -> None:
    if before is None:
        return
    for name, metric in metrics.metrics.items():
        former = before.metrics.get(name)
        if former is not None and former.labels != metric.labels:
            errors.note(
                ("metric", name), f"metric.{name} has other values than before under its old name: give it a new name"
            )
    rest = ("app", "period", "epsilon")
    changed = [key for key in rest if getattr(metrics, key) != getattr(before, key)]
    changed += [] if bool(metrics.relay) == bool(before.relay) else ["relay"]
    if changed:
        warnings.note(
            (changed[0],),
            f"{' and '.join(changed)} changed: all metrics become new surveys, and what people kept costs again",
        )


def _advise(metrics: AppMetrics, today: date, warnings: MistakeList) -> None:
    if not metrics.relay:
        warnings.note(("collector",), "no relay is declared: the collector sees the address of everybody who sends")
    if metrics.default == "on":
        warnings.note(("default",), 'default is "on": people send before they are asked')
    if metrics.epsilon > ADVISED_EPSILON:
        warnings.note(("epsilon",), f"epsilon is above {ADVISED_EPSILON}: one report gives away a lot")
    for name, metric in metrics.metrics.items():
        if date.fromisoformat(metric.expires) > today + ADVISED_LIFE:
            warnings.note(("metric", name, "expires"), f"metric.{name} expires more than a year from now")
        if any(_FREE_TEXT.search(value) for value in metric.values):
            warnings.note(("metric", name, "values"), f"metric.{name} has values that look like free text")
        if metric.kind != "flag" and len([label for label in metric.labels if label not in (UNSET, OTHER)]) < 3:
            warnings.note(("metric", name), f"metric.{name} has fewer than 3 values; a flag needs none")


def _day(owner: str, name: str, value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    with suppress(TypeError, ValueError):
        day = date.fromisoformat(value)  # type: ignore[arg-type]
        if str(day) == value:  # other spellings, such as 20270630, do not compare as texts
            return day
    raise fail(owner, name, "a day such as 2027-06-30", value)


def _address(owner: str, name: str, value: object) -> str:
    with suppress(ParameterError):
        address = Address.of(value)  # type: ignore[arg-type]
        if address.private:
            return str(address)
    raise fail(owner, name, "an address such as https://collector.example", value)


def _pinned(owner: str, name: str, value: object) -> dict[str, str]:
    if isinstance(value, dict) and all(map(VERSION.matches, value.values())):
        return value
    raise fail(owner, name, f"a table of versions, each {VERSION.rule}, as exported", value)


_TOP: dict[str, Constraint] = {
    "format": one_of(FORMAT),
    "app": SURVEY_NAME,
    "collector": _address,
    "relay": _address,
    "origins": check_origins,
    "period": one_of(*PERIODS),
    "epsilon": number(0.01, MAX_EPSILON),
    "default": one_of(*MODES),
    "versions": _pinned,
}


def lines(linted: Lint) -> Iterator[str]:
    """Yield the findings as lines of text, errors first."""
    yield from (f"error    {mistake}" for mistake in linted.errors)
    yield from (f"warning  {mistake}" for mistake in linted.warnings)
