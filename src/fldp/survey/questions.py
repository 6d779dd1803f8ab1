"""Several questions of one survey: each with its answers, and all of them together as one record."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from fldp.data.number import Number
from fldp.data.reports import Reports, Tally
from fldp.data.scale import Scale, number_of
from fldp.data.values import numbered
from fldp.errors import DomainError
from fldp.estimation.number_shares import table_number
from fldp.oracles.sampled.sampled import Sampled, of_questions
from fldp.oracles.sampled.tables import Asked, Tables
from fldp.randomness.stream import Stream
from fldp.support.canonical_json import Json
from fldp.support.validation import is_integer, is_number
from fldp.survey.question import Question, cell_of

NO_ANSWER = "no answer"
_MAX_BITS = 4096  # of an integer: one of thousands of digits cannot be written


@dataclass(frozen=True)
class SurveyQuestion:
    """One question of several: its name, its text, and what may be answered.

    Answers are ``labels``, numbers below ``size``, or the cells of a ``number``.
    The last answer of an ``optional`` question is "no answer". ``importance`` weighs its error in plans.

    >>> asked = SurveyQuestion("os", "Which system do you use?", 3, labels=("linux", "mac"), optional=True)
    >>> asked.value("mac"), asked.value(None), asked.value("amiga"), asked.all_labels
    (1, 2, None, ('linux', 'mac', 'no answer'))
    """

    name: str
    text: str
    size: int
    labels: tuple[str, ...] | None = None
    optional: bool = False
    importance: float = 1.0
    number: Scale | None = None

    @cached_property
    def _values(self) -> dict[str, int]:
        return {label: value for value, label in enumerate(self.labels or ())}

    @property
    def _answers(self) -> int:
        return self.size - self.optional

    def value(self, answer: object, *, clamp: bool = False) -> int | None:
        """Return the value of an answer, or None if there is no such answer; nothing answered may be an answer.

        A number outside its range counts as the nearest end, with ``clamp`` also where the survey refuses it.
        """
        text = "" if answer is None else _text_of(answer)
        if not text:
            return self.size - 1 if self.optional and text == "" else None
        if self.number is not None:
            return cell_of(self.number, number_of(text), clamp)
        return self._values.get(text) if self.labels is not None else numbered(text, self._answers)

    @cached_property
    def all_labels(self) -> tuple[str, ...] | None:
        """The labels of all answers, including the label of no answer; None where they are plain numbers."""
        if self.labels is None and self.number is None and not self.optional:
            return None
        named = map(str, range(self._answers)) if self.labels is None else self.labels
        if self.number is not None:
            named = map(self.number.label, range(self._answers))
        return (*named, *([NO_ANSWER] if self.optional else []))

    @property
    def canonical(self) -> dict[str, Json]:
        """What a person answers to, as JSON; importance is the planner's, whose weights are in the oracle."""
        kind: dict[str, Json] = {"domain_size": self._answers}
        if self.labels is not None:
            kind = {"labels": list(self.labels)}
        if self.number is not None:
            kind = {"number": self.number.described}
        return {"name": self.name, "question": self.text, **kind, **({"optional": True} if self.optional else {})}

    @property
    def asked(self) -> Asked:
        """The question as tables name it."""
        shown = None if self.number is None else partial(_shown, scale=self.number)
        return Asked(self.name, self.all_labels, self.optional, shown)


def _shown(tables: Tables, question: int, *, scale: Scale) -> Number:
    """Return what tables show of a number."""
    return table_number(tables, question, scale)


def _text_of(answer: object) -> str | None:
    """Return an answer as a text; None for what is no answer to any question, which must not raise: surveys differ."""
    if is_integer(answer):
        return str(int(answer)) if int(answer).bit_length() <= _MAX_BITS else None
    return repr(float(answer)) if is_number(answer) else answer if isinstance(answer, str) else None


