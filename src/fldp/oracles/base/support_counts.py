"""What the oracles described by two probabilities share.

A report *supports* some values: its own with probability ``p``, any other with probability ``q``. The tally counts
supports; debiasing them is the same for all.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle


@dataclass(frozen=True, repr=False)
class PureOracle(FrequencyOracle):
    """An oracle whose tally counts, for each value, the reports that support it."""

    @property
    def coin(self) -> Any:
        """The realised coin, whose ``p`` and ``q`` are those of supports unless the oracle overrides them."""
        return None

    @property
    def p(self) -> Fraction:
        """The realised probability that a report supports its own value."""
        return self.coin.p  # type: ignore[no-any-return]

    @property
    def q(self) -> Fraction:
        """The realised probability that a report supports another value."""
        return self.coin.q  # type: ignore[no-any-return]

    @property
    def chances(self) -> tuple[Floats, Floats, Floats]:
        """The ``p`` and the ``q`` of every value, and their difference: alike for all."""
        every = np.ones(self.domain_size)
        return every * float(self.p), every * float(self.q), every * float(self.p - self.q)

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return (self.domain_size,)

    def check_state(self, state: NDArray[np.int64], n: int) -> bool:
        return bool(((state >= 0) & (state <= n)).all())

    def decode(self, tally: Tally, **options: Any) -> Floats:
        del options
        supports = tally.state.astype(np.float64) - tally.n * float(self.q)
        return supports / float(self.p - self.q)

    def draw_supports(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw the state where all supports are independent of each other: own ones with p, others with q."""
        others = int(counts.sum()) - counts
        return np.asarray(generator.binomial(counts, float(self.p)) + generator.binomial(others, float(self.q)))

    def variance(self, n: int, count: Any, **options: Any) -> Any:
        del options
        own, other = self._noise
        return count * own + (n - count) * other

    @cached_property
    def _noise(self) -> tuple[float, float]:
        """What one report adds to the variance of the value it holds, and of another: exact until it is rounded."""
        p, q = self.p, self.q
        return float(p * (1 - p) / (p - q) ** 2), float(q * (1 - q) / (p - q) ** 2)


Chances = tuple[Fraction, Fraction]


@dataclass(frozen=True, repr=False)
class UnevenOracle(FrequencyOracle):
    """An oracle whose tally counts supports, and whose values are of several kinds."""

    @property
    @abstractmethod
    def kinds(self) -> tuple[Chances, ...]:
        """The realised ``p`` and ``q`` of every kind of values."""

    @property
    @abstractmethod
    def kind_of(self) -> NDArray[np.intp]:
        """The kind of every value."""

    @cached_property
    def chances(self) -> tuple[Floats, Floats, Floats]:
        """The ``p`` and the ``q`` of every value, and their difference, which is rounded last."""
        p, q, gap = np.array([(float(p), float(q), float(p - q)) for p, q in self.kinds])[self.kind_of].T
        return p, q, gap

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return (self.domain_size,)

    @cached_property
    def _spreads(self) -> tuple[Floats, Floats]:
        """For every kind, what an own report adds to the variance of the estimated count, and what another one adds."""
        own = [float(p * (1 - p) / (p - q) ** 2) for p, q in self.kinds]
        return np.array(own), np.array([float(q * (1 - q) / (p - q) ** 2) for p, q in self.kinds])

    def check_state(self, state: NDArray[np.int64], n: int) -> bool:
        return bool(((state >= 0) & (state <= n)).all())

    def decode(self, tally: Tally, **options: Any) -> Floats:
        del options
        _, q, gap = self.chances
        return np.asarray((tally.state - tally.n * q) / gap)

    def variance(self, n: int, count: Any, **options: Any) -> Any:
        """Of a single count, it does not know the value: it is the largest that it can be."""
        del options
        counts, (own, other) = np.asarray(count, np.float64), self._spreads
        if counts.shape == (self.domain_size,):
            return counts * own[self.kind_of] + (n - counts) * other[self.kind_of]
        return np.max([counts * mine + (n - counts) * rest for mine, rest in zip(own, other, strict=True)], axis=0)

    def mean_variance(self, n: int, **options: Any) -> float:
        del options
        own, other = self._spreads
        each = n / self.domain_size
        sizes = np.bincount(self.kind_of, minlength=len(own))
        return float(sizes @ (each * own + (n - each) * other)) / self.domain_size

    def draw_supports(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw the state where all supports are independent of each other: own ones with p, others with q."""
        p, q, _ = self.chances
        return np.asarray(generator.binomial(counts, p) + generator.binomial(int(counts.sum()) - counts, q))

    def sample_values(self, start: int, stop: int) -> list[int]:
        """The first two values of every kind."""
        part = self.kind_of[start:stop]
        return sorted(start + int(k) for kind in np.unique(part) for k in np.flatnonzero(part == kind)[:2])
