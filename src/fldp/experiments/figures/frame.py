"""What stands around the panels of a figure: a title, a legend above them, ticks that people can read."""

from typing import Any

from fldp.extras import load
from fldp.plot import INK

TITLE, LINE = 0.34, 0.21  # inches above the panels: for the title, for each line of the legend


def above(lines: int) -> float:
    """Return the inches that a title and so many lines of a legend take."""
    return TITLE + LINE * lines


def titled(figure: Any, title: str) -> None:
    """Put a title above everything."""
    figure.suptitle(title, x=0.01, y=1 - 0.07 / figure.get_figheight(), ha="left", va="top", fontsize=10.5, color=INK)


def legend(figure: Any, axes: Any, lines: int = 1) -> None:
    """Put the legend of a panel under the title, in so many lines."""
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


def named(axes: Any, text: str) -> None:
    """Say what a panel shows."""
    axes.set_title(text, loc="left", fontsize=9.5, color=INK)


def plain(tick: float) -> str:
    """Return a number as a tick shows it.

    >>> plain(10_000.0), plain(0.01), plain(0.0001)
    ('10,000', '0.01', '1e-04')
    """
    if tick >= 1000:
        return f"{tick:,.0f}"
    return f"{tick:g}" if tick >= 0.00015 else f"{tick:.0e}"


def logarithmic(axis: Any) -> None:
    """Label a logarithmic axis with plain numbers: powers of ten; and 2 and 5 of each, where it has few of them."""
    low, high = sorted(axis.get_view_interval())
    few = high / low < 100
    axis.set_major_locator(load("matplotlib.ticker", "plot").LogLocator(subs=(1, 2, 5) if few else (1,)))
    axis.set_major_formatter(lambda tick, _: plain(float(tick)))
    axis.set_minor_formatter(lambda *_: "")
