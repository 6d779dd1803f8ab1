"""The linear model of Bloom filters: many people's filters decoded against candidates by least squares.

A tally gives, for bit ``i`` of cohort ``j``, an unbiased estimate ``t_ij`` of how many of its ``N_j`` people have that
bit set. Every person is in each of ``m`` cohorts with probability ``1/m``. A candidate sets known bits, any other value
sets a bit with probability ``b = 1 - (1 - 1/k)^h`` over the choice of the hash functions. So with ``n_v`` holders of
candidate ``v``, and ``n`` people in all,

    E[t_ij - b N_j] = sum over v of n_v/m (B_ijv - b)

exactly if all people hold candidates, and over the choice of the hash functions if not. That is a linear model with one
equation for every bit of every cohort. Its solution by ordinary least squares is linear in the reports, so its mean and
its variance are known exactly. ``docs/rappor.md`` has the derivations.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fldp.errors import DomainError
from fldp.numerics.types import Floats
from fldp.oracles.strings.hash_kernels import add_moments, distinct, marked, share_bits

MAX_FITTED = 4096  # candidates of one fit: its matrices grow with the square of their number
_SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class CohortCounts:
    """The debiased count of every bit of every cohort, and the number of people in each cohort."""

    bits: Floats
    sizes: Floats

    def __getitem__(self, cohorts: slice) -> "CohortCounts":
        return CohortCounts(self.bits[cohorts], self.sizes[cohorts])


@dataclass(frozen=True, eq=False)
class Design:
    """The bits that candidates set: ``positions[cohort, candidate, hash function]``.

    ``cohorts`` is the number of all cohorts; ``positions`` may hold some of them. ``own`` and ``other`` are the
    variances that the noise of a report adds to a debiased bit that is set, and to one that is not.
    """

    positions: NDArray[np.int16]
    bits: int
    cohorts: int
    own: float
    other: float

    @property
    def equations(self) -> int:
        """The number of equations: one for each bit of each cohort."""
        return len(self.positions) * self.bits

    @property
    def hashes(self) -> int:
        """The number of hash functions."""
        return int(self.positions.shape[2])

    @property
    def candidates(self) -> int:
        """The number of candidates."""
        return int(self.positions.shape[1])

    @property
    def base(self) -> float:
        """The probability that a value sets a given bit, over the choice of the hash functions."""
        return float(1 - (1 - 1 / self.bits) ** self.hashes)

    def __iter__(self) -> Iterator[Floats]:
        """Yield for every cohort the coefficients of its equations, a row for each candidate."""
        for positions in self.positions:
            yield (marked(positions, self.bits) - self.base) / self.cohorts

    def normal(self) -> Floats:
        """Return the products of the coefficients of every two candidates, added up over all equations.

        A product depends on which of the two set the bit: both, one, or neither. These numbers of bits are exact.
        """
        places, both = distinct(self.positions), np.zeros((self.candidates, self.candidates), np.int64)
        share_bits.for_work(self.candidates * places.size)(places, self.bits, both)
        both += np.tril(both, -1).T
        own = np.diag(both)
        either = own[:, None] + own - both
        base, neither = self.base, self.equations - either
        products = (1 - base) ** 2 * both - base * (1 - base) * (either - both) + base**2 * neither
        return np.asarray(products / self.cohorts**2)


@dataclass(frozen=True, eq=False)
class Solver:
    """Least squares on a design; ``inverse`` is the inverse of the normal matrix."""

    design: Design
    inverse: Floats

    @classmethod
    def of(cls, owner: str, design: Design) -> "Solver":
        """Invert the normal matrix; raise ``DomainError`` if candidates are too many or indistinguishable."""
        most = min(design.equations - 1, MAX_FITTED)
        if design.candidates > most:
            raise DomainError(
                f"{owner}: candidates must be at most {most:,} to be fitted together, got {design.candidates:,}; "
                "take method='select' or fewer"
            )
        return cls(design, _inverted(owner, design.normal()))

    def solve(self, evidence: CohortCounts) -> Floats:
        """Return the counts of the candidates."""
        right, base = np.zeros(self.design.candidates), self.design.base
        for rows, bits, size in zip(self.design, evidence.bits, evidence.sizes, strict=True):
            right += rows @ (bits - base * size)
        return np.asarray(self.inverse @ right)

    def influence(self, combination: Floats) -> Iterator[Floats]:
        """Yield for every cohort what each of its debiased bits adds to a linear combination of the counts."""
        weights = combination @ self.inverse
        return (weights @ rows for rows in self.design)

    def variances(self, n: int, counts: Floats, combinations: Floats | None = None) -> Floats:
        """Return the variances of linear combinations of the estimates, a row of coefficients for each, or of each.

        Exact if all people hold candidates; the others contribute their mean over the hash functions. The variance is
        linear in the counts, so that of unbiased counts is unbiased, negative ones included. Of each candidate alone
        no fewer than 0 people hold it, and no report adds less than the least, nor more than the most that any adds.
        """
        own, strangers = (
            self._alone if combinations is None else self._moments(combinations, combinations @ self.inverse)
        )
        variances = own @ counts + strangers * (n - counts.sum())
        if combinations is None:
            variances += self.slopes * (np.clip(counts, 0, n) - counts)
        every = np.column_stack([own, strangers])
        return np.asarray(np.clip(variances, n * every.min(axis=1), n * every.max(axis=1)))

    @property
    def slopes(self) -> Floats:
        """What a holder of each candidate adds to its variance, in place of a stranger."""
        own, strangers = self._alone
        return np.diag(own) - strangers

    def largest_variance(self, n: int, count: float) -> float:
        """Return the largest variance of any candidate that ``count`` people hold, whatever the others hold."""
        own, strangers = self._alone
        others = own.copy()
        np.fill_diagonal(others, strangers)
        return float((np.diag(own) * count + others.max(axis=1) * (n - count)).max())

    @cached_property
    def _alone(self) -> tuple[Floats, Floats]:
        return self._moments(np.eye(self.design.candidates), self.inverse)

    def _moments(self, combinations: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Return the variance that a report of each candidate adds to each combination, and a stranger's report.

        A report of ``w`` in cohort ``j`` adds ``sum over i of g_i (bit_i - b)`` to an estimate. Its mean square is the
        noise of the bits plus the square of ``sum over i of g_i (B_ijw - b)``; its mean is ``w``'s coefficient.
        """
        design, weights = self.design, np.ascontiguousarray(weights)
        base, more = design.base, design.own - design.other
        own, sums = np.zeros((len(weights), design.candidates)), np.zeros((len(weights), 2))
        places, share = distinct(design.positions), 1 / design.cohorts
        work = len(weights) * places.size
        add_moments.for_work(work)(weights, places, design.bits, base, share, more, own, sums)
        squares, totals = sums.T
        own += design.other * squares[:, None]
        strangers = (design.other + more * base) * squares + self._collisions(squares, totals)
        return own / design.cohorts - combinations**2, strangers / design.cohorts

    def _collisions(self, squares: Floats, totals: Floats) -> Floats:
        """Return the mean square of what a stranger's bits add, over the hash functions.

        ``squares`` adds up ``g_i^2`` over all bits and cohorts, ``totals`` the squared sum of ``g_i`` over all cohorts.
        """
        k, h, base = self.design.bits, self.design.hashes, self.design.base
        together = 1 - 2 * (1 - 1 / k) ** h + (1 - 2 / k) ** h - base**2  # the covariance of two bits
        return np.asarray(base * (1 - base) * squares + together * (totals - squares))

    def dispersion(self, n: int, counts: Floats, evidence: CohortCounts) -> float:
        """Return the mean squared residual relative to its expectation under noise alone; at least 1.

        If it is far above 1, frequent values are missing from the list, or people have reported more than once.
        """
        design, total = self.design, 0.0
        base, people = design.base, n / design.cohorts
        for rows, bits, size in zip(design, evidence.bits, evidence.sizes, strict=True):
            true = np.maximum(counts @ rows + base * people, 0)
            noise = design.other * people + (design.own - design.other) * true
            spread = (1 - 1 / design.cohorts) * (base**2 * people + (1 - 2 * base) * true)
            left = bits - base * size - counts @ rows
            total += float((left**2 / (noise + spread)).sum())
        return max(1.0, total / (design.equations - design.candidates))


def _inverted(owner: str, normal: Floats) -> Floats:
    """Invert the normal matrix; raise ``DomainError`` if some candidates are linear combinations of others."""
    try:
        pivots = np.diag(np.linalg.cholesky(normal)) ** 2 / np.diag(normal)
    except np.linalg.LinAlgError:
        pivots = np.zeros(1)
    if pivots.min() < _SINGULAR:
        raise DomainError(
            f"{owner}: some candidates set the same bits as others, so they cannot be told apart; leave them out"
        )
    return np.asarray(np.linalg.inv(normal))
