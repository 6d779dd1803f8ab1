"""The end of a period: one metric by lot, its report, and the time to send it.

The lot is drawn by the operating system's randomness from the weights alone, also among metrics without a value, so
which metric is reported says nothing about what was recorded. It is on the disk before anything is drawn for it. The
report is drawn under the ledger's lock, once for a period: a process that is killed anywhere finds the same lot and the
same report again. If the person's limits do not cover the metric of the lot, nothing is reported; that depends on
earlier lots only.
"""

import os
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from fldp.errors import BudgetError
from fldp.support.web_origin import origin_of
from fldp.telemetry import periods
from fldp.telemetry.aggregates import outcome
from fldp.telemetry.metrics import AppMetric, AppMetrics
from fldp.telemetry.specification import REPEATS, cost, specification, version_of
from fldp.telemetry.state import Rows, State

if TYPE_CHECKING:
    from fldp.participant.sqlite_store import FileStore


def opened(path: str, now: datetime) -> "FileStore":
    """Open the ledger; it is made by the first program that may send, so that its first month can pass."""
    from fldp.participant.sqlite_store import FileStore

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    return FileStore(path, born=f"{now:%Y-%m-%d}")


class Ending(NamedTuple):
    """What ends periods: the metrics, the program's file, and the person's ledger."""

    metrics: AppMetrics
    state: State
    ledger: "FileStore"

    def run(self, now: datetime, since: str = "") -> None:
        """End all periods that are over; those before the last one, or before ``since``, without a report."""
        kind = self.metrics.period
        current, last = periods.period_of(now, kind), periods.before(now, kind)
        chosen = periods.period_of(datetime.fromisoformat(since) - timedelta(days=1), kind) if since else ""
        with self.state.exclusive() as rows:
            for period, lot in rows.open_periods():
                if period >= current:  # also one of a clock that was ahead
                    continue
                if period != last:
                    rows.finish(period, "the program did not run in the period after it")
                elif period <= chosen:  # it began before somebody said yes
                    rows.finish(period, "telemetry was switched on after it had begun")
                else:
                    self._end(rows, period, lot, now)

    def _end(self, rows: Rows, period: str, lot: str | None, now: datetime) -> None:
        active = {metric.name: metric for metric in self.metrics.active(f"{now:%Y-%m-%d}")}
        if lot is None and active:
            lot = drawn_lot(list(active.values()))
            rows.name_lot(period, lot)
            rows.commit()
        if lot is None or lot not in active:
            rows.finish(period, "no metric is declared any more" if lot is None else "its metric is declared no more")
            return
        metric = active[lot]
        label = outcome(metric, rows.aggregate(period, lot))
        try:
            key, body = self._drawn(metric, label, now)
        except BudgetError as error:
            rows.finish(period, str(error).removeprefix("participant: "))
            return
        due = now + timedelta(seconds=secrets.randbelow(int(periods.SPREAD[self.metrics.period].total_seconds())))
        times = (periods.text(now), periods.text(due))
        rows.add_report(period, lot, version_of(self.metrics, metric), times, (key, body))
        rows.finish(period)

    def _drawn(self, metric: AppMetric, label: str, now: datetime) -> tuple[str, bytes]:
        """Return key and bytes of the report; the person's limits decide whether there is one."""
        from fldp.participant.limits import Limits, Spent
        from fldp.participant.periodic import PeriodicSurvey, answer_period
        from fldp.responder.responder import Responder

        survey, version = specification(self.metrics, metric), version_of(self.metrics, metric)
        responder = Responder.from_dict(survey, version=version)
        asked = PeriodicSurvey(
            origin=origin_of(self.metrics.collector),
            name=str(survey["name"]),
            topic=str(survey["name"]),
            version=version,
            labels=metric.labels,
            cost=Spent(cost(self.metrics, metric), responder.eta, 1),
            repeat=REPEATS[self.metrics.period],
        )
        keep = responder.keep if metric.lasts else None
        stored = answer_period(
            self.ledger,
            asked,
            Limits.renewing(),
            lambda kept: (responder.following(kept) if metric.lasts else responder).encode(label),
            keep=keep,
            today=f"{now:%Y-%m-%d}",
        )
        return stored.key, stored.report


def drawn_lot(metrics: list[AppMetric]) -> str:
    """Draw one metric, each with its weight.

    >>> from fldp.telemetry.metrics import AppMetric
    >>> drawn_lot([AppMetric("theme", "flag", "any", weight=3)])
    'theme'
    """
    place = secrets.randbelow(sum(metric.weight for metric in metrics))
    for metric in metrics:
        place -= metric.weight
        if place < 0:
            return metric.name
    raise AssertionError("a place below the sum of the weights")
