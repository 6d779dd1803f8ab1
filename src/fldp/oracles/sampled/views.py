"""Views of a record: what of a person's answers a report is about.

A record has an answer to every question, each a digit below the question's number of answers. A view maps the digits
to one of its own values, and names the oracle over these. A kind of view is a subclass of ``RecordView``; in a
description, a block is a list of questions, any other kind begins with its name.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.flexible.fwr import FWR, HRR
from fldp.oracles.plain.grr import GRR
from fldp.oracles.plain.pgr import PGR
from fldp.oracles.plain.subset_selection import SS, even_size
from fldp.oracles.plain.unary import OUE
from fldp.oracles.plain.wave import Wave, nearest_widths
from fldp.randomness.stream import Words
from fldp.support.validation import fail, integer, is_integer

BASES: dict[str, type[FrequencyOracle]] = {cls.name: cls for cls in (SS, GRR, OUE, PGR, HRR, FWR)}
MAX_VIEWS, MAX_VIEW_VALUES = 1024, 1 << 16
_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)

Answers = tuple[int, ...]
Digits = NDArray[np.int64]
Entry = tuple[str | int, ...]


def base_oracle(base: str, epsilon: float, size: int, eta: Fraction = Fraction(1)) -> FrequencyOracle:
    """Return the oracle of a base over this many values; the set size is the best one for contrasts.

    >>> base_oracle("ss", 1.0, 6), base_oracle("grr", 1.0, 6)
    (SS(epsilon=1.0, domain_size=6, set_size=2), GRR(epsilon=1.0, domain_size=6))
    """
    more: dict[str, Any] = {"eta": eta} if base == FWR.name else {}
    if base == SS.name:
        more = {"set_size": even_size(min(epsilon, 64.0), size)}
    return BASES[base](epsilon=epsilon, domain_size=size, **more)


@dataclass(frozen=True)
class RecordView(ABC):
    """One view: the questions that it is about, and the number ``size`` of its values."""

    questions: tuple[int, ...]
    size: int

    kind: ClassVar[str] = ""
    tells_all: ClassVar[bool] = True  # whether it tells all answers to its questions apart
    has_spread: ClassVar[bool] = True  # whether one spread of its shares is all that a score needs

    @classmethod
    @abstractmethod
    def read(cls, owner: str, entry: Entry, answers: Answers) -> "RecordView":
        """Return the view of an entry, without the name of its kind; raise ``ParameterError`` if there is none."""

    @property
    @abstractmethod
    def entry(self) -> Entry:
        """The view in a description."""

    @property
    def label(self) -> str:
        """The view in words: its questions, or the kind of view and its numbers."""
        return (" " if self.kind else " x ").join(map(str, self.entry))

    @abstractmethod
    def values(self, digits: Digits) -> Digits:
        """Return the view's value of records, given a row of digits for each."""

    def oracle(self, epsilon: float, base: str, eta: Fraction) -> FrequencyOracle:
        """Return the oracle over the view's values, with the whole epsilon."""
        return base_oracle(base, epsilon, self.size, eta)

    def among(self, answers: Answers) -> Entry:
        """Return the entry of the same view where questions have fewer answers."""
        del answers
        return self.entry

    @abstractmethod
    def project(self, question: int, answers: Answers) -> Floats:
        """Return the matrix that makes shares of the view's values out of shares of the answers to one question.

        Answers to other questions are assumed uniform.
        """

    @abstractmethod
    def score(self, member: FrequencyOracle, spread: float, question: int, answers: Answers) -> Floats:
        """Return the matrix ``P`` of one report: ``P (y - uniform)`` scores the answers to a question.

        ``y`` are the shares of the view, decoded by ``member``, its oracle; ``spread`` is the variance of one of them
        at uniform shares. ``P`` times ``project`` is the information of one report about these answers.
        """


