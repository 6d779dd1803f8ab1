"""Post-processing: projects estimates onto possible counts, at the price of a bias.

Nothing here is done unless it is asked for, and the result keeps the unbiased estimate in ``original``.
"""

from dataclasses import replace
from typing import Protocol, Self, TypeVar, overload, runtime_checkable

from fldp.data.estimate import Estimate
from fldp.data.projections import METHODS, repaired
from fldp.support.validation import one_of


@runtime_checkable
class Repairable(Protocol):
    """What repairs itself by methods of its own, such as the tables of several questions."""

    def postprocessed(self, method: str) -> Self:
        """Return a biased version of itself, which keeps the unbiased one."""


Repaired = TypeVar("Repaired", bound=Repairable)


@overload
def postprocess(estimate: Estimate, method: str) -> Estimate: ...
@overload
def postprocess(estimate: Repaired, method: str) -> Repaired: ...
def postprocess(estimate: Estimate | Repairable, method: str) -> Estimate | Repairable:
    """Return a biased estimate made from an unbiased one: ``"clip"``, ``"norm-sub"`` or ``"simplex"``.

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
    """
    if isinstance(estimate, Repairable):
        return estimate.postprocessed(method)
    one_of(*METHODS)("postprocess", "method", method)
    source = estimate.original or estimate
    return replace(estimate, counts=repaired(source, method), method=method, original=source)
