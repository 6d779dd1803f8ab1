r"""Validation: constraints on single values, and a list that collects every mistake of an input by its path.

A constraint takes ``(owner, name, value)`` and returns the value in its canonical type, or raises ``ParameterError``:
who, what, the rule, the value. ``MistakeList.check`` applies a constraint at a path and notes the error instead.

>>> mistakes = MistakeList()
>>> mistakes.check(("collect", "minimum"), integer(1, 10), 0)
>>> mistakes.check(("oracle", "epsilon"), positive, -1)
>>> mistakes.messages
['collect.minimum must be an integer from 1 to 10, got 0', 'oracle.epsilon must be a positive, finite number, got -1']
"""

import math
import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar

from fldp.errors import FldpError, ParameterError

MAX_MISTAKES, MAX_SHOWN = 20, 80  # a stranger's input must not fill the screen
MAX_LISTED = 2**31 - 1  # values of any list
T = TypeVar("T")
Constraint = Callable[[str, str, object], Any]
Path = tuple[str, ...]


def show(value: object) -> str:
    r"""Return what a message shows of a value: short, and nothing that a terminal would obey.

    >>> show(1.5), show(10**5000), show("\x1b[2J"), len(show("x" * 10**6))
    ('1.5', '<int>', "'\\x1b[2J'", 80)
    """
    try:
        shown = repr(value[:MAX_SHOWN] if isinstance(value, str) else value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"
    return shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 3] + "..."


def fail(owner: str, name: str, rule: str, value: object, *, secret: bool = False) -> ParameterError:
    """Build the error of a value that breaks a rule; the caller raises it. Without an owner, the name comes first.

    >>> fail("GRR", "epsilon", "a positive number", -1.0)
    ParameterError('GRR: epsilon must be a positive number, got -1.0')
    """
    shown = " (the value is not shown)" if secret else f", got {show(value)}"
    return ParameterError(f"{owner}{': ' if owner else ''}{name} must be {rule}{shown}")


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an integer, of Python or NumPy; True and False are not.

    >>> is_integer(1), is_integer(True), is_integer(1.0)
    (True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def positive(owner: str, name: str, value: object) -> float:
    """Accept a finite number above zero, as a float.

    >>> positive("GRR", "epsilon", 1)
    1.0
    """
    try:
        number = float(value) if is_number(value) else math.nan
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and number > 0):
        raise fail(owner, name, "a positive, finite number", value)
    return number


def integer(low: int, high: int) -> Constraint:
    """Accept an integer in ``[low, high]``, as an int.

    >>> integer(2, 10)("GRR", "domain_size", 7)
    7
    """

    def check(owner: str, name: str, value: object) -> int:
        if not is_integer(value) or not low <= int(value) <= high:
            raise fail(owner, name, f"an integer from {low} to {high}" if low < high else str(low), value)
        return int(value)

    return check


def number(low: float, high: float) -> Constraint:
    """Accept a number in ``[low, high]``, as a float.

    >>> number(0.5, 3600)("serve", "idle_seconds", 10)
    10.0
    """

    def check(owner: str, name: str, value: object) -> float:
        if not is_number(value) or not low <= value <= high:
            raise fail(owner, name, f"a number from {low:g} to {high:g}", value)
        return float(value)

    return check


def one_of(*choices: str) -> Constraint:
    """Accept one of the given words.

    >>> one_of("spread", "paper")("FHR", "items", "paper")
    'paper'
    """

    def check(owner: str, name: str, value: object) -> str:
        if not (isinstance(value, str) and value in choices):
            raise fail(owner, name, "one of " + ", ".join(map(repr, choices)), value)
        return value

    return check


def flag(owner: str, name: str, value: object) -> bool:
    """Accept True or False.

    >>> flag("FHR", "allow_exposure", True)
    True
    """
    if not isinstance(value, bool):
        raise fail(owner, name, "True or False", value)
    return value


def fraction(owner: str, name: str, value: object) -> float:
    """Accept a number strictly between 0 and 1, as a float.

    >>> fraction("Estimate", "level", 0.95)
    0.95
    """
    if not is_number(value) or not 0 < value < 1 or not 0 < float(value) < 1:
        raise fail(owner, name, "a number between 0 and 1", value)
    return float(value)


def line(owner: str, name: str, value: object) -> str:
    """Accept a text in one line that is not blank.

    >>> line("serve", "host", "127.0.0.1")
    '127.0.0.1'
    """
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise fail(owner, name, "a text in one line", value)
    return value


def optional(constraint: Constraint) -> Constraint:
    """Accept None, or what a constraint accepts.

    >>> optional(fraction)("RAPPOR", "p", None) is None
    True
    """
    return lambda owner, name, value: None if value is None else constraint(owner, name, value)


