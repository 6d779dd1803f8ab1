"""Screening of very many candidates by a lasso over the bits of Bloom filters.

The linear model is in ``fldp.oracles.strings.bloom_model``. Candidates are selected because they look large, so their
counts must be estimated on other cohorts than they were selected on.
"""

from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import Kernel
from fldp.oracles.strings.bloom_model import CohortCounts, Design
from fldp.oracles.strings.hash_kernels import distinct

_SWEEPS, _STILL = 500, 1e-6


@Kernel
def _sum_at(left: Any, positions: Any, v: Any) -> Any:
    """Return the sum over the distinct bits of a candidate, and their number; -1 marks a repeated bit."""
    bits, total = 0, 0.0
    for j in range(positions.shape[0]):
        for a in range(positions.shape[2]):
            if positions[j, v, a] >= 0:
                bits += 1
                total += left[j, positions[j, v, a]]
    return total, bits


@Kernel
def _lower_at(left: Any, positions: Any, v: Any, step: Any) -> None:
    """Subtract a step from every distinct bit of a candidate."""
    for j in range(positions.shape[0]):
        for a in range(positions.shape[2]):
            if positions[j, v, a] >= 0:
                left[j, positions[j, v, a]] -= step


@Kernel
def descend(positions: Any, left: Any, base: Any, share: Any, penalty: Any, counts: Any) -> None:
    """Minimise ``|left - X n|^2 / 2 + penalty sum |x_v| n_v`` over counts ``n >= 0``, by coordinate descent."""
    # A candidate's column is ``share * (bit - base)``: it moves its own bits, and all bits by the same amount. So the
    # residual is stored as ``left + shift``: a step touches a few bits and one number. ``total`` is the sum of it all.
    shift, total, every = 0.0, left.sum(), left.size
    for _ in range(_SWEEPS):
        largest, moved = 0.0, 0.0
        for v in range(len(counts)):
            inside, number = _sum_at(left, positions, v)
            product = share * (inside + shift * number - base * total)
            square = share * share * (number * (1 - 2 * base) + base * base * every)
            count = max(0.0, counts[v] + (product - penalty * np.sqrt(square)) / square)
            step = share * (count - counts[v])
            if step != 0.0:
                _lower_at(left, positions, v, step)
                shift += step * base
                total -= step * (number - base * every)
                counts[v] = count
            largest, moved = max(largest, count), max(moved, abs(step) / share)
        if moved <= _STILL * largest:
            break


def screen(design: Design, evidence: CohortCounts, false: float) -> NDArray[np.intp]:
    """Return the candidates that a non-negative lasso selects, in their order; empty if none stands out.

    Its penalty is the size that noise alone reaches for a share ``false`` of candidates.
    """
    left = evidence.bits - design.base * evidence.sizes[:, None]
    counts = np.zeros(design.candidates)
    penalty = NormalDist().inv_cdf(1 - false) * sqrt(_mean_variance(design, evidence))
    descend.compiled(distinct(design.positions), left, design.base, 1 / design.cohorts, penalty, counts)
    return np.flatnonzero(counts)


def _mean_variance(design: Design, evidence: CohortCounts) -> float:
    """Return the mean variance of a debiased bit."""
    true = np.clip(evidence.bits.mean(), 0, evidence.sizes.mean())
    return float(design.other * evidence.sizes.mean() + (design.own - design.other) * true)
