"""Pictures of estimates: one colour for each oracle, everywhere."""

import io
import textwrap
from collections.abc import Sequence
from colorsys import hls_to_rgb
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fldp.data.estimate import Estimate
from fldp.errors import FldpError
from fldp.presentation.tables import label, visible
from fldp.support.atomic_files import open_output
from fldp.support.optional_imports import load
from fldp.support.validation import counted

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.axis
    import matplotlib.figure

Figure: TypeAlias = "matplotlib.figure.Figure"
Axes: TypeAlias = "matplotlib.axes.Axes"
Axis: TypeAlias = "matplotlib.axis.Axis"

COLOURS = {
    "cms": "#0f766e",
    "exponential": "#3d8f8a",
    "fhr": "#2a9d5c",
    "fwr": "#d63aa0",
    "grouped": "#5a5f8c",
    "grr": "#b5545c",
    "hcms": "#a855f7",
    "hr": "#6b4f3a",
    "hrr": "#4fb3bf",
    "idue": "#1f4e79",
    "lwr": "#6d7f2a",
    "olh": "#e07b39",
    "oue": "#3b6fb6",
    "pgr": "#d4a017",
    "rappor": "#be123c",
    "rr": "#7a7a7a",
    "ss": "#8a9a1f",
    "sue": "#8d6cab",
    "urappor": "#c9628e",
    "urr": "#a3371f",
    "wave": "#2f7fb8",
}
INK, FAINT = "#222222", "#b8b8b8"
ACCENT = "#1c7a45"  # of estimates that stand alone, as on the dashboard
MAX_NAME = 40  # characters of a label
MAX_IN_ORDER = 20  # labels that are drawn in the order of the survey


def number_of(name: str, count: int) -> int:
    """Return a number below ``count`` that depends on a name alone."""
    number = 0
    for letter in name:
        number = (number * 31 + ord(letter)) % count
    return number


def colour_of(oracle: str) -> str:
    """Return the colour of an oracle: its own, or one by its name.

    >>> colour_of("grr"), colour_of("mine")
    ('#b5545c', '#9b733b')
    """
    shares = hls_to_rgb(number_of(oracle, 360) / 360, 0.42, 0.45)
    return COLOURS.get(oracle) or "#" + "".join(f"{round(255 * share):02x}" for share in shares)


def literal(text: str) -> str:
    r"""Escape text for matplotlib, where a dollar sign would begin a formula.

    >>> print(literal("from $1 to $2"))
    from \$1 to \$2
    """
    return text.replace("$", r"\$")


def figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure and its axes in the style of all figures; needs the extra ``plot``."""
    drawn, (axes,) = figures(width, height, 1)
    return drawn, axes


def figures(width: float, height: float, panels: int, *, above: float = 0.0) -> tuple[Figure, list[Axes]]:
    """Return a figure and the axes of its panels side by side, with ``above`` inches left free above them."""
    drawn, (every,) = grid(width, height, 1, panels, above=above)
    return drawn, every


def grid(
    width: float, height: float, rows: int, columns: int, *, above: float = 0.0, **sharing: Sequence[float] | str | bool
) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure and the axes of its panels, row by row; ``sharing`` goes to matplotlib's ``subplots``."""
    drawn = _figure_class()(figsize=(width, height), dpi=150, layout="constrained")
    drawn.get_layout_engine().set(rect=(0.005, 0.005, 0.99, 0.99 - above / height))
    every = [list(row) for row in drawn.subplots(rows, columns, squeeze=False, **sharing)]
    for axes in (axes for row in every for axes in row):
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(FAINT)
        axes.tick_params(color=FAINT, labelcolor=INK, labelsize=9)
        axes.grid(axis="y", color=FAINT, linewidth=0.5, alpha=0.6)
        axes.set_axisbelow(True)
    return drawn, every


@cache
def _figure_class() -> Any:
    """Return matplotlib's figures, which a notebook shows also where pyplot is not loaded."""
    return type("Figure", (load("matplotlib.figure", "plot").Figure,), {"_repr_png_": _as_png})


def _as_png(drawn: Figure) -> bytes:
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="png")
    return buffer.getvalue()


def save_bars(
    estimate: Estimate,
    path: Path,
    *,
    truth: ArrayLike | None = None,
    k: int = 20,
    level: float = 0.95,
    title: str | None = None,
) -> None:
    """Save the picture of ``bars``."""
    save(bars(estimate, truth=truth, k=k, level=level, title=title), path)


