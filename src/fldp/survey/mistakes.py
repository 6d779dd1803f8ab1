"""What is wrong with a survey, and in which line: as much of it as a person reads."""

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fldp.errors import FldpError
from fldp.support.validation import show

MAX_FINDINGS, MAX_SHOWN = 20, 60  # a stranger's survey must not fill the screen
T = TypeVar("T")
Path = tuple[str, ...]


@dataclass(frozen=True)
class Mistake:
    """What is wrong, and in which line where that is known."""

    line: int | None
    message: str

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


@dataclass(frozen=True)
class FieldMistake:
    """What is wrong, and with which key."""

    path: Path
    message: str


@dataclass
class MistakeList:
    r"""The first findings, and how many there are in all.

    >>> found = MistakeList()
    >>> found.say(("name",), "name is missing")
    >>> found.add(("oracle", "epsilon"), "positive", -1)
    >>> [str(mistake) for mistake in found.placed('[oracle]\nepsilon = -1')]
    ['name is missing', 'line 2: oracle.epsilon must be positive, got -1']
    """

    kept: list[FieldMistake] = field(default_factory=list)
    count: int = 0

    def say(self, path: Path, message: str) -> None:
        """Keep a finding, or only count it."""
        self.count += 1
        if self.count <= MAX_FINDINGS:
            self.kept.append(FieldMistake(path, message))

    def add(self, path: Path, rule: str, value: object) -> None:
        """Say that the value of a key breaks a rule."""
        self.say(path, f"{'.'.join(path)} must be {rule}, got {brief(value)}")

    def unknown(self, path: Path, keys: Iterable[Any], known: Container[str], what: str) -> None:
        """Say of keys of a table that they are none of those that are known, in their order."""
        for key in keys:
            if key not in known:
                self.say((*path, key), f"{brief(key)} is not {what}")

    def attempt(self, action: Callable[[], T], path: Path) -> T | None:
        """Do something; an error is about the key of this path, or about the one in this table that it begins with."""
        try:
            return action()
        except FldpError as error:
            said = re.match(r"\w+: (\w+)", str(error))  # who and what, such as "GRR: epsilon"
            self.say((*path, said[1]) if said and len(path) == 1 else path, str(error))
            return None

    def placed(self, text: str) -> list[Mistake]:
        """Return what is wrong by its lines in a text, and last how much more there is."""
        lines = lines_of(text)
        placed = [Mistake(_line(lines, finding.path), finding.message) for finding in self.kept]
        more = self.count - len(self.kept)
        rest = [Mistake(None, f"and {more:,} more mistake{'s' if more > 1 else ''}")] if more else []
        return sorted(placed, key=lambda mistake: mistake.line or 0) + rest


def brief(value: object) -> str:
    r"""Return what a person is shown of a stranger's value: short, and nothing that a terminal would obey.

    >>> brief("\x1b[2J"), len(brief("x" * 10**6))
    ("'\\x1b[2J'", 60)
    """
    shown = show(value[:MAX_SHOWN] if isinstance(value, str) else value)
    return shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 3] + "..."


def lines_of(text: str) -> dict[Path, int]:
    r"""Return the line of every key of a survey in TOML or JSON.

    >>> lines_of('name = "x"\n[oracle]\nepsilon = 1')
    {('name',): 1, ('oracle',): 2, ('oracle', 'epsilon'): 3}
    >>> lines_of('{"name": "x",\n "oracle": {"epsilon": 1}}')
    {('name',): 1, ('oracle',): 2, ('oracle', 'epsilon'): 2}
    """
    return _json_lines(text) if text.lstrip().startswith("{") else _toml_lines(text)


def _line(lines: dict[Path, int], path: Path) -> int | None:
    """Return the line of a key, that of its table where the key is missing, or None."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


def _toml_lines(text: str) -> dict[Path, int]:
    found: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.split("\n"), 1):
        if heading := re.match(r"\s*\[\s*([A-Za-z0-9_-]+)\s*\]", line):
            table = (heading[1],)
            found.setdefault(table, number)
        elif key := re.match(r"""\s*["']?([A-Za-z0-9_-]+)["']?\s*=""", line):
            found.setdefault((*table, key[1]), number)
    return found


def _json_lines(text: str) -> dict[Path, int]:
    found: dict[Path, int] = {}
    open_keys: list[str] = []
    last, number = "", 1
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|[\[\]{}:\n]', text):
        match token[0]:
            case "\n":
                number += 1
            case "{" | "[":
                open_keys.append(last)
            case "}" | "]":
                open_keys.pop()
            case ":":
                if len(open_keys) <= 2:  # a survey has no keys further inside
                    found.setdefault((*open_keys[1:], last), number)
            case quoted:
                last = quoted[1:-1]
    return found
