"""Specification: the survey that a metric is, as JSON, and its version; a client never asks the network for either.

A metric's survey names no topic, so its name is its topic: the surveys of a program ask about different things, and
one must not look like another with changed labels.

What decides the version is what a report can say and how it is drawn: the names, the labels, the period, the epsilon,
whether a relay is declared, and which web pages may send. Reason, owner, weight and expiry may change and keep it.

The rule of the mechanism belongs to the format ``fldp-metrics-1`` and never changes, so that all releases of a program
ask the same survey. Attributes are drawn by LWR: what is kept bounds all their reports together while they stay the
same. Numbers are drawn anew in each period by SS, which no other plain mechanism has less error than.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fldp.support import canonical_json
from fldp.support.canonical_json import Json
from fldp.telemetry.metrics import AppMetric, AppMetrics

if TYPE_CHECKING:
    from fractions import Fraction

REPEATS = {"month": "monthly", "week": "weekly"}
_SYMBOLS = 2  # of LWR with one hash bit: the factor of what it costs over all reports


def specification(metrics: AppMetrics, metric: AppMetric) -> dict[str, Json]:
    """Return the survey of a metric as a collector has it.

    >>> from fldp.telemetry.metrics import metrics_of
    >>> fields = {"app": "paint", "collector": "https://c.example", "epsilon": 1, "metric": {"sync": {"kind": "flag"}}}
    >>> paint = metrics_of(fields)
    >>> survey = specification(paint, paint.metrics["sync"])
    >>> survey["name"], survey["labels"], survey["oracle"]["name"], survey["collect"]["repeat"]
    ('paint-sync', ['no', 'yes', 'unset'], 'lwr', 'monthly')
    """
    return {
        "format": "fldp-survey-1",
        "name": survey_name(metrics.app, metric.name),
        "question": f"{metrics.app}: {metric.name}, by {metrics.period}",
        "labels": list(metric.labels),
        "oracle": _oracle(metrics.epsilon, metric),
        "collect": _collect(metrics),
    }


def version_of(metrics: AppMetrics, metric: AppMetric) -> str:
    """Return the version of a metric's survey: the pinned one, or what follows from the metric."""
    return metrics.versions.get(metric.name) or canonical_json.identifier(specification(metrics, metric))


def survey_name(app: str, metric: str) -> str:
    """Return the name of a metric's survey."""
    return f"{app}-{metric}"


def cost(metrics: AppMetrics, metric: AppMetric) -> "Fraction":
    """Return the epsilon that is charged: of one report, or once of all reports that are drawn from what is kept."""
    from fldp.support.exact_numbers import decimal

    return decimal(metrics.epsilon) * (_SYMBOLS if metric.lasts else 1)


def _oracle(epsilon: float, metric: AppMetric) -> Mapping[str, Json]:
    if metric.lasts:
        return {"name": "lwr", "epsilon": epsilon / 2, "epsilon_permanent": epsilon}
    return {"name": "ss", "epsilon": epsilon}


def _collect(metrics: AppMetrics) -> dict[str, Json]:
    rules: dict[str, Json] = {
        "submit": "open",
        "origins": list(metrics.origins),
        "opens": None,
        "closes": None,
        "retention": "raw",
        "minimum": 100,
        "repeat": REPEATS[metrics.period],
    }
    return rules | ({"oblivious": True} if metrics.relay else {})
