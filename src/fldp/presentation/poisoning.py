"""What fake users achieve, as people and machines see it: a table, JSON, a picture."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.string_oracle import Listed
from fldp.presentation.figure_style import Look, above, named, titled
from fldp.presentation.plot import INK, grid, save
from fldp.privacy.honesty.attack_study import AttackOutcome
from fldp.wire.description import describe

_SHARES = np.linspace(0, 0.1, 11)
_FAR = 8  # times the median: what gains more would hide all others


def name(oracle: FrequencyOracle) -> str:
    """Return what to call an oracle in a row.

    >>> import fldp
    >>> name(fldp.OUE(1.0, 9)), name(fldp.FHR(1.0, 9)), name(fldp.URR(1.0, 9, sensitive=[3]))
    ('OUE', 'FHR, eta 1/2', 'URR')
    """
    return f"{oracle.title}, eta {oracle.eta}" if oracle.promise[0] == "FLDP" else oracle.title


def row_name(one: AttackOutcome) -> str:
    """Return what to call the oracle of an attack, with what decides the public part of its reports."""
    return name(one.oracle) + (", tickets" if one.tickets else "")


def outcome_table(found: Iterable[AttackOutcome]) -> Table:
    """Return a row for every attack."""
    table = Table(title="Fake users: what they gain, in shares of all users, and what shows", title_justify="left")
    for heading in ("oracle", "attack"):
        table.add_column(heading)
    for heading in ("one fake\ncounts for", "gain,\nexpected", "gain,\nmeasured", "std.\nerror"):
        table.add_column(heading, justify="right")
    table.add_column("seen in reports by")
    table.add_column("in the tally by")
    for one in found:
        table.add_row(
            name(one.oracle),
            one.attack + (", tickets" if one.tickets else ""),
            f"{round(one.leverage, 2) + 0.0:,.2f}",  # never -0.00
            *(f"{100 * number:,.1f} %" for number in (one.expected, one.measured, one.stderr)),
            ", ".join(one.in_reports) or "-",
            ", ".join(one.in_tally) or "-",
        )
    return table


def as_json(found: Iterable[AttackOutcome], targets: Iterable[int | str]) -> str:
    """Return all attacks as JSON."""
    rows = [
        {
            "oracle": describe(one.oracle),
            "eta": float(one.oracle.eta),
            "attack": one.attack,
            "tickets": one.tickets,
            "share": one.share,
            "leverage": one.leverage,
            "expected": one.expected,
            "measured": one.measured,
            "stderr": one.stderr,
            "seen_in_reports": list(one.in_reports),
            "seen_in_tally": list(one.in_tally),
        }
        for one in found
    ]
    return json.dumps({"targets": list(targets), "attacks": rows}, ensure_ascii=False, indent=1)


def picture(found: list[AttackOutcome], targets: int) -> Any:
    """Draw the maximal gain against the share of fakes, by kinds of oracles, and what every attack is worth."""
    kinds = [
        (title, few) for title, belongs in _KINDS.items() if (few := [one for one in found if belongs(one.oracle)])
    ]
    rows = -(-(len(kinds) + 1) // 2)
    drawn, panels = grid(11.4, 0.5 + 4.9 * rows, rows, 2, above=above(0))
    every = [axes for row in panels for axes in row]
    for axes, (title, few) in zip(every, kinds, strict=False):
        named(axes, title)
        _gains(axes, [one for one in few if one.attack == "maximal-gain"])
    _worths(every[-1], found)
    for axes in every[len(kinds) : -1]:
        axes.set_axis_off()
    sizes = {one.oracle.domain_size for one in found}
    what = f"{targets} targets of {max(sizes):,} values, epsilon {found[0].oracle.epsilon:g}"
    titled(drawn, f"What fake users add to the estimates of their targets: {what}; rings: measured")
    return drawn


_KINDS: dict[str, Callable[[FrequencyOracle], bool]] = {
    "Plain LDP: maximal gain": lambda oracle: oracle.promise[0] == "LDP" and not isinstance(oracle, Listed),
    "Other promises: maximal gain": lambda oracle: oracle.promise[0] != "LDP",
    "Strings: maximal gain": lambda oracle: isinstance(oracle, Listed),
}


def _gains(axes: Any, found: list[AttackOutcome]) -> None:
    """A line for each oracle, dashes where tickets decide masks and seeds; what is far above all others is cut off."""
    ends = [one.expected / one.share * _SHARES[-1] for one in found]
    top = 1.06 * max(_SHARES[-1], *(end for end in ends if end <= _FAR * np.median(ends)))
    for one, end in zip(found, ends, strict=True):
        cut = f" (a fake counts for {one.leverage:,.0f})" if end > top else ""
        style = {"linestyle": (0, (4, 2)) if one.tickets else "-", "label": row_name(one) + cut}
        axes.plot(
            _SHARES, end * _SHARES / _SHARES[-1], **Look(one.oracle.name, "linear", one.oracle.eta).style(**style)
        )
        axes.plot(one.share, one.measured, "o", markersize=9, markerfacecolor="none", markeredgecolor=INK, zorder=5)
    axes.plot(_SHARES, _SHARES, color=INK, linewidth=0.9, linestyle=(0, (1, 2)), label="as honest holders")
    axes.set(
        xlim=(0, _SHARES[-1]), ylim=(0, top), xlabel="share of fake users", ylabel="gain of the targets, of all users"
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda share, _: f"{100 * share:,.0f} %")
    axes.legend(frameon=False, fontsize=8, loc="upper left", ncols=2, handlelength=2.4)


def _worths(axes: Any, found: list[AttackOutcome]) -> None:
    """A row for each oracle, a mark for each attack."""
    names = list(dict.fromkeys(name(one.oracle) for one in found))
    for label, (mark, tickets) in _MARKS.items():
        mine = [one for one in found if one.attack == label.partition(",")[0] and one.tickets == tickets]
        colours = [Look(one.oracle.name, "linear", one.oracle.eta).colour for one in mine]
        rows = [names.index(name(one.oracle)) for one in mine]
        axes.scatter([one.leverage for one in mine], rows, c=colours, marker=mark, s=34, zorder=3)
        axes.scatter([], [], c=INK, marker=mark, s=34, label=label)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    worths = [one.leverage for one in found]
    axes.set_xscale("symlog", linthresh=1, linscale=0.6)
    axes.set_xlim(min(-1.0, 2 * min(worths)), 3 * max(worths))
    axes.xaxis.set_major_formatter(lambda worth, _: f"{worth:,.0f}")
    axes.set_xlabel("honest holders of a target that one fake counts for")
    named(axes, "All attacks")
    axes.legend(frameon=False, fontsize=8, loc="upper right")


_MARKS = {
    "maximal-gain": ("o", False),
    "maximal-gain, tickets": ("D", True),
    "random-item": ("|", False),
    "random-report": ("x", False),
}


def save_picture(found: list[AttackOutcome], targets: int, path: Path) -> None:
    """Save the picture as PNG or SVG."""
    save(picture(found, targets), path)
