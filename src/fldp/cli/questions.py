"""What commands do for surveys of several questions: their options, and what they print."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fldp.errors import ParameterError

if TYPE_CHECKING:
    from fldp.cli.subject import Subject
    from fldp.oracles.sampled.sampled import Sampled
    from fldp.survey.questions import SurveyQuestion
    from fldp.wire.record_cells import Answers, RecordEncoder

OneQuestion = Annotated[str | None, typer.Option("--question", help="Several questions: this one alone.")]
Crossed = Annotated[
    tuple[str, str] | None, typer.Option("--cross", help="Several questions: the table of two of them together.")
]
AllPairs = Annotated[bool, typer.Option("--associations", help="Several questions: which pairs of them go together.")]
Repaired = Annotated[
    bool, typer.Option("--consistent", help="Several questions: no negative cell, margins that agree; biased.")
]


def record_encoder(subject: "Subject", unknown: str) -> "RecordEncoder | None":
    """Return the encoder of rows of answers; None where one question is asked."""
    from fldp.oracles.base.analysis import analysis
    from fldp.survey.questions import RecordQuestion

    question = subject.question
    if not isinstance(question, RecordQuestion):
        if subject.survey is None and analysis(subject.oracle).answers is not None:
            raise ParameterError("fldp: several questions need their names: give a survey of them as --survey")
        return None
    from fldp.wire.record_cells import RecordEncoder

    def bad(answers: "Answers") -> str:
        return next(each.name for each in question.questions if each.value(answers.get(each.name)) is None)

    return RecordEncoder(question.value, bad, tuple(each.name for each in question.questions), unknown)


@dataclass(frozen=True)
class TargetNames:
    """The questions and answers that fakes may promote, by name."""

    oracle: "Sampled"
    questions: "tuple[SurveyQuestion, ...]"

    @classmethod
    def of(cls, subject: "Subject") -> "TargetNames":
        """Return the questions of a survey; in an oracle, or in a survey of one number, their names are numbers."""
        from fldp.oracles.sampled.sampled import of_questions
        from fldp.survey.questions import SurveyQuestion

        oracle = of_questions("fldp", subject.oracle)
        number = subject.survey.number if subject.survey else None
        plain = (SurveyQuestion(str(a), "", size, number=number) for a, size in enumerate(oracle.answers))
        return cls(oracle, (subject.survey and subject.survey.questions) or tuple(plain))

    def cells(self, targets: list[str]) -> dict[int, list[int]]:
        """Return the cells of targets such as ``os=mac``: several answers to a question, and several questions."""
        cells: dict[int, list[int]] = {}
        for text in targets:
            name, _, answer = text.rpartition("=") if len(self.questions) > 1 or "=" in text else ("0", "", text)
            place = next((k for k, question in enumerate(self.questions) if question.name == name), None)
            value = None if place is None else self.questions[place].value(answer)
            if place is None or value is None:
                known = ", ".join(question.name for question in self.questions)
                raise ParameterError(f"fldp: --target must be NAME=ANSWER of the questions {known}, got {text!r}")
            cells.setdefault(place, []).append(value)
        return {place: sorted(set(values)) for place, values in sorted(cells.items())}

    def told(self, cells: Mapping[int, Sequence[int]]) -> list[str]:
        """Return targets in words, as they are given."""
        named = [(self.questions[place], value) for place, values in cells.items() for value in values]
        return [f"{each.name}={(each.all_labels or range(each.size))[value]}" for each, value in named]