@dataclass(frozen=True)
class Described:
    """A constraint with what a shell needs beside it: a help text, and how its value is read from a text.

    Without ``read``, the annotation of the parameter says how.

    >>> groups = Described(optional(line), "sizes such as 3,2,4", read=whole_numbers)
    >>> groups("Grouped", "groups", None), groups.read("3,2,4")
    (None, [3, 2, 4])
    """

    check: Constraint
    help: str
    read: Callable[[str], object] | None = None

    def __call__(self, owner: str, name: str, value: object) -> object:
        return self.check(owner, name, value)


def whole_number(text: str) -> int:
    """Read an integer without a sign, of at most ten digits; anything else is a ``ValueError``."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) < 11):
        raise ValueError(f"no whole number: {show(text)}")
    return int(digits)


def whole_numbers(text: str) -> list[int]:
    """Read whole numbers with commas between them."""
    return [whole_number(part) for part in text.split(",")]


def from_text(read: Callable[[str], object], constraint: Constraint) -> Constraint:
    """Accept what a constraint accepts, also written as a text that ``read`` understands.

    >>> from_text(int, integer(1, 65535))("serve", "port", "8080")
    8080
    """

    def readable(value: object) -> object:
        try:
            return read(value) if isinstance(value, str) else value
        except (ValueError, OverflowError):
            return value  # the constraint refuses the text itself

    return lambda owner, name, value: constraint(owner, name, readable(value))


@dataclass(frozen=True)
class FieldMistake:
    """What is wrong, and with which field."""

    path: Path
    message: str


@dataclass
class MistakeList:
    """The first mistakes of an input, and how many there are in all.

    >>> mistakes = MistakeList()
    >>> mistakes.note(("name",), "name is missing")
    >>> mistakes.add(("oracle", "epsilon"), "positive", -1)
    >>> mistakes.refuse("survey")
    Traceback (most recent call last):
    fldp.errors.ParameterError: survey: name is missing; oracle.epsilon must be positive, got -1
    """

    listed: list[FieldMistake] = field(default_factory=list)
    count: int = 0

    def __bool__(self) -> bool:
        return self.count > 0

    def note(self, path: Path, message: str) -> None:
        """List a mistake; past the first ``MAX_MISTAKES`` only count it."""
        self.count += 1
        if self.count <= MAX_MISTAKES:
            self.listed.append(FieldMistake(path, message))

    def add(self, path: Path, rule: str, value: object) -> None:
        """Note that the value at a path breaks a rule."""
        self.note(path, str(fail("", ".".join(path), rule, value)))

    def check(
        self, path: Path, constraint: Callable[[str, str, object], T], value: object, *, source: str = ""
    ) -> T | None:
        """Return what a constraint makes of the value at a path, or None with a mistake noted.

        ``source`` says in the message where the value came from.
        """
        try:
            return constraint("", ".".join(path), value)
        except ParameterError as error:
            self.note(path, f"{error} from {source}" if source else str(error))
            return None

    def check_list(
        self, path: Path, constraint: Callable[[str, str, object], T], values: object, *, empty: bool = False
    ) -> tuple[T | None, ...]:
        """Return what a constraint makes of the entries of a list at a path, all different; ``empty`` allows none.

        >>> mistakes = MistakeList()
        >>> mistakes.check_list(("epsilons",), positive, [1, 2, -1])
        (1.0, 2.0, None)
        >>> mistakes.messages
        ['epsilons[2] must be a positive, finite number, got -1']
        """
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
            self.add(path, "a list", values)
            return ()
        *table, name = path
        checked = tuple(
            self.check((*table, f"{name}[{position}]"), constraint, value) for position, value in enumerate(values)
        )
        if not checked and not empty:
            self.add(path, "a list of at least one", values)
        for position, entry in enumerate(checked):
            if entry is not None and entry in checked[:position]:
                self.add(path, "all different", entry)
        return checked

    def unknown(self, path: Path, keys: Iterable[str], known: Container[str], what: str) -> None:
        """Note every key of a table that is not known, in the order of the keys."""
        for key in keys:
            if key not in known:
                self.note((*path, key), f"{show(key)} is not {what}")

    def attempt(self, action: Callable[[], T], path: Path) -> T | None:
        """Return the result of an action, or None with its error noted.

        The error belongs to the path, or to the key of a table that it names, such as ``GRR: epsilon``.
        """
        try:
            return action()
        except FldpError as error:
            named = re.match(r"\w+: (\w+)", str(error))
            self.note((*path, named[1]) if named and len(path) == 1 else path, str(error))
            return None

    @property
    def messages(self) -> list[str]:
        """What is wrong, line by line, and last how many more mistakes there are."""
        more = self.count - len(self.listed)
        rest = [f"and {counted(more, 'more mistake')}"] if more else []
        return [mistake.message for mistake in self.listed] + rest

    def refuse(self, owner: str) -> None:
        """Raise all mistakes as one error, if there are any."""
        if self:
            raise ParameterError(f"{owner}: {'; '.join(self.messages)}")


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "mistake"), counted(1200, "mistake")
    ('1 mistake', '1,200 mistakes')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
