"""Maximum likelihood from raw reports, by expectation maximisation through the transform.

For FHR and FWR the probability of a report under item ``t`` is a short sum of Walsh functions,
``P(report | t) = c0 (1 + sum_j a_j H[t][x_j])``, with positions ``x_j`` and coefficients ``a_j`` that the report
names. So a step of EM for all items costs one pass over the reports and two transforms, like a decoding.
The estimate is **biased**: it lives in the simplex, and trades a bias of frequent values for a smaller error in total.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.data.postprocess import postprocess
from fldp.data.reports import Reports, Tally
from fldp.numerics.kernels import U64, Kernel
from fldp.numerics.types import Floats
from fldp.support.progress import Progress
from fldp.support.validation import fail

if TYPE_CHECKING:
    from fldp.oracles.flexible.walsh_oracle import WalshOracle

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Convergence:
    """How the iteration ended."""

    iterations: int
    change: float
    converged: bool


@Kernel
def _weigh(positions: Any, coefficients: Any, spectrum: Any, out: Any) -> None:
    """Find the probability of each report under the present estimate, and add its characters, divided by that."""
    width = positions.shape[1]
    for i in range(positions.shape[0]):
        likely = 1.0
        for j in range(width):
            likely += coefficients[i, j] * spectrum[positions[i, j]]
        if likely > 1e-12:
            out[U64(0)] += 1.0 / likely
            for j in range(width):
                out[positions[i, j]] += coefficients[i, j] / likely


@Kernel
def _float_transform(a: Any) -> None:
    step = 1
    while step < len(a):
        for start in range(0, len(a), 2 * step):
            low, high = a[start : start + step], a[start + step : start + 2 * step]
            for j in range(step):
                low[j], high[j] = low[j] + high[j], low[j] - high[j]
        step *= 2


def maximum_likelihood(
    oracle: "WalshOracle",
    reports: Reports,
    start: Floats,
    *,
    most: int = 1000,
    tolerance: float = 1e-4,
    progress: Progress | None = None,
) -> tuple[Floats, Convergence]:
    """Return the counts that make the reports most likely, and how the iteration ended.

    It stops when a step moves less than ``tolerance`` of all users' mass (half the sum of changes), or after ``most``
    steps. Memory stays bounded: characters are made anew, a chunk of reports at a time.
    """
    shares = np.maximum(start, 0) + len(reports) * 1e-3 / len(start)
    shares /= shares.sum()
    items, change = oracle.value_items, np.inf
    for step in range(1, most + 1):
        made = shares * _gradient(oracle, reports, shares, items)
        made /= made.sum()
        change = float(np.abs(made - shares).sum() / 2)
        shares = made
        if progress is not None:
            progress(1)
        if change < tolerance:
            return shares * len(reports), Convergence(step, change, True)
    return shares * len(reports), Convergence(most, change, False)


def _gradient(oracle: "WalshOracle", reports: Reports, shares: Floats, items: NDArray[np.uint64]) -> Floats:
    spectrum = np.zeros(oracle.walsh_order)
    spectrum[items] = shares
    _float_transform.compiled(spectrum)
    total = np.zeros(oracle.walsh_order)
    for first in range(0, len(reports), _CHUNK):
        positions, coefficients = oracle.characters(reports.data[first : first + _CHUNK])
        _weigh.compiled(positions, coefficients, spectrum, total)
    _float_transform.compiled(total)
    return np.maximum(total[items], 0.0)


def estimate_by(
    method: str,
    oracle: "WalshOracle",
    source: Tally | Reports,
    options: dict[str, Any],
    progress: Progress | None = None,
) -> Estimate:
    """Estimate by ``"adaptive"`` weights or by ``"em"``; the result keeps the unbiased estimate.

    >>> import fldp
    >>> oracle = fldp.FWR(epsilon=1.0, domain_size=16, eta=0.5)
    >>> made = estimate_by("em", oracle, oracle.privatize([3] * 900 + [5] * 100, rng=1), {})
    >>> made.method, made.biased, made.convergence.converged, round(made.counts.sum())
    ('em', True, True, 1000)
    """
    linear = oracle.estimate(source, **options)
    if method == "adaptive":
        tally = oracle.tally(source) if isinstance(source, Reports) else source
        return replace(linear, counts=oracle.decode_adaptively(tally), method=method, original=linear)
    if not isinstance(source, Reports):
        raise fail(oracle.title, "what method 'em' works on", "the reports, not their tally", source)
    start = postprocess(linear, "norm-sub").counts
    counts, convergence = maximum_likelihood(oracle, source, start, progress=progress)
    return replace(linear, counts=counts, method=method, original=linear, convergence=convergence)
