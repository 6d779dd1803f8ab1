"""A plan: a table, what a target error needs, JSON, a picture."""

import json
import re
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path

from rich import box
from rich.table import Table

from fldp.errors import ParameterError
from fldp.estimation.expected_error import curve
from fldp.estimation.planner import LEVEL, Plan, Row
from fldp.estimation.power import people_needed, users_needed_anytime
from fldp.estimation.string_planner import StringRow
from fldp.oracles.base.memoization import lasting_epsilon
from fldp.oracles.base.ticket_words import can_derive
from fldp.oracles.exposure import exposure
from fldp.presentation.card import crowd_facts
from fldp.presentation.plot import INK, colour_of, figure, save
from fldp.presentation.tables import screen_width
from fldp.support.canonical_json import Json
from fldp.wire.description import describe

_CROWD_NOTE = "Crowd: the epsilon towards those who see only totals of these users, half of them honest (fldp shuffle)."
_NOTES = (
    "Errors are standard errors of a count, as shares of all users; the mean is over all values, root of the squares.",
    f"Seen from: the smallest frequency whose {100 * LEVEL:.0f} % interval (two-sided) lies above zero.",
    "Plain eps: the epsilon at which plain LDP (OUE) has the same error of a rare value.",
    "Ruled out: how many values a report can exclude for certain.",
    "Which estimate: the unbiased one for one value, the top or a sum. For all shares at once, --post bayes from 100 "
    "values on and --post norm-sub below; both are biased.",
)
_WIDE = 118  # characters, of the table with lines and all columns but the crowd
_CROWD = {False: 84, True: 127}  # with the crowd, without lines and with them
HEADINGS = (
    "error,\nrare", "error,\n1 % item", "error,\nmean", "seen\nfrom", "bits", "eps", "eta", "plain\neps", "ruled\nout",
)  # fmt: skip


def plan_notes() -> list[str]:
    """Return what the columns mean that this screen has room for."""
    return [*_NOTES, *([_CROWD_NOTE] if _has_crowd() else [])]


def _has_crowd() -> bool:
    return screen_width() >= _CROWD[screen_width() >= _WIDE]


def plan_table(plan: Plan) -> Table:
    """Return a table of the oracles, with the recommended one marked; without the server's work on a narrow screen."""
    title = f"{plan.users:,} users, {plan.domain_size:,} values, epsilon {plan.epsilon:g}; * is recommended"
    table, wide = _table(title, *HEADINGS), screen_width() >= _WIDE
    crowd = _has_crowd()
    if crowd:
        table.add_column("crowd", justify="right")
    if wide:
        table.add_column("server")
    else:
        table.box, table.padding = box.SIMPLE_HEAD, (0, 0)
    for row in plan.rows:
        ruled_out = plan.domain_size - row.anonymity
        table.add_row(
            _marked(plan, row),
            *(_percent(share) for share in (row.error_rare, row.error_frequent, row.error_mean, row.detectable)),
            f"{row.bits:,}",
            f"{row.epsilon:g}",
            str(row.eta),
            f"{row.plain_epsilon:.3g}",
            f"up to {ruled_out:,}" if ruled_out else "nothing",
            *([_crowd(row)] if crowd else []),
            *([row.server_work] if wide else []),
            style=_style(plan, row),
        )
    return table


STRING_NOTES = (
    "Errors are standard errors of the share of a string, the largest that they can be, whatever others answer.",
    f"Seen from: the smallest share whose {100 * LEVEL:.0f} % interval (two-sided) lies above zero.",
)


def string_table(rows: list[StringRow]) -> Table:
    """Return a table of the oracles over strings; the first is recommended."""
    best = rows[0]
    title = f"{best.users:,} users, strings, epsilon {best.oracle.epsilon:g}; * is recommended"
    table = _table(title, "error,\nrare", "seen\nfrom", "bits", "eta")
    for row in rows:
        shares = (_percent(share) for share in (row.error_rare, row.detectable))
        mark, bits = "*" if row is best else " ", f"{row.oracle.report_format.bits:,}"
        table.add_row(f"{mark} {row.oracle.name}", *shares, bits, str(row.oracle.eta))
    return table


@dataclass(frozen=True)
class Sought:
    """A change to be seen with some probability, of a share, at one look or at any time."""

    power: float
    change: float
    share: float
    anytime: bool

    def people(self, row: Row) -> int:
        """Return how many people an oracle needs in each of two groups."""
        return people_needed(row.oracle, self.change, power=self.power, share=self.share, anytime=self.anytime)


def power_table(plan: Plan, sought: Sought) -> Table:
    """Return a table of the people that each oracle needs to show a change."""
    table = _table(f"To see a change of {_percent(sought.change)} with probability {sought.power:g}", "in each group")
    for row in plan.rows:
        if row.is_default:
            table.add_row(_marked(plan, row), f"{sought.people(row):,}", style=_style(plan, row))
    return table


def power_note(sought: Sought) -> str:
    """Return what the numbers of people rest on."""
    looks = "with looks at any time" if sought.anytime else "at one look, decided beforehand"
    return (
        f"People in each of two groups, drawn at random, for one value that was named beforehand and has a share of "
        f"{_percent(sought.share)}, {looks}, at {100 * LEVEL:.0f} % (two-sided)."
    )


def needs_table(plan: Plan, error: float, *, anytime: bool = False) -> Table:
    """Return a table of the users or the epsilon that each oracle needs for an error."""
    looks = " with looks at any time" if anytime else ""
    table = _table(f"What it takes for {_percent(error)}, rare values{looks}", "users", "or epsilon")
    for row in plan.rows:
        needs = _needs(row, error, anytime=anytime)
        epsilon = "none is enough" if needs["epsilon_needed"] is None else f"{needs['epsilon_needed']:.3g}"
        epsilon = "-" if anytime else epsilon
        table.add_row(_marked(plan, row), f"{needs['users_needed']:,}", epsilon, style=_style(plan, row))
    return table


