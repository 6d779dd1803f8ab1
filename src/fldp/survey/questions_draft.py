"""Drafts of surveys with several questions: one for each column of a table, with labels or as a number."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, isfinite, log10

from fldp.data.scale import number_of
from fldp.errors import FldpError
from fldp.estimation.number_planner import best_bins
from fldp.estimation.question_planner import ALL, NONE, QuestionPlan, planned
from fldp.support.identifiers import SURVEY_NAME
from fldp.survey.draft import check_identifiers, check_label, quoted, rules_text, sorted_labels
from fldp.survey.rules import MAX_LABELS
from fldp.survey.survey import Survey

_FEW = 12  # different numbers that are labels; more are a number
_MANY_ZEROS = 0.05  # a share that deserves a cell of its own
_MAX_SHOWN = 8  # errors in the comment

Rows = Iterable[Sequence[tuple[str, Mapping[str, str | None]]]]


@dataclass
class ColumnDraft:
    """What is known of a column so far: its labels, or the range of its numbers, and how many cells are missing.

    >>> column = ColumnDraft("load")
    >>> for cell in ["0", "2.5", "41", None]:
    ...     column.add("line 1", cell)
    >>> column.range, column.missing
    ((0.0, 45.0), 1)
    """

    name: str
    labels: set[str] = field(default_factory=set)
    present: int = 0
    missing: int = 0
    is_numeric: bool = True
    least: float = float("inf")
    most: float = float("-inf")
    zeros: int = 0

    def add(self, place: str, cell: str | None) -> None:
        """Take one more cell."""
        if cell is None:
            self.missing += 1
            return
        self.present += 1
        number = number_of(cell) if self.is_numeric else None
        if number is None or not isfinite(number):
            self.is_numeric = False
        else:
            self.least, self.most = min(self.least, number), max(self.most, number)
            self.zeros += number == 0
        if len(self.labels) <= MAX_LABELS:
            self.labels.add(cell)
        if not self.is_numeric:
            check_label(place, cell)
            if len(self.labels) > MAX_LABELS:
                raise FldpError(f"survey init: {self.name} has more than {MAX_LABELS:,} different labels, the most")

    @property
    def is_number(self) -> bool:
        """Whether it is a number: numbers alone, and more of them than one would list."""
        return self.is_numeric and len(self.labels) > _FEW

    @property
    def range(self) -> tuple[float, float]:
        """The least and largest number, rounded to a round number outside: a survey is public, and people are not."""
        span = self.most - self.least
        step = 10.0 ** floor(log10(span)) / 2 if span > 0 else 1.0
        low, high = floor(self.least / step) * step, ceil(self.most / step) * step
        return (0.0 if 0 <= low <= high / 2 else low), high + (step if high <= low else 0.0)


def draft_questions(
    rows: Rows, name: str, epsilon: float, *, users: int | None = None, cross: str = NONE, identifiers: bool = False
) -> tuple[str, int]:
    """Return the text of a survey with a question for each column, and the number of rows it was drafted from.

    ``users`` is how many people are expected, as many as there are rows unless given: they decide the cells of numbers.

    >>> table = [("line 2", {"os": "linux", "paid": "no"}), ("line 3", {"os": "mac", "paid": None})] * 2
    >>> table += [("line 4", {"os": "mac", "paid": "yes"})]
    >>> text, count = draft_questions([table], "desktop", 1.0, cross="all")
    >>> count, [line for line in text.splitlines() if line.startswith(("labels", "optional"))], 'cross = "all"' in text
    (5, ['labels = ["linux", "mac"]', 'labels = ["no", "yes"]', 'optional = true'], True)
    """
    if cross not in (ALL, NONE):
        raise FldpError(f"survey init: --cross must be all or none, got {cross!r}; list pairs in the file")
    columns: dict[str, ColumnDraft] = {}
    count = 0
    for chunk in rows:
        for place, answers in chunk:
            count += 1
            for column, cell in answers.items():
                columns.setdefault(column, ColumnDraft(column)).add(place, cell)
    _check(columns, identifiers)
    text = _text(list(columns.values()), name, epsilon, users or count, cross)
    Survey.parse(text, is_json=False, source="survey init", draft=True)
    return text, count


def _check(columns: Mapping[str, ColumnDraft], identifiers: bool) -> None:
    """Refuse columns that cannot be questions, and say what to do about them."""
    if len(columns) < 2:
        raise FldpError(f"survey init: --questions needs a table of at least 2 columns, got {len(columns)}")
    for column in columns.values():
        if not SURVEY_NAME.matches(column.name):
            raise FldpError(f"survey init: the column {column.name!r:.80} must be named with {SURVEY_NAME.rule}")
        if column.is_number and column.missing:
            many = f"{column.missing:,} of {column.missing + column.present:,} rows have none"
            raise FldpError(f"survey init: {column.name} is a number, which must be answered, and {many}; drop them")
        if len(column.labels) < 2:
            raise FldpError(f"survey init: {column.name} needs at least 2 different answers, got {len(column.labels)}")
        if not column.is_number and not identifiers:
            check_identifiers(column.labels, column.present)


def _text(columns: list[ColumnDraft], name: str, epsilon: float, users: int, cross: str) -> str:
    asked = "\n".join(_question(column, users, epsilon) for column in columns)
    pair = ", ".join(quoted(column.name) for column in columns[:2])
    tables = f"""
[tables]
cross = {quoted(cross)}  # questions to see together: "all", "none", or a list such as [[{pair}]]
ask = "all"  # or "drawn": each person is asked only the questions that their report is about
"""
    head = f"""\
# A survey of several questions. docs/survey.md explains every key, and fldp survey check FILE finds mistakes.
name = {quoted(name)}  # part of the address of its page: a-z, 0-9, - and _
# title = "..."  # above the questions

{asked}{tables}"""
    epsilon_line = f"epsilon = {epsilon!r}  # of all answers of a person together; less is more private\n"
    survey = Survey.parse(f"{head}\n[oracle]\n{epsilon_line}", is_json=False, source="survey init")
    errors = _errors(planned(survey.oracle, users), columns)
    return f"{head}\n[oracle]\n{errors}{epsilon_line}{rules_text()}"


def _question(column: ColumnDraft, users: int, epsilon: float) -> str:
    lines = ["[[questions]]", f"name = {quoted(column.name)}", f"question = {quoted(f'What is your {column.name}?')}"]
    if not column.is_number:
        lines.append(f"labels = [{', '.join(map(quoted, sorted_labels(column.labels)))}]")
        lines += ["optional = true"] if column.missing else []
        return "\n".join(lines) + "\n"
    low, high = column.range
    apart = ", apart = [0]" if low <= 0 <= high and column.zeros > _MANY_ZEROS * column.present else ""
    lines.append(
        '# The range is public: choose one that does not depend on who is in the data. unit = "..." may be added.'
    )
    lines.append(f"number = {{ low = {low:g}, high = {high:g}, bins = {best_bins(users, epsilon)}{apart} }}")
    return "\n".join(lines) + "\n"


def _errors(plan: QuestionPlan, columns: list[ColumnDraft]) -> str:
    """Return the errors to expect, as a comment; of numbers, single cells say little."""
    tables = [table for table in plan.tables if not any(columns[place].is_number for place in table)]
    lines = [f"# With {plan.users:,} reports, the standard error of a share:"]
    lines += [
        f"#   {' x '.join(columns[place].name for place in table)}: {plan.stderr(table):.2%}"
        for table in tables[:_MAX_SHOWN]
    ]
    return "\n".join(lines) + "\n" if tables else ""