@dataclass(frozen=True)
class Block(RecordView):
    """The answers to some questions, as one number: the first question is the most significant digit."""

    shape: tuple[int, ...]

    @classmethod
    def read(cls, owner: str, entry: Entry, answers: Answers) -> "Block":
        rule = f"lists of numbers of questions from 0 to {len(answers) - 1}, rising"
        if not entry or not all(is_integer(a) and 0 <= int(a) < len(answers) for a in entry):
            raise fail(owner, "views", rule, list(entry))
        questions = tuple(map(int, entry))
        if list(questions) != sorted(set(questions)):
            raise fail(owner, "views", rule, list(entry))
        return cls.of(questions, answers)

    @classmethod
    def of(cls, questions: tuple[int, ...], answers: Answers) -> "Block":
        """Return the block of these questions."""
        shape = tuple(answers[a] for a in questions)
        return cls(questions, prod(shape), shape)

    @property
    def entry(self) -> Entry:
        return self.questions

    def values(self, digits: Digits) -> Digits:
        number = np.zeros(len(digits), np.int64)
        for a, size in zip(self.questions, self.shape, strict=True):
            number = number * size + digits[:, a]
        return number

    def _margin(self, question: int, answers: Answers) -> Floats:
        """Return the matrix that adds up over all other questions."""
        digit = np.indices(self.shape)[self.questions.index(question)].reshape(-1)
        return np.asarray(digit == np.arange(answers[question])[:, None], np.float64)

    def project(self, question: int, answers: Answers) -> Floats:
        return self._margin(question, answers).T * answers[question] / self.size

    def score(self, member: FrequencyOracle, spread: float, question: int, answers: Answers) -> Floats:
        """Adding up over the other questions leaves what tells about this one: its centred margin."""
        del member
        centred = self._margin(question, answers) - 1 / answers[question]
        return centred * answers[question] / (self.size * spread)


