"""Post-processing: makes possible counts of estimates, or likely ones, at the price of a bias.

Nothing here is done unless it is asked for, and the result keeps the unbiased estimate in ``original``.
"""

from dataclasses import replace
from typing import Protocol, Self, TypeVar, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from fldp.data.empirical_bayes import MIN_VALUES
from fldp.data.estimate import Estimate
from fldp.data.projections import METHODS, repaired
from fldp.numerics.types import Floats
from fldp.support.validation import fail, one_of

BAYES = "bayes"
NAMES = (*METHODS, BAYES)


@runtime_checkable
class Repairable(Protocol):
    """What repairs itself by methods of its own, such as the tables of several questions."""

    def postprocessed(self, method: str) -> Self:
        """Return a biased version of itself, which keeps the unbiased one."""


Repaired = TypeVar("Repaired", bound=Repairable)


@overload
def postprocess(estimate: Estimate, method: str, *, prior: ArrayLike | None = None) -> Estimate: ...
@overload
def postprocess(estimate: Repaired, method: str) -> Repaired: ...
def postprocess(
    estimate: Estimate | Repairable, method: str, *, prior: ArrayLike | None = None
) -> Estimate | Repairable:
    """Return a biased estimate made from an unbiased one: ``"clip"``, ``"norm-sub"``, ``"simplex"`` or ``"bayes"``.

    The first three repair what is impossible. Empirical Bayes (``fldp.data.empirical_bayes``) has the least total error
    over many values, and intervals of its own; of fewer than 100 values norm-sub is better, and taken. ``prior`` are
    public shares, or counts, that were expected before anybody answered, one for each value: last month's estimate, a
    census. It is mixed in as far as the estimates agree with it, so a wrong one does no harm.

    The tables of several questions have a method of their own, ``"consistent"``: no cell is negative, and the margins
    of all tables agree. A number has ``"monotone"``, too: the nearest CDF that never falls.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> est = oracle.estimate(fldp.Tally(oracle, [70, 25, 5], 100))
    >>> est.counts.round(1)
    array([134. ,  10.5, -44.5])
    >>> processed = postprocess(est, "norm-sub")
    >>> processed.counts.round(1), processed.biased, processed.original is est
    (array([100.,   0.,   0.]), True, True)
    >>> postprocess(est, "bayes").method
    'norm-sub'
    """
    if isinstance(estimate, Repairable):
        return estimate.postprocessed(method)
    if not isinstance(estimate, Estimate):
        raise fail("postprocess", "the estimate", "an estimate, as oracle.estimate(tally) returns it", estimate)
    one_of(*NAMES)("postprocess", "method", method)
    source = estimate.original or estimate
    expected = None if prior is None else _shares(prior, method, len(source.counts))
    if method == BAYES:
        return _shrunk(estimate, source, expected)
    return replace(estimate, counts=repaired(source, method), method=method, original=source)


def _shares(prior: ArrayLike, method: str, size: int) -> Floats:
    """Return the shares of a public prior, whose negative entries count as 0."""
    if method != BAYES:
        raise fail("postprocess", "prior", "left out, unless the method is 'bayes'", method)
    shares = np.maximum(np.asarray(prior, np.float64), 0)
    if shares.shape != (size,) or not np.isfinite(shares).all() or not shares.sum() > 0:
        raise fail("postprocess", "prior", f"{size} finite numbers, not all of them 0", np.shape(prior))
    return np.asarray(shares / shares.sum())


def _shrunk(estimate: Estimate, source: Estimate, expected: Floats | None) -> Estimate:
    """Shrink by empirical Bayes; values that it cannot shrink are repaired, and a remark says why."""
    shrunk, repaired_counts = source.shrunk, repaired(source, "norm-sub")
    if shrunk is None:
        basis = replace(source.basis, remark=TOO_FEW)
        return replace(estimate, counts=repaired_counts, method="norm-sub", original=source, basis=basis)
    shrunk = shrunk if expected is None else shrunk.informed(expected, source.n)
    basis = replace(source.basis, posterior=shrunk, remark=source.basis.remark if expected is None else INFORMED)
    return replace(estimate, counts=shrunk.counts(repaired_counts), method=BAYES, original=source, basis=basis)


INFORMED = "Public shares that were expected are mixed in, as far as the reports agree with them."
TOO_FEW = f"Empirical Bayes needs {MIN_VALUES} values whose noise has one law; norm-sub is better here, and taken."
