"""Declarative checks of parameters, with one message format.

A constraint takes ``(owner, name, value)`` and returns the value in its canonical type, or raises
``ParameterError`` with a line that says who, what, the rule and the value.
"""

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

from fldp.errors import ParameterError

Constraint = Callable[[str, str, Any], Any]


def show(value: object) -> str:
    """Return what a message shows of a value; one too long or too deep to print is shown by its type.

    >>> show(1.5), show(10**5000)
    ('1.5', '<int>')
    """
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def fail(owner: str, name: str, rule: str, value: object) -> ParameterError:
    """Build the error; the caller raises it.

    >>> fail("GRR", "epsilon", "a positive number", -1.0)
    ParameterError('GRR: epsilon must be a positive number, got -1.0')
    """
    shown = show(value)
    return ParameterError(f"{owner}: {name} must be {rule}, got {shown if len(shown) < 80 else shown[:77] + '...'}")


def positive(owner: str, name: str, value: Any) -> float:
    """Accept a finite number above zero, as a float.

    >>> positive("GRR", "epsilon", 1)
    1.0
    """
    rule = "a positive, finite number"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise fail(owner, name, rule, value)
    try:
        number = float(value)
    except OverflowError:
        raise fail(owner, name, rule, value) from None
    if not (math.isfinite(number) and number > 0):
        raise fail(owner, name, rule, value)
    return number


def integer(low: int, high: int) -> Constraint:
    """Accept an integer in ``[low, high]``, as an int.

    >>> integer(2, 10)("GRR", "domain_size", 7)
    7
    """

    def check(owner: str, name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
            raise fail(owner, name, f"an integer from {low} to {high}", value)
        return int(value)

    return check


def one_of(*choices: str) -> Constraint:
    """Accept one of the given words.

    >>> one_of("spread", "paper")("FHR", "items", "paper")
    'paper'
    """

    def check(owner: str, name: str, value: Any) -> str:
        if not (isinstance(value, str) and value in choices):
            raise fail(owner, name, "one of " + ", ".join(map(repr, choices)), value)
        return value

    return check


def flag(owner: str, name: str, value: Any) -> bool:
    """Accept True or False.

    >>> flag("FHR", "allow_exposure", True)
    True
    """
    if not isinstance(value, bool):
        raise fail(owner, name, "True or False", value)
    return value


def fraction(owner: str, name: str, value: Any) -> float:
    """Accept a number strictly between 0 and 1, as a float.

    >>> fraction("Estimate", "level", 0.95)
    0.95
    """
    number = positive(owner, name, value) if not isinstance(value, bool) else 2.0
    if number >= 1:
        raise fail(owner, name, "a number between 0 and 1", value)
    return number


def maybe(constraint: Constraint) -> Constraint:
    """Accept None, or what a constraint accepts.

    >>> maybe(fraction)("RAPPOR", "p", None) is None
    True
    """
    return lambda owner, name, value: None if value is None else constraint(owner, name, value)
