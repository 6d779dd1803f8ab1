"""Projections of counts onto a box, and onto the simplex with a given total."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fldp.numerics.types import Floats

if TYPE_CHECKING:
    from fldp.data.estimate import Estimate


def _clip(counts: Floats, total: float) -> Floats:
    """Clip every count to ``[0, total]``, whatever the sum."""
    return np.clip(counts, 0, total)


def _simplex(counts: Floats, total: float) -> Floats:
    """Return the nearest non-negative counts that add up to ``total``: ``max(x + shift, 0)``."""
    if total == 0:
        return np.zeros_like(counts)
    falling = np.sort(counts)[::-1]
    shifts = (total - np.cumsum(falling)) / np.arange(1, len(falling) + 1)
    last = int(np.flatnonzero(falling + shifts > 0)[-1])
    return np.maximum(counts + float(shifts[last]), 0)


def _norm_sub(counts: Floats, total: float) -> Floats:
    """Drop the negative counts, shift the others alike until they add up to ``total``, and drop again as needed.

    Unlike the projection, it never brings a dropped count back.
    """
    positive = counts > 0
    if not positive.any():
        return _simplex(counts, total)
    projected = np.zeros_like(counts)
    projected[positive] = _simplex(counts[positive], total)
    return projected


METHODS: dict[str, Callable[[Floats, float], Floats]] = {
    "clip": _clip,
    "norm-sub": _norm_sub,
    "simplex": _simplex,
}


def repaired(estimate: "Estimate", method: str) -> Floats:
    """Return the repaired counts of an estimate, each run of values with its known total.

    The total of candidates is unknown, except that it is at most ``n``.
    """
    if not estimate.oracle.estimator.runs:
        clipped = _clip(estimate.counts, estimate.n)
        return clipped if clipped.sum() <= estimate.n else METHODS[method](estimate.counts, float(estimate.n))
    totals = zip(estimate.oracle.estimator.runs, estimate.totals, strict=True)
    return np.concatenate([METHODS[method](estimate.counts[run], float(total)) for run, total in totals])
