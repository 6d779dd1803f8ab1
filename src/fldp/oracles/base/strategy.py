"""Strategy: the best and the random reports of fake users for their targets, and their leverage.

Estimates are sums over reports, so a report has a *worth*: what it adds to the estimated number of users who hold any
of the targets. An honest holder of a target adds 1 on average. The *leverage* of an attack is the mean worth of its
reports, and determines its effect: with a share b of fakes among all users, the targets gain
``b (leverage - held)`` of all users, where ``held`` is the share of honest users who hold a target.

There is a strategy for each kind of report. The companion of an oracle expresses its estimator as worths of the parts
of a report, and hands them to the strategy for that kind.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.support_counts import Supports, SupportsByKind

Targets = NDArray[np.int64]
TargetCells = Mapping[int, Sequence[int]]  # of a table: the answers that count, by question
Generator = np.random.Generator
_SAME = 1e-12  # relative: worths that differ by less are equal up to rounding


@dataclass(frozen=True, eq=False)
class Strategy(ABC):
    """The attacks on one oracle for given targets; a target that is listed several times counts as often.

    Fakes are as varied as possible without loss, which makes them hard to detect.
    """

    @abstractmethod
    def best(self) -> float:
        """Return the largest worth of any report: the leverage of the maximal-gain attack."""

    @abstractmethod
    def craft(self, count: int, generator: Generator) -> Array:
        """Return ``count`` reports of the largest worth."""

    @abstractmethod
    def blind_mean(self) -> float:
        """Return the mean worth of a uniform report: the leverage of the random-report attack."""

    @abstractmethod
    def blind(self, count: int, generator: Generator) -> Array:
        """Return ``count`` reports, drawn uniformly from all possible ones."""

    def honest_mean(self) -> float:
        """Return the mean worth of an honest report of a target: 1 if estimates are unbiased."""
        return 1.0

    def best_given(self, data: Array) -> Array:
        """Return the reports of the largest worth with the same public parts."""
        del data
        raise ParameterError(
            "poison: the best reports of this oracle are not known when tickets decide the public part"
        )

    def best_on_average(self) -> float:
        """Return the largest worth given the public part, averaged over the public part."""
        return self.best()


def times(targets: Targets, size: int) -> NDArray[np.int64]:
    """Return how often each value is a target.

    >>> times(np.array([1, 3, 1]), 4)
    array([0, 2, 0, 1])
    """
    return np.bincount(targets, minlength=size)


def supports_worth(oracle: FrequencyOracle, targets: Targets) -> tuple[Floats, float]:
    """Return the worth of supporting each value, and the constant worth of every report.

    The estimate of a value is the sum over reports of ``(supported - q) / (p - q)``.

    >>> import fldp
    >>> [np.round(part, 3) for part in supports_worth(fldp.GRR(1.0, 3), np.array([2]))]
    [array([0.   , 0.   , 2.746]), np.float64(-0.582)]
    """
    return weighed_supports(oracle, times(targets, oracle.domain_size).astype(np.float64))


def weighed_supports(oracle: FrequencyOracle, wanted: Floats) -> tuple[Floats, float]:
    """Return the same where each value counts for a number of its own, which may be negative."""
    estimator = oracle.estimator
    assert isinstance(estimator, Supports | SupportsByKind)
    _, q, gap = estimator.chances
    weights = wanted / gap
    return weights, -float(weights @ q)


def largest(worth: Floats) -> NDArray[np.intp]:
    """Return the positions of the largest numbers, all that are equal up to rounding.

    >>> largest(np.array([0.3, 0.1 + 0.2, 0.2]))
    array([0, 1])
    """
    most = worth.max()
    return np.flatnonzero(worth >= most - _SAME * abs(most))
