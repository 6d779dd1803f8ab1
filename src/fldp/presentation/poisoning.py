"""Results of poisoning attacks: a table, JSON, a picture."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from rich.table import Table

from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Oracle
from fldp.presentation.figure_style import Look, above, named, titled
from fldp.presentation.plot import INK, Axes, Figure, grid, save
from fldp.privacy.honesty.attack_study import AttackOutcome
from fldp.wire.description import describe

_SHARES = np.linspace(0, 0.1, 11)
_FAR = 8  # times the median: what gains more would hide all others


def name(oracle: Oracle) -> str:
    """Return the name of an oracle in a row.

    >>> import fldp
    >>> name(fldp.OUE(1.0, 9)), name(fldp.FHR(1.0, 9)), name(fldp.URR(1.0, 9, sensitive=[3]))
    ('OUE', 'FHR, eta 1/2', 'URR')
    """
    return f"{oracle.title}, eta {oracle.eta}" if analysis(oracle).promise[0] == "FLDP" else oracle.title


def row_name(outcome: AttackOutcome) -> str:
    """Return the name of the attacked oracle, and whether tickets decide the public part of its reports."""
    return name(outcome.oracle) + (", tickets" if outcome.tickets else "")


def outcome_table(outcomes: Iterable[AttackOutcome]) -> Table:
    """Return a table with a row for each attack."""
    table = Table(title="Fake users: what they gain, in shares of all users, and what shows", title_justify="left")
    for heading in ("oracle", "attack"):
        table.add_column(heading)
    for heading in ("one fake\ncounts for", "gain,\nexpected", "gain,\nmeasured", "std.\nerror"):
        table.add_column(heading, justify="right")
    table.add_column("seen in reports by")
    table.add_column("in the tally by")
    for outcome in outcomes:
        table.add_row(
            name(outcome.oracle),
            outcome.attack + (", tickets" if outcome.tickets else ""),
            f"{outcome.leverage:z,.2f}",
            *(_percent(number) for number in (outcome.expected, outcome.measured, outcome.stderr)),
            ", ".join(outcome.in_reports) or "-",
            ", ".join(outcome.in_tally) or "-",
        )
    return table


def _percent(share: float) -> str:
    return f"{100 * share:z,.1f} %"


def as_json(outcomes: Iterable[AttackOutcome], targets: Iterable[int | str]) -> str:
    """Return all attacks as JSON."""
    rows = [
        {
            "oracle": describe(outcome.oracle),
            "eta": float(outcome.oracle.eta),
            "attack": outcome.attack,
            "tickets": outcome.tickets,
            "share": outcome.share,
            "leverage": outcome.leverage,
            "expected": outcome.expected,
            "measured": outcome.measured,
            "stderr": outcome.stderr,
            "seen_in_reports": list(outcome.in_reports),
            "seen_in_tally": list(outcome.in_tally),
        }
        for outcome in outcomes
    ]
    return json.dumps({"targets": list(targets), "attacks": rows}, ensure_ascii=False, indent=1)


def picture(outcomes: list[AttackOutcome], targets: int) -> Figure:
    """Draw the maximal gain against the share of fakes, by kinds of oracles, and the leverage of each attack."""
    kinds = [
        (title, few)
        for title, belongs in _KINDS.items()
        if (few := [outcome for outcome in outcomes if belongs(outcome.oracle)])
    ]
    rows = -(-(len(kinds) + 1) // 2)
    drawn, panels = grid(11.4, 0.5 + 4.9 * rows, rows, 2, above=above(0))
    every = [axes for row in panels for axes in row]
    for axes, (title, few) in zip(every, kinds, strict=False):
        named(axes, title)
        _gains(axes, [outcome for outcome in few if outcome.attack == "maximal-gain"])
    _worths(every[-1], outcomes)
    for axes in every[len(kinds) : -1]:
        axes.set_axis_off()
    sizes = {analysis(outcome.oracle).domain_size or 0 for outcome in outcomes}
    aims = f"{targets} targets of {max(sizes):,} values" if max(sizes) else "cells of a table"
    what = f"{aims}, epsilon {outcomes[0].oracle.epsilon:g}"
    titled(drawn, f"What fake users add to the estimates of their targets: {what}; rings: measured")
    return drawn


def _is_among_strings(oracle: Oracle) -> bool:
    return analysis(oracle).candidates is not None


_KINDS: dict[str, Callable[[Oracle], bool]] = {
    "Plain LDP: maximal gain": lambda oracle: analysis(oracle).promise[0] == "LDP" and not _is_among_strings(oracle),
    "Other promises: maximal gain": lambda oracle: analysis(oracle).promise[0] != "LDP",
    "Strings: maximal gain": _is_among_strings,
}


def _gains(axes: Axes, outcomes: list[AttackOutcome]) -> None:
    """Draw a line for each oracle, dashed where tickets decide masks and seeds; outliers are cut off."""
    ends = [outcome.expected / outcome.share * _SHARES[-1] for outcome in outcomes]
    top = 1.06 * max(_SHARES[-1], *(end for end in ends if end <= _FAR * np.median(ends)))
    for outcome, end in zip(outcomes, ends, strict=True):
        cut = f" (a fake counts for {outcome.leverage:,.0f})" if end > top else ""
        style = {"linestyle": (0, (4, 2)) if outcome.tickets else "-", "label": row_name(outcome) + cut}
        axes.plot(
            _SHARES,
            end * _SHARES / _SHARES[-1],
            **Look(outcome.oracle.name, "linear", outcome.oracle.eta).style(**style),
        )
        axes.plot(
            outcome.share, outcome.measured, "o", markersize=9, markerfacecolor="none", markeredgecolor=INK, zorder=5
        )
    axes.plot(_SHARES, _SHARES, color=INK, linewidth=0.9, linestyle=(0, (1, 2)), label="as honest holders")
    axes.set(
        xlim=(0, _SHARES[-1]), ylim=(0, top), xlabel="share of fake users", ylabel="gain of the targets, of all users"
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda share, _: f"{100 * share:,.0f} %")
    axes.legend(frameon=False, fontsize=8, loc="upper left", ncols=2, handlelength=2.4)


def _worths(axes: Axes, outcomes: list[AttackOutcome]) -> None:
    """Draw a row for each oracle and a mark for each attack."""
    names = list(dict.fromkeys(name(outcome.oracle) for outcome in outcomes))
    for label, (mark, tickets) in _MARKS.items():
        chosen = [
            outcome for outcome in outcomes if outcome.attack == label.partition(",")[0] and outcome.tickets == tickets
        ]
        colours = [Look(outcome.oracle.name, "linear", outcome.oracle.eta).colour for outcome in chosen]
        rows = [names.index(name(outcome.oracle)) for outcome in chosen]
        axes.scatter([outcome.leverage for outcome in chosen], rows, c=colours, marker=mark, s=34, zorder=3)
        axes.scatter([], [], c=INK, marker=mark, s=34, label=label)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    worths = [outcome.leverage for outcome in outcomes]
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


def save_picture(outcomes: list[AttackOutcome], targets: int, path: Path) -> None:
    """Save the picture as PNG or SVG."""
    save(picture(outcomes, targets), path)
