"""What the shell says about a number: its figures, its histogram, and plans for one."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from fldp.errors import ParameterError

if TYPE_CHECKING:
    from fldp.data.number import Number, Value

Mean = Annotated[bool, typer.Option("--mean", help="A number: its mean.")]
Quantile = Annotated[
    list[float] | None,
    typer.Option("--quantile", help="A number: what this share of people is at or below, such as 0.5."),
]
Cdf = Annotated[list[float] | None, typer.Option("--cdf", help="A number: the share of people up to here.")]
Share = Annotated[
    tuple[float, float] | None,
    typer.Option("--share", help="A number: the share of people from the first to the second."),
]
Figures = tuple[bool, Sequence[float], Sequence[float], tuple[float, float] | None]


def figures(number: "Number", asked: Figures, level: float) -> list["Value"]:
    """Return the figures that were asked for, in the order of the options."""
    mean, quantiles, cdfs, share = asked
    values = [number.mean(level)] if mean else []
    values += [number.quantile(q, level) for q in quantiles]
    values += [number.cdf(at, level) for at in cdfs]
    return values + ([] if share is None else [number.share(*share, level)])


def refuse_figures(asked: Figures) -> None:
    """Refuse options of numbers for what is no number."""
    if any(map(bool, asked)):
        raise ParameterError(
            "fldp: --mean, --quantile, --cdf and --share are for a number: give --survey, and its --question of several"
        )


def show_number(number: "Number", asked: Figures, level: float, form: str) -> None:
    """Print a number, or the figures of it that were asked for."""
    from fldp.presentation import number as number_view
    from fldp.presentation import tables

    values = figures(number, asked, level)
    if form == "json":
        typer.echo(number_view.as_json(number, level, values))
    elif form == "csv":
        rows = [number_view.value_facts(value) for value in values] or number_view.rows(number, level)
        typer.echo(tables.csv_text(rows[0], rows), nl=False)
    elif values:
        tables.show(number_view.summary_table(number, level, values), *number_view.value_notes(number, values))
    else:
        tables.show(*number_view.number_parts(number, level))


def show_plan(users: int, epsilon: float | None, bins: int | None, goal: str, as_json: bool) -> None:
    """Print a plan for a number."""
    from fldp.estimation.number_planner import plan_number
    from fldp.presentation import number as number_view
    from fldp.presentation import tables

    if epsilon is None:
        raise ParameterError("fldp: plan --number needs --users and --epsilon")
    plan = plan_number(users, epsilon, bins=bins, goal=goal)
    if as_json:
        typer.echo(json.dumps(number_view.plan_facts(plan), indent=1))
    else:
        tables.show(number_view.plan_table(plan), *number_view.PLAN_NOTES, number_view.plan_sentence(plan))
