"""Mistakes of a survey by the lines of its text, and the error that carries them."""

import re
from dataclasses import dataclass

from fldp.errors import ParameterError
from fldp.support.validation import MistakeList, Path


@dataclass(frozen=True)
class Mistake:
    """What is wrong, and in which line where that is known."""

    line: int | None
    message: str

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


class SurveyError(ParameterError):
    """A survey with mistakes in it: ``count`` of them, the first in ``mistakes``, and a line about the rest."""

    def __init__(self, source: str, mistakes: list[Mistake], count: int = 1) -> None:
        self.source, self.mistakes, self.count = source, mistakes, count
        super().__init__(f"{source}: " + "; ".join(map(str, mistakes)))


def refuse(mistakes: MistakeList, source: str, text: str = "") -> None:
    r"""Raise the mistakes of a survey by their lines in its text, if there are any.

    >>> mistakes = MistakeList()
    >>> mistakes.add(("oracle", "epsilon"), "positive", -1)
    >>> mistakes.note(("name",), "name is missing")
    >>> refuse(mistakes, "survey.toml", '[oracle]\nepsilon = -1')
    Traceback (most recent call last):
    fldp.survey.mistakes.SurveyError: survey.toml: name is missing; line 2: oracle.epsilon must be positive, got -1
    """
    if mistakes:
        raise SurveyError(source, located(mistakes, text), mistakes.count)


def located(mistakes: MistakeList, text: str) -> list[Mistake]:
    """Return mistakes by their lines in a text, and last how many more there are."""
    lines = lines_of(text)
    known = [Mistake(_line(lines, mistake.path), mistake.message) for mistake in mistakes.listed]
    rest = [Mistake(None, message) for message in mistakes.messages[len(known) :]]
    return sorted(known, key=lambda mistake: mistake.line or 0) + rest


def lines_of(text: str) -> dict[Path, int]:
    r"""Return the line of every key of a survey in TOML or JSON.

    >>> lines_of('name = "x"\n[oracle]\nepsilon = 1')
    {('name',): 1, ('oracle',): 2, ('oracle', 'epsilon'): 3}
    >>> lines_of('{"name": "x",\n "oracle": {"epsilon": 1}}')
    {('name',): 1, ('oracle',): 2, ('oracle', 'epsilon'): 2}
    """
    return _json_lines(text) if text.lstrip().startswith("{") else _toml_lines(text)


def _line(lines: dict[Path, int], path: Path) -> int | None:
    """Return the line of a key; of its table where the key is missing; None if neither is there."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


def _toml_lines(text: str) -> dict[Path, int]:
    lines: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.split("\n"), 1):
        if repeated := re.match(r"\s*\[\[\s*([A-Za-z0-9_-]+)\s*\]\]", line):
            place = sum(1 for known in lines if len(known) == 1 and known[0].startswith(f"{repeated[1]}["))
            table = (f"{repeated[1]}[{place}]",)
            lines.setdefault(table, number)
        elif heading := re.match(r"\s*\[\s*([A-Za-z0-9_.-]+)\s*\]", line):
            table = tuple(heading[1].split("."))
            lines.setdefault(table, number)
        elif key := re.match(r"""\s*["']?([A-Za-z0-9_-]+)["']?\s*=""", line):
            lines.setdefault((*table, key[1]), number)
    return lines


def _json_lines(text: str) -> dict[Path, int]:
    lines: dict[Path, int] = {}
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
                    lines.setdefault((*open_keys[1:], last), number)
            case quoted:
                last = quoted[1:-1]
    return lines
