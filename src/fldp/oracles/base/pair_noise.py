"""PairNoise: the noise of oracles under which all other values are alike, and what it does to linear combinations."""

from typing import NamedTuple

import numpy as np

from fldp.numerics.types import Floats


class PairNoise(NamedTuple):
    """Covariances of what one report adds to the estimated counts, given who sends it.

    ``own`` is the variance for the sender's own value, ``other`` for another one; ``own_other`` is the covariance of
    the own and another value, ``others`` of two others.

    >>> PairNoise(2.0, 1.0, 0.0, 0.0).variances(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([3.0, 5.0]))
    array([11., 24.])
    """

    own: float
    other: float
    own_other: float
    others: float

    def covariance(self, weights: Floats, counts: Floats) -> Floats:
        """Return the covariance of ``weights @ estimates``, where ``counts`` people hold each value."""
        people, total, held = float(counts.sum()), weights.sum(axis=1), weights @ counts
        squares = (weights * counts) @ weights.T
        mixed = np.outer(held, total)
        return np.asarray(
            people * (self.others * np.outer(total, total) + (self.other - self.others) * (weights @ weights.T))
            + (self.own_other - self.others) * (mixed + mixed.T - 2 * squares)
            + (self.own - self.other) * squares
        )

    def variances(self, weights: Floats, counts: Floats) -> Floats:
        """Return the diagonal of ``covariance``."""
        people, total, held = float(counts.sum()), weights.sum(axis=1), weights @ counts
        squares = weights**2
        return np.asarray(
            people * (self.others * total**2 + (self.other - self.others) * squares.sum(axis=1))
            + 2 * (self.own_other - self.others) * (held * total - squares @ counts)
            + (self.own - self.other) * (squares @ counts)
        )

    def each_variance(self, weights: Floats) -> Floats:
        """Return the variance of ``weights @ estimates`` of one report, for each value that its sender may hold."""
        total, squares = float(weights.sum()), weights**2
        return np.asarray(
            self.others * total**2
            + (self.other - self.others) * float(squares.sum())
            + 2 * (self.own_other - self.others) * (weights * total - squares)
            + (self.own - self.other) * squares
        )

    def spread(self, size: int) -> float:
        """Return the variance of one share at uniform shares of ``size`` values, off the direction of their sum.

        It includes the chance of who holds what. Plain arithmetic in one order: plans depend on it, and are the same
        everywhere.
        """
        same = (self.own + (size - 1) * self.other) / size
        different = (2 * self.own_other + (size - 2) * self.others) / size
        return same - different + 1 / size
