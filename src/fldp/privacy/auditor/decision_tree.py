"""A tree of questions that tells two values apart: it finds what no single question tells."""

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
    """Return what a tree may ask: what tells the most in each part, where wide numbers lie, whom the row speaks for.

    Where a seed lies tells nothing by itself; if it is also the coin, it tells a lot together with the symbol.
    """
    mine, theirs = map(len, train)
    found = [
        event(part, int(k)) for part, pair in zip(parts, counts, strict=True) for k in _telling(pair, mine, theirs)
    ]
    for part in parts:
        if isinstance(part, Cuts) and len(part.columns) <= _MAX_WIDE:
            found += [event(part, k) for k in range(_EVERY_CUT - 1, int(part.ends[-1]), _EVERY_CUT)]
    if train[0].supports is not None:
        found += [
            Event("it speaks for the first", lambda rows: support(rows) > 0),
            Event("it speaks for the second", lambda rows: support(rows) < 0),
            Event("it rules out the second", lambda rows: support(rows) > 1e9),
            Event("it rules out the first", lambda rows: support(rows) < -1e9),
        ]
    return found


def _telling(pair: Counts, mine: int, theirs: int) -> Any:
    share = (pair.sum(axis=0) + 1) / (mine + theirs + 2)
    z = np.abs(pair[0] / mine - pair[1] / theirs) / np.sqrt(share * (1 - share))
    return np.argsort(z)[-_TELLING:]


@dataclass(frozen=True)
class Node:
    """A question and the two ways from it, or the score at the end of one."""

    score: float
    question: int = -1
    ways: "tuple[Node, Node] | None" = None  # no, yes

    @property
    def asked(self) -> set[int]:
        """The questions of this tree, by their number."""
        return set() if self.ways is None else {self.question} | self.ways[0].asked | self.ways[1].asked

    def scores(self, answers: Mapping[int, Marks], count: int) -> Floats:
        """Return the score of each of so many rows, given the answers."""
        if self.ways is None:
            return np.full(count, self.score)
        no, yes = (way.scores(answers, count) for way in self.ways)
        return np.where(answers[self.question], yes, no)


def grow(answers: Answers, labels: Answers, depth: int = _DEPTH) -> Node:
    """Grow a tree from answers, a column for each question, and labels, 1 for the first value and 0 for the second.

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
    """Return the question with the largest chi-square, None if none of them says much."""
    total, first = len(labels), float(labels.sum())
    if min(first, total - first) < 1:
        return None
    yes = answers.sum(axis=0, dtype=np.float64)
    mine = (labels @ answers).astype(np.float64)
    split = np.maximum(yes * (total - yes), 1.0)
    chi_square = total * (mine * total - yes * first) ** 2 / (split * first * (total - first))
    chi_square[(yes < _MIN_LEAF) | (total - yes < _MIN_LEAF)] = 0.0
    k = int(np.argmax(chi_square))
    return k if chi_square[k] >= _MIN_CHI_SQUARE else None
