"""Likelihood-ratio classes: scores that distinguish two values, learned on one part of the data, cut on another."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from fldp.numerics.types import Floats
from fldp.privacy.auditor.decision_tree import grow, questions
from fldp.privacy.auditor.event_choice import AuditedClaim, EventChoice, cut
from fldp.privacy.auditor.events import BitEvents, Counts, Event, EventFamily, Members, Numbers, Outputs
from fldp.privacy.auditor.outputs import OutputRows

_MIN_Z = 2.5
_SURE = 1e300  # in place of an infinite log ratio, so that differences of scores are finite


@dataclass(frozen=True)
class Score:
    """A score of rows: the evidence for the first of two values."""

    words: str
    of: Callable[[OutputRows], Floats]

    def at_least(self, least: float) -> Event:
        """Return the event that the score is at least a bound."""
        return Event(f"{self.words} >= {least:.3g}", lambda rows: self.of(rows) >= least)

    def at_most(self, most: float) -> Event:
        """Return the event that the score is at most a bound."""
        return Event(f"{self.words} <= {most:.3g}", lambda rows: self.of(rows) <= most)


@dataclass(frozen=True)
class Lesson:
    """Training data: events counted on the training rows, and held-out rows to choose by.

    ``counts`` has, for each part, a row for each value; ``train`` and ``held_out`` have rows for each value.
    """

    parts: Sequence[EventFamily]
    counts: Sequence[Counts]
    train: Sequence[OutputRows]
    held_out: Sequence[OutputRows]


def learned(lesson: Lesson, claim: AuditedClaim, z: float) -> Iterator[list[EventChoice]]:
    """Yield for every two values the best class by each learned score, in both directions."""
    for value, other in combinations(range(len(lesson.train)), 2):
        both = (_directions(score, value, other, lesson.held_out, claim, z) for score in _scores(lesson, value, other))
        yield list(chain.from_iterable(both))


def supported(learn: Sequence[OutputRows], claim: AuditedClaim, z: float) -> Iterator[EventChoice]:
    """Yield the best class by the supports that rows carry, for every two values in both directions."""
    for value, other in combinations(range(len(learn)), 2):
        yield from _directions(by_support(value, other), value, other, learn, claim, z)


def _directions(
    score: Score, value: int, other: int, rows: Sequence[OutputRows], claim: AuditedClaim, z: float
) -> Iterator[EventChoice]:
    own, others = score.of(rows[value]), score.of(rows[other])
    ratio, least = cut(own, others, claim, z)
    yield EventChoice(ratio, value, other, score.at_least(least))
    ratio, most = cut(-others, -own, claim, z)
    yield EventChoice(ratio, other, value, score.at_most(-most))


def _scores(lesson: Lesson, value: int, other: int) -> Iterator[Score]:
    own, others = lesson.train[value], lesson.train[other]
    counts = [table[[value, other]] for table in lesson.counts]
    yield by_tree(lesson.parts, counts, (own, others), by_support(value, other))
    for part, table in zip(lesson.parts, counts, strict=True):
        if isinstance(part, Outputs):
            yield by_output(part, table)
        elif isinstance(part, Numbers | Members | BitEvents):
            yield additive(part, table, len(own), len(others))


def by_support(value: int, other: int) -> Score:
    """Return the score by declared supports: the log-likelihood ratio of one value to another."""

    def of(rows: OutputRows) -> Floats:
        if rows.supports is None:
            return np.zeros(len(rows))
        with np.errstate(invalid="ignore"):
            gap = rows.supports[:, value] - rows.supports[:, other]
        return np.nan_to_num(gap, nan=0.0, posinf=_SURE, neginf=-_SURE)

    return Score("the declared log ratio", of)


def by_output(part: Outputs, counts: Counts) -> Score:
    """Score an output by how often each value gave it; one that was not seen twice scores 0.

    >>> rows = OutputRows.of([7, 7, 7, 8, 8, 9], 6)
    >>> part = Outputs(rows)
    >>> by_output(part, np.array([[3, 0], [0, 2]])).of(rows).round(1)
    array([ 1.9,  1.9,  1.9, -1.6, -1.6,  0. ])
    """
    weights = np.append(np.log((counts[0] + 0.5) / (counts[1] + 0.5)), 0.0)
    return Score("the log ratio of the output", lambda rows: np.asarray(weights[part.places(rows)]))


def by_tree(
    parts: Sequence[EventFamily], counts: Sequence[Counts], train: tuple[OutputRows, OutputRows], support: Score
) -> Score:
    """Score a row by the leaf of a tree that it falls into."""
    events = questions(parts, counts, train, support.of)
    both = OutputRows.joined(train)
    answers = np.stack([question.holds(both) for question in events], axis=1).astype(np.float32)
    labels = np.repeat([1, 0], [len(train[0]), len(train[1])]).astype(np.float32)
    root = grow(answers, labels)
    used = sorted(root.asked)
    words = "; ".join(events[k].words for k in used[:4]) + ("; ..." if len(used) > 4 else "")
    return Score(
        f"a tree over ({words})", lambda rows: root.scores({k: events[k].holds(rows) for k in used}, len(rows))
    )


def additive(part: Numbers | Members | BitEvents, counts: Counts, size: int, other_size: int) -> Score:
    """Score a row by the sum of the log ratios of its numbers or bits; insignificant ones count 0."""
    ratios = _log_ratios(counts, size, other_size)
    if isinstance(part, BitEvents):
        return Score("the sum over the bits", lambda rows: _by_bits(rows, part, ratios))
    if isinstance(part, Members):
        table, words = (ratios[0] - ratios[1])[None], "the sum over the members"
    else:
        table, words = ratios[0].reshape(part.shape)[0], "the sum over the numbers"
    return Score(words, lambda rows: _looked_up(rows, part.columns, table))


def _log_ratios(counts: Counts, size: int, other_size: int) -> Floats:
    """Return the log ratios of an event and of its complement; 0 where the counts are similar."""
    held, total = counts + 0.5, np.array([[size + 1.0], [other_size + 1.0]])
    share = held / total
    pooled = held.sum(axis=0) / total.sum()
    z = (share[0] - share[1]) / np.sqrt(pooled * (1 - pooled) * (1 / total).sum())
    ratios = np.stack([np.log(share[0] / share[1]), np.log((1 - share[0]) / (1 - share[1]))])
    return np.where(np.abs(z) < _MIN_Z, 0.0, ratios)


def _looked_up(rows: OutputRows, columns: list[int], table: Floats) -> Floats:
    """Sum the table's entries for the numbers of a row; a number beyond the table counts 0."""
    numbers = rows.numbers[:, columns]
    inside = numbers < table.shape[1]
    places = np.where(inside, numbers, 0).astype(np.int64)
    return np.asarray(np.where(inside, table[np.arange(len(columns)) % len(table), places], 0.0).sum(axis=1))


def _by_bits(rows: OutputRows, part: BitEvents, ratios: Floats) -> Floats:
    scores = np.zeros(len(rows))
    for k in np.flatnonzero(ratios.any(axis=0)).tolist():
        scores += np.where(part.holds(rows, k), ratios[0, k], ratios[1, k])
    return scores
