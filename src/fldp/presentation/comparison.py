"""Comparison of two estimates, as JSON and as a table."""

from typing import TypedDict

import numpy as np
from rich.table import Table

from fldp.data.estimate import Estimate
from fldp.presentation.tables import label


class Change(TypedDict):
    """How all shares changed, between how many reports; a row has the fields that ``facts`` gives it."""

    n: int
    other_n: int
    level: float
    people: str
    values: int
    changed: int
    rows: list[dict[str, str | float]]


def facts(
    before: Estimate, after: Estimate, level: float, *, people: str = "population", top: int | None = None
) -> Change:
    """Return how every share changed, the clearest change first.

    ``low`` and ``high`` are intervals that all hold at once (Bonferroni); ``p_value`` is adjusted by Holm, and
    ``changed`` is Holm's decision. With probability ``level`` or more, no value is called changed that did not change.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=2.0, domain_size=3)
    >>> before, after = (oracle.estimate(fldp.Tally(oracle, s, 1000)) for s in ([600, 200, 200], [400, 400, 200]))
    >>> change = facts(before, after, 0.95)
    >>> change["changed"], [row["changed"] for row in change["rows"]]
    (2, [True, True, False])
    """
    change = before.compare(after, people=people)
    intervals, p_values = change.interval(level, simultaneous=True), change.adjusted_p_values
    changed = change.significant(level)
    rows: list[dict[str, str | float]] = [
        {
            "value": int(value),
            "label": label(before, int(value)),
            "share": float(before.frequencies[value]),
            "other_share": float(after.frequencies[value]),
            "difference": float(change.difference[value]),
            "low": float(intervals[value, 0]),
            "high": float(intervals[value, 1]),
            "p_value": float(p_values[value]),
            "changed": bool(changed[value]),
        }
        for value in np.argsort(-np.abs(change.z), kind="stable")[:top]
    ]
    count = int(changed.sum())
    return Change(
        n=before.n, other_n=after.n, level=level, people=people, values=len(changed), changed=count, rows=rows
    )


def table(change: Change) -> Table:
    """Return the changes as a table for people."""
    columns = Table(title=f"{change['changed']:,} of {change['values']:,} values changed", title_justify="left")
    columns.add_column("value")
    level = f"{100 * change['level']:.4g} % interval"
    for heading in ("before", "after", "difference", level, "p-value", "changed"):
        columns.add_column(heading, justify="right")
    for row in change["rows"]:
        columns.add_row(
            str(row["label"]),
            f"{row['share']:.3%}",
            f"{row['other_share']:.3%}",
            f"{row['difference']:+.3%}",
            f"{row['low']:+.3%} .. {row['high']:+.3%}",
            f"{row['p_value']:.3g}",
            "yes" if row["changed"] else "may be chance",
        )
    return columns


def notes(change: Change) -> list[str]:
    """Return what the numbers of a comparison mean."""
    of = "everybody who could have reported" if change["people"] == "population" else "the people who reported"
    return [
        f"{change['n']:,} reports before, {change['other_n']:,} after. About {of}.",
        "Intervals hold for all values at once (Bonferroni). P-values are adjusted for the number of values (Holm), "
        f"so the chance that any value is wrongly called changed is at most {1 - change['level']:.3g}.",
    ]
