"""The analysis of SS."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.blanket import Blanket, two_levels_of
from fldp.oracles.base.claims import Scores
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.pair_noise import PairNoise
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Generator, Strategy, weighed_supports
from fldp.oracles.base.support_counts_analysis import PureAnalysis, supported_together
from fldp.oracles.plain.subset_selection import SS
from fldp.randomness.coins import BITS

_MAX_OTHERS = 1 << 16  # values beside the true one whose sets are counted


@dataclass(frozen=True, eq=False)
class Subsets(Strategy):
    """Sets of a fixed size: the best contain the values of the largest weights."""

    weights: Floats
    constant: float
    size: int
    dtype: DTypeLike

    def best(self) -> float:
        return self.constant + float(np.sort(self.weights)[-self.size :].sum())

    def craft(self, count: int, generator: Generator) -> Array:
        rank = np.unique(self.weights, return_inverse=True)[1]
        return self._first(generator.random((count, len(rank))) - rank)

    def _first(self, order: Floats) -> Array:
        return np.sort(np.argsort(order, axis=1)[:, : self.size], axis=1).astype(self.dtype)

    def blind_mean(self) -> float:
        return self.constant + float(self.weights.mean()) * self.size

    def blind(self, count: int, generator: Generator) -> Array:
        return self._first(generator.random((count, len(self.weights))))


@analyses(SS)
class SSAnalysis(PureAnalysis[SS]):
    """A set of values."""

    @property
    def server_work(self) -> str:
        return f"O({f'{self.oracle._size} ' if self.oracle._size > 1 else ''}n + d)"

    @property
    def outcomes(self) -> int:
        return comb(self.oracle.domain_size, self.oracle._size) if self.oracle.domain_size < 64 else 1 << 63

    def profile(self, value: int = 0, other: int = 1) -> Profile | None:
        """Bound the ratios of all draws: sets of one kind are alike, or within ``1/(1 - s)^2`` (``SubsetCoin``).

        The sets that hold one of the two values get the largest ratio that any of them may have, and what this takes
        from them goes to those that hold both or neither. So epsilon is no less than that of the law, and the masses
        are within ``2 s`` of it. Of very many values, the numbers of sets would take too long to compute.
        """
        del value, other
        coin, size, others = self.oracle.coin, self.oracle._size, self.oracle.domain_size - 1
        if others > _MAX_OTHERS:
            return None
        one, alike = (
            comb(others - 1, size - 1),
            comb(others - 1, size) + (comb(others - 1, size - 2) if size > 1 else 0),
        )
        likely = coin.p * (others + 1 - size) / others
        unlikely = (1 - coin.p) * size / others * (coin.even**2 if alike else 1)
        rest = 1 - likely - unlikely
        bands = [Band(one, likely, unlikely), Band(one, unlikely, likely), Band(alike, rest, rest)]
        return Profile.of(bands, comb(others + 1, size))

    def blanket(self) -> Blanket:
        """Take sets of one size for uniform, which they are within ``2 w d/2^64``."""
        return two_levels_of(self.oracle.coin.ratio, *self.chances())

    def likelihoods(self, data: Array) -> Floats:
        """Sets of one size are treated as uniform, which they are within ``2 w d/2^64``."""
        likelihoods = np.full((len(data), self.oracle.domain_size), float(1 / self.oracle.coin.ratio))
        np.put_along_axis(likelihoods, data.astype(np.int64), 1.0, axis=1)
        return likelihoods

    def law(self, value: int, public: Public = None) -> Law:
        del public
        self.check_enumerable(value)
        others, named = self.oracle.domain_size - 1, {}
        for share, own in ((self.oracle.estimator.p, 1), (1 - self.oracle.estimator.p, 0)):
            for chosen, probability in floyd_law(others, self.oracle._size - own).items():
                below = chosen & ((1 << value) - 1)
                named[_members(below | (chosen ^ below) << 1 | own << value)] = share * probability
        return named

    def pair_noise(self) -> PairNoise:
        estimator = self.oracle.estimator
        p, q, gap = estimator.p, estimator.q, (estimator.p - estimator.q) ** 2
        parts = p * (1 - p), q * (1 - q), estimator.both_own - p * q, estimator.both_others - q * q
        return PairNoise(*(float(part / gap) for part in parts))

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        oracle = self.oracle
        if oracle._size < 2 or data is None:
            return None

        def supported(part: Array) -> NDArray[np.uint8]:
            supports = np.zeros((len(part), oracle.domain_size), np.uint8)
            np.put_along_axis(supports, part.astype(np.int64), 1, axis=1)
            return supports[:, values]

        joint = float(oracle.estimator.both_others), float(oracle.estimator.both_own)
        both = supported_together(oracle.domain_size, data, values, supported)
        return _together(oracle, tally.n, both, values, joint)

    def fakes_weighing(self, weights: Floats) -> Subsets:
        return Subsets(*weighed_supports(self.oracle, weights), self.oracle._size, self.oracle.report_format.dtype)


def _together(oracle: SS, n: int, both: Floats, values: NDArray[np.int64], joint: tuple[float, float]) -> Scores:
    """Score the supports: 1 for both, minus terms that make the mean 0 for holders of one or neither of the two.

    ``both`` counts them, ``joint`` is how likely both are supported if neither is held, and if one is.
    """
    p, q, (neither, one) = float(oracle.estimator.p), float(oracle.estimator.q), joint
    slope = (one - neither) / (p - q)
    level = neither - 2 * slope * q
    alone = np.diag(both)
    scale = 1 - level - 2 * slope
    sums = (both - level * n - slope * (alone[:, None] + alone)) / scale
    scores = np.array([1.0, -level - slope, -level - slope, -level]) / [1, scale, scale, scale]
    laws = ((neither, q - neither, q - neither, 1 - 2 * q + neither), (one, p - one, q - one, 1 - p - q + one))
    variance = max(float(np.dot(law, scores**2)) for law in laws)
    return Scores(values, sums, np.full(sums.shape, variance), float(scores.max()))


@lru_cache(maxsize=16)
def floyd_law(others: int, members: int) -> dict[int, Fraction]:
    """Return the exact probability of every set that ``mark_others`` draws, as bits of a number, ahead of any value.

    >>> law = floyd_law(4, 2)
    >>> len(law), sum(law.values())
    (6, Fraction(1, 1))
    >>> law[0b0011] == Fraction(1, 6)
    False
    """
    ways = {0: 1}
    for last in range(others - members, others):
        grown: dict[int, int] = {}
        for drawn, words in enumerate(_words_of_each(last + 1)):
            for chosen, count in ways.items():
                grown_set = chosen | (1 << last if chosen >> drawn & 1 else 1 << drawn)
                grown[grown_set] = grown.get(grown_set, 0) + count * words
        ways = grown
    return {chosen: Fraction(count, 1 << BITS * members) for chosen, count in ways.items()}


def _words_of_each(bound: int) -> list[int]:
    """Return how many of the ``2^64`` words multiply-high makes each number below the bound."""
    starts = [-(-(number << BITS) // bound) for number in range(bound + 1)]
    return [stop - start for start, stop in pairwise(starts)]


def _members(chosen: int) -> tuple[int, ...]:
    """Return the positions of the set bits, in order."""
    return tuple(position for position in range(chosen.bit_length()) if chosen >> position & 1)
