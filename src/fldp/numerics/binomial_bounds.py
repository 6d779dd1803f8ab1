"""Confidence bounds of a probability from counts: exact (Clopper-Pearson), and approximate for many (Wilson)."""

from math import exp, lgamma, log, log1p, nextafter

import numpy as np
from numpy.typing import ArrayLike

from fldp.numerics.types import Floats
from fldp.support.validation import fail, fraction, integer

MAX_TRIALS = 10**7
_SAFETY = 1e-6  # above the relative error of a tail, which is below 2e-7 for ten million trials
_NEAR, _TINY, _STEPS = 1e-10, 1e-300, 100_000


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction.

    ``incomplete_beta(x, k, n - k + 1)`` is the probability that at least ``k`` of ``n`` trials succeed.

    >>> round(incomplete_beta(0.5, 2, 2), 12)
    0.5
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - incomplete_beta(1 - x, b, a)
    front = a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)
    return exp(front) * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction by Lentz's method, two terms at a time."""
    d = 1 / _off_zero(1 - (a + b) * x / (a + 1))
    c, value = 1.0, d
    for m in range(1, _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _off_zero(1 + term * d)
            c = _off_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _off_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY


def lower_bound(hits: int, trials: int, error: float) -> float:
    """Return a lower confidence bound of a probability, wrong with probability at most ``error``.

    The Clopper-Pearson bound: the probability under which ``hits`` or more have a chance of ``error``. Numerical errors
    are on the safe side.

    >>> round(lower_bound(10, 10, 0.05), 4)
    0.7411
    """
    hits, trials, error = _checked(hits, trials, error)
    low, high = 0.0, hits / trials
    while high - low > _NEAR * min(high, 1 - low) and low < (middle := (low + high) / 2) < high:
        if incomplete_beta(middle, hits, trials - hits + 1) <= error * (1 - _SAFETY):
            low = middle
        else:
            high = middle
    return low


def upper_bound(hits: int, trials: int, error: float) -> float:
    """Return an upper confidence bound of a probability, wrong with probability at most ``error``.

    >>> round(upper_bound(0, 10, 0.05), 4)
    0.2589
    """
    return min(1.0, nextafter(1 - lower_bound(trials - hits, trials, error), 2.0))


def _checked(hits: int, trials: int, error: float) -> tuple[int, int, float]:
    trials = integer(1, MAX_TRIALS)("bounds", "trials", trials)
    return integer(0, trials)("bounds", "hits", hits), trials, fraction("bounds", "error", error)


def wilson(hits: ArrayLike, trials: int, z: float) -> tuple[Floats, Floats]:
    """Return approximate lower and upper bounds for many counts at once, ``z`` standard errors wide.

    >>> low, high = wilson([0, 50], 100, 2.0)
    >>> low.round(3), high.round(3)
    (array([0.  , 0.402]), array([0.038, 0.598]))
    """
    if trials < 1:
        raise fail("bounds", "trials", "at least 1", trials)
    share, spread = np.asarray(hits) / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    reach = np.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)
