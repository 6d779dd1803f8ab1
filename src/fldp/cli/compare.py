"""The command that compares two estimates."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli.options import Anytime, AsJson, Candidates, takes_oracle
from fldp.cli.oracle_options import OracleCommand
from fldp.cli.shell import app
from fldp.errors import ParameterError

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
    value: Annotated[
        str | None, typer.Option(help="Test only this value, chosen beforehand, without correcting for the others.")
    ] = None,
    other_survey: Annotated[
        Path | None,
        typer.Option(help="The survey of the later file, where it is another version with the same labels."),
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="How many of the clearest changes; a table shows 20.")] = None,
    as_json: AsJson = False,
    candidates: Candidates = None,
    subject: "Subject | None" = None,
) -> None:
    """Compare the shares of all values in two files: what changed, and what may be chance."""
    from fldp.presentation import comparison, tables

    options: dict[str, Any] = {"decoder": decoder} if decoder else {}
    later = subject if other_survey is None else _other(other_survey, subject)
    first, second = (_estimate(file, candidates, about, options) for file, about in ((before, subject), (after, later)))
    changes = first.compare(second, people=people, anytime=anytime)
    if value is not None:
        from fldp.estimation.ab_test import only

        changes = only(changes, _place(first, value))
    change = comparison.facts_of(changes, level, top if as_json else top or 20)
    if as_json:
        typer.echo(json.dumps(change, ensure_ascii=False, indent=1))
    else:
        tables.show(comparison.table(change), *comparison.notes(change))


def _other(path: Path, subject: "Subject | None") -> "Subject":
    """Return the survey of the later file; it must have the same labels."""
    from fldp.cli.subject import Subject
    from fldp.survey.survey import Survey

    other = Survey.load(path)
    if subject is None or subject.survey is None or other.labels != subject.survey.labels:
        raise ParameterError(
            "fldp: --other-survey needs --survey, and both must have the same labels in the same order"
        )
    return Subject(other.oracle, other)


def _place(estimate: "Estimate", value: str) -> int:
    """Return the number of a value by its label."""
    labels = estimate.labels or [str(number) for number in range(len(estimate.counts))]
    if value not in labels:
        raise ParameterError("fldp: --value must be one of the labels")
    return list(labels).index(value)


def _estimate(file: str, candidates: str | None, subject: "Subject | None", options: dict[str, Any]) -> "Estimate":
    from fldp.cli.subject import Subject, read_tally

    tally = read_tally(file, subject).tally
    return (subject or Subject(tally.oracle)).among(candidates).estimate(tally, **options)
