"""A number: its mean and quartiles, its histogram and CDF, for people and for programs."""

import json
import math
from collections.abc import Sequence

from rich.table import Table

from fldp.data.number import QUARTILES, Histogram, Number, Value
from fldp.data.scale import MEAN
from fldp.estimation.number_planner import NumberPlan
from fldp.presentation.interval_notes import watched_facts
from fldp.presentation.tables import estimate_notes, visible
from fldp.support.canonical_json import Json
from fldp.wire.description import describe

_ROWS = 16  # of a histogram on the screen


def value_text(value: Value) -> str:
    """Return a value in a line: what it is, its standard error, its interval, and the note."""
    unit = f" {value.unit}" if value.unit else ""
    error = f", standard error {value.stderr:.3g}" if math.isfinite(value.stderr) else ""
    ends = f"{100 * value.level:.4g} % interval {value.low:.4g} .. {value.high:.4g}"
    return visible(f"{value.what}: {value.value:.4g}{unit}{error}, {ends}" + (f" ({value.note})" if value.note else ""))


def summary_table(number: Number, level: float = 0.95, values: Sequence[Value] | None = None) -> Table:
    """Return the mean and the quartiles, or other values, as a table."""
    table = Table(title=f"{number.n:,} reports", title_justify="left")
    table.add_column("what")
    for heading in ("estimate", "std. error", f"{100 * level:.4g} % interval"):
        table.add_column(heading, justify="right")
    for value in summary(number, level) if values is None else values:
        unit = f" {value.unit}" if value.unit else ""
        error = f"{value.stderr:.3g}" if math.isfinite(value.stderr) else ""
        table.add_row(
            visible(value.what), visible(f"{value.value:.4g}{unit}"), error, f"{value.low:.4g} .. {value.high:.4g}"
        )
    return table


def summary(number: Number, level: float = 0.95) -> list[Value]:
    """Return the mean and, of a distribution, the quartiles."""
    mean = number.mean(level)
    return [mean] if number.scale.goal == MEAN else [mean, *(number.quantile(q, level) for q in QUARTILES)]


def histogram_table(histogram: Histogram, level: float = 0.95) -> Table:
    """Return the shares of cells as a table."""
    table = Table(title="Shares of people", title_justify="left")
    table.add_column("from .. to")
    for heading in ("share", "std. error", f"{100 * level:.4g} % interval"):
        table.add_column(heading, justify="right")
    for label, row in zip(histogram.labels(), histogram.table(level), strict=True):
        table.add_row(
            visible(label), f"{row['share']:.2%}", f"{row['stderr']:.2%}", f"{row['low']:.2%} .. {row['high']:.2%}"
        )
    return table


def number_parts(number: Number, level: float = 0.95) -> list[object]:
    """Return what is shown of a number: mean and quartiles, a histogram, notes."""
    return [*number_tables(number, level), *number_notes(number, level)]


def number_tables(number: Number, level: float = 0.95) -> list[Table]:
    """Return the mean and the quartiles as a table and, of a distribution, a histogram in the order of the cells."""
    if number.scale.goal == MEAN:
        return [summary_table(number, level)]
    wide = sum(start < end for start, end in number.scale.cells)
    return [summary_table(number, level), histogram_table(number.histogram(min(_ROWS, wide)), level)]


def number_notes(number: Number, level: float = 0.95) -> list[str]:
    """Return the notes below a number."""
    notes = [f"{value.what}: {value.note}." for value in summary(number, level)[:2] if value.note]
    return [*notes, *estimate_notes(number)]


def value_notes(number: Number, values: Sequence[Value]) -> list[str]:
    """Return the notes below some figures of a number."""
    return [*dict.fromkeys(f"{value.what}: {value.note}." for value in values if value.note), *estimate_notes(number)]


def rows(number: Number, level: float = 0.95) -> list[dict[str, Json]]:
    """Return the rows of a file: the cells of a distribution, or the mean."""
    if number.scale.goal == MEAN:
        return [value_facts(number.mean(level))]
    histogram = number.histogram()
    shown = zip(histogram.labels(), histogram.table(level), strict=True)
    return [{"label": label, **_plain(row)} for label, row in shown]


