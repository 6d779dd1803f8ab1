"""Histories: an audit of all reports together of people who report day after day about a value that stays."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from fldp.data.formats import Array
from fldp.data.values import Values
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.memoization import steady_epsilon
from fldp.privacy.auditor.auditor import CONFIDENCE, SAMPLES, Audit, audit, values_of
from fldp.privacy.auditor.declared_scores import Supports, declared
from fldp.randomness.stream import Stream
from fldp.support.progress import Progress
from fldp.support.validation import integer

DAYS = 8
MAX_DAYS = 1000
Client = Callable[[Values], Array]  # of one value for each person: all reports of each, a row for a person


def audit_histories(
    oracle: FrequencyOracle,
    *,
    days: int = DAYS,
    client: Client | None = None,
    values: Sequence[int] | None = None,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Audit whole histories of people who keep something, and hold the same value on all days.

    Each output is all reports of one person. What is claimed is the epsilon of all reports of such a value together:
    ``epsilon_permanent`` of LWR and RAPPOR. ``client`` is another implementation; an output of it is ``days`` reports.

    >>> import fldp
    >>> audit_histories(fldp.LWR(0.5, 4, epsilon_permanent=1.0), samples=2000, rng=7)
    <audit of epsilon 1, eta 1: no violation found>
    """
    integer(1, MAX_DAYS)("audit", "days", days)
    stream = Stream.of(rng)
    chosen = values_of(oracle, stream.child("audit", "values")) if values is None else values
    return audit(
        client or partial(_history, oracle, days, stream.child("audit", "people")),
        epsilon=steady_epsilon(analysis(oracle).sent),
        values=chosen,
        supports=_summed(oracle),
        samples=samples,
        confidence=confidence,
        rng=stream,
        progress=progress,
    )


def _history(oracle: FrequencyOracle, days: int, stream: Stream, values: Values) -> Array:
    reports = analysis(oracle).history(values, days, stream)
    if reports is None:
        raise ParameterError(
            f"audit: days is for oracles that keep a first stage and report each day; {oracle.title} is answered once, "
            "and the report is repeated"
        )
    return reports


def _summed(oracle: FrequencyOracle) -> Supports | None:
    """Return what adds up the log-likelihoods of all reports of a person: no test of the best event, but a good one."""
    score = declared(oracle)
    if score is None:
        return None

    def supports(histories: Array, values: Sequence[int]) -> Floats:
        days = (score(np.ascontiguousarray(histories[:, day]), values) for day in range(histories.shape[1]))
        return np.asarray(np.sum(list(days), axis=0), np.float64)

    return supports
