"""What more reports than this machine holds would take, reckoned from what was measured."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from answers import significant

PROJECTED = (10**9, 10**12)
CLUSTER, TASKS_A_CORE = 100, 4  # cores, and tasks that an engine makes for each


def projected(rows: Sequence[Any]) -> Table:
    """Return a table for each engine at its largest lake: reports times bytes, and reports times seconds of a core."""
    head, *rest = projected_rows(rows)
    table = Table(*head, title=f"Projected from the largest lake, {CLUSTER} cores, {TASKS_A_CORE} tasks a core")
    for row in rest:
        table.add_row(*row)
    return table


def projected_rows(rows: Sequence[Any]) -> list[tuple[str, ...]]:
    """Return the same as text, the head first.

    A task sends one state at most, and there are as many tasks as the cores of the cluster ask for, so the shuffle is
    the same for any number of reports.
    """
    lines = [("engine", "reports", "bytes", "core-hours", f"hours on {CLUSTER} cores", "shuffled at most")]
    for engine in dict.fromkeys(row.engine for row in rows):
        row = max((row for row in rows if row.engine == engine), key=lambda row: row.reports)
        lines += [(engine, f"{reports:,}", *_cells(row, reports)) for reports in PROJECTED]
    return lines


def _cells(row: Any, reports: int) -> tuple[str, ...]:
    hours = reports / row.rate / 3600
    size, shuffled = reports * row.bytes / row.reports, CLUSTER * TASKS_A_CORE * row.state
    return (
        f"{size / 1e9:,.4g} GB",
        significant(hours),
        significant(hours / CLUSTER, 2),
        f"{significant(shuffled / 1e6)} MB",
    )
