"""View: everything that telemetry knows and has sent, for the person; as data and as text.

It is made of the files on this machine alone, without NumPy, since a program may show it before its first report.
"""

import math
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from fldp.support.canonical_json import Json
from fldp.support.exact_numbers import number_text
from fldp.telemetry import periods
from fldp.telemetry.aggregates import outcome
from fldp.telemetry.metrics import AppMetric, AppMetrics
from fldp.telemetry.modes import Mode
from fldp.telemetry.specification import cost, specification, version_of
from fldp.telemetry.state import State, StoredReport

if TYPE_CHECKING:
    from fldp.telemetry.agent import Places


_NOTHING = "epsilon 0, eta 1, 0 answers"


class GivenAway(NamedTuple):
    """What reports of a metric give away: of one, of all while the value stays, and of whatever is reported.

    ``size`` is how many values there are.
    """

    epsilon: float
    lasting: float | None
    change_visible: float | None
    size: int

    def guess(self, epsilon: float) -> float:
        """Return how likely the best guess is right at most, if all values are as likely before: by Bayes' rule."""
        return 1 / (1 + (self.size - 1) * math.exp(-epsilon))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The numbers in words."""
        one = (
            f"One report: epsilon {number_text(self.epsilon)}, eta 1. It rules out no value for certain, and changes "
            f"the odds between two values by a factor of at most {math.exp(self.epsilon):.2f}."
        )
        best = (
            f"Somebody who knows nothing else guesses the value with probability 1/{self.size}, and with one report "
            f"with {self.guess(self.epsilon):.3f} at most"
        )
        if self.lasting is None or self.change_visible is None:
            return (one, f"{best}.", "Each period draws anew, so epsilons of periods add up.")
        return (
            one,
            f"{best}; with all reports, while the value stays the same, with {self.guess(self.lasting):.3f} at most.",
            f"All these reports together: epsilon {number_text(self.lasting)}, eta 1, "
            f"however many. For histories that change alike: epsilon {number_text(2 * self.lasting)}.",
            "No epsilon covers whether a value changes, or when: however long somebody watches, a change shows with "
            f"probability {self.change_visible:.3f}.",
            "A part of each report stays the same: reports of this metric can be recognised as those of one install.",
        )


def given_away(metrics: AppMetrics, metric: AppMetric) -> GivenAway:
    """Return what reports of a metric give away.

    >>> from fldp.telemetry.metrics import AppMetrics, metric_of
    >>> paint = AppMetrics("paint", "https://c.example", "", "month", 1.0, "local", {})
    >>> given_away(paint, metric_of("sync", {"kind": "flag"}))._replace(change_visible=None)
    GivenAway(epsilon=0.5, lasting=1.0, change_visible=None, size=3)
    """
    if not metric.lasts:
        return GivenAway(metrics.epsilon, None, None, len(metric.labels))
    p = 1 / (1 + math.exp(-metrics.epsilon))  # that a kept symbol is the true one
    return GivenAway(metrics.epsilon / 2, metrics.epsilon, (1 - 2 * p * (1 - p)) / 2, len(metric.labels))


def view_data(metrics: AppMetrics, mode: Mode, places: "Places", now: datetime) -> dict[str, Json]:
    """Return everything as data for JSON."""
    current = periods.period_of(now, metrics.period)
    stored = _stored(metrics, places, current)
    return {
        "app": metrics.app,
        "mode": mode.mode,
        "reason": mode.reason,
        "collector": metrics.collector,
        "relay": metrics.relay or None,
        "files": {"state": places.state, "ledger": places.ledger},
        "period": current,
        **stored,
        "metrics": {metric.name: _metric_data(metrics, metric) for metric in metrics.metrics.values()},
        "spent": _spent(metrics, places, f"{now:%Y-%m-%d}"),
        "next": _next(metrics, mode, now),
    }


def _stored(metrics: AppMetrics, places: "Places", current: str) -> dict[str, Json]:
    if not os.path.exists(places.state):
        return {"values": {}, "reports": [], "silent": []}
    with State(places.state).exclusive() as rows:
        held = {metric.name: rows.aggregate(current, metric.name) for metric in metrics.metrics.values()}
        reports, finished = rows.reports(), rows.finished()
    return {
        "values": {
            name: {"kept": dict(kept), "would_report": outcome(metrics.metrics[name], kept)}
            for name, kept in held.items()
        },
        "reports": [_report_data(report) for report in reports],
        "silent": [{"period": period, "metric": metric or None, "why": why} for period, metric, why in finished if why],
    }


def _report_data(report: StoredReport) -> dict[str, Json]:
    shown = {name: getattr(report, name) for name in ("period", "metric", "version", "drawn", "due", "state")}
    return {**shown, "sent": report.sent or None, "said": report.said or None, "bytes": report.body.hex()}


def _metric_data(metrics: AppMetrics, metric: AppMetric) -> dict[str, Json]:
    return {
        "why": metric.why,
        "owner": metric.owner,
        "expires": metric.expires,
        "labels": list(metric.labels),
        "survey": str(specification(metrics, metric)["name"]),
        "version": version_of(metrics, metric),
        "charged": number_text(cost(metrics, metric)),
        "gives_away": list(given_away(metrics, metric).sentences),
    }


def _spent(metrics: AppMetrics, places: "Places", today: str) -> Mapping[str, Json]:
    """Return what all reports gave away, to this collector and to all."""
    if not os.path.exists(places.ledger):
        return {"collector": _NOTHING, "year": "0", "all": _NOTHING}
    from fldp.participant.epochs import epoch_of, month_of
    from fldp.participant.sqlite_store import FileStore
    from fldp.support.web_origin import origin_of

    with FileStore(places.ledger).exclusive() as book:
        ledger = book.ledger
    origin, month = origin_of(metrics.collector), month_of(epoch_of("monthly", today))
    recent = [each.cost.epsilon for each in ledger.select(origin=origin) if month - month_of(each.epoch) < 12]
    own, everywhere = ledger.spent(origin=origin, today=today), ledger.spent(today=today)
    return {"collector": str(own), "year": number_text(sum(recent, Fraction(0))), "all": str(everywhere)}


def _next(metrics: AppMetrics, mode: Mode, now: datetime) -> str:
    if mode.mode == "off":
        return "Nothing is stored, and nothing is sent."
    if mode.mode == "local":
        return "Values are kept on this machine, one aggregate for each metric; nothing is sent."
    days = periods.SPREAD[metrics.period].days
    within = "a day" if days == 1 else f"{days} days"
    lot = ", ".join(metric.name for metric in metrics.active(f"{now:%Y-%m-%d}"))
    way = (
        f"through {metrics.relay}, which sees who sends but not what"
        if metrics.relay
        else "directly, so it sees your address"
    )
    return (
        f"When the {metrics.period} is over, one of these is drawn by lot: {lot}. One report of it is drawn at random, "
        f"and sent within {within} to {metrics.collector}, {way}."
    )


def text_of(data: Mapping[str, object]) -> str:
    """Return everything in words."""
    return "\n".join(_lines(data))


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    yield f"Telemetry of {data['app']}: {data['mode']} ({data['reason']})"
    yield data["next"]
    spent = data["spent"]
    yield f"Given away so far to {data['collector']}: {spent['collector']}"
    yield f"Of that in the last twelve months: epsilon {spent['year']}"
    yield f"Given away so far to all collectors: {spent['all']}"
    yield ""
    yield f"This period, {data['period']}:"
    for name, metric in data["metrics"].items():
        value = data["values"].get(name, {}).get("would_report", "nothing is stored")
        yield f"  {name}: {value} (why: {metric['why']}; {metric['owner']}; until {metric['expires']})"
    yield ""
    yield f"Reports: {len(data['reports'])}"
    for report in data["reports"]:
        size = len(report["bytes"]) // 2
        yield f"  {report['period']} {report['metric']}: {_fate(report)}{_said(report)}, {size} bytes"
        yield from (f"    {sentence}" for sentence in report.get("says", ()))
        yield f"    {report['bytes']}"
    for period in data["silent"]:
        yield f"  {period['period']} {period['metric'] or 'no metric'}: no report: {period['why']}"
    yield ""
    yield "What reports give away:"
    for name, metric in data["metrics"].items():
        yield f"  {name}: {' '.join(metric['gives_away'])}"


def _fate(report: Mapping[str, Any]) -> str:
    """Say what became of a report.

    >>> _fate({"sent": "2026-02-03T00:00:00Z", "state": "withdrawn", "due": ""})
    'sent 2026-02-03T00:00:00Z, withdrawn'
    """
    if not report["sent"]:
        return f"{report['state']}, due {report['due']}"
    return f"sent {report['sent']}" + (f", {report['state']}" if report["state"].startswith("withdr") else "")


def _said(report: Mapping[str, Any]) -> str:
    return f" ({report['said']})" if report["said"] else ""
