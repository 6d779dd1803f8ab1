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

from fldp.oracle import Floats, FrequencyOracle
from fldp.reports import Tally


@dataclass(frozen=True, repr=False)
class PureOracle(FrequencyOracle):
    """An oracle whose tally counts, for each value, the reports that support it."""

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """The realised probability that a report supports its own value."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """The realised probability that a report supports another value."""

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
