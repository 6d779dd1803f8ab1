"""Declared supports: log-likelihoods of a report under each value, by the law that its oracle declares.

A black box shows outputs and nothing else; that 64 bits of an output are a hash seed, and which values they send to the
symbol beside them, nobody learns from samples. A declared oracle knows. The audit takes the log-likelihoods of the
declared law as scores: if the implementation is right they are the best there are, and if it is nearly right nearly so.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from fldp.data.reports import Reports
from fldp.errors import DomainError, ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle

_CELLS = 1 << 18  # likelihoods in memory at a time
_MAX_VALUES = 1 << 12

Supports = Callable[[Any, Sequence[Any]], Floats]


def declared(oracle: FrequencyOracle) -> Supports | None:
    """Return what gives the log-likelihoods of an oracle's reports, a column for each value; None if that is too slow.

    They matter up to a factor that is the same for all values.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> declared(oracle)(oracle.privatize([2, 2, 2], rng=7), [0, 2]).round(2)
    array([[-1.,  0.],
           [-1.,  0.],
           [-1.,  0.]])
    """
    quick = oracle.domain_size <= _MAX_VALUES and (not analysis(oracle).enumerates or _enumerable(oracle))
    return partial(_logarithms, oracle) if quick else None


def _enumerable(oracle: FrequencyOracle) -> bool:
    try:
        analysis(oracle).check_enumerable()
    except ParameterError:
        return False
    return True


def _logarithms(oracle: FrequencyOracle, outputs: Any, values: Sequence[int]) -> Floats:
    data = outputs.data if isinstance(outputs, Reports) else np.asarray(outputs)
    if data.dtype != oracle.report_format.dtype or data.shape[1:] != oracle.report_format.shape:
        raise DomainError(f"audit: outputs must be reports of {oracle!r}, got {data.dtype} of shape {data.shape}")
    about, likelihoods = analysis(oracle), np.empty((len(data), len(values)))
    rows = max(1, _CELLS // oracle.domain_size)
    for start in range(0, len(data), rows):
        likelihoods[start : start + rows] = about.likelihoods(data[start : start + rows])[:, list(values)]
    with np.errstate(divide="ignore"):
        return np.log(likelihoods)
