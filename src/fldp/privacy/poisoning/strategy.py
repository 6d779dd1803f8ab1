"""Strategy: what fake users of an oracle can send for their targets, and what it is worth.

Estimates are sums over reports, so a report has a *worth*: what it adds to the estimated number of users who hold any
of the targets. An honest holder of a target adds 1 in the mean. The *leverage* of an attack is the mean worth of its
reports, and it is all there is to know of it: of a share b of fakes among all users, the targets gain
``b (leverage - held)`` of all users, where ``held`` is the share of honest users who hold a target.

There is a strategy for each kind of report, and an oracle joins with a function under ``strategy``, which writes its
estimator as worths of the parts of a report. One over strings joins under ``among``.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from fldp.data.fingerprints import Fingerprints
from fldp.data.reports import Array
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import Listed, StringOracle
from fldp.oracles.base.support_counts import PureOracle, UnevenOracle

Targets = NDArray[np.int64]
Generator = np.random.Generator
_SAME = 1e-12  # relative: worths that differ by less are one, but for rounding


@dataclass(frozen=True, eq=False)
class Strategy(ABC):
    """The attacks on one oracle for given targets; a target may stand there more than once, and then counts so often.

    Fakes are as varied as they can be without losing anything, which makes them hard to see.
    """

    @abstractmethod
    def best(self) -> float:
        """Return the most that any report adds: the leverage of the maximal gain attack."""

    @abstractmethod
    def craft(self, count: int, generator: Generator) -> Array:
        """Return so many reports, each of which adds as much as any can."""

    @abstractmethod
    def blind_mean(self) -> float:
        """Return what a report adds that was drawn uniformly: the leverage of the random report attack."""

    @abstractmethod
    def blind(self, count: int, generator: Generator) -> Array:
        """Return so many reports, drawn uniformly from all that there are."""

    def honest_mean(self) -> float:
        """Return what the honest report of a target adds: 1 where estimates are unbiased."""
        return 1.0

    def best_given(self, data: Array) -> Array:
        """Return reports with the same public part, in which all else is as good for the targets as it can be."""
        del data
        raise ParameterError("poison: the oracle must be one whose best reports are known, given what tickets decide")

    def best_on_average(self) -> float:
        """Return the most that a report adds whose public part is given, in the mean over it."""
        return self.best()


@singledispatch
def strategy(oracle: FrequencyOracle, targets: Targets) -> Strategy:
    """Return how to promote these values."""
    del targets
    raise _unknown(oracle)


@singledispatch
def among(oracle: StringOracle, marks: Fingerprints, targets: Targets) -> Strategy:
    """Return how to promote some of the candidates with these fingerprints, by their numbers."""
    del marks, targets
    raise _unknown(oracle)


@strategy.register(Listed)
def _(oracle: Listed, targets: Targets) -> Strategy:
    return among(oracle.base, oracle.marks, targets)


def _unknown(oracle: Oracle) -> ParameterError:
    return ParameterError(f"poison: the oracle must be one whose best fake reports are known, got {oracle.title}")


def times(targets: Targets, size: int) -> NDArray[np.int64]:
    """Return how often each value is a target.

    >>> times(np.array([1, 3, 1]), 4)
    array([0, 2, 0, 1])
    """
    return np.bincount(targets, minlength=size)


def supports_worth(oracle: PureOracle | UnevenOracle, targets: Targets) -> tuple[Floats, float]:
    """Return what it adds that a report supports each value, and what every report adds besides.

    The estimate of a value is the sum over reports of ``(supported - q) / (p - q)``.

    >>> import fldp
    >>> [np.round(part, 3) for part in supports_worth(fldp.GRR(1.0, 3), np.array([2]))]
    [array([0.   , 0.   , 2.746]), np.float64(-0.582)]
    """
    _, q, gap = oracle.chances
    weights = times(targets, oracle.domain_size) / gap
    return weights, -float(weights @ q)


def largest(worth: Floats) -> NDArray[np.intp]:
    """Return the places of the largest numbers: all that are the same but for rounding.

    >>> largest(np.array([0.3, 0.1 + 0.2, 0.2]))
    array([0, 1])
    """
    most = worth.max()
    return np.flatnonzero(worth >= most - _SAME * abs(most))
