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
from fldp.oracles.base.claims import CellClaim, Claim, Scores
from fldp.oracles.base.strategy import Targets, supports_worth
from fldp.oracles.base.support_counts_analysis import PureAnalysis, independent_pairs, total_of
from fldp.oracles.plain.unary import UnaryOracle


@analyses(UnaryOracle)
class UnaryAnalysis(PureAnalysis[UnaryOracle]):
    """A bit for each value."""

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        yield from super().honest_tally(tally)
        yield total_of(self.oracle, tally)

    def honest_reports(self, data: Array) -> Iterator[Claim]:
        counts = np.bincount(np.bitwise_count(data).sum(axis=1), minlength=self.oracle.domain_size + 1)
        law = weight_law(self.oracle.domain_size, float(self.oracle.p), float(self.oracle.q))
        claim = "reports have as many set bits as noise gives them"
        yield CellClaim("weights", claim, counts, len(data), law, law, "{} set bits".format)

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        supported = partial(set_bits, self.oracle.domain_size, values)
        return independent_pairs(self.oracle, tally, data, values, supported)

    def fake_mean(self, targets: Targets, tally: Tally, fakes: float) -> Floats:
        """Fakes choose how many other bits they set; the total shows it, as honest ones set a known number."""
        p, q, size = float(self.oracle.p), float(self.oracle.q), self.oracle.domain_size
        honest = (tally.n - fakes) * (p + (size - 1) * q)
        filled = ((int(tally.state.sum()) - honest) / max(fakes, 1.0) - len(targets)) / max(1, size - len(targets))
        shares = np.full(size, np.clip(filled, 0.0, 1.0))
        shares[targets] = 1.0
        return np.asarray((shares - q) / (p - q))

    def fakes(self, targets: Targets) -> BitStrategy:
        return BitStrategy(*supports_worth(self.oracle, targets), *self.oracle.chances[:2])


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
