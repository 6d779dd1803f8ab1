"""The analysis of PGR."""

from collections.abc import Iterator

import numpy as np

from fldp.data.reports import Array, Tally
from fldp.numerics.projective_geometry import hyperplane_sums, opposite
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.blanket import Blanket, two_levels_of
from fldp.oracles.base.claims import UNUSED, CellClaim, Claim, supports
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.support_counts_analysis import PureAnalysis
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.plain.pgr import PGR


@analyses(PGR)
class PGRAnalysis(PureAnalysis[PGR]):
    """A point supports the values that are opposite to it."""

    server_work = "O(n + d e^eps log d)"

    @property
    def outcomes(self) -> int:
        return self.oracle._space.size

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """Any two sets meet in the same number of points."""
        del value, other
        p, q, both = self.oracle.coin.p, self.oracle.coin.q, self.oracle._space.meet_size
        either = self.oracle._space.set_size - both
        neither = self.oracle._space.size - both - 2 * either
        sizes = ((both, p, p), (either, p, q), (either, q, p), (neither, q, q))
        return Profile.of((Band(count, count * a, count * b) for count, a, b in sizes), self.oracle._space.size)

    def blanket(self) -> Blanket:
        return two_levels_of(self.oracle.coin.p / self.oracle.coin.q, *self.chances())

    def likelihoods(self, data: Array) -> Floats:
        inside = opposite(data, np.arange(self.oracle.domain_size), self.oracle._space)
        return np.array([float(self.oracle.coin.q / self.oracle.coin.p), 1.0])[inside.astype(np.uint8)]

    def law(self, value: int, public: Public = None) -> Law:
        del public
        self.check_enumerable(value)
        marks = np.zeros(self.oracle._space.size, np.int64)
        marks[value] = 1
        opposite = hyperplane_sums(marks, self.oracle._space).tolist()
        return {point: self.oracle.coin.p if inside else self.oracle.coin.q for point, inside in enumerate(opposite)}

    def spread(self) -> float:
        """Nearly alike in all directions; taken as if all points were values, whose supports have a known sum."""
        same, points = float(self.oracle.estimator.mean_variance(1)), self.oracle._space.size
        return same * points / (points - 1) + 1 / self.oracle.domain_size

    def linear_covariance(self, weights: Floats, counts: Floats) -> Floats:
        """What a report adds depends on its point alone; its mean is the weight of the value itself."""
        oracle, p, q = self.oracle, self.oracle.coin.p, self.oracle.coin.q
        padded, held = np.zeros((len(weights), oracle._space.size)), np.zeros(oracle._space.size)
        padded[:, : oracle.domain_size], held[: oracle.domain_size] = weights, counts
        supported = np.array([hyperplane_sums(row, oracle._space) for row in padded])
        gap = float(oracle.estimator.p - oracle.estimator.q)
        worth = (supported - weights.sum(axis=1, keepdims=True) * float(oracle.estimator.q)) / gap
        chances = float(q) * counts.sum() + float(p - q) * hyperplane_sums(held, oracle._space)
        return np.asarray((worth * chances) @ worth.T - (weights * counts) @ weights.T)

    def largest_square(self, weights: Floats) -> float:
        squares = self.fakes_weighing(weights).worth ** 2
        p, q = float(self.oracle.coin.p), float(self.oracle.coin.q)
        named = hyperplane_sums(squares, self.oracle._space)[: self.oracle.domain_size]
        return float((q * squares.sum() + (p - q) * named).max())

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        oracle, n = self.oracle, tally.n
        claim = "every point is as frequent as for some value"
        p, q = float(oracle.coin.p), float(oracle.coin.q)
        yield CellClaim("points", claim, tally.state, n, q, p, "point {}".format)
        sums, noise = hyperplane_sums(tally.state, oracle._space), float(oracle.estimator.q)
        yield supports(sums[: oracle.domain_size], n, noise, float(oracle.estimator.p))
        idle = sums[oracle.domain_size :]
        name = lambda cell: f"point {cell + oracle.domain_size}"  # noqa: E731
        if idle.size:
            yield CellClaim("unused points", UNUSED, idle, n, noise, noise, name)

    def fakes_weighing(self, weights: Floats) -> Symbols:
        oracle, q = self.oracle, float(self.oracle.estimator.q)
        supported = hyperplane_sums(np.pad(weights, (0, oracle._space.size - len(weights))), oracle._space)
        worth = (supported - float(weights.sum()) * q) / float(oracle.estimator.p - oracle.estimator.q)
        return Symbols(worth, oracle.report_format.dtype)
