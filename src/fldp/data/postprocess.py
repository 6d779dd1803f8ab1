"""Post-processing: make an estimate look like counts, at the price of a bias.

Nothing here is done unless it is asked for, and the result keeps the unbiased estimate in ``original``.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.support.validation import one_of

Floats = NDArray[np.float64]


def _clip(counts: Floats, total: float) -> Floats:
    """Cut every count to ``[0, total]``; the sum is whatever comes out."""
    return np.clip(counts, 0, total)


def _simplex(counts: Floats, total: float) -> Floats:
    """Go to the nearest point whose counts are not negative and add up to ``total``: ``max(x + shift, 0)``."""
    if total == 0:
        return np.zeros_like(counts)
    falling = np.sort(counts)[::-1]
    shifts = (total - np.cumsum(falling)) / np.arange(1, len(falling) + 1)
    kept = int(np.flatnonzero(falling + shifts > 0)[-1])
    return np.maximum(counts + float(shifts[kept]), 0)


def _norm_sub(counts: Floats, total: float) -> Floats:
    """Drop the negative counts, shift the others alike until they add up to ``total``, and drop again as needed.

    Unlike the projection, it never brings a dropped count back.
    """
    positive = counts > 0
    if not positive.any():
        return _simplex(counts, total)
    made = np.zeros_like(counts)
    made[positive] = _simplex(counts[positive], total)
    return made


METHODS: dict[str, Callable[[Floats, float], Floats]] = {
    "clip": _clip,
    "norm-sub": _norm_sub,
    "simplex": _simplex,
}


def postprocess(estimate: Estimate, method: str) -> Estimate:
    """Return a biased estimate made from an unbiased one: ``"clip"``, ``"norm-sub"`` or ``"simplex"``.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> est = oracle.estimate(fldp.Tally(oracle, [70, 25, 5], 100))
    >>> est.counts.round(1)
    array([134. ,  10.5, -44.5])
    >>> made = postprocess(est, "norm-sub")
    >>> made.counts.round(1), made.biased, made.original is est
    (array([100.,   0.,   0.]), True, True)
    """
    one_of(*METHODS)("postprocess", "method", method)
    source = estimate.original or estimate
    return replace(estimate, counts=repaired(source, method), method=method, original=source)


def repaired(estimate: Estimate, method: str) -> Floats:
    """Return the counts of an estimate after a method, each run of values with the total that is known of it.

    Of candidates no total is known, only that it is at most ``n``.
    """
    if not estimate.oracle.runs:
        clipped = _clip(estimate.counts, estimate.n)
        return clipped if clipped.sum() <= estimate.n else METHODS[method](estimate.counts, float(estimate.n))
    totals = zip(estimate.oracle.runs, estimate.totals, strict=True)
    return np.concatenate([METHODS[method](estimate.counts[run], float(total)) for run, total in totals])
