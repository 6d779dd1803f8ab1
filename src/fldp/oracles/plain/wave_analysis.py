"""The analysis of Wave."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.claims import CellClaim, Claim, supports
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.plain.wave import MIN_CELLS, Wave, nearest_widths


@analyses(Wave)
class WaveAnalysis(Analysis[Wave]):
    """An output supports the values whose windows hold it."""

    server_work = "O(n + d^3)"

    @property
    def outcomes(self) -> int:
        return self.oracle._outputs

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """The farther apart two values are, the fewer outputs lie in the windows of both."""
        p, q, inside = self.oracle.coin.p, self.oracle.coin.q, self.oracle.coin.inside
        both = max(0, inside - abs(value - other))
        either = inside - both
        neither = self.oracle._outputs - both - 2 * either
        sizes = ((both, p, p), (either, p, q), (either, q, p), (neither, q, q))
        return Profile.of((Band(count, count * a, count * b) for count, a, b in sizes), self.oracle._outputs)

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return some neighbours and the last value: pairs differ by how far they are apart, the farthest most."""
        return sorted({*range(start, min(start + 8, stop)), stop - 1})

    def likelihoods(self, data: Array) -> Floats:
        from_start = data.astype(np.uint32)[:, None] - np.arange(self.oracle.domain_size, dtype=np.uint32)
        inside = from_start <= np.uint32(2 * self.oracle.width)  # what lies before the start has wrapped around
        return np.where(inside, 1.0, float(self.oracle.coin.q / self.oracle.coin.p))

    def law(self, value: int, public: Public = None) -> Law:
        del public
        self.check_enumerable(value)
        p, q, end = self.oracle.coin.p, self.oracle.coin.q, value + 2 * self.oracle.width
        return {output: p if value <= output <= end else q for output in range(self.oracle._outputs)}

    def resized(self, domain_size: int) -> Wave:
        """Return the wave over fewer values, as wide as before or else as wide as these are."""
        size = max(MIN_CELLS, min(domain_size, self.oracle.domain_size))
        return replace(self.oracle, domain_size=size, width=nearest_widths(self.oracle.width, size)[0])

    def linear_covariance(self, weights: Floats, counts: Floats) -> Floats:
        """Return the covariance of ``weights @ estimates``, a row of weights for each, given the counts of values."""
        return self.oracle.estimator.linear_covariance(weights, counts)

    def linear_variances(self, weights: Floats, counts: Floats) -> Floats:
        """Return the diagonal of ``linear_covariance``."""
        return self.oracle.estimator.linear_variances(weights, counts)

    def typical_jumps(self, weights: Floats, counts: Floats) -> Floats:
        return self.oracle.estimator.typical_jumps(weights, counts)

    def largest_square(self, weights: Floats) -> float:
        estimator = self.oracle.estimator
        return float(estimator.expected(estimator.worths(weights) ** 2).max())

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        oracle, n = self.oracle, tally.n
        p, q, inside = float(oracle.coin.p), float(oracle.coin.q), oracle.coin.inside
        least = np.where(oracle.estimator.windows == oracle.domain_size, p, q)
        claim = "every output is as frequent as for some value"
        yield CellClaim("outputs", claim, tally.state, n, least, p, "output {}".format)
        places = np.arange(oracle.domain_size)
        shared = np.maximum(0, inside - np.maximum(places, oracle.domain_size - 1 - places))
        sums = np.concatenate([[0], np.cumsum(tally.state)])
        yield supports(sums[places + inside] - sums[places], n, inside * q + shared * (p - q), inside * p)

    def fakes_weighing(self, weights: Floats) -> Symbols:
        return Symbols(self.oracle.estimator.worths(weights), self.oracle.report_format.dtype)
