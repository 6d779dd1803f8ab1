"""Judge: select the worst event of every family on one half of the outputs, and test it on the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import comb
from statistics import NormalDist
from typing import Any

import numpy as np

from fldp.numerics.binomial_bounds import lower_bound, upper_bound
from fldp.privacy.auditor.event_choice import AuditedClaim, EventChoice, best, from_parts
from fldp.privacy.auditor.events import Counts, EventFamily, families
from fldp.privacy.auditor.independence import NULL, Suspicion, random_pairs, suspicions
from fldp.privacy.auditor.learned_events import Lesson, learned, supported
from fldp.privacy.auditor.outputs import OutputRows
from fldp.randomness.stream import Stream
from fldp.support.progress import Progress

CALLS = 4  # for each value: one to learn from, one to choose by, two to test
FAMILIES = ("outputs", "positions", "order", "parities", "classes", "supports", "independence")


@dataclass(frozen=True)
class Finding:
    """The worst event of a family, tested on the half of the outputs that did not select it.

    ``hits`` of ``trials`` outputs of ``value`` are in it, and ``other_hits`` of ``other_trials`` outputs of ``other``.
    ``low`` is a lower bound of the first probability and ``high`` an upper bound of the second. ``excess``, above
    zero, is by how much the claim is broken at least; ``epsilon`` is the least that a true claim with this eta can say.
    In the family ``independence`` pairs of reports of one value are compared with random pairs.
    """

    family: str
    value: object
    other: object
    event: str
    hits: int
    trials: int
    other_hits: int
    other_trials: int
    low: float
    high: float
    excess: float
    epsilon: float

    @property
    def violated(self) -> bool:
        """Whether this event breaks the claim."""
        return self.excess > 0


@dataclass(frozen=True)
class AuditSamples:
    """The outputs of one value as rows: two calls to learn from, and two to test on."""

    value: object
    train: OutputRows
    held_out: OutputRows
    test: OutputRows

    @classmethod
    def of(cls, value: object, calls: Sequence[OutputRows]) -> "AuditSamples":
        """Assign the calls to learning and testing."""
        train, held_out, *test = calls
        return cls(value, train, held_out, OutputRows.joined(test))

    @property
    def learn(self) -> OutputRows:
        """The learning half."""
        return OutputRows.joined([self.train, self.held_out])

    @property
    def count(self) -> int:
        """The number of outputs."""
        return len(self.train) + len(self.held_out) + len(self.test)


def judge(
    evidence: Sequence[AuditSamples], claim: AuditedClaim, error: float, stream: Stream, progress: Progress
) -> list[Finding]:
    """Return the finding of every non-empty family.

    The learning half decides what to test, so the tests are few: one in each family. Each of their two bounds may
    be wrong with ``error / (2 * tests)``, so all hold at once except with probability ``error``.
    """
    z = -NormalDist().inv_cdf(error / (2 * len(FAMILIES)))
    choices = _choices(evidence, claim, z, progress)
    suspicion = max(suspicions([each.learn for each in evidence], z, stream), key=lambda each: each.ratio)
    share = error / (2 * (len(choices) + 1))
    findings = [_tested(family, choice, evidence, claim, share) for family, choice in choices.items()]
    return [*findings, _independent(suspicion, evidence[suspicion.value], share, stream)]


def _choices(
    evidence: Sequence[AuditSamples], claim: AuditedClaim, z: float, progress: Progress
) -> dict[str, EventChoice]:
    """Choose the event to test in each family."""
    learn = [each.learn for each in evidence]
    parts = families(OutputRows.joined(learn))
    train = {name: _counted(its, [each.train for each in evidence]) for name, its in parts.items()}
    chosen: dict[str, EventChoice | None] = {}
    for name, its in parts.items():
        held_out = _counted(its, [each.held_out for each in evidence])
        counts = [a + b for a, b in zip(train[name], held_out, strict=True)]
        chosen[name] = best(from_parts(its, counts, len(learn[0]), claim, z))
    lesson = Lesson(
        list(chain.from_iterable(parts.values())),
        list(chain.from_iterable(train.values())),
        [each.train for each in evidence],
        [each.held_out for each in evidence],
    )
    chosen["classes"] = best(_watched(learned(lesson, claim, z), evidence, progress))
    if learn[0].supports is not None:
        chosen["supports"] = best(supported(learn, claim, z))
    return {name: choice for name, choice in chosen.items() if choice is not None}


def _watched(
    each_pair: Iterator[list[EventChoice]], evidence: Sequence[AuditSamples], progress: Progress
) -> Iterator[EventChoice]:
    """Report progress after every pair of values, in units of outputs."""
    total, pairs = sum(each.count for each in evidence), comb(len(evidence), 2)
    for k, choices in enumerate(each_pair):
        yield from choices
        progress(total * (k + 1) // pairs - total * k // pairs)


def _counted(parts: Sequence[EventFamily], rows: Sequence[OutputRows]) -> list[Counts]:
    """Count every event of each part, a row for each value."""
    return [np.stack([part.count(each) for each in rows]) for part in parts]


def _tested(
    family: str, choice: EventChoice, evidence: Sequence[AuditSamples], claim: AuditedClaim, error: float
) -> Finding:
    samples, other_samples = evidence[choice.value], evidence[choice.other]
    hits, others = choice.event.count(samples.test), choice.event.count(other_samples.test)
    counts = hits, len(samples.test), others, len(other_samples.test)
    return _finding(family, (samples.value, other_samples.value), choice.event.words, counts, claim, error)


def _independent(suspicion: Suspicion, evidence: AuditSamples, error: float, stream: Stream) -> Finding:
    rows = evidence.test
    formed, random = suspicion.pairing.pairs(len(rows) // 2), random_pairs(len(rows), stream)
    hits, others = (int(np.count_nonzero(suspicion.marks(rows, pairs))) for pairs in (formed, random))
    counts = hits, len(formed[0]), others, len(random[0])
    words = suspicion.words([column.name for column in rows.columns])
    finding = _finding("independence", (evidence.value, evidence.value), words, counts, NULL, error)
    return replace(finding, epsilon=0.0)  # independence says nothing about a single report


def _finding(
    family: str,
    values: tuple[Any, Any],
    words: str,
    counts: tuple[int, int, int, int],
    claim: AuditedClaim,
    error: float,
) -> Finding:
    hits, trials, other_hits, other_trials = counts
    low, high = lower_bound(hits, trials, error), upper_bound(other_hits, other_trials, error)
    excess, epsilon = claim.excess(low, high), claim.certified(low, high)
    return Finding(family, *values, words, hits, trials, other_hits, other_trials, low, high, excess, epsilon)
