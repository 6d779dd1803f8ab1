"""A decision tree that distinguishes two values, by combinations that no single event shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.types import Floats
from fldp.privacy.auditor.events import Counts, Cuts, Event, EventFamily, Marks, event
from fldp.privacy.auditor.outputs import OutputRows

_DEPTH, _MIN_LEAF, _MIN_CHI_SQUARE = 5, 10, 10.0
_TELLING = 16  # questions from each part
_EVERY_CUT, _MAX_WIDE = 4, 4

Answers = NDArray[np.float32]


def questions(
    parts: Sequence[EventFamily],
    counts: Sequence[Counts],
    train: tuple[OutputRows, OutputRows],
    support: Callable[[OutputRows], Floats],
) -> list[Event]:
    """Return the questions of a tree: the best events of each part, cuts of wide columns, and declared supports.

    A seed alone tells nothing; if it is also the coin, it tells a lot together with the symbol.
    """
    size, other_size = map(len, train)
    events = [
        event(part, int(k)) for part, pair in zip(parts, counts, strict=True) for k in _telling(pair, size, other_size)
    ]
    for part in parts:
        if isinstance(part, Cuts) and len(part.columns) <= _MAX_WIDE:
            events += [event(part, k) for k in range(_EVERY_CUT - 1, int(part.ends[-1]), _EVERY_CUT)]
    if train[0].supports is not None:
        events += [
            Event("it speaks for the first", lambda rows: support(rows) > 0),
            Event("it speaks for the second", lambda rows: support(rows) < 0),
            Event("it rules out the second", lambda rows: support(rows) > 1e9),
            Event("it rules out the first", lambda rows: support(rows) < -1e9),
        ]
    return events


def _telling(pair: Counts, size: int, other_size: int) -> Any:
    share = (pair.sum(axis=0) + 1) / (size + other_size + 2)
    z = np.abs(pair[0] / size - pair[1] / other_size) / np.sqrt(share * (1 - share))
    return np.argsort(z)[-_TELLING:]


@dataclass(frozen=True)
class Node:
    """An inner node with a question and two branches, or a leaf with its score."""

    score: float
    question: int = -1
    ways: "tuple[Node, Node] | None" = None  # no, yes

    @property
    def asked(self) -> set[int]:
        """The numbers of the questions of this tree."""
        return set() if self.ways is None else {self.question} | self.ways[0].asked | self.ways[1].asked

    def scores(self, answers: Mapping[int, Marks], count: int) -> Floats:
        """Return the score of each of ``count`` rows, given the answers."""
        if self.ways is None:
            return np.full(count, self.score)
        no, yes = (way.scores(answers, count) for way in self.ways)
        return np.where(answers[self.question], yes, no)


def grow(answers: Answers, labels: Answers, depth: int = _DEPTH) -> Node:
    """Grow a tree from answers (one column per question) and labels (1 for the first value, 0 for the second).

    >>> answers = np.repeat([[0, 0], [1, 0], [1, 1]], 50, axis=0).astype(np.float32)
    >>> root = grow(answers, (answers[:, 0] > answers[:, 1]).astype(np.float32))
    >>> root.scores({0: answers[:, 0] > 0, 1: answers[:, 1] > 0}, 150)[[0, 50, 100]].round(1)
    array([-4.6,  4.6, -4.6])
    """
    first = float(labels.sum())
    score = float(np.log((first + 0.5) / (len(labels) - first + 0.5)))
    k = _best_question(answers, labels) if depth else None
    if k is None:
        return Node(score)
    yes = answers[:, k] > 0
    return Node(score, k, (grow(answers[~yes], labels[~yes], depth - 1), grow(answers[yes], labels[yes], depth - 1)))


def _best_question(answers: Answers, labels: Answers) -> int | None:
    """Return the question with the largest chi-square, None if none is significant."""
    total, first = len(labels), float(labels.sum())
    if min(first, total - first) < 1:
        return None
    yes = answers.sum(axis=0, dtype=np.float64)
    both = (labels @ answers).astype(np.float64)
    split = np.maximum(yes * (total - yes), 1.0)
    chi_square = total * (both * total - yes * first) ** 2 / (split * first * (total - first))
    chi_square[(yes < _MIN_LEAF) | (total - yes < _MIN_LEAF)] = 0.0
    k = int(np.argmax(chi_square))
    return k if chi_square[k] >= _MIN_CHI_SQUARE else None
