"""The paper's figure of the notions, drawn from laws that keep them.

``python -m fldp.experiments.paper.figures.notions FILE`` saves it.
"""

import sys
from collections.abc import Hashable
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

from fldp.oracles import FHR, GRR, IDUE, RR, URR, Exponential
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Law
from fldp.oracles.base.profile import Profile
from fldp.presentation.figure_style import TITLE, named, titled
from fldp.presentation.plot import FAINT, INK, Figure, grid, save
from fldp.privacy.laws import laws_of
from fldp.privacy.verifier import verify
from fldp.support.optional_imports import load

_WHOLE, _PART = "#3b6fb6", "#c0562f"
_MOST = 2.5  # the epsilon that is darkest


@dataclass(frozen=True)
class NotionPanel:
    """A notion, a law that keeps it, and what its inputs are called."""

    name: str
    law: FrequencyOracle | tuple[FrequencyOracle, ...]
    inputs: tuple[str, ...]

    @property
    def rows(self) -> list[Law]:
        """The law, a row for each input."""
        return [row[0] for row in laws_of(self.law, None).rows]

    @property
    def outputs(self) -> list[Hashable]:
        """All outputs, in their order."""
        return sorted({report for row in self.rows for report in row}, key=str)


def panels() -> list[NotionPanel]:
    """Return the notions of the paper's figure, and ULDP, which its text names.

    >>> [panel.name for panel in panels()]
    ['LDP', 'PLDP', 'CLDP', 'ID-LDP', 'ULDP', 'FLDP']
    """
    four = ("x1", "x2", "x3", "x4")
    users = tuple(f"{user} {x}" for user in ("u1", "u2") for x in ("x1", "x2"))
    return [
        NotionPanel("LDP", GRR(1.0, 4), four),
        NotionPanel("PLDP", (RR(0.5), RR(2.0)), users),
        NotionPanel("CLDP", Exponential(3.0, 4, distance="line"), four),
        NotionPanel("ID-LDP", IDUE(2.0, 3, budgets=((0, 0.5),), balance=850), four[:3]),
        NotionPanel("ULDP", URR(1.0, 4, sensitive=(0, 1)), four),
        NotionPanel("FLDP", FHR(1.0, 3, allow_exposure=True), four[:3]),
    ]


def draw() -> Figure:
    """Return the figure: above who can produce what, below what any two inputs are protected by."""
    every = panels()
    figure, (above, below) = grid(11.5, 5.4, 2, len(every), above=TITLE, height_ratios=(1.35, 1))
    for panel, graph, table in zip(every, above, below, strict=True):
        _draw_law(graph, panel)
        _draw_pairs(table, panel)
    titled(
        figure,
        "Inputs x (of users u), outputs s: dark lines are likely. Below, the epsilon of two inputs; orange: they share "
        "only that part; hatched: nothing",
    )
    return figure


def _draw_law(axes: Any, panel: NotionPanel) -> None:
    outputs, rows = panel.outputs, panel.rows
    most = max(float(share) for row in rows for share in row.values())
    left, right = _places(len(rows)), _places(len(outputs))
    for y, row in zip(left, rows, strict=True):
        for report, share in row.items():
            strength = float(share) / most
            end = right[outputs.index(report)]
            axes.plot([0, 1], [y, end], color=_WHOLE, alpha=0.12 + 0.8 * strength, linewidth=0.5 + 1.6 * strength)
    axes.scatter([0] * len(left), left, s=26, color=INK, zorder=3)
    axes.scatter([1] * len(right), right, s=12 if len(right) > 6 else 26, color="white", edgecolor=INK, zorder=3)
    for y, name in zip(left, panel.inputs, strict=True):
        axes.text(-0.1, y, name, ha="right", va="center", fontsize=9, color=INK)
    for k, y in enumerate(right if len(right) <= 6 else ()):
        axes.text(1.1, y, f"s{k + 1}", ha="left", va="center", fontsize=9, color=INK)
    if len(right) > 6:
        axes.text(1.1, 0.5, f"{len(right)}\noutputs", ha="left", va="center", fontsize=8, color=INK)
    axes.set(xlim=(-0.55, 1.6), ylim=(-0.06, 1.06))
    axes.axis("off")
    named(axes, panel.name)


def _places(count: int) -> list[float]:
    """Return heights from the top to the bottom."""
    return [1 - k / (count - 1) for k in range(count)]


def _draw_pairs(axes: Any, panel: NotionPanel) -> None:
    subject = list(panel.law) if isinstance(panel.law, tuple) else panel.law
    profiles, size = verify(subject).profiles, len(panel.inputs)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal")
    for (one, two), profile in profiles.items():
        _draw_cell(axes, one, two, profile)
    short = [name.replace(" ", "\n") if " " in name else name for name in panel.inputs]
    axes.set_xticks(range(size), short, fontsize=8)
    axes.set_yticks(range(size), panel.inputs, fontsize=8)
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)


def _draw_cell(axes: Any, one: int, two: int, profile: Profile) -> None:
    """Write the epsilon of a pair, and below it what they share by probability where that is not all."""
    epsilon, shared = log(profile.ratio), float(profile.shared_mass)
    patch = {"edgecolor": "white", "linewidth": 1.2}
    if shared == 0:
        axes.add_patch(_square(one, two, facecolor="white", hatch="////", **patch | {"edgecolor": FAINT}))
        return
    colour = _WHOLE if shared == 1 else _PART
    axes.add_patch(_square(one, two, facecolor=colour, alpha=0.12 + 0.6 * min(1.0, epsilon / _MOST), **patch))
    text = f"{epsilon:.2g}" if shared == 1 else f"{epsilon:.2g}\n{100 * shared:.0f} %"
    axes.text(two, one, text, ha="center", va="center", fontsize=7, color=INK, linespacing=0.95)


def _square(one: int, two: int, **style: Any) -> Any:
    return load("matplotlib.patches", "plot").Rectangle((two - 0.5, one - 0.5), 1, 1, **style)


def main(path: str) -> None:
    """Draw the figure and save it."""
    save(draw(), Path(path))


if __name__ == "__main__":
    main(sys.argv[1])
