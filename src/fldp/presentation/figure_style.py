"""Style of a series in figures: the colour and the mark stand for the oracle, the line for eta and decoder."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fldp.oracles import get
from fldp.presentation.plot import INK, Axes, Axis, Figure, colour_of, number_of
from fldp.support.optional_imports import load

MARKS = {
    "fhr": "o",
    "fwr": "D",
    "grouped": "P",
    "grr": "X",
    "hr": "<",
    "hrr": ">",
    "olh": "^",
    "oue": "s",
    "pgr": "v",
    "ss": "p",
    "sue": "h",
}
SPARE_MARKS = "*dH8"  # for all others, by their names
WIDTHS = {"oue": 2.6, "olh": 1.2, "pgr": 2.0}  # thin on wide, where lines lie on each other


@dataclass(frozen=True)
class Look:
    """Colour, line, mark and name of a series."""

    oracle: str
    decoder: str
    eta: Fraction

    @property
    def colour(self) -> str:
        """The colour of the oracle, the same everywhere."""
        return colour_of(self.oracle)

    @property
    def line(self) -> str:
        """Solid for plain LDP, dashed for a smaller eta, dotted for the paper's decoder."""
        if self.eta == 1:
            return "-"
        return ":" if self.decoder == "paper" else "--"

    @property
    def mark(self) -> str:
        """The mark of the oracle: its own, or one by its name."""
        return MARKS.get(self.oracle) or SPARE_MARKS[number_of(self.oracle, len(SPARE_MARKS))]

    @property
    def width(self) -> float:
        """The width of the line."""
        return 2.2 if self.decoder == "paper" else WIDTHS.get(self.oracle, 1.6)

    @property
    def label(self) -> str:
        """The name in a legend, with the eta.

        >>> Look("fhr", "paper", Fraction(1, 2)).label, Look("oue", "linear", Fraction(1)).label
        ('FHR as published, eta 1/2', 'OUE, eta 1')
        """
        how = {"paper": " as published", "full": ", full decoder"}.get(self.decoder, "")
        return f"{get(self.oracle).__name__}{how}, eta {self.eta}"

    def style(self, **more: object) -> dict[str, Any]:
        """Return the arguments of matplotlib's ``plot`` for a line with marks."""
        own = {"color": self.colour, "linestyle": self.line, "linewidth": self.width}
        mark = {
            "marker": self.mark,
            "markersize": 5.5 if self.mark in "PX" else 4.2,
            "markeredgewidth": 0.8,
            "markeredgecolor": "white",
        }
        return own | mark | {"zorder": 3 - self.width / 10, "label": self.label} | more

    def plain(self, **more: object) -> dict[str, Any]:
        """Return the arguments of ``plot`` for the line alone, without a name."""
        return self.style(marker="", label="_") | more


TITLE, LINE = 0.34, 0.21  # inches above the panels: for the title, for each line of the legend


def above(lines: int) -> float:
    """Return the height in inches of a title and the lines of a legend."""
    return TITLE + LINE * lines


def titled(figure: Figure, title: str) -> None:
    """Put a title above everything."""
    figure.suptitle(title, x=0.01, y=1 - 0.07 / figure.get_figheight(), ha="left", va="top", fontsize=10.5, color=INK)


def legend(figure: Figure, axes: Axes, lines: int = 1) -> None:
    """Put the legend of a panel under the title, in ``lines`` lines."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        loc="upper left",
        bbox_to_anchor=(0.01, 1 - TITLE / figure.get_figheight()),
        ncols=-(-len(names) // lines),
        frameon=False,
        fontsize=9,
        borderpad=0,
        borderaxespad=0,
        handlelength=2.6,
        columnspacing=1.5,
    )


def named(axes: Axes, text: str) -> None:
    """Put a title above a panel."""
    axes.set_title(text, loc="left", fontsize=9.5, color=INK)


def plain(tick: float) -> str:
    """Return a number as a tick shows it.

    >>> plain(10_000.0), plain(0.01), plain(0.0001)
    ('10,000', '0.01', '1e-04')
    """
    if tick >= 1000:
        return f"{tick:,.0f}"
    return f"{tick:g}" if tick >= 0.00015 else f"{tick:.0e}"


def logarithmic(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers: powers of ten; and 2 and 5 of each, where it has few of them."""
    low, high = sorted(axis.get_view_interval())
    few = high / low < 100
    axis.set_major_locator(load("matplotlib.ticker", "plot").LogLocator(subs=(1, 2, 5) if few else (1,)))
    axis.set_major_formatter(lambda tick, _: plain(float(tick)))
    axis.set_minor_formatter(lambda *_: "")
