"""More from the same reports: biased estimates with a smaller error in total, each labelled as what it is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fldp.constraints import fail
from fldp.estimate import Estimate
from fldp.likelihood import maximum_likelihood
from fldp.oracle import FrequencyOracle
from fldp.oracles.walsh import WalshOracle
from fldp.postprocess import postprocess
from fldp.reports import Reports, Tally


def estimate_by(
    method: str,
    oracle: FrequencyOracle,
    source: Tally | Reports,
    options: dict[str, Any],
    progress: Callable[[int], None] | None = None,
) -> Estimate:
    """Estimate by ``"adaptive"`` weights or by ``"em"``; the result keeps the unbiased estimate.

    >>> import fldp
    >>> oracle = fldp.FWR(epsilon=1.0, domain_size=16, eta=0.5)
    >>> made = estimate_by("em", oracle, oracle.privatize([3] * 900 + [5] * 100, rng=1), {})
    >>> made.method, made.biased, made.convergence.converged, round(made.counts.sum())
    ('em', True, True, 1000)
    """
    assert isinstance(oracle, WalshOracle), "only these have other methods"
    linear = oracle.estimate(source, **options)
    if method == "adaptive":
        tally = oracle.tally(source) if isinstance(source, Reports) else source
        return replace(linear, counts=oracle.decode_adaptively(tally), method=method, original=linear)
    if not isinstance(source, Reports):
        raise fail(oracle.title, "what method 'em' works on", "the reports, not their tally", source)
    start = postprocess(linear, "norm-sub").counts
    counts, convergence = maximum_likelihood(oracle, source, start, progress=progress)
    return replace(linear, counts=counts, method=method, original=linear, convergence=convergence)
