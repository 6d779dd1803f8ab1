"""Raking: tables without negative cells whose margins agree, by iterative proportional fitting."""

import numpy as np

from fldp.numerics.types import Floats

CONSISTENT = "consistent"
_CLOSE, _ROUNDS, _LITTLE = 1e-9, 10_000, 1e-9


def raked(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return a table with these margins, made of the positive cells of another one.

    Every cell gets a little of what independence would give it, so that margins can be reached whatever is left.

    >>> raked(np.array([[0.6, -0.1], [0.1, 0.4]]), np.array([0.5, 0.5]), np.array([0.6, 0.4])).round(3)
    array([[0.5, 0. ],
           [0.1, 0.4]])
    """
    fitted = np.maximum(table, 0.0) + _LITTLE * np.outer(rows, columns)
    for _ in range(_ROUNDS):
        fitted *= _ratio(rows, fitted.sum(axis=1))[:, None]
        fitted *= _ratio(columns, fitted.sum(axis=0))
        if np.abs(fitted.sum(axis=1) - rows).max() <= _CLOSE:
            break
    return fitted


def _ratio(wanted: Floats, fitted: Floats) -> Floats:
    return np.divide(wanted, fitted, out=np.zeros_like(wanted), where=fitted > 0)