_NEEDY = re.compile(r"(\w+): needs (.+), which a plan does not have")


def skipped_notes(plan: Plan) -> list[str]:
    """Return why some oracles are not in the table; those that lack a parameter share one line."""
    matches = [(_NEEDY.fullmatch(reason), reason) for reason in plan.skipped.values()]
    needy = ", ".join(f"{match[1]} ({match[2]})" for match, _ in matches if match)
    others = [f"Left out: {reason}" for match, reason in matches if not match]
    return [*others, f"Left out, because a plan does not have their parameters: {needy}"] if needy else others


def as_json(plan: Plan, error: float | None, sought: Sought | None = None, *, anytime: bool = False) -> str:
    """Return a plan as JSON, with what a target error or a change to be seen needs if one is given."""

    def needs(row: Row) -> dict[str, Json]:
        errors = {} if error is None else _needs(row, error, anytime=anytime)
        return errors if sought is None else {**errors, "people_needed": sought.people(row)}

    facts = {
        "domain_size": plan.domain_size,
        "users": plan.users,
        "epsilon": plan.epsilon,
        "eta": plan.eta,
        **plan.treatment.parameters,
        **({} if plan.epsilon_permanent is None else {"epsilon_permanent": plan.epsilon_permanent}),
        "level": LEVEL,
        "reason": plan.reason,
        "rows": [_facts(plan, row) | needs(row) for row in plan.rows],
        "skipped": dict(plan.skipped),
    }
    more: dict[str, Json] = {} if error is None else {"target_error": error}
    more |= {} if sought is None else {"sought": asdict(sought)}
    return json.dumps(facts | more, ensure_ascii=False, indent=1)


def save_curves(plan: Plan, path: Path) -> None:
    """Save the error of a rare value against epsilon, one colour for each oracle, as PNG or SVG."""
    drawn, axes = figure(7.5, 4.8)
    low, high = min(0.1, plan.epsilon), max(8.0, plan.epsilon)
    for row, width in zip(plan.rows, cycle((1.3, 3.6, 2.4)), strict=False):  # thin on wide: none hides another
        x, y = zip(*(point for point in _curve(row) if low / 1.2 <= point[0] <= high * 1.2), strict=True)
        axes.plot(x, y, _line(row), color=_colour(row), linewidth=width, zorder=3 - width / 10, label=_label(row))
    best = plan.recommended
    axes.axvline(plan.epsilon, color=INK, linewidth=0.7, zorder=1)
    axes.plot(
        plan.epsilon, best.error_rare, "o", color=_colour(best), markeredgecolor=INK, zorder=4, label="recommended"
    )
    axes.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="standard error, share of users", xlim=(low, high))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda number, _: f"{number:g}")
        axis.set_minor_formatter(lambda *_: "")
    axes.set_xticks([tick for tick in (0.1, 0.2, 0.5, 1, 2, 4, 8) if low <= tick <= high])
    title = f"A rare value: {plan.users:,} users, {plan.domain_size:,} values. Solid: plain LDP; the others are weaker"
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1, 0.5))
    save(drawn, path)


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("oracle")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def _marked(plan: Plan, row: Row) -> str:
    return f"{'*' if row == plan.recommended else ' '} {row.name}"


def _style(plan: Plan, row: Row) -> str | None:
    return "bold" if row == plan.recommended else None


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.3g} %"


def _facts(plan: Plan, row: Row) -> dict[str, Json]:
    crowd = row.crowd
    return {
        "oracle": describe(row.oracle),
        "decoder": row.decoder,
        "eligible": row in plan.eligible,
        "recommended": row == plan.recommended,
        "shortest": row == plan.shortest,
        "error_rare": row.error_rare,
        "error_frequent": row.error_frequent,
        "error_mean": row.error_mean,
        "detectable": row.detectable,
        "reach": row.reach,
        "bits": row.bits,
        "client_words": row.words,
        "server_work": row.server_work,
        "epsilon": row.epsilon,
        "eta": float(row.eta),
        "anonymity": row.anonymity,
        "plain_epsilon": row.plain_epsilon,
        **({} if plan.epsilon_permanent is None else {"lasting_epsilon": lasting_epsilon(row.oracle)}),
        "exposure": exposure(row.oracle),
        "derives": can_derive(row.oracle),
        "crowd": None if crowd is None else crowd_facts(crowd),
    }


def _crowd(row: Row) -> str:
    if row.eta < 1:
        return "nothing"
    return "-" if row.crowd_epsilon is None else f"{row.crowd_epsilon:.2g}"


def _needs(row: Row, error: float, *, anytime: bool = False) -> dict[str, Json]:
    users = users_needed_anytime(row.oracle, error, row.decoder) if anytime else row.users_needed(error)
    if anytime:
        return {"users_needed": users, "epsilon_needed": None}
    try:
        return {"users_needed": users, "epsilon_needed": row.epsilon_needed(error)}
    except ParameterError:
        return {"users_needed": users, "epsilon_needed": None}


def _curve(row: Row) -> list[tuple[float, float]]:
    oracle, eta = row.oracle, row.oracle.eta
    return list(curve(oracle.name, oracle.domain_size, row.users, eta=eta, decoder=row.decoder, **row.parameters))


def _colour(row: Row) -> str:
    return colour_of(row.oracle.name)


def _line(row: Row) -> str:
    if row.eta == 1:
        return "-"
    return "--" if row.is_default else ":"


def _label(row: Row) -> str:
    return row.name if row.eta == 1 else f"{row.name}, eta {row.eta}"
