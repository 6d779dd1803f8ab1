"""The command that says which oracle to take."""

from pathlib import Path
from typing import Annotated

import typer

from fldp.cli import app
from fldp.cli.options import note
from fldp.constraints import one_of, positive
from fldp.errors import ParameterError


@app.command()
def plan(
    users: Annotated[int, typer.Option(help="How many people will answer.")],
    domain: Annotated[int | None, typer.Option(help="The number of values.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="The epsilon of a report.")] = None,
    survey: Annotated[Path | None, typer.Option(help="A survey, for its values and epsilon instead.")] = None,
    eta: Annotated[float | None, typer.Option(help="The least eta that is acceptable; plain LDP unless given.")] = None,
    target_error: Annotated[
        float | None, typer.Option(help="A standard error, as a share of the users: what would it take?")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Save error against epsilon, as PNG or SVG by its name.")] = None,
) -> None:
    """Compare the oracles for a question: error, bits, work, what a report gives away; and recommend one."""
    from fldp import plan_view, render
    from fldp.plan import plan as made_for

    if plot is not None:
        one_of(".png", ".svg")("fldp", "the ending of --plot", plot.suffix)
    if target_error is not None:
        positive("fldp", "--target-error", target_error)
    size, budget = _question(survey, domain, epsilon)
    made = made_for(domain_size=size, users=users, epsilon=budget, eta=eta)
    if as_json:
        typer.echo(plan_view.as_json(made, target_error))
    else:
        render.show(plan_view.plan_table(made), *plan_view.NOTES, *plan_view.skipped_notes(made), made.reason)
        if target_error is not None:
            render.show(plan_view.needs_table(made, target_error))
    if plot is not None:
        plan_view.save_curves(made, plot)
        note(f"saved {plot}")


def _question(survey: Path | None, domain: int | None, epsilon: float | None) -> tuple[int, float]:
    """Return the number of values and the epsilon, from a survey or as given."""
    if survey is not None:
        from fldp.oracle import FrequencyOracle
        from fldp.survey import Survey

        if domain is not None or epsilon is not None:
            raise ParameterError("fldp: give --survey, or --domain and --epsilon, not both")
        oracle = Survey.load(survey).oracle
        if not isinstance(oracle, FrequencyOracle):
            raise ParameterError(f"fldp: plan compares oracles over values that are listed, got {oracle!r}")
        return oracle.domain_size, oracle.epsilon
    if domain is None or epsilon is None:
        raise ParameterError("fldp: plan needs --domain and --epsilon, or --survey")
    return domain, epsilon
