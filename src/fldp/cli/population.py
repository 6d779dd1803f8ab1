"""The command that estimates shares of a population."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from fldp.cli.options import AsJson, Candidates, takes_oracle
from fldp.cli.oracle_options import OracleCommand
from fldp.cli.shell import app

if TYPE_CHECKING:
    from fldp.cli.subject import Subject


@app.command(cls=OracleCommand)
@takes_oracle
def population(
    files: Annotated[list[str], typer.Argument(help="A tally, or reports; several where there are groups of people.")],
    weight: Annotated[
        list[float] | None,
        typer.Option(help="How many people of the population are in a group, or their share; once for each file."),
    ] = None,
    size: Annotated[int | None, typer.Option(help="The people of the population, where many of them answered.")] = None,
    level: Annotated[float, typer.Option(help="The level of the intervals.")] = 0.95,
    top: Annotated[int | None, typer.Option(min=1, help="How many of the largest; a table shows 20.")] = None,
    as_json: AsJson = False,
    candidates: Candidates = None,
    subject: "Subject | None" = None,
) -> None:
    """Estimate shares of the population that people were drawn from; intervals cover noise and sampling."""
    from fldp.cli.subject import Subject, read_tally
    from fldp.estimation.population import population as shares_of
    from fldp.presentation import population as population_view
    from fldp.presentation import tables

    tallies = [read_tally(file, subject).tally for file in files]
    about = [(subject or Subject(tally.oracle)).among(candidates) for tally in tallies]
    estimates = [each.estimate(tally) for each, tally in zip(about, tallies, strict=True)]
    shares = shares_of(estimates, weights=weight or None, size=size)
    if as_json:
        typer.echo(json.dumps(population_view.facts(shares, level), ensure_ascii=False, indent=1))
    else:
        tables.show(population_view.table(shares, level, top or 20), *population_view.notes(shares))
