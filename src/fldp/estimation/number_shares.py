"""Numbers from estimates: the variances of sums of shares, of one wave or of several views."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from fldp.data.comparison import POPULATION
from fldp.data.estimate import Estimate, Evidence
from fldp.data.number import Number
from fldp.data.projections import METHODS
from fldp.data.scale import MEAN, Scale
from fldp.numerics.bounded_laws import Steps
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.plain.wave import Wave, WaveScores
from fldp.oracles.sampled.sampled import Sampled
from fldp.oracles.sampled.tables import Asked, Tables
from fldp.oracles.sampled.views import Block


@dataclass(frozen=True, eq=False)
class WaveShares:
    """The exact variances of sums of the shares of a ``Wave``, at its estimated shares."""

    estimator: WaveScores
    counts: Floats

    @cached_property
    def _plausible(self) -> Floats:
        total = float(self.counts.sum())
        return METHODS["norm-sub"](self.counts, total) / total

    @property
    def _people(self) -> float:
        return float(self.counts.sum())

    def variances(self, weights: Floats, people: str) -> Floats:
        """Return the variance of the sum of the shares with each row of weights, not below those at unbiased shares.

        Repaired shares of few people are too even, and numbers at the ends have more noise.
        """
        both = (self._plausible, self.counts / self._people)
        at_repaired, at_unbiased = (self._variances_at(plugged, weights, people) for plugged in both)
        return np.maximum(at_repaired, at_unbiased) / self._people

    def _variances_at(self, plugged: Floats, weights: Floats, people: str) -> Floats:
        noise = self.estimator.linear_variances(weights, plugged)
        if people == POPULATION:
            noise = noise + weights**2 @ plugged - (weights @ plugged) ** 2
        return np.maximum(noise, 0.0)

    def steps(self, weights: Floats, people: str) -> Steps:
        """Return how much one report moves the sum of the shares with each row of weights: everybody is asked."""
        del people
        return Steps(self.estimator.typical_jumps(weights, self._plausible) / self._people)

    def laws(self, counts: Floats) -> tuple[Evidence, ...]:
        """Return none: the estimate of a wave has its own."""
        del counts
        return ()


@dataclass(frozen=True, eq=False)
class TableShares:
    """The variances of sums of the shares of one question of tables."""

    tables: Tables
    question: int

    def variances(self, weights: Floats, people: str) -> Floats:
        """Return the variance of the sum of the shares with each row of weights."""
        return np.maximum(self.tables.variances((self.question,), weights, people=people), 0.0)

    def steps(self, weights: Floats, people: str) -> Steps:
        """Return what an interval of the sum of the shares with each row of weights needs beside its variance."""
        return self.tables.steps((self.question,), weights, people=people)

    def laws(self, counts: Floats) -> tuple[Evidence, ...]:
        """Return the laws of the counts of all cells."""
        return self.tables.laws(self.question, counts)


def table_number(tables: Tables, question: int, scale: Scale) -> Number:
    """Return the number that one question of tables asks for.

    >>> import fldp
    >>> scale = Scale(0, 8, bins=8)
    >>> oracle = fldp.Sampled(epsilon=2.0, answers=[8], views=[[0], ["wave", 0, 1]])
    >>> reports = oracle.privatize(scale.encode([2.5] * 10_000), rng=1)
    >>> table_number(oracle.estimate(reports), 0, scale).quantile(0.5)
    Value(value=2.5..., stderr=..., low=2.0, high=3.0, ...)
    """
    return Number.of(tables.estimate(question), scale, TableShares(tables, question))


def as_number(estimate: Estimate | Tables, scale: Scale) -> Number:
    """Return the number that a survey of one number estimates."""
    return table_number(estimate, 0, scale) if isinstance(estimate, Tables) else wave_number(estimate, scale)


def wave_number(estimate: Estimate, scale: Scale) -> Number:
    """Return the number whose cells, or points, one wave has asked for.

    >>> import fldp
    >>> scale = Scale(0, 10, goal="mean", unit="s")
    >>> oracle = fldp.Wave(epsilon=2.0, domain_size=scale.size, width=63)
    >>> reports = oracle.privatize(scale.encode([2.5] * 10_000, rng=1), rng=2)
    >>> wave_number(oracle.estimate(reports), scale).mean()
    Value(value=2.5..., stderr=0.04..., low=2.4..., high=2.6..., note=None, unit='s', what='mean', level=0.95)
    """
    estimator = estimate.oracle.estimator
    assert isinstance(estimator, WaveScores), "a number of one view is asked for by a wave"
    return Number.of(estimate, scale, WaveShares(estimator, estimate.counts))


def even_number(oracle: Oracle, scale: Scale, users: int) -> Number:
    """Return the number of this many people whose numbers are spread evenly, for plans of sums of its cells.

    The cells have no errors of their own here: a plan would compute a thousand of them, and show none.

    >>> import fldp
    >>> even_number(fldp.number(epsilon=1.0, bins=8), Scale(0, 1, bins=8), 1000).mean().value
    0.5
    """
    even = np.full(scale.size, 1 / scale.size)
    if scale.goal == MEAN:
        return wave_number(Estimate(cast(Wave, oracle), users * even, np.zeros(scale.size), users), scale)
    tables = _even_tables(cast(Sampled, oracle), even, users)
    plain = Estimate(cast(FrequencyOracle, oracle), users * even, np.zeros(scale.size), users)
    return Number.of(plain, scale, TableShares(tables, 0))


def _even_tables(oracle: Sampled, even: Floats, users: int) -> Tables:
    """Return tables of one question in which every view has its share of the people."""
    views, weights = oracle.design.views, np.array(oracle.design.weights)
    people = tuple(max(1, round(users * float(weight))) for weight in weights / weights.sum())
    decoded = tuple(even if isinstance(view, Block) else view.project(0, oracle.answers) @ even for view in views)
    return Tables(oracle, users, people, decoded, (Asked("0"),))
