"""Supports: how much a report speaks for each value, by the law that its oracle declares.

A black box shows outputs and nothing else; that 64 bits of an output are a hash seed, and which values they send to the
symbol beside them, nobody learns from samples. A declared oracle knows. The audit takes the log-likelihoods of the
declared law as scores: if the implementation is right they are the best there are, and if it is nearly right nearly so.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from fldp.errors import DomainError, ParameterError
from fldp.kernels import U64
from fldp.oracle import Floats, FrequencyOracle, Law
from fldp.oracles.hashing import OLH, hash_symbols
from fldp.oracles.walsh import WalshOracle
from fldp.reports import Array, Reports

_MOST_ITEMS = 1 << 22

Supports = Callable[[Any, Sequence[Any]], Floats]
Likelihoods = Callable[[Array, Sequence[int]], Floats]


def declared(oracle: FrequencyOracle) -> Supports | None:
    """Return what gives the log-likelihoods of an oracle's reports, a column for each value; None if that is too slow.

    The one place that knows where likelihoods come from; they matter up to a factor that is the same for all values.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> declared(oracle)(oracle.privatize([2, 2, 2], rng=7), [0, 2]).round(2)
    array([[-1.55, -0.55],
           [-1.55, -0.55],
           [-1.55, -0.55]])
    """
    likelihoods: Likelihoods
    if isinstance(oracle, WalshOracle) and oracle.domain_size <= _MOST_ITEMS:
        likelihoods = partial(_by_characters, oracle)
    elif isinstance(oracle, OLH):
        likelihoods = partial(_by_hash, oracle)
    elif _enumerable(oracle):
        likelihoods = partial(_by_law, oracle)
    else:
        return None
    return partial(_logarithms, oracle, likelihoods)


def _enumerable(oracle: FrequencyOracle) -> bool:
    try:
        oracle.check_enumerable()
    except ParameterError:
        return False
    return True


def _logarithms(oracle: FrequencyOracle, likelihoods: Likelihoods, outputs: Any, values: Sequence[int]) -> Floats:
    data = outputs.data if isinstance(outputs, Reports) else np.asarray(outputs)
    if data.dtype != oracle.report_dtype or data.shape[1:] != oracle.report_shape:
        raise DomainError(f"audit: outputs must be reports of {oracle!r}, got {data.dtype} of shape {data.shape}")
    with np.errstate(divide="ignore"):
        return np.log(likelihoods(data, values))


def _by_characters(oracle: WalshOracle, data: Array, values: Sequence[int]) -> Floats:
    """Add up the Walsh functions that reports name; what is left of a sum that cancels out is zero."""
    positions, coefficients = oracle.characters(data)
    found = np.empty((len(data), len(values)))
    for column, value in enumerate(values):
        signs = 1.0 - 2.0 * (np.bitwise_count(positions & oracle.value_items[value]) & 1)
        found[:, column] = 1 + (coefficients * signs).sum(axis=1)
    return np.where(found < 1e-9, 0.0, found)


def _by_hash(oracle: OLH, data: Array, values: Sequence[int]) -> Floats:
    """Hash every value under every seed."""
    seeds, found = np.ascontiguousarray(data["seed"]), np.empty((len(data), len(values)))
    hashed = np.empty(len(data), np.uint64)
    for column, value in enumerate(values):
        hash_symbols.compiled(np.full(len(data), value), seeds, U64(oracle.symbols), hashed)
        found[:, column] = np.where(hashed == data["symbol"], float(oracle.coin.p), float(oracle.coin.q))
    return found


def _by_law(oracle: FrequencyOracle, data: Array, values: Sequence[int]) -> Floats:
    """Look reports up in the law; one that it does not know has no likelihood under any value."""
    laws: dict[Any, list[Law]] = {}
    known: dict[bytes, list[float]] = {}
    found = np.zeros((len(data), len(values)))
    for row, report in zip(found, data, strict=True):
        key = report.tobytes()
        if key not in known:
            public, outcome = oracle.outcome(report)
            if public not in laws:
                laws[public] = [oracle.law(value, public) for value in values]
            known[key] = [float(law.get(outcome, 0)) for law in laws[public]]
        row[:] = known[key]
    return found
