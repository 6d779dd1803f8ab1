"""Pure LDP protocols (Wang et al., 2017): support counts debiased with p and q.

A report *supports* its own value with probability ``p`` and any other with ``q``. The tally counts supports.
``Supports`` has one pair (p, q) for all values, ``SupportsByKind`` one for each kind of value.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Evidence, Option
from fldp.data.formats import TallyFormat
from fldp.data.reports import Tally
from fldp.numerics.count_laws import Observed, support_law
from fldp.numerics.types import Counts, Floats
from fldp.oracles.base.estimator import Estimator
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.symbol_reports import support_counts

Chances = tuple[Fraction, Fraction]


def _least_spread(q: Floats) -> float:
    """Return the least variance of supports by noise; what no noise supports has a law of its own."""
    spread = q * (1 - q)
    return float(np.min(spread, where=spread > 0, initial=0.25))


@dataclass(frozen=True, eq=False)
class Supports(Estimator):
    """Estimates from counts of supports.

    ``independent``: a report supports each value independently of the others, so that a state can be drawn directly.

    >>> import fldp
    >>> supports = Supports(4, Fraction(3, 4), Fraction(1, 4))
    >>> supports.variance(1, 0), supports.decode(fldp.Tally(fldp.GRR(1.0, 4), [7, 1, 1, 1], 10))
    (0.75, array([ 9., -3., -3., -3.]))
    """

    p: Fraction
    q: Fraction
    independent: bool = False

    @property
    def chances(self) -> tuple[Floats, Floats, Floats]:
        """``p``, ``q`` and their difference, as arrays with an entry for each value."""
        every = np.ones(self.size)
        return every * float(self.p), every * float(self.q), every * float(self.p - self.q)

    @property
    def least_spread(self) -> float:
        return _least_spread(np.array([float(self.q)]))

    def decode(self, tally: Tally, **options: Option) -> Floats:
        del options
        q, gap = self._scales
        return (tally.state.astype(np.float64) - tally.n * q) / gap

    def variance(self, n: int, count: Counts, **options: Option) -> float | Floats:
        del options
        own, other = self._noise
        return count * own + (n - count) * other

    @cached_property
    def _scales(self) -> tuple[float, float]:
        """``q``, and by how much ``p`` is above it."""
        return float(self.q), float(self.p - self.q)

    @cached_property
    def _noise(self) -> tuple[float, float]:
        """Variance that one report adds to the estimate of its own value, and of another. Rounded once, at the end."""
        p, q = self.p, self.q
        return float(p * (1 - p) / (p - q) ** 2), float(q * (1 - q) / (p - q) ** 2)

    def supports(self, counts: Floats, n: int) -> Floats:
        """Return how many reports support each value, from its estimate."""
        q, gap = self._scales
        return np.rint(counts * gap + n * q)

    def jump_of_sum(self, members: NDArray[np.bool_]) -> float:
        """Return what one more support adds: sums of few supports are as skewed as single counts."""
        del members
        return 1 / self._scales[1]

    def evidence(self, tally: Tally, counts: Floats, **options: Option) -> tuple[Evidence, ...]:
        """A report supports a value that it does not hold with one probability, whichever it holds."""
        del options
        return (Observed.of(support_law(self.p, self.q), self.supports(counts, tally.n), tally.n, tally.n),)

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64] | None:
        if not self.independent:
            return None
        others = int(counts.sum()) - counts
        return np.asarray(generator.binomial(counts, float(self.p)) + generator.binomial(others, float(self.q)))


@dataclass(frozen=True, eq=False)
class SupportsByKind(Estimator):
    """Estimates from counts of supports, with a pair (p, q) for each kind of value; ``kind_of`` has the kind of each.

    Not merged with ``Supports``: on large domains, arrays of p and q take twice as long to decode.
    """

    kinds: tuple[Chances, ...]
    kind_of: NDArray[np.intp]
    independent: bool = False

    @cached_property
    def chances(self) -> tuple[Floats, Floats, Floats]:
        """``p``, ``q`` and their difference, as arrays with an entry for each value; the difference is rounded last."""
        p, q, gap = np.array([(float(p), float(q), float(p - q)) for p, q in self.kinds])[self.kind_of].T
        return p, q, gap

    @property
    def least_spread(self) -> float:
        return _least_spread(self.chances[1])

    @cached_property
    def _spreads(self) -> tuple[Floats, Floats]:
        """Variance that one report adds to the estimate of its own value, and of another, for every kind."""
        own = [float(p * (1 - p) / (p - q) ** 2) for p, q in self.kinds]
        return np.array(own), np.array([float(q * (1 - q) / (p - q) ** 2) for p, q in self.kinds])

    def decode(self, tally: Tally, **options: Option) -> Floats:
        del options
        _, q, gap = self.chances
        return np.asarray((tally.state - tally.n * q) / gap)

    def jump_of_sum(self, members: NDArray[np.bool_]) -> float:
        return float(np.max(1 / self.chances[2][members]))

    def variance(self, n: int, count: Counts, **options: Option) -> float | Floats:
        """Of a single count the kind is unknown: return the largest variance of any kind."""
        del options
        counts, (own, other) = np.asarray(count, np.float64), self._spreads
        if counts.shape == (self.size,):
            return counts * own[self.kind_of] + (n - counts) * other[self.kind_of]
        largest: Floats = np.max([counts * a + (n - counts) * b for a, b in zip(own, other, strict=True)], axis=0)
        return largest

    def mean_variance(self, n: int, **options: Option) -> float:
        del options
        own, other = self._spreads
        each = n / self.size
        sizes = np.bincount(self.kind_of, minlength=len(own))
        return float(sizes @ (each * own + (n - each) * other)) / self.size

    def evidence(self, tally: Tally, counts: Floats, **options: Option) -> tuple[Evidence, ...]:
        del counts, options
        parts = []
        for kind, (p, q) in enumerate(self.kinds):
            where = np.flatnonzero(self.kind_of == kind)
            sums = tally.state[where].astype(np.float64)
            parts.append(Observed.of(support_law(p, q), sums, tally.n, tally.n, where))
        return tuple(part for part in parts if len(part.values))

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64] | None:
        if not self.independent:
            return None
        p, q, _ = self.chances
        return np.asarray(generator.binomial(counts, p) + generator.binomial(int(counts.sum()) - counts, q))


class RealisedCoin(Protocol):
    """A coin with the probabilities that its thresholds realise."""

    @property
    def p(self) -> Fraction: ...
    @property
    def q(self) -> Fraction: ...


@dataclass(frozen=True, repr=False)
class PureOracle(FrequencyOracle):
    """A pure LDP protocol: the tally counts, for each value, the reports that support it."""

    @property
    def coin(self) -> RealisedCoin | None:
        """The realised coin. Its ``p`` and ``q`` count for supports, unless the oracle overrides ``p`` and ``q``."""
        return None

    @property
    def _realised(self) -> RealisedCoin:
        if self.coin is None:
            raise TypeError(f"{type(self).__name__}: define coin, or p and q")
        return self.coin

    @property
    def p(self) -> Fraction:
        """The realised probability that a report supports its own value."""
        return self._realised.p

    @property
    def q(self) -> Fraction:
        """The realised probability that a report supports another value."""
        return self._realised.q

    @property
    def chances(self) -> tuple[Floats, Floats, Floats]:
        """``p``, ``q`` and their difference, as arrays with an entry for each value."""
        return self.estimator.chances

    @cached_property
    def tally_format(self) -> TallyFormat:
        return support_counts(self.domain_size)

    @cached_property
    def estimator(self) -> Supports:
        return Supports(self.domain_size, self.p, self.q)


@dataclass(frozen=True, repr=False)
class UnevenOracle(FrequencyOracle):
    """An oracle whose tally counts supports, with a pair (p, q) for each kind of value."""

    @property
    @abstractmethod
    def kinds(self) -> tuple[Chances, ...]:
        """The realised ``p`` and ``q`` of every kind."""

    @property
    @abstractmethod
    def kind_of(self) -> NDArray[np.intp]:
        """The kind of every value."""

    @property
    def chances(self) -> tuple[Floats, Floats, Floats]:
        """``p``, ``q`` and their difference, as arrays with an entry for each value."""
        return self.estimator.chances

    @cached_property
    def tally_format(self) -> TallyFormat:
        return support_counts(self.domain_size)

    @cached_property
    def estimator(self) -> SupportsByKind:
        return SupportsByKind(self.domain_size, self.kinds, self.kind_of)
