"""RecordOracle: oracles over records, each a row of answers.

A record is one integer: its answers are digits, the first question's the most significant. Records are too many to be
counted one by one. So an estimate is a set of tables, and everything that needs a list of values (verification, audits,
attacks) takes ``oracle.among(records)``, a ``FrequencyOracle`` over the numbers of these records.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.values import Values, as_values, is_missing
from fldp.errors import DomainError, ParameterError
from fldp.oracles.base.estimator import Options
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.support.validation import fail, integer, is_integer

MAX_QUESTIONS, MAX_COMBINATIONS = 64, 1 << 62


def as_answers(owner: str, name: str, value: object) -> tuple[int, ...]:
    """Accept the numbers of answers to every question.

    >>> as_answers("Sampled", "answers", [8] * 21)
    Traceback (most recent call last):
    fldp.errors.ParameterError: Sampled: answers must be at most 2^62 combinations, got 8^21
    """
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, list | tuple) or not 1 <= len(items) <= MAX_QUESTIONS:
        raise fail(owner, name, f"a list of 1 to {MAX_QUESTIONS} numbers of answers", value)
    sizes = tuple(integer(2, 2**31 - 1)(owner, f"a number in {name}", size) for size in items)
    if prod(sizes) >= MAX_COMBINATIONS:
        powers = " ".join(f"{size}^{sizes.count(size)}" for size in dict.fromkeys(sizes))
        raise ParameterError(f"{owner}: {name} must be at most 2^62 combinations, got {powers}")
    return sizes


@dataclass(frozen=True)
class RecordCode:
    """The integers that stand for records: answers are digits, the first question's the most significant.

    >>> code = RecordCode("Sampled", (4, 4, 2))
    >>> code.encode([[0, 3, 1], [2, 0, 0]]), code.decode(np.array([7, 16])).tolist()
    (array([ 7, 16]), [[0, 3, 1], [2, 0, 0]])
    """

    title: str
    answers: tuple[int, ...]

    def encode(self, rows: object) -> NDArray[np.int64]:
        """Return rows of answers as integers."""
        digits, width = _digits(self.title, rows), len(self.answers)
        if digits.ndim != 2 or digits.shape[1] != width or not len(digits):
            shape = ("users", width)
            raise DomainError(f"{self.title}: records must be rows of shape {shape}, got shape {digits.shape}")
        if (digits < 0).any() or (digits >= np.array(self.answers)).any():
            row, column = np.argwhere((digits < 0) | (digits >= np.array(self.answers)))[0].tolist()
            rule = f"answers to question {column} must be integers from 0 to {self.answers[column] - 1}"
            raise DomainError(f"{self.title}: {rule}, not so in row {row} (not shown, to protect the answer)")
        number = np.zeros(len(digits), np.int64)
        for column, size in enumerate(self.answers):
            number = number * size + digits[:, column]
        return number

    def decode(self, records: Values) -> NDArray[np.int64]:
        """Return the answers of records, a row for each."""
        rest = np.asarray(records, np.int64)
        digits = np.empty((len(rest), len(self.answers)), np.int64)
        for column in range(len(self.answers) - 1, -1, -1):
            rest, digits[:, column] = np.divmod(rest, self.answers[column])
        return digits


class RecordEstimator(Options, ABC):
    """What is known of a tally of records; it has no options, since what decodes a view has its own."""

    @abstractmethod
    def draw_state(
        self, records: Values, counts: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw the state of a tally of as many people as ``counts`` says hold each of the records."""


@dataclass(frozen=True, repr=False)
class RecordOracle(Oracle):
    """An oracle over records with an answer to each of several questions."""

    answers: tuple[int, ...] = field(kw_only=True)  # how many each question has

    # ----------------------------------------------------------------------------------------------------------

    @cached_property
    def _values_end(self) -> int:
        """The number of different records."""
        return prod(self.answers)

    def _as_values(self, values: object) -> Values:
        """Accept records as integers, as rows of answers, or as a frame with a column for each question."""
        rows = _rows(values)
        if rows is None:
            return as_values(self.title, values, self._values_end)
        return self.record_code.encode(rows)

    @cached_property
    def record_code(self) -> RecordCode:
        """How rows of answers become integers, and back."""
        return RecordCode(self.title, self.answers)

    @property
    @abstractmethod
    def estimator(self) -> RecordEstimator:
        """How tallies become tables."""

    @abstractmethod
    def among(self, records: object) -> FrequencyOracle:
        """Return this oracle over the numbers of a few records, for everything that needs a list of values."""

    def _sample_records(self, count: int = 8) -> NDArray[np.int64]:
        """Return a few records whose pairs are of every kind: they differ in every answer, in all but one, in one."""
        last = np.array(self.answers) - 1
        rows = [0 * last, last, last // 2]
        for question in range(len(self.answers)):
            one, rest = 0 * last, last.copy()
            one[question], rest[question] = last[question], 0
            rows += [one, rest]
        return np.array(list(dict.fromkeys(self.record_code.encode(np.array(rows)).tolist()))[:count])


def _rows(values: object) -> object | None:
    """Return the rows of a frame, an array or a list of lists; None where values are integers."""
    if hasattr(values, "columns") and hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    if isinstance(values, np.ndarray):
        return values if values.ndim == 2 else None
    if isinstance(values, list | tuple) and values and isinstance(values[0], list | tuple | np.ndarray):
        return values
    return None


def _digits(owner: str, rows: Any) -> NDArray[np.int64]:
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
        return rows.astype(np.int64)
    listed = rows.tolist() if isinstance(rows, np.ndarray) else [list(row) for row in rows]
    for k, row in enumerate(listed):
        if len(row) != len(listed[0]):
            raise DomainError(f"{owner}: records must be rows of the same length, got {len(row)} answers in row {k}")
        for answer in row:
            if not is_integer(answer) or abs(int(answer)) >= 1 << 31:
                kind = "a missing one" if is_missing(answer) else f"a value of type {type(answer).__name__}"
                raise DomainError(f"{owner}: answers must be integers, got {kind} in row {k}")
    return np.array(listed, np.int64)