@dataclass(frozen=True)
class Cells(RecordView):
    """The answer to one question whose answers are in order, ``joined`` neighbours as one value."""

    joined: int

    kind = "cells"
    tells_all = False

    @classmethod
    def read(cls, owner: str, entry: Entry, answers: Answers) -> "Cells":
        question, joined = question_and_number(owner, cls.kind, entry, answers)
        size = answers[question]
        if not 1 < joined < size or size % joined:
            rule = f"a number above 1 that divides the {size} answers of question {question}, and is below it"
            raise fail(owner, "the cells that a view joins", rule, joined)
        return cls((question,), size // joined, joined)

    @property
    def entry(self) -> Entry:
        return self.kind, *self.questions, self.joined

    def values(self, digits: Digits) -> Digits:
        return digits[:, self.questions[0]] // self.joined

    def project(self, question: int, answers: Answers) -> Floats:
        del question, answers
        return np.repeat(np.eye(self.size), self.joined, axis=1)

    def score(self, member: FrequencyOracle, spread: float, question: int, answers: Answers) -> Floats:
        del member
        return (self.project(question, answers).T - 1 / self.size) / spread


@dataclass(frozen=True)
class WaveView(RecordView):
    """The answer to one question whose answers are in order, by a wave of its own width instead of the base."""

    width: int

    kind = "wave"
    has_spread = False

    @classmethod
    def read(cls, owner: str, entry: Entry, answers: Answers) -> "WaveView":
        question, width = question_and_number(owner, cls.kind, entry, answers)
        return cls((question,), answers[question], width)

    @property
    def entry(self) -> Entry:
        return self.kind, *self.questions, self.width

    def values(self, digits: Digits) -> Digits:
        return digits[:, self.questions[0]]

    def among(self, answers: Answers) -> Entry:
        size = answers[self.questions[0]]
        return self.kind, *self.questions, nearest_widths(min(self.width, size), size)[0]

    def oracle(self, epsilon: float, base: str, eta: Fraction) -> FrequencyOracle:
        del base
        if eta != 1:
            raise ParameterError(f"a view {self.kind!r} has eta 1: leave it out, or eta")
        return Wave(epsilon=epsilon, domain_size=self.size, width=self.width)

    def project(self, question: int, answers: Answers) -> Floats:
        del question, answers
        return np.eye(self.size)

    def score(self, member: FrequencyOracle, spread: float, question: int, answers: Answers) -> Floats:
        """Outputs are decoded into shares, and these are scored as the outputs themselves would be."""
        del spread, question, answers
        assert isinstance(member, Wave)
        return member.estimator.information


VIEW_KINDS: dict[str, type[RecordView]] = {kind.kind: kind for kind in (Cells, WaveView)}


def question_and_number(owner: str, kind: str, entry: Entry, answers: Answers) -> tuple[int, int]:
    """Return the two numbers of a view such as ``["cells", question, number]``."""
    if len(entry) != 2 or not all(is_integer(part) for part in entry):
        raise fail(owner, "views", f"[{kind!r}, question, number]", [kind, *entry])
    return integer(0, len(answers) - 1)(owner, f"the question of a view {kind!r}", entry[0]), int(entry[1])


def read_views(owner: str, views: int | tuple[Entry, ...], answers: Answers) -> tuple[RecordView, ...]:
    """Return the views of a description: 1 and 2 are all single questions and all pairs.

    >>> [view.entry for view in read_views("Sampled", 2, (2, 3, 4))]
    [(0, 1), (0, 2), (1, 2)]
    >>> read_views("Sampled", ((0,), ("cells", 0, 4)), (8,))[1]
    Cells(questions=(0,), size=2, joined=4)
    """
    if isinstance(views, int):
        if views > len(answers):
            raise fail(owner, "views", f"at most the number of questions, {len(answers)}", views)
        blocks = combinations(range(len(answers)), views)
        read: list[RecordView] = [Block.of(questions, answers) for questions in blocks]
    else:
        read = [_read(owner, entry, answers) for entry in views]
    _check(owner, read, answers)
    return tuple(read)


def _read(owner: str, entry: Entry, answers: Answers) -> RecordView:
    if entry and isinstance(entry[0], str):
        if entry[0] not in VIEW_KINDS:
            kinds = ", ".join(map(repr, VIEW_KINDS))
            raise fail(owner, "views", f"lists of questions, or lists that begin with {kinds}", list(entry))
        return VIEW_KINDS[entry[0]].read(owner, entry[1:], answers)
    return Block.read(owner, entry, answers)


def _check(owner: str, views: list[RecordView], answers: Answers) -> None:
    """Check views against each other and against the limits."""
    if not 1 <= len(views) <= MAX_VIEWS:
        raise fail(owner, "views", f"1 to {MAX_VIEWS} views", len(views))
    if len({view.entry for view in views}) < len(views):
        raise fail(owner, "views", "different views; weights say how often one is chosen", len(views))
    for view in views:
        if view.size > MAX_VIEW_VALUES:
            raise fail(owner, "views", f"views of at most {MAX_VIEW_VALUES:,} values each", list(view.entry))
    missing = set(range(len(answers))) - {a for view in views if view.tells_all for a in view.questions}
    if missing:
        rule = f"about every question; none tells the answers to question {min(missing)} apart"
        raise fail(owner, "views", rule, [list(view.entry) for view in views])


def short_form(views: tuple[RecordView, ...], answers: Answers) -> int | tuple[Entry, ...]:
    """Return the one description of views: 1 or 2 where they are all single questions or all pairs, else a list."""
    entries = tuple(view.entry for view in views)
    for together in (1, 2):
        if entries == tuple(combinations(range(len(answers)), together)):
            return together
    return entries


@dataclass(frozen=True, eq=False)
class SamplingDesign:
    """The views of a record in the order of their numbers, and the weights that they are drawn with."""

    views: tuple[RecordView, ...]
    weights: tuple[int, ...]

    @property
    def entries(self) -> list[list[str | int]]:
        """All views as lists."""
        return [list(view.entry) for view in self.views]

    @cached_property
    def _ends(self) -> NDArray[np.uint64]:
        return np.array(list(accumulate(self.weights)), np.uint64)

    def view_of(self, words: Words) -> NDArray[np.intp]:
        """Return the view that each of these words draws: the first whose weights so far exceed ``u W / 2^64``."""
        total = self._ends[-1]
        place = ((words >> _HALF) * total + ((words & _LOW) * total >> _HALF)) >> _HALF
        return np.asarray(np.searchsorted(self._ends, place, side="right"))
