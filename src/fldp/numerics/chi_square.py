"""The chi-square distribution, central and not: tails, and what they leave possible."""

import math
from collections.abc import Callable

_STEPS, _TERMS, _TINY = 200, 10_000, 1e-16


def chi_square_tail(statistic: float, freedom: float) -> float:
    """Return the probability that a chi-square variable is above a statistic.

    >>> round(chi_square_tail(3.841459, 1), 6), round(chi_square_tail(9.487729, 4), 6), chi_square_tail(0.0, 3)
    (0.05, 0.05, 1.0)
    """
    return 1.0 if statistic <= 0 else _upper_gamma(freedom / 2, statistic / 2)


def _upper_gamma(shape: float, x: float) -> float:
    """Return the regularised upper incomplete gamma function: by its series, or its continued fraction (Lentz)."""
    factor = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        for k in range(1, _TERMS):
            term *= x / (shape + k)
            total += term
            if term < total * _TINY:
                break
        return max(0.0, 1 - factor * total)
    b = x + 1 - shape
    c, d = 1e300, 1 / b
    value = d
    for k in range(1, _TERMS):
        a = -k * (k - shape)
        b += 2
        d = 1 / _away_from_0(a * d + b)
        c = _away_from_0(b + a / c)
        value *= c * d
        if abs(c * d - 1) < _TINY:
            break
    return min(1.0, factor * value)


def _away_from_0(number: float) -> float:
    return number if abs(number) > 1e-300 else 1e-300


def noncentral_tail(statistic: float, freedom: float, noncentrality: float) -> float:
    """Return the probability that a noncentral chi-square variable is above a statistic: a mixture of central ones.

    >>> round(noncentral_tail(3.841459, 1, 7.848868), 4), round(noncentral_tail(0.0, 2, 3.0), 9)
    (0.8, 1.0)
    """
    mean = noncentrality / 2
    if mean <= 0:
        return chi_square_tail(statistic, freedom)
    reach = int(12 * math.sqrt(mean) + 60)
    total, first = 0.0, max(0, int(mean) - reach)
    for k in range(first, int(mean) + reach):
        weight = math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))
        total += weight * chi_square_tail(statistic, freedom + 2 * k)
    return min(1.0, total)


def noncentrality_with(tail: float, statistic: float, freedom: float) -> float:
    """Return the noncentrality at which a statistic is exceeded with this probability; 0 if it is with none so often.

    >>> round(noncentrality_with(0.8, 3.841459, 1), 3)
    7.849
    """
    return _root(lambda noncentrality: noncentral_tail(statistic, freedom, noncentrality) - tail, statistic)


def chi_square_quantile(level: float, freedom: float) -> float:
    """Return the statistic that a chi-square variable exceeds with probability ``1 - level``.

    >>> round(chi_square_quantile(0.95, 1), 4)
    3.8415
    """
    return _root(lambda statistic: 1 - level - chi_square_tail(statistic, freedom), freedom)


def _root(rising: Callable[[float], float], scale: float) -> float:
    """Return where a rising function crosses 0, from 0 on, by bisection."""
    if rising(0.0) >= 0:
        return 0.0
    low, high = 0.0, max(1.0, scale)
    while rising(high) < 0 and high < 1e9:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if high - low <= 1e-12 * high:
            break
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2