def bars(
    estimate: Estimate, *, truth: ArrayLike | None = None, k: int = 20, level: float = 0.95, title: str | None = None
) -> Figure:
    """Draw the ``k`` largest estimates as bars with error bars, with the true counts as marks where they are known.

    Up to twenty labels stand in the order of the survey. Where reports are too few, the caption says so.
    """
    rows = estimate.top(k, level)
    is_listed = estimate.labels is not None
    if is_listed and len(rows) == estimate.oracle.domain_size <= MAX_IN_ORDER:
        rows = rows[np.argsort(rows["value"])]
    drawn, axes = _listed(estimate, rows) if is_listed else _numbered(rows)
    _draw(axes, rows, is_listed, None if truth is None else np.asarray(truth)[rows["value"]], level)
    if estimate.note is not None:
        wide = int(13 * drawn.get_size_inches()[0])
        axes.set_xlabel(literal(f"{axes.get_xlabel()}\n{textwrap.fill(estimate.note, wide)}"))
    oracle = estimate.oracle
    reported = f"{counted(estimate.n, 'report')}, {oracle.title} at epsilon {oracle.epsilon:g}, eta {oracle.eta}"
    axes.set_title(literal(title or reported), loc="left", fontsize=10, color=INK)
    axes.legend(frameon=False, fontsize=9)
    return drawn


def _listed(estimate: Estimate, rows: np.ndarray) -> tuple[Figure, Axes]:
    """Return axes for bars that lie beside their labels, the first above."""
    drawn, axes = figure(7.0, 1.6 + 0.32 * len(rows))
    names = [literal(_short(estimate, int(value))) for value in rows["value"]]
    axes.set_yticks(np.arange(len(rows)), names)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x", color=FAINT, linewidth=0.5, alpha=0.6)
    axes.set_xlabel("people")
    axes.xaxis.set_major_formatter(_people)
    return drawn, axes


def _numbered(rows: np.ndarray) -> tuple[Figure, Axes]:
    """Return axes for bars that stand on their numbers."""
    drawn, axes = figure(max(6.0, 1.5 + 0.42 * len(rows)), 4.2)
    axes.set_xticks(
        np.arange(len(rows)), [str(value) for value in rows["value"]], rotation=0 if len(rows) <= 25 else 90
    )
    axes.set_xlabel("value, largest estimate first")
    axes.set_ylabel("people")
    axes.yaxis.set_major_formatter(_people)
    return drawn, axes


def _people(count: float, _: object) -> str:
    return f"{count:,.0f}"


def _draw(axes: Axes, rows: np.ndarray, is_listed: bool, truth: np.ndarray | None, level: float) -> None:
    """Draw bars, their error bars, and the true counts where they are known."""
    places, counts = np.arange(len(rows)), rows["count"]
    reach = [np.maximum(0, counts - rows["low"]), np.maximum(0, rows["high"] - counts)]
    look: dict[str, Any] = {"color": ACCENT, "alpha": 0.85, "label": "estimate"}
    reaching: dict[str, Any] = {"fmt": "none", "color": INK, "capsize": 2.5, "linewidth": 1}
    whiskers = {**reaching, "label": f"{100 * level:.4g} % interval"}
    if is_listed:
        axes.barh(places, counts, height=0.68, **look)
        axes.errorbar(counts, places, xerr=reach, **whiskers)
        axes.axvline(0, color=INK, linewidth=0.8)
    else:
        axes.bar(places, counts, width=0.72, **look)
        axes.errorbar(places, counts, reach, **whiskers)
        axes.axhline(0, color=INK, linewidth=0.8)
    if truth is not None:
        x, y = (truth, places) if is_listed else (places, truth)
        axes.scatter(
            x, y, marker="D", s=16, color="#ffb000", edgecolor=INK, linewidth=0.6, zorder=3, label="true count"
        )


def save(drawn: Figure, path: Path) -> None:
    """Save a figure as PNG or SVG, whole or not at all, the same bytes for the same figure."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("png", "svg"):
        raise FldpError(f"{path}: a picture must end in .png or .svg")
    _settle(drawn)
    with load("matplotlib", "plot").rc_context({"svg.hashsalt": "fldp"}), open_output(str(path)) as file:
        drawn.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})


def _settle(drawn: Figure) -> None:
    """Lay a figure out once and round the positions, since the last digits of the solver differ from run to run."""
    if isinstance(drawn.get_layout_engine(), load("matplotlib.layout_engine", "plot").PlaceHolderLayoutEngine):
        return
    drawn.draw_without_rendering()
    drawn.set_layout_engine("none")
    for axes in drawn.axes:
        left, bottom, width, height = (round(float(edge), 5) for edge in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))


def _short(estimate: Estimate, value: int) -> str:
    text = visible(label(estimate, value))
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"
