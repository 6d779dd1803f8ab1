"""The command that compares two estimates."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli.options import Anytime, AsJson, Candidates, takes_oracle
from fldp.cli.oracle_options import OracleCommand
from fldp.cli.shell import app

if TYPE_CHECKING:
    from fldp.cli.subject import Subject
    from fldp.data.estimate import Estimate


@app.command(cls=OracleCommand)
@takes_oracle
def compare(
    before: Annotated[str, typer.Argument(help="A tally, or reports.")],
    after: Annotated[str, typer.Argument(help="A later tally, or reports, of other people or with new noise.")],
    people: Annotated[
        str, typer.Option(help="About whom: population (all who could have reported), or respondents.")
    ] = "population",
    decoder: Annotated[str | None, typer.Option(help="fhr: full (default) or paper.")] = None,
    level: Annotated[float, typer.Option(help="The level of the intervals and tests, for all values at once.")] = 0.95,
    anytime: Anytime = None,
    top: Annotated[int | None, typer.Option(min=1, help="How many of the clearest changes; a table shows 20.")] = None,
    as_json: AsJson = False,
    candidates: Candidates = None,
    subject: "Subject | None" = None,
) -> None:
    """Compare the shares of all values in two files: what changed, and what may be chance."""
    from fldp.presentation import comparison, tables

    options: dict[str, Any] = {"decoder": decoder} if decoder else {}
    first, second = (_estimate(file, candidates, subject, options) for file in (before, after))
    change = comparison.facts(first, second, level, people=people, top=top if as_json else top or 20, anytime=anytime)
    if as_json:
        typer.echo(json.dumps(change, ensure_ascii=False, indent=1))
    else:
        tables.show(comparison.table(change), *comparison.notes(change))


def _estimate(file: str, candidates: str | None, subject: "Subject | None", options: dict[str, Any]) -> "Estimate":
    from fldp.cli.subject import Subject, read_tally

    tally = read_tally(file, subject).tally
    return (subject or Subject(tally.oracle)).among(candidates).estimate(tally, **options)