def facts(number: Number, level: float = 0.95, values: Sequence[Value] = ()) -> dict[str, Json]:
    """Return a number as JSON: the cells and the CDF of a distribution, the mean and the quartiles."""
    rows: dict[str, Json] = {
        "oracle": describe(number.oracle),
        "eta": float(number.oracle.eta),
        "n": number.n,
        "level": level,
        "method": number.method,
        **watched_facts(number),
        "scale": number.scale.described,
        **figures(number, level),
    }
    return rows | ({"values": [value_facts(value) for value in values]} if values else {})


def figures(number: Number, level: float = 0.95) -> dict[str, Json]:
    """Return the figures of a number: its mean, and of a distribution its quantiles, cells and CDF."""
    mean, *quantiles = summary(number, level)
    scale = number.scale
    known: dict[str, Json] = {"goal": scale.goal, "unit": scale.unit, "low": scale.low, "high": scale.high}
    known |= {"mean": value_facts(mean)}
    if scale.goal == MEAN:
        return known
    cells = number.histogram().table(level)
    return known | {
        "quantiles": [{"q": q, **value_facts(value)} for q, value in zip(QUARTILES, quantiles, strict=True)],
        "cells": [_plain(row) for row in cells],
        "cdf": [_plain(row) for row in number.band(level)],
    }


def _plain(row: object) -> dict[str, Json]:
    names = row.dtype.names  # type: ignore[attr-defined]
    return {name: float(row[name]) for name in names}  # type: ignore[index]


def value_facts(value: Value) -> dict[str, Json]:
    """Return a value as JSON; a standard error that is not known is null."""
    return {
        "what": value.what,
        "value": value.value,
        "stderr": value.stderr if math.isfinite(value.stderr) else None,
        "low": value.low,
        "high": value.high,
        "unit": value.unit,
        "note": value.note,
    }


def as_json(number: Number, level: float = 0.95, values: Sequence[Value] = ()) -> str:
    """Return a number as JSON."""
    return json.dumps(facts(number, level, values), indent=1)


PLAN_NOTES = (
    "Errors are standard errors, for numbers spread evenly: of the share of people up to an edge, the mean over all "
    "edges; and of the mean, as a share of the range.",
    "A report rules out no number for certain (eta 1).",
)


def plan_table(plan: NumberPlan) -> Table:
    """Return a plan as a table, the chosen number of cells marked."""
    title = f"{plan.users:,} users, a number, epsilon {plan.epsilon:g}; * is recommended"
    table = Table(title=title, title_justify="left")
    for heading in ("cells", "width of a cell", "error of the CDF", "error of the mean", "bits"):
        table.add_column(heading, justify="right")
    for row in plan.rows:
        mark = "* " if row.bins == plan.bins else ""
        cdf = "" if plan.goal == MEAN else f"{row.cdf_error:.2%}"
        table.add_row(f"{mark}{row.bins}", f"{row.cell:.2%}", cdf, f"{row.mean_error:.2%}", str(row.bits))
    return table


def plan_sentence(plan: NumberPlan) -> str:
    """Return what to write into a survey, and who is asked what."""
    if plan.goal == MEAN:
        return 'Everybody is asked by one wide wave: number = { low, high, goal = "mean" }.'
    views = ", ".join(f"{share:.0%} {_view(entry)}" for entry, share in plan.views)
    return f"number = {{ low, high, bins = {plan.bins} }}: of the people, chance asks {views}."


def _view(entry: list[int | str]) -> str:
    if entry[0] == "wave":
        return f"by a wave of width {entry[2]}"
    return f"for {entry[2]} cells joined" if entry[0] == "cells" else "for the cell"


def plan_facts(plan: NumberPlan) -> dict[str, Json]:
    """Return a plan as JSON."""
    return {
        "goal": plan.goal,
        "users": plan.users,
        "epsilon": plan.epsilon,
        "eta": 1.0,
        "bins": plan.bins,
        "views": [] if plan.goal == MEAN else [{"view": entry, "share": share} for entry, share in plan.views],
        "rows": [{name: getattr(row, name) for name in row.__dataclass_fields__} for row in plan.rows],
    }
