"""Metrics: how far an estimate is from the truth, one number each. The first four are the paper's.

A metric is a function ``(estimate, truth, k) -> float``. The estimate is an ``Estimate`` or counts alone, the truth is
the true counts. All errors are errors of *frequencies*, counts divided by the number of users, as in the paper.

The *true top k* are the ``k`` most frequent values; values that nobody holds are never among them, so there can be
fewer than ``k``. The *estimated top k* are as many, by estimate. Ties are settled by a fixed pseudo-random order of the
values, the same for both. The order of the values themselves would not do: where the frequent ones come first, as in
most datasets, an estimate of nothing but zeros would find them all.

======== ========================================================================= ============
name     what                                                                      over
======== ========================================================================= ============
kld      ``1/2 (KL(real || estimated) + KL(estimated || real))``, natural          true top k
         logarithm; both cut to the top k and scaled to add up to 1, and an
         estimate below one user counted as one user
re       median of ``|real - estimated| / real``                                   true top k
se       mean of ``(real - estimated)^2``; not a number where no value is in both  both top k
ncr      the first of the true top k scores k, the next k - 1, and so on: the      estimated
         scores of the estimated top k, divided by ``k (k + 1) / 2``               top k
f1       F1 score of the estimated top k as a guess at the true one                top k
mse      mean of ``(real - estimated)^2``                                          all values
l1       sum of ``|real - estimated|``                                             all values
max      maximum of ``|real - estimated|``                                         all values
coverage share of the values whose 95 % interval holds the truth                   all values
======== ========================================================================= ============
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fldp.data.estimate import Estimate
from fldp.errors import ParameterError
from fldp.numerics.kernels import U64
from fldp.numerics.types import Floats
from fldp.numerics.word_kernels import keyed_hash
from fldp.support.validation import fail

Integers = NDArray[np.int64]
Function = Callable[[Estimate, Integers, int], float]
_TIES = U64(0x746F70206B)
LEVEL = 0.95


@dataclass(frozen=True)
class Metric:
    """A metric, whether it looks at the top k or at all values, and whether a smaller number is the better one."""

    name: str
    function: Function
    of_top: bool = True
    lower_is_better: bool = True


_registry: dict[str, Metric] = {}
Given = TypeVar("Given", bound=Callable[..., float])


def metric(name: str, *, of_top: bool = True, lower_is_better: bool = True) -> Callable[[Given], Given]:
    """Register a function as a metric. One that is not ``of_top`` is called once, with ``k`` the number of values.

    >>> @metric("bias", of_top=False)
    ... def bias(estimate, truth, k):
    ...     return float(np.mean(estimate.counts - truth))
    >>> get("bias").function is bias
    True
    """

    def register(function: Given) -> Given:
        known = _registry.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise ParameterError(f"metric: the name {name!r} is taken by {known.function.__module__}; choose another")
        _registry[name] = Metric(name, function, of_top, lower_is_better)
        return function

    return register


def names() -> list[str]:
    """Return the names of all metrics.

    >>> {"kld", "ncr", "re", "se"} <= set(names())
    True
    """
    return sorted(_registry)


def get(name: str) -> Metric:
    """Return a metric.

    >>> get("ncr").lower_is_better
    False
    """
    if not isinstance(name, str) or name not in _registry:
        raise fail("metric", "the name", f"one of {', '.join(names())}", name)
    return _registry[name]


def top(counts: Floats | Integers, k: int) -> Integers:
    """Return the values with the ``k`` largest counts, largest first; ties in the fixed pseudo-random order.

    >>> top(np.array([1, 9, 5, 7]), 2)
    array([1, 3])
    """
    k = min(k, len(counts))
    least = np.partition(counts, -k)[-k]
    among = np.flatnonzero(counts >= least)
    order = np.lexsort((keyed_hash(_TIES, among.astype(np.uint64)), -counts[among]))
    return np.asarray(among[order[:k]])


def _pair(estimate: Estimate | ArrayLike, truth: ArrayLike) -> tuple[Floats, Floats]:
    """Return estimated and true counts as floats, of one size."""
    estimated = np.asarray(getattr(estimate, "counts", estimate), np.float64)
    real = np.asarray(truth, np.float64)
    if estimated.shape != real.shape or estimated.ndim != 1:
        raise fail("metric", "the estimate", f"counts of the {len(real)} values of the truth", estimated.shape)
    if not real.sum() > 0:
        raise fail("metric", "the truth", "counts of at least one user", real.sum())
    return estimated, real


def _tops(estimated: Floats, real: Floats, k: int) -> tuple[Integers, Integers]:
    """Return the estimated and the true top k."""
    if k < 1:
        raise fail("metric", "k", "at least 1", k)
    k = min(k, int(np.count_nonzero(real)))
    return top(estimated, k), top(real, k)


@metric("kld")
def kld(estimate: Estimate | ArrayLike, truth: ArrayLike, k: int) -> float:
    """Return half the sum of both Kullback-Leibler divergences between the true top k and its estimate.

    >>> kld([30, 10, 0], [20, 20, 0], 2)
    0.1373...
    """
    estimated, real = _pair(estimate, truth)
    _, best = _tops(estimated, real, k)
    p, q = real[best] / real[best].sum(), np.maximum(estimated[best], 1.0)
    q /= q.sum()
    return float(np.sum((p - q) * np.log(p / q)) / 2)


@metric("re")
def relative_error(estimate: Estimate | ArrayLike, truth: ArrayLike, k: int) -> float:
    """Return the median relative error over the true top k.

    >>> relative_error([30, 10, 5], [20, 20, 5], 3)
    0.5
    """
    estimated, real = _pair(estimate, truth)
    _, best = _tops(estimated, real, k)
    return float(np.median(np.abs(real[best] - estimated[best]) / real[best]))


@metric("se")
def squared_error(estimate: Estimate | ArrayLike, truth: ArrayLike, k: int) -> float:
    """Return the mean squared error over the values that are in the estimated and in the true top k.

    >>> squared_error([30, 10, 10], [25, 15, 10], 1), squared_error([0, 0, 50], [25, 15, 10], 1)
    (0.01, nan)
    """
    estimated, real = _pair(estimate, truth)
    both = np.intersect1d(*_tops(estimated, real, k))
    return float(np.mean((estimated[both] - real[both]) ** 2) / real.sum() ** 2) if len(both) else float("nan")


@metric("ncr", lower_is_better=False)
def cumulative_rank(estimate: Estimate | ArrayLike, truth: ArrayLike, k: int) -> float:
    """Return the normalized cumulative rank of the estimated top k.

    >>> cumulative_rank([30, 0, 20, 10], [40, 30, 20, 10], 2)
    0.666...
    """
    guess, best = _tops(*_pair(estimate, truth), k)
    scores = np.arange(len(best), 0, -1)
    return float(scores[np.isin(best, guess)].sum() / scores.sum())


@metric("f1", lower_is_better=False)
def f1(estimate: Estimate | ArrayLike, truth: ArrayLike, k: int) -> float:
    """Return the F1 score of the estimated top k; both sets are of one size, so precision and recall are the same.

    >>> f1([30, 0, 20, 10], [40, 30, 20, 10], 2)
    0.5
    """
    guess, best = _tops(*_pair(estimate, truth), k)
    return float(np.isin(best, guess).mean())


@metric("mse", of_top=False)
def mean_squared_error(estimate: Estimate | ArrayLike, truth: ArrayLike, k: int) -> float:
    """Return the mean squared error over all values; times the users, it is the variance of a count per user.

    >>> mean_squared_error([3, 1], [2, 2], 2)
    0.0625
    """
    del k
    estimated, real = _pair(estimate, truth)
    return float(np.mean((estimated - real) ** 2) / real.sum() ** 2)


@metric("l1", of_top=False)
def l1(estimate: Estimate | ArrayLike, truth: ArrayLike, k: int) -> float:
    """Return the sum of absolute errors over all values.

    >>> l1([3, 1], [2, 2], 2)
    0.5
    """
    del k
    estimated, real = _pair(estimate, truth)
    return float(np.abs(estimated - real).sum() / real.sum())


@metric("max", of_top=False)
def maximum_error(estimate: Estimate | ArrayLike, truth: ArrayLike, k: int) -> float:
    """Return the largest absolute error over all values.

    >>> maximum_error([3, 0, 1], [1, 1, 2], 3)
    0.5
    """
    del k
    estimated, real = _pair(estimate, truth)
    return float(np.abs(estimated - real).max() / real.sum())


@metric("coverage", of_top=False, lower_is_better=False)
def coverage(estimate: Estimate | ArrayLike, truth: ArrayLike, k: int) -> float:
    """Return the share of all values whose 95 % interval holds the truth; about 0.95 is best, not 1.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=2.0, domain_size=3)
    >>> coverage(oracle.estimate(fldp.Tally(oracle, [500, 300, 200], 1000)), [578, 284, 200], 3)
    0.666...
    """
    del k
    if not isinstance(estimate, Estimate):
        raise fail("metric coverage", "the estimate", "an Estimate, which has intervals", type(estimate).__name__)
    _, real = _pair(estimate, truth)
    low, high = estimate.interval(LEVEL).T
    return float(np.mean((low <= real) & (real <= high)))
