"""Sides: who runs an oracle, us or a peer, what it took each time, and how far off it was.

An error is the mean squared error of the estimated frequencies over all values, times the number of users. For an
unbiased estimate that is the variance that one user brings, whatever the number of users.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.postprocess import METHODS

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Population:
    """What the users hold."""

    values: NDArray[np.int64]
    domain_size: int

    @property
    def users(self) -> int:
        return len(self.values)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        return np.bincount(self.values, minlength=self.domain_size)

    def error(self, frequencies: Floats) -> float:
        """Return the error of estimated frequencies."""
        return float(np.mean((frequencies - self.counts / self.users) ** 2)) * self.users

    def top_share(self, frequencies: Floats) -> float:
        """Return the estimated frequency of the most frequent value, relative to the true one."""
        most = int(self.counts.argmax())
        return float(frequencies[most]) * self.users / int(self.counts[most])


def rescaled(frequencies: Floats) -> Floats:
    """Cut frequencies off at zero and scale the rest to add up to 1, as multi-freq-ldpy does."""
    kept = frequencies.clip(0)
    return np.asarray(kept / kept.sum() if kept.any() else kept)


@dataclass(frozen=True)
class Run:
    """One run of the protocol: seconds; errors of the answer as it is, and as it would be repaired; a bias, if any."""

    setup: float
    client: float
    server: float
    error: float
    rescaled_error: float
    norm_sub_error: float
    top_share: float

    @classmethod
    def of(cls, population: Population, frequencies: Sequence[float], **seconds: float) -> "Run":
        estimated = np.asarray(frequencies, np.float64)
        answers = (estimated, rescaled(estimated), METHODS["norm-sub"](estimated, 1.0))
        return cls(*seconds.values(), *map(population.error, answers), population.top_share(estimated))


@dataclass
class Side:
    """How a turn is taken on a population, and all runs so far."""

    title: str
    population: Population
    turn: Callable[[], Sequence[dict[str, Any]]]
    runs: list[Run] = field(default_factory=list)

    def take_turn(self) -> None:
        self.runs += [Run.of(self.population, **raw) for raw in self.turn()]

    def typical(self, part: str) -> float:
        """Return the median seconds of a part: unlike the least, it does not favour whoever had more runs."""
        return median(getattr(run, part) for run in self.runs)

    def mean(self, figure: str) -> float:
        return fmean(getattr(run, figure) for run in self.runs)

    @property
    def uncertainty(self) -> float:
        """The standard error of the mean error of an unbiased answer, relative to it.

        A run has a squared error for each value but one, nearly normal and nearly uncorrelated. One is left out
        because estimates may add up to 1; with two values it is the same error twice.
        """
        return sqrt(2 / (len(self.runs) * (self.population.domain_size - 1)))

    @property
    def top_uncertainty(self) -> float:
        """The standard error of the mean share of the most frequent value."""
        if len(self.runs) < 2:
            return float("nan")
        return stdev(run.top_share for run in self.runs) / sqrt(len(self.runs))