def _unanswered(question: SurveyQuestion) -> DomainError:
    return DomainError(f"record: question {question.name!r} has no answer and is not optional")


@dataclass(frozen=True)
class RecordQuestion(Question):
    """All questions of a survey together: an answer is a mapping from their names, a value the record of it."""

    questions: tuple[SurveyQuestion, ...] = ()

    @property
    def domain_size(self) -> None:
        """Records are too many to be listed."""
        return

    @property
    def value_type(self) -> type[object]:
        """The type of an array of records."""
        return np.int64

    @property
    def _records(self) -> Sampled:
        return of_questions("survey", self.oracle)

    def value(self, label: object, *, clamp: bool = False) -> int | None:
        """Return the record of a person's answers; None if an answer is unknown, or one is missing."""
        if not isinstance(label, Mapping):
            return None
        digits = [question.value(label.get(question.name), clamp=clamp) for question in self.questions]
        known = [digit for digit in digits if digit is not None]
        return self._record(known) if len(known) == len(digits) else None

    def _record(self, digits: list[int]) -> int:
        return int(self._records.record_code.encode(np.array([digits], np.int64))[0])

    def drawn_value(self, answers: Mapping[str, object], asked: Iterable[int] | None = None) -> int:
        """Return the record of a person's answers, with an answer at random for one that the survey lacks.

        No answer (None, or an empty text) is one that a question lacks which is not optional: the collector chooses
        that. A question that ``answers`` do not name is an error, which depends on the program and the survey alone.
        Where only some questions are ``asked``, the report is about no other, and the others need no answer.
        """
        for question in self.questions if asked is None else [self.questions[place] for place in asked]:
            if question.name not in answers and not question.optional:
                raise _unanswered(question)
        digits = []
        for question in self.questions:
            known = question.value(answers.get(question.name), clamp=True)  # the collector chooses the range
            instead = secrets.randbelow(question.size)
            digits.append(instead if known is None else known)
        return self._record(digits)

    def require_answers(self, answers: Mapping[str, object]) -> None:
        """Raise ``DomainError`` if a question has no answer that needs one."""
        for question in self.questions:
            if answers.get(question.name) in (None, "") and not question.optional:
                raise _unanswered(question)

    @property
    def choices(self) -> str:
        """What may be answered, in words."""
        return f"an answer to each of {', '.join(question.name for question in self.questions)}"

    def encode(
        self, labels: Iterable[object], who: str | None = None, rng: int | Stream | None = None
    ) -> NDArray[np.int64]:
        """Turn mappings of answers into records; a missing or an unknown answer is an error."""
        del rng  # nothing is rounded by chance
        rows = [labels] if isinstance(labels, Mapping) else list(labels)
        values = []
        for position, answers in enumerate(rows):
            if not isinstance(answers, Mapping):
                raise DomainError(f"{who or self.oracle.title}: records must be mappings from questions to answers")
            self.require_answers(answers)
            value = self.value(answers)
            if value is None:
                bad = next(each.name for each in self.questions if each.value(answers.get(each.name)) is None)
                where = f"unknown answer to {bad!r} at position {position}"
                raise DomainError(f"{who or self.oracle.title}: {where} (not shown, to protect the answer)")
            values.append(value)
        return np.array(values, np.int64)

    def label(self, value: int | str) -> str:
        """Return the answers of a record, in words."""
        digits = self._records.record_code.decode(np.array([int(value)]))[0].tolist()
        parts = zip(self.questions, digits, strict=True)
        return ", ".join(f"{each.name}: {(each.all_labels or range(each.size))[digit]}" for each, digit in parts)

    def estimate(self, tally: Tally | Reports, **options: object) -> Tables:  # type: ignore[override]
        """Estimate the tables of all questions, and of questions together."""
        tables = self.oracle.estimate(tally, **options)
        assert isinstance(tables, Tables)
        return tables.named([question.asked for question in self.questions])
