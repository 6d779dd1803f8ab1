"""Expectation maximisation (EM) from raw reports, through the Walsh-Hadamard transform.

For FHR and FWR the probability of a report under item ``t`` is a short sum of Walsh functions,
``P(report | t) = c0 (1 + sum_j a_j H[t][x_j])``, with positions ``x_j`` and coefficients ``a_j`` that the report
names. So a step of EM for all items costs one pass over the reports and two transforms, like decoding.
The estimate is **biased**: it lies in the simplex. It is the most likely one, and for large domains hardly better than
norm-sub: with as many parameters as values it fits the noise. ``method="bayes"`` has a far smaller total error, from
the tally alone; this is for those who need the maximum itself.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

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
    """How the iteration ended, after how many passes over the reports.

    ``change`` bounds what is left to gain: the logarithm of the likelihood of no counts at all is larger by more.
    """

    iterations: int
    change: float
    converged: bool


class Climb(NamedTuple):
    """A point, the logarithm of its likelihood up to a constant, and the gradient: its mean over the shares is 1."""

    shares: Floats
    likely: float
    gradient: Floats

    @property
    def step(self) -> Floats:
        """Where a step of EM leads."""
        after = self.shares * self.gradient
        return np.asarray(after / after.sum())


@Kernel
def _weigh(positions: Any, coefficients: Any, spectrum: Any, out: Any, logs: Any) -> None:
    """Divide the characters of each report by its probability under the current estimate, and add them to ``out``.

    The logarithms of the probabilities are added to ``logs``.
    """
    width = positions.shape[1]
    for i in range(positions.shape[0]):
        likely = 1.0
        for j in range(width):
            likely += coefficients[i, j] * spectrum[positions[i, j]]
        if likely > 1e-12:
            logs[0] += np.log(likely)
            out[U64(0)] += 1.0 / likely
            for j in range(width):
                out[positions[i, j]] += coefficients[i, j] / likely


def maximum_likelihood(
    walsh: "Walsh",
    reports: Reports,
    start: Floats,
    *,
    most: int = 1000,
    tolerance: float = 1.0,
    progress: Progress | None = None,
) -> tuple[Floats, Convergence]:
    """Return the maximum likelihood counts, and how the iteration ended.

    The likelihood is concave, so the largest entry of its gradient bounds what any other counts could gain. It stops
    where that is at most ``tolerance``, or after ``most`` passes over the reports. Steps are extrapolated (SQUAREM,
    Varadhan and Roland 2008) wherever that is more likely. Memory stays bounded: characters are recomputed in every
    pass, a chunk of reports at a time.
    """
    passes = 0

    def at(shares: Floats) -> Climb:
        nonlocal passes
        passes += 1
        if progress is not None:
            progress(1)
        return _climb(walsh, reports, shares)

    # EM never leaves a share of 0, so every share starts a little above.
    shares = np.maximum(start, 0) + len(reports) * 1e-3 / len(start)
    point = at(shares / shares.sum())
    while point_gap(point, len(reports)) > tolerance and passes < most:
        first = at(point.step)
        point = first if passes >= most else _further(point, first, at)
    gap = point_gap(point, len(reports))
    return point.shares * len(reports), Convergence(passes, gap, gap <= tolerance)


def point_gap(point: Climb, n: int) -> float:
    """Return a bound for how much more likely any counts are, as a difference of logarithms."""
    return float(n * (point.gradient.max() - 1))


def _further(point: Climb, first: Climb, at: Callable[[Floats], Climb]) -> Climb:
    """Extrapolate two steps of EM, if that is at least as likely as the first of them; else take the second."""
    second = first.step
    moved, bent = first.shares - point.shares, second - 2 * first.shares + point.shares
    length = max(1.0, math.sqrt(float(moved @ moved) / max(float(bent @ bent), 1e-300)))
    tried = point.shares + 2 * length * moved + length**2 * bent
    tried = np.maximum(tried, second * 1e-3)  # inside, where EM can go on
    further = at(tried / tried.sum())
    return further if further.likely >= first.likely else at(second)


def _climb(walsh: "Walsh", reports: Reports, shares: Floats) -> Climb:
    spectrum, items = np.zeros(walsh.order), walsh.items
    spectrum[items] = shares
    spectrum = walsh_hadamard(spectrum)
    total, logs = np.zeros(walsh.order), np.zeros(1)
    for first in range(0, len(reports), _CHUNK):
        positions, coefficients = walsh.characters(reports.data[first : first + _CHUNK])
        _weigh.compiled(positions, coefficients, spectrum, total, logs)
    gradient = np.maximum(walsh_hadamard(total)[items], 0.0) / len(reports)
    return Climb(shares, float(logs[0]), np.asarray(gradient))


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
