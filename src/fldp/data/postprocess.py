"""Post-processing: projects estimates onto possible counts, at the price of a bias.

Nothing here is done unless it is asked for, and the result keeps the unbiased estimate in ``original``.
"""

from dataclasses import replace

from fldp.data.estimate import Estimate
from fldp.data.number import Number
from fldp.data.projections import METHODS, repaired
from fldp.support.validation import one_of


def postprocess(estimate: Estimate, method: str) -> Estimate:
    """Return a biased estimate made from an unbiased one: ``"clip"``, ``"norm-sub"`` or ``"simplex"``.

    A number also has ``"monotone"``: the nearest CDF that never falls.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> est = oracle.estimate(fldp.Tally(oracle, [70, 25, 5], 100))
    >>> est.counts.round(1)
    array([134. ,  10.5, -44.5])
    >>> processed = postprocess(est, "norm-sub")
    >>> processed.counts.round(1), processed.biased, processed.original is est
    (array([100.,   0.,   0.]), True, True)
    """
    if isinstance(estimate, Number):
        return estimate.postprocessed(method)
    one_of(*METHODS)("postprocess", "method", method)
    source = estimate.original or estimate
    return replace(estimate, counts=repaired(source, method), method=method, original=source)
