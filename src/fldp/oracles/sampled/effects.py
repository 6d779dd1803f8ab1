"""Effects: how the shares of all views become tables, a two-way analysis of variance and least squares in closed form.

The *effect* of a set of questions ``U`` in a view that has them: add up over the other questions, then subtract the
mean along every axis. A table is the sum of the effects of all sets of its questions, and each effect is combined over
all views that have it. At uniform shares the covariance of a view is a multiple of the identity on shares with sum 0,
so weighing each view by its people over its variance is generalised least squares. The weights depend on the oracles
and on how many people each view has, never on what was counted. All tables are made of the same effects, so their
margins agree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np

from fldp.errors import DomainError
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.sampled.views import Block, RecordView

Questions = tuple[int, ...]
_MIN_PIVOT = 1e-10  # of the largest entry: below are directions that nobody reported about, and rounding


def spread_of(oracle: FrequencyOracle) -> float:
    """Return the variance of one share of one report at uniform shares, off the direction of their sum.

    >>> import fldp
    >>> round(16 * spread_of(fldp.SS(epsilon=1.0, domain_size=16)), 1)
    55.4
    """
    about, size = analysis(oracle), oracle.domain_size
    noise = about.pair_noise()
    if noise is not None:
        return noise.spread(size)
    uniform = np.full(size, 1 / size)
    whole = about.linear_variance(np.ones(size), uniform)
    return (size * oracle.estimator.mean_variance(1) - whole / size) / (size - 1) + 1 / size


@dataclass(frozen=True, eq=False)
class Effects:
    """The linear maps from the decoded shares of views to tables, given how many people each view has."""

    answers: tuple[int, ...]
    views: tuple[RecordView, ...]
    members: tuple[FrequencyOracle, ...]
    people: tuple[int, ...]
    _score_maps: dict[int, dict[int, Floats]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def spreads(self) -> list[float]:
        """The variance of a share in every view; 0 of a wave, whose scores know its information."""
        views = zip(self.members, self.views, strict=True)
        known = {id(member): spread_of(member) for member in {id(m): m for m, v in views if v.has_spread}.values()}
        return [known.get(id(member), 0.0) for member in self.members]

    def _precision(self, number: int) -> float:
        """Return how much a block tells about an effect that it has."""
        return self.people[number] / (self.views[number].size * self.spreads[number])

    def _with(self, effect: Questions) -> list[int]:
        """Return the blocks with people that have all of these questions."""
        return [
            k
            for k, view in enumerate(self.views)
            if self.people[k] and isinstance(view, Block) and set(effect) <= set(view.questions)
        ]

    def weights_of(self, effect: Questions) -> dict[int, float]:
        """Return the weight of every block in an effect; raise ``DomainError`` if nobody's report is about it."""
        blocks = self._with(effect)
        total = sum(map(self._precision, blocks))
        if not total:
            names = " and ".join(map(str, effect))
            raise DomainError(f"estimate: no report is about question{'s' * (len(effect) > 1)} {names} yet")
        return {k: self._precision(k) / total for k in blocks}

    def is_mixed(self, question: int) -> bool:
        """Whether views of other kinds than blocks are about a question."""
        views = zip(self.views, self.people, strict=True)
        return any(question in view.questions and count and not isinstance(view, Block) for view, count in views)

    def score_maps(self, question: int) -> dict[int, Floats]:
        """Return for every view about a question the matrix from its shares, less uniform, to the main effect.

        ``S (sum of N P (y - uniform))``, where ``S`` is the inverse of the information on shares with sum 0.
        """
        if question not in self._score_maps:
            self._score_maps[question] = self._scores(question)
        return self._score_maps[question]

    def _scores(self, question: int) -> dict[int, Floats]:
        size, scores = self.answers[question], dict[int, Floats]()
        information = np.zeros((size, size))
        for k, view in enumerate(self.views):
            if self.people[k] and question in view.questions:
                score = view.score(self.members[k], self.spreads[k], question, self.answers)
                scores[k] = self.people[k] * score
                information += scores[k] @ view.project(question, self.answers)
        scale = float(np.trace(information)) / size**2
        if not scale or not _is_definite(information + scale):
            raise DomainError(f"estimate: too few reports are about question {question} yet")
        inverse = np.linalg.inv(information + scale) - 1 / (scale * size**2)
        return {k: inverse @ score for k, score in scores.items()}

    def effect(self, questions: Questions, decoded: Sequence[Floats | None]) -> Floats:
        """Return the combined effect of some questions."""
        if len(questions) == 1 and self.is_mixed(questions[0]):
            parts = self.score_maps(questions[0]).items()
            total = sum(score @ (_known(decoded[k]) - 1 / self.views[k].size) for k, score in parts)
            return np.asarray(total)
        effect = np.zeros([self.answers[a] for a in questions])
        for k, weight in self.weights_of(questions).items():
            effect += weight * self._effect_in(self.views[k], questions, _known(decoded[k]))
        return effect

    def _effect_in(self, view: RecordView, questions: Questions, shares: Floats) -> Floats:
        """Add up over the view's other questions, and centre along every axis."""
        assert isinstance(view, Block)
        others = tuple(place for place, a in enumerate(view.questions) if a not in questions)
        return centred(shares.reshape(view.shape).sum(axis=others), range(len(questions)))

    def table(self, questions: Questions, decoded: Sequence[Floats | None]) -> Floats:
        """Return the estimated shares of all cells of a table."""
        shape = [self.answers[a] for a in questions]
        table = np.full(shape, 1 / prod(shape))
        for places in _subsets(len(questions)):
            chosen = tuple(questions[place] for place in places)
            effect = self.effect(chosen, decoded)
            rest = prod(size for place, size in enumerate(shape) if place not in places)
            table += effect.reshape([size if place in places else 1 for place, size in enumerate(shape)]) / rest
        return table

    def maps(self, questions: Questions, weights: Floats) -> tuple[Floats, dict[int, Floats]]:
        """Return linear combinations of the cells of a table as ones of the decoded shares of views.

        ``weights`` has a table of weights for each. Row ``i`` of the result is a constant, and a row of weights of each
        view's values; views that do not matter are left out.
        """
        count, constant = len(weights), weights.reshape(len(weights), -1).mean(axis=1)
        parts: dict[int, Floats] = {}
        for places in _subsets(len(questions)):
            axes = tuple(1 + place for place in range(len(questions)) if place not in places)
            inside = centred(weights.mean(axis=axes), range(1, 1 + len(places)))
            chosen = tuple(questions[place] for place in places)
            if len(chosen) == 1 and self.is_mixed(chosen[0]):
                for k, score in self.score_maps(chosen[0]).items():
                    row = inside @ score
                    parts[k] = parts.get(k, 0.0) + row
                    constant = constant - row.mean(axis=1)
                continue
            for k, weight in self.weights_of(chosen).items():
                view = self.views[k]
                assert isinstance(view, Block)
                shape = [size if a in chosen else 1 for a, size in zip(view.questions, view.shape, strict=True)]
                wide = np.broadcast_to(inside.reshape(count, *shape), (count, *view.shape))
                parts[k] = parts.get(k, 0.0) + weight * wide.reshape(count, -1)
        return constant, parts


def centred(table: Floats, axes: range) -> Floats:
    """Subtract the mean along every one of these axes."""
    for axis in axes:
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def _subsets(count: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, count + 1):
        yield from combinations(range(count), size)


def _is_definite(matrix: Floats) -> bool:
    """Whether a symmetric matrix without negative directions has none that is 0, by the pivots of its Cholesky factor.

    >>> _is_definite(np.array([[2.0, 1.0], [1.0, 2.0]])), _is_definite(np.ones((2, 2)))
    (True, False)
    """
    try:
        pivots = np.diag(np.linalg.cholesky(matrix)) ** 2
    except np.linalg.LinAlgError:
        return False
    return bool(pivots.min() > _MIN_PIVOT * np.diag(matrix).max())


def _known(shares: Floats | None) -> Floats:
    assert shares is not None
    return shares
