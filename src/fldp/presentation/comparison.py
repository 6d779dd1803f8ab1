"""Comparison of two estimates, as JSON and as a table."""

from typing import Any, NotRequired, TypedDict

import numpy as np
from rich.table import Table

from fldp.data.comparison import Comparison
from fldp.data.estimate import Estimate
from fldp.presentation.interval_notes import CONDITIONS, watched_facts
from fldp.presentation.tables import visible
from fldp.support.canonical_json import Json
from fldp.support.validation import counted


class Change(TypedDict):
    """How all shares changed, between how many reports; a row has the fields that ``facts`` gives it."""

    anytime: NotRequired[Json]
    question: NotRequired[str]
    n: NotRequired[int]
    other_n: NotRequired[int]
    level: float
    people: str
    values: int
    changed: int
    rows: list[dict[str, str | float]]


def facts(
    before: Estimate,
    after: Estimate,
    level: float,
    *,
    people: str = "population",
    top: int | None = None,
    anytime: int | None = None,
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
    return facts_of(before.compare(after, people=people, anytime=anytime), level, top)


def facts_of(change: Comparison, level: float, top: int | None = None) -> Change:
    """Return the facts of a comparison that is made; what it does not know of the two estimates is left out."""
    columns = change._columns(level)
    names = [name for name in columns if name != "stderr"]
    shown = np.argsort(-np.abs(change.z), kind="stable")[:top]
    rows = [{name: _plain(columns[name][value]) for name in names} for value in shown]
    if change.labels is None:
        rows = [{"value": row.pop("value"), "label": str(value), **row} for row, value in zip(rows, shown, strict=True)]
    count = int(change.significant(level).sum())
    facts = Change(level=level, people=change.people, values=len(change.z), changed=count, rows=rows)
    if change.n is not None:
        facts = Change(n=change.n[0], other_n=change.n[1], **facts)
    return facts | Change(**watched_facts(change))  # type: ignore[typeddict-item, no-any-return]


def _plain(cell: Any) -> str | float:
    plain: str | float = cell.item() if isinstance(cell, np.generic) else cell
    return plain


_COLUMNS = {
    "share": ("before", "{:.3%}"),
    "other_share": ("after", "{:.3%}"),
    "difference": ("difference", "{:+.3%}"),
    "p_value": ("p-value", "{:.3g}"),
}


def table(change: Change) -> Table:
    """Return the changes as a table for people."""
    columns = Table(title=f"{change['changed']:,} of {change['values']:,} values changed", title_justify="left")
    known = {name: shown for name, shown in _COLUMNS.items() if change["rows"] and name in change["rows"][0]}
    columns.add_column("value")
    for name, (heading, _) in known.items():
        if name == "p_value":
            columns.add_column(f"{100 * change['level']:.4g} % interval", justify="right")
        columns.add_column(heading, justify="right")
    columns.add_column("changed", justify="right")
    for row in change["rows"]:
        *shares, p_value = (form.format(row[name]) for name, (_, form) in known.items())
        interval = f"{row['low']:+.3%} .. {row['high']:+.3%}"
        changed = "yes" if row["changed"] else "may be chance"
        columns.add_row(visible(str(row["label"])), *shares, interval, p_value, changed)
    return columns


def notes(change: Change) -> list[str]:
    """Return what the numbers of a comparison mean."""
    of = "everybody who could have reported" if change["people"] == "population" else "the people who reported"
    count = f"{counted(change['n'], 'report')} before, {change['other_n']:,} after. " if "n" in change else ""
    return [
        f"{count}About {of}. Differences are in percentage points.",
        "Intervals hold for all values at once (Bonferroni). P-values are adjusted for the number of values (Holm), "
        f"so the chance that any value is wrongly called changed is at most {1 - change['level']:.3g}.",
        *([f"They hold whenever you look. {CONDITIONS}"] if "anytime" in change else []),
    ]
