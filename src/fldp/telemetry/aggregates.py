"""Aggregates: all that is stored about the values of one metric in one period. Never a list of events.

An aggregate maps a few keys to numbers: how often each value or bin was seen (``most``, ``median``), which one was the
last or was seen at all (``last``, ``any``), or one number (``max``, ``sum``). Aggregates of several processes merge.
"""

import sys
from collections.abc import Mapping
from itertools import accumulate
from typing import TypeAlias

from fldp.telemetry.metrics import NO, UNSET, YES, AppMetric

Aggregate: TypeAlias = dict[str, float]
_COUNTED, _NUMERIC = ("most", "median"), ("max", "sum")
_MOST = sys.float_info.max  # no edge is beyond this, and infinities would add up to what cannot be stored


def add(metric: AppMetric, held: Aggregate, value: object, label: str) -> None:
    """Add one recorded value, whose label is known.

    >>> from fldp.telemetry.metrics import metric_of
    >>> startup, held = metric_of("startup", {"kind": "duration"}), {}
    >>> for milliseconds in (90, 250, 300, 9000):
    ...     add(startup, held, milliseconds, startup.label(milliseconds))
    >>> held, outcome(startup, held)
    ({'below 100 ms': 1.0, '200 to 400 ms': 2.0, '6,400 to 12,800 ms': 1.0}, '200 to 400 ms')
    """
    one = {"": _bounded(value)} if metric.take in _NUMERIC else {label: 1.0}  # type: ignore[arg-type]
    merge(metric, held, one)


def _bounded(amount: float) -> float:
    return float(max(-_MOST, min(_MOST, amount)))


def merge(metric: AppMetric, held: Aggregate, later: Mapping[str, float]) -> None:
    """Merge a later aggregate into an earlier one."""
    if metric.take == "last" and later:
        held.clear()
    for key, amount in later.items():
        if metric.take in (*_COUNTED, "sum"):
            held[key] = _bounded(held.get(key, 0.0) + amount)
        else:
            held[key] = max(held.get(key, amount), amount)


def outcome(metric: AppMetric, held: Mapping[str, float]) -> str:
    """Return the one label that stands for a period; ``unset`` if nothing was recorded in it.

    >>> from fldp.telemetry.metrics import metric_of
    >>> outcome(metric_of("sync", {"kind": "flag"}), {})
    'unset'
    """
    known = [label for label in metric.labels if label in held]
    if metric.take in _NUMERIC and "" in held:
        return metric.bin(held[""])
    if not known:
        return UNSET
    if metric.take == "any":
        return YES if YES in held else NO
    if metric.take == "most":
        return max(known, key=lambda label: held[label])
    return known[0] if metric.take == "last" else _median(known, held)


def _median(known: list[str], held: Mapping[str, float]) -> str:
    """Return the bin of the lower median; ``known`` is in the order of the bins."""
    *_, total = running = list(accumulate(held[label] for label in known))
    return next(label for label, seen in zip(known, running, strict=True) if seen >= total / 2)
