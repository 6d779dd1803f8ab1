"""What fake users achieve, as people and machines see it: a table, JSON, a picture."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from fldp.derived import can_derive
from fldp.experiments.figures.frame import above, legend, named, titled
from fldp.experiments.figures.look import Look
from fldp.oracle import FrequencyOracle
from fldp.plot import INK, figures, save
from fldp.privacy.poisoning import gain, leverage
from fldp.privacy.poisoning.measure import Outcome
from fldp.wire import describe

_SHARES = np.linspace(0, 0.1, 11)


def name(oracle: FrequencyOracle) -> str:
    """Return what to call an oracle in a row."""
    return oracle.title if oracle.eta == 1 else f"{oracle.title}, eta {oracle.eta}"


def outcome_table(found: Iterable[Outcome]) -> Table:
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
            f"{one.leverage:.2f}",
            *(f"{100 * number:.1f} %" for number in (one.expected, one.measured, one.stderr)),
            ", ".join(one.in_reports) or "-",
            ", ".join(one.in_tally) or "-",
        )
    return table


def as_json(found: Iterable[Outcome], targets: Any) -> str:
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
    return json.dumps({"targets": [int(target) for target in targets], "attacks": rows}, ensure_ascii=False, indent=1)


def picture(oracles: list[FrequencyOracle], found: list[Outcome], targets: Any) -> Any:
    """Draw the maximal gain against the share of fakes: what is public chosen by them, and decided by tickets."""
    drawn, (left, right) = figures(10.4, 5.2, 2, above=above(2))
    for axes, tickets in ((left, False), (right, True)):
        for oracle in oracles:
            _line(axes, oracle, targets, tickets=tickets)
        _marks(axes, [one for one in found if one.attack == "maximal-gain" and one.tickets == tickets])
        axes.plot(_SHARES, _SHARES, color=INK, linewidth=0.9, linestyle=(0, (1, 2)), label="as honest holders")
        axes.set(xlim=(0, 0.1), ylim=(0, None), xlabel="share of fake users")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    right.set_ylim(left.get_ylim())
    left.set_ylabel("gain of the targets, of all users")
    named(left, "Fakes choose masks and hash seeds")
    named(right, "Tickets decide masks and hash seeds, where they can")
    one = oracles[0]
    what = f"{len(targets)} targets of {one.domain_size:,} values, epsilon {one.epsilon:g}; rings: measured"
    titled(drawn, f"Maximal gain attack: what fake users add to the estimates of their targets. {what}")
    legend(drawn, left, 2)
    return drawn


def _line(axes: Any, oracle: FrequencyOracle, targets: Any, *, tickets: bool) -> None:
    """Where tickets change nothing, the line stays as it is, and fades."""
    look = Look(oracle.name, "linear", oracle.eta)
    lever = leverage(oracle, targets, tickets=tickets and can_derive(oracle))
    faded = 0.25 if tickets and not can_derive(oracle) else 1.0
    axes.plot(_SHARES, [gain(share, lever) for share in _SHARES], **look.style(alpha=faded, label=name(oracle)))


def _marks(axes: Any, found: list[Outcome]) -> None:
    for one in found:
        axes.plot(one.share, one.measured, "o", markersize=9, markerfacecolor="none", markeredgecolor=INK, zorder=5)


def save_picture(oracles: list[FrequencyOracle], found: list[Outcome], targets: Any, path: Path) -> None:
    """Save the picture as PNG or SVG."""
    save(picture(oracles, found, targets), path)
