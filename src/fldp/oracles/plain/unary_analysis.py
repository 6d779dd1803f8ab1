"""The analysis of SUE and OUE."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.bit_strategy import BitStrategy, set_bits
from fldp.oracles.base.blanket import Blanket, two_levels_of
from fldp.oracles.base.claims import CellClaim, Claim, Scores
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.pair_noise import PairNoise
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Targets, weighed_supports
from fldp.oracles.base.support_counts_analysis import PureAnalysis, independent_pairs, total_of
from fldp.oracles.plain.unary import OUE, SUE


@analyses(SUE, OUE)
class UnaryAnalysis(PureAnalysis[SUE | OUE]):
    """A bit for each value."""

    server_work = "O(n d)"

    @property
    def outcomes(self) -> int:
        return 1 << self.oracle.domain_size

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """Bands by the bits of the two values; all other bits have the same law under both."""
        del value, other
        each = 1 << (self.oracle.domain_size - 2)
        own, rest = (
            (self.oracle.estimator.p, 1 - self.oracle.estimator.p),
            (self.oracle.estimator.q, 1 - self.oracle.estimator.q),
        )
        bands = (Band(each, own[a] * rest[b], rest[a] * own[b]) for a in (0, 1) for b in (0, 1))
        return Profile.of(bands, self.outcomes)

    def blanket(self) -> Blanket:
        return two_levels_of(self.oracle.coins.ratio, *self.chances())

    def likelihoods(self, data: Array) -> Floats:
        """Up to a common factor, a value is likely or not by its own bit alone."""
        bits = np.unpackbits(data, axis=1, count=self.oracle.domain_size, bitorder="little")
        return np.maximum(bits, float(1 / self.oracle.coins.ratio))  # random bits: a choice without branches

    def law(self, value: int, public: Public = None) -> Law:
        del public
        self.check_enumerable(value)
        law = {}
        for bits in range(self.outcomes):
            own = (bits >> value) & 1
            others = bits.bit_count() - own
            law[bits] = (self.oracle.estimator.p if own else 1 - self.oracle.estimator.p) * (
                self.oracle.estimator.q**others
                * (1 - self.oracle.estimator.q) ** (self.oracle.domain_size - 1 - others)
            )
        return law

    def pair_noise(self) -> PairNoise:
        """The bits of a report are independent."""
        own, other = self.oracle.estimator.variance(1, 1), self.oracle.estimator.variance(1, 0)
        return PairNoise(float(own), float(other), 0.0, 0.0)

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        yield from super().honest_tally(tally)
        yield total_of(self.oracle.estimator, tally)

    def honest_reports(self, data: Array) -> Iterator[Claim]:
        counts = np.bincount(np.bitwise_count(data).sum(axis=1), minlength=self.oracle.domain_size + 1)
        law = weight_law(self.oracle.domain_size, float(self.oracle.estimator.p), float(self.oracle.estimator.q))
        claim = "reports have as many set bits as noise gives them"
        yield CellClaim("weights", claim, counts, len(data), law, law, "{} set bits".format)

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        supported = partial(set_bits, self.oracle.domain_size, values)
        return independent_pairs(self.oracle.estimator, tally, data, values, supported)

    def fake_mean(self, targets: Targets, tally: Tally, fakes: float) -> Floats:
        """Fakes choose how many other bits they set; the total shows it, as honest ones set a known number."""
        p, q, size = float(self.oracle.estimator.p), float(self.oracle.estimator.q), self.oracle.domain_size
        honest = (tally.n - fakes) * (p + (size - 1) * q)
        filled = ((int(tally.state.sum()) - honest) / max(fakes, 1.0) - len(targets)) / max(1, size - len(targets))
        shares = np.full(size, np.clip(filled, 0.0, 1.0))
        shares[targets] = 1.0
        return np.asarray((shares - q) / (p - q))

    def fakes_weighing(self, weights: Floats) -> BitStrategy:
        return BitStrategy(*weighed_supports(self.oracle, weights), *self.oracle.estimator.chances[:2])


def weight_law(size: int, p: float, q: float) -> Floats:
    """Return the distribution of the number of set bits: one true bit, and all others.

    >>> weight_law(3, 0.5, 0.25).round(3)
    array([0.281, 0.469, 0.219, 0.031])
    """
    others = size - 1
    counts = range(size)
    logs = [math.lgamma(size) - math.lgamma(k + 1) - math.lgamma(size - k) for k in counts]
    noise = np.exp([log + k * math.log(q) + (others - k) * math.log1p(-q) for k, log in zip(counts, logs, strict=True)])
    return np.asarray(np.append(noise * (1 - p), 0.0) + np.append(0.0, noise * p))
