"""How the values of a survey differ in the protection that they need: what is declared by labels, as values."""

from collections.abc import Callable
from functools import partial
from typing import Any

from fldp.oracle import MOST_VALUES
from fldp.survey_mistakes import Findings
from fldp.treatment import Treatment
from fldp.values import numbered

DIFFERING = ("sensitive", "budgets", "distance")

Values = Callable[[str], int | None]


def check_treatment(
    fields: dict[str, Any], labels: tuple[str, ...] | None, size: int | None, found: Findings
) -> Treatment:
    """Return what is declared of so many values, by their labels where they have any; or findings.

    >>> found = Findings()
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


def _by_value(key: str, thing: Any, values: Values, found: Findings) -> Any:
    """Replace labels by their values."""
    if thing is None:
        found.add((key,), "left out where nothing is declared", thing)
    if key == "sensitive" and isinstance(thing, list):
        return [_value(key, label, values, found) for label in thing]
    if key == "budgets" and isinstance(thing, dict):
        return {_value(key, label, values, found): budget for label, budget in thing.items()}
    return thing


def _value(key: str, label: Any, values: Values, found: Findings) -> int | None:
    is_number = isinstance(label, int) and not isinstance(label, bool) and abs(label) < MOST_VALUES
    text = str(label) if is_number else label
    value = values(text) if isinstance(text, str) else None
    if value is None:
        found.add((key,), "of labels of the survey", label)
    return value
