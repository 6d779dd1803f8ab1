"""Answers: what a benchmark found, beside what it was to find."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_PLAIN = (1e-3, 1e9)  # numbers that need no exponent


def significant(number: float, figures: int = 3) -> str:
    """Return a number with few significant figures and commas between thousands."""
    rounded = float(f"{number:.{figures}g}")
    smallest, largest = _PLAIN
    is_plain = rounded == 0 or smallest <= abs(rounded) < largest
    return f"{rounded:,.10g}" if is_plain else f"{rounded:g}"


def shown(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    rounded = float(f"{seconds:.3g}")
    size, unit = next((scale for scale in _SCALES if rounded >= scale[0]), _SCALES[-1])
    return f"{significant(rounded / size)} {unit}"


def quantity(value: float, unit: str) -> str:
    """Return a value with its unit; seconds in the unit that suits them."""
    return shown(value) if unit == "s" else f"{significant(value)} {unit}"


@dataclass(frozen=True)
class Target:
    """A limit, which way it bounds the measured value, and the unit of both."""

    word: str
    limit: float
    unit: str = "x"

    def met_by(self, measured: float) -> bool:
        return measured >= self.limit if self.word == "at least" else measured <= self.limit

    def __str__(self) -> str:
        return f"{self.word} {quantity(self.limit, self.unit)}"


@dataclass(frozen=True)
class Answer:
    """One row: seconds of ours and of the reference for each ``per``, and the value they give."""

    question: str
    ours: float
    reference: float
    against: str
    method: str
    measured: float
    per: str = ""
    unit: str = "x"
    target: Target | None = None

    @property
    def verdict(self) -> str:
        if self.target is None:
            return "info"
        return "pass" if self.target.met_by(self.measured) else "MISS"

    def record(self) -> dict[str, Any]:
        """Return what goes into the file."""
        return {**asdict(self), "verdict": self.verdict}


def slowdown(question: str, times: tuple[float, float], at_most: float, **rest: Any) -> Answer:
    """Answer by how many times the work of the reference takes; less is better."""
    ours, reference = times
    return Answer(question, ours, reference, measured=ours / reference, target=Target("at most", at_most), **rest)


def speedup(question: str, times: tuple[float, float], at_least: float | None = None, **rest: Any) -> Answer:
    """Answer by how many times faster than the reference; more is better."""
    ours, reference = times
    target = None if at_least is None else Target("at least", at_least)
    return Answer(question, ours, reference, measured=reference / ours, target=target, **rest)


def duration(question: str, times: tuple[float, float], below: float, **rest: Any) -> Answer:
    """Answer by the seconds themselves."""
    ours, reference = times
    return Answer(question, ours, reference, measured=ours, unit="s", target=Target("below", below, "s"), **rest)


_COLUMNS: dict[str, Callable[[Answer], str]] = {
    "question": lambda answer: answer.question,
    "ours": lambda answer: f"{shown(answer.ours)}{answer.per}",
    "reference": lambda answer: f"{shown(answer.reference)}{answer.per}: {answer.against}",
    "measured": lambda answer: quantity(answer.measured, answer.unit),
    "target": lambda answer: str(answer.target or "none"),
    "verdict": lambda answer: answer.verdict,
    "method": lambda answer: answer.method,
}


def documented(answers: Sequence[Answer]) -> list[list[str]]:
    """Return the answers as rows of a document, the head first."""
    columns = [_COLUMNS[name] for name in ("question", "ours", "reference", "measured", "target")]
    rows = [[*(cell(answer) for cell in columns), "missed" * (answer.verdict == "MISS")] for answer in answers]
    return [["question", "ours", "reference", "measured", "target", ""], *rows]


def table(title: str, answers: Sequence[Answer]) -> Table:
    """Return the answers as a table."""
    table = Table(*_COLUMNS, title=title, show_lines=True)
    for answer in answers:
        table.add_row(*(cell(answer) for cell in _COLUMNS.values()))
    return table
