"""Expectation maximisation (EM) from raw reports, through the Walsh-Hadamard transform.

For FHR and FWR the probability of a report under item ``t`` is a short sum of Walsh functions,
``P(report | t) = c0 (1 + sum_j a_j H[t][x_j])``, with positions ``x_j`` and coefficients ``a_j`` that the report
names. So a step of EM for all items costs one pass over the reports and two transforms, like decoding.
The estimate is **biased**: it lies in the simplex, and trades some bias of frequent values for a smaller total error.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fldp.data.estimate import Estimate, Option
from fldp.data.postprocess import postprocess
from fldp.data.reports import Reports, Tally
from fldp.errors import ParameterError
from fldp.numerics.kernels import U64, Kernel
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.support.progress import Progress

if TYPE_CHECKING:
    from fldp.oracles.flexible.walsh import Walsh

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Convergence:
    """How the iteration ended: after how many steps, and with which change in the last."""

    iterations: int
    change: float
    converged: bool


@Kernel
def _weigh(positions: Any, coefficients: Any, spectrum: Any, out: Any) -> None:
    """Divide the characters of each report by its probability under the current estimate, and add them to ``out``."""
    width = positions.shape[1]
    for i in range(positions.shape[0]):
        likely = 1.0
        for j in range(width):
            likely += coefficients[i, j] * spectrum[positions[i, j]]
        if likely > 1e-12:
            out[U64(0)] += 1.0 / likely
            for j in range(width):
                out[positions[i, j]] += coefficients[i, j] / likely


def maximum_likelihood(
    walsh: "Walsh",
    reports: Reports,
    start: Floats,
    *,
    most: int = 1000,
    tolerance: float = 1e-4,
    progress: Progress | None = None,
) -> tuple[Floats, Convergence]:
    """Return the maximum likelihood counts, and how the iteration ended.

    It stops when a step moves less than ``tolerance`` of the total mass (half the sum of absolute changes), or after
    ``most`` steps. Memory stays bounded: characters are recomputed in every step, a chunk of reports at a time.
    """
    # EM never leaves a share of 0, so every share starts a little above.
    shares = np.maximum(start, 0) + len(reports) * 1e-3 / len(start)
    shares /= shares.sum()
    change = np.inf
    for step in range(1, most + 1):
        updated = shares * _gradient(walsh, reports, shares)
        updated /= updated.sum()
        change = float(np.abs(updated - shares).sum() / 2)
        shares = updated
        if progress is not None:
            progress(1)
        if change < tolerance:
            return shares * len(reports), Convergence(step, change, True)
    return shares * len(reports), Convergence(most, change, False)


def _gradient(walsh: "Walsh", reports: Reports, shares: Floats) -> Floats:
    spectrum, items = np.zeros(walsh.order), walsh.items
    spectrum[items] = shares
    spectrum = walsh_hadamard(spectrum)
    total = np.zeros(walsh.order)
    for first in range(0, len(reports), _CHUNK):
        positions, coefficients = walsh.characters(reports.data[first : first + _CHUNK])
        _weigh.compiled(positions, coefficients, spectrum, total)
    return np.asarray(np.maximum(walsh_hadamard(total)[items], 0.0))


def estimate_by(
    method: str,
    walsh: "Walsh",
    source: Tally | Reports,
    options: Mapping[str, Option],
    progress: Progress | None = None,
) -> Estimate:
    """Estimate by ``"adaptive"`` weights or by ``"em"``; the result keeps the unbiased estimate.

    >>> import fldp
    >>> oracle = fldp.FWR(epsilon=1.0, domain_size=16, eta=0.5)
    >>> estimate = estimate_by("em", oracle.estimator, oracle.privatize([3] * 900 + [5] * 100, rng=1), {})
    >>> estimate.method, estimate.biased, estimate.convergence.converged, round(estimate.counts.sum())
    ('em', True, True, 1000)
    """
    oracle = source.oracle
    linear = oracle.estimate(source, **options)
    if method == "adaptive":
        tally = oracle.tally(source) if isinstance(source, Reports) else source
        return replace(linear, counts=walsh.decode_adaptively(tally), method=method, original=linear)
    if not isinstance(source, Reports):
        raise ParameterError(f"{oracle.title}: method 'em' needs the reports; a tally does not have them")
    start = postprocess(linear, "norm-sub").counts
    counts, convergence = maximum_likelihood(walsh, source, start, progress=progress)
    basis = replace(linear.basis, convergence=convergence)
    return replace(linear, counts=counts, method=method, original=linear, basis=basis)
