"""Screening: which of very many candidates stand out, by a lasso over the bits of Bloom filters.

The model is that of ``fldp.oracles.strings.bloom_model``. What is kept here was chosen because it is large, so its size
must be estimated on other cohorts than those it was chosen on.
"""

from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import Kernel
from fldp.oracles.strings.bloom_model import CohortCounts, Design

_SWEEPS, _STILL = 500, 1e-6


@Kernel
def _sum_at(left: Any, positions: Any, v: Any) -> Any:
    """Return the sum over the bits of a candidate, and how many they are; -1 is no bit."""
    number, found = 0, 0.0
    for j in range(positions.shape[0]):
        for a in range(positions.shape[2]):
            if positions[j, v, a] >= 0:
                number += 1
                found += left[j, positions[j, v, a]]
    return found, number


@Kernel
def _lower_at(left: Any, positions: Any, v: Any, step: Any) -> None:
    """Take a step off every bit of a candidate."""
    for j in range(positions.shape[0]):
        for a in range(positions.shape[2]):
            if positions[j, v, a] >= 0:
                left[j, positions[j, v, a]] -= step


@Kernel
def descend(positions: Any, left: Any, base: Any, share: Any, penalty: Any, counts: Any) -> None:
    """Minimise ``|left - X n|^2 / 2 + penalty sum |x_v| n_v`` over counts from 0 on, one count after the other.

    What is left is kept as ``left + shift``, since a candidate changes few bits by much and all others alike.
    """
    shift, total, every = 0.0, left.sum(), left.size
    for _ in range(_SWEEPS):
        largest, moved = 0.0, 0.0
        for v in range(len(counts)):
            found, number = _sum_at(left, positions, v)
            product = share * (found + shift * number - base * total)
            square = share * share * (number * (1 - 2 * base) + base * base * every)
            made = max(0.0, counts[v] + (product - penalty * np.sqrt(square)) / square)
            step = share * (made - counts[v])
            if step != 0.0:
                _lower_at(left, positions, v, step)
                shift += step * base
                total -= step * (number - base * every)
                counts[v] = made
            largest, moved = max(largest, made), max(moved, abs(step) / share)
        if moved <= _STILL * largest:
            break


def screen(design: Design, evidence: CohortCounts, false: float) -> NDArray[np.intp]:
    """Return the candidates that a lasso without negative counts keeps, in their order; none, if none stands out.

    Its penalty is the size that noise alone reaches in a share ``false`` of candidates.
    """
    left = evidence.bits - design.base * evidence.sizes[:, None]
    counts = np.zeros(design.candidates)
    penalty = NormalDist().inv_cdf(1 - false) * sqrt(_mean_variance(design, evidence))
    descend.compiled(_distinct(design.positions), left, design.base, 1 / design.cohorts, penalty, counts)
    return np.flatnonzero(counts)


def _mean_variance(design: Design, evidence: CohortCounts) -> float:
    """Return the variance of a debiased bit, in the mean over all of them."""
    true = np.clip(evidence.bits.mean(), 0, evidence.sizes.mean())
    return float(design.other * evidence.sizes.mean() + (design.own - design.other) * true)


def _distinct(positions: NDArray[np.int16]) -> NDArray[np.int16]:
    """Put -1 where a hash function names a bit that one before it has named."""
    made = positions.copy()
    for place in range(1, made.shape[2]):
        again = (positions[:, :, :place] == positions[:, :, place : place + 1]).any(axis=2)
        made[:, :, place][again] = -1
    return made
