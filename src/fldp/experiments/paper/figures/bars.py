"""The complexity table as a picture: bits of a report, time of the client, time of the server, all measured."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fldp.experiments.paper.costs import Cost, duration
from fldp.experiments.paper.evidence import Evidence
from fldp.presentation.figure_style import above, named, titled
from fldp.presentation.plot import INK, Figure, colour_of, figures


def label(cost: Cost) -> str:
    """Return what to call an oracle, with its eta."""
    return f"{cost.oracle.title}, eta {cost.oracle.eta}"


def costs(evidence: Evidence) -> Figure:
    """Draw three panels of bars on logarithmic scales, the cheapest server at the top."""
    rows = sorted(evidence.costs, key=lambda cost: -cost.server)
    figure, panels = figures(10.4, 1.6 + 0.27 * len(rows), 3, above=above(0))
    users = rows[0].users
    bits = [cost.bits for cost in rows]
    client = [1e9 * cost.client / users for cost in rows]
    server = [1e3 * cost.server for cost in rows]
    _bars(panels[0], rows, bits, [f"{each:,}" for each in bits], "bits of a report")
    _bars(panels[1], rows, client, [duration(each / 1e9) for each in client], "client, for a report")
    _bars(
        panels[2],
        rows,
        server,
        [duration(each / 1e3) for each in server],
        f"server, for {users:,} reports",
    )
    for axes in panels[1:]:
        axes.set_yticklabels([])
    setting = f"{rows[0].oracle.domain_size:,} values, epsilon {evidence.epsilon:g}"
    titled(figure, f"What a report costs: {setting}; one core, in a batch, logarithmic scales")
    return figure


def _bars(axes: Any, rows: list[Cost], lengths: Sequence[float], texts: list[str], name: str) -> None:
    places, colours = np.arange(len(rows)), [colour_of(cost.oracle.name) for cost in rows]
    least, most = min(lengths), max(lengths)
    axes.barh(places, lengths, color=colours, alpha=0.85, height=0.72)
    axes.set(xscale="log", xlim=(least / 3, most * 8))
    for place, length, text in zip(places, lengths, texts, strict=True):
        axes.annotate(text, (length, place), (4, 0), textcoords="offset points", va="center", fontsize=8.5, color=INK)
    axes.set_yticks(places, [label(cost) for cost in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.set_xticks([], minor=True)
    axes.spines["bottom"].set_visible(False)
    named(axes, name)
