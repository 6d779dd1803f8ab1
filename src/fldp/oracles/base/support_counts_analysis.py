"""The analysis of oracles that count supports."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.claims import CellClaim, Claim, Scores, SumClaim, TotalClaim, supports
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.support_counts import Supports, SupportsByKind

F_co = TypeVar("F_co", bound=FrequencyOracle, covariant=True)
Supported = Callable[[Array], NDArray[Any]]

_CELLS = 1 << 22
_NO_NOISE = 1e-9  # variance where two values cannot be supported together


@analyses(Supports)
class PureAnalysis(Analysis[F_co]):
    """Supports with one p and one q: every count has bounds."""

    @property
    def _supports(self) -> Supports:
        assert isinstance(self.oracle.estimator, Supports)
        return self.oracle.estimator

    def chances(self) -> tuple[Fraction, Fraction]:
        return self._supports.p, self._supports.q

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        if tally.state.shape == (self.oracle.domain_size,):
            yield supports(tally.state, tally.n, float(self._supports.q), float(self._supports.p))


@analyses(SupportsByKind)
class UnevenAnalysis(Analysis[F_co]):
    """Supports with a p and q for each kind of value: every count has bounds of its own."""

    @property
    def _supports(self) -> SupportsByKind:
        assert isinstance(self.oracle.estimator, SupportsByKind)
        return self.oracle.estimator

    def sample_values(self, start: int, stop: int) -> list[int]:
        return two_of_each_kind(self._supports, start, stop)

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        yield supports_by_kind(self._supports, tally)


def two_of_each_kind(estimator: SupportsByKind, start: int, stop: int) -> list[int]:
    """Return the first two values of every kind, of those from ``start`` up to ``stop``."""
    part = estimator.kind_of[start:stop]
    return sorted(start + int(k) for kind in np.unique(part) for k in np.flatnonzero(part == kind)[:2])


def supports_by_kind(estimator: SupportsByKind, tally: Tally) -> CellClaim:
    """Claim the supports of every value, by the p and q of its kind."""
    high, low, _ = estimator.chances
    return supports(tally.state, tally.n, low, high)


def total_of(estimator: Supports, tally: Tally) -> TotalClaim:
    """Claim the total number of supports: the supports of one report are independent (OLH: with an ideal hash)."""
    p, q = float(estimator.p), float(estimator.q)
    claim = "all values together are supported as often as one true and many others are"
    parts = [(tally.n, p), (tally.n * (estimator.size - 1), q)]
    return TotalClaim("total", claim, int(tally.state.sum()), parts)


def sum_of(estimator: SupportsByKind, tally: Tally) -> SumClaim:
    """Claim the sum of all estimates: a report adds 1 on average. Given the value, supports are independent."""
    p, q, gap = estimator.chances
    noise, held = q * (1 - q) / gap**2, p * (1 - p) / gap**2
    variance = float(noise.sum() + (held - noise).max())
    most = float(((1 - q) / gap).sum()) - 1, float((q / gap).sum()) + 1
    claim = "the estimates of all values add up to the number of reports"
    return SumClaim("total", claim, float(estimator.decode(tally).sum()), tally.n, variance, most)


def independent_pairs(
    estimator: Supports | SupportsByKind,
    tally: Tally,
    data: Array | None,
    values: NDArray[np.int64],
    supported: Supported,
) -> Scores | None:
    """Score supports that are independent given the value, by the product of their excesses over the noise.

    Each factor is divided by the most that it can be. Its mean is 0 unless the value is held, and nobody holds both.
    ``supported`` tells which of the values each report supports.
    """
    if data is None:
        return None
    p, q = (each[values] for each in estimator.chances[:2])
    both = supported_together(estimator.size, data, values, supported)
    alone, scale = np.outer(np.diag(both), q), np.outer(1 - q, 1 - q)
    sums = (both - alone - alone.T + tally.n * np.outer(q, q)) / scale
    noise, held = q * (1 - q), p * (1 - p) + (p - q) ** 2
    most = np.maximum(np.outer(noise, noise), np.maximum(np.outer(held, noise), np.outer(noise, held)))
    return Scores(values, sums, np.maximum(most / scale**2, _NO_NOISE), max(1.0, float((np.outer(q, q) / scale).max())))


def supported_together(size: int, data: Array, values: NDArray[np.int64], supported: Supported) -> Floats:
    """Count for every two values the reports that support both; on the diagonal, the supports of each."""
    both = np.zeros((len(values), len(values)))
    step = max(1, _CELLS // size)
    for start in range(0, len(data), step):
        marks = supported(data[start : start + step]).astype(np.float32)
        both += marks.T @ marks
    return both
