"""The commands about surveys."""

from pathlib import Path
from typing import Annotated

import typer

from fldp.cli import app
from fldp.cli.options import note
from fldp.errors import FldpError
from fldp.files import written

surveys = typer.Typer(help="Write and check surveys.", no_args_is_help=True)
app.add_typer(surveys, name="survey")


@surveys.command()
def init(
    values: Annotated[str, typer.Argument(help="CSV, Parquet, or one value per line; - is standard input.")],
    column: Annotated[str | None, typer.Option(help="The column of a CSV or Parquet file.")] = None,
    name: Annotated[str, typer.Option(help="The survey's name.")] = "survey",
    question: Annotated[str, typer.Option(help="The question.")] = "What is your value?",
    epsilon: Annotated[float, typer.Option(help="The epsilon to suggest parameters for.")] = 1.0,
    output: Annotated[str, typer.Option("-o", "--output", help="Where to write; - is standard output.")] = "-",
) -> None:
    """Write a survey from data: its labels, and an oracle that suits them."""
    from fldp.sources import read_cells
    from fldp.survey_init import draft

    text, users = draft(read_cells(values, column), name, question, epsilon)
    if output == "-":
        typer.echo(text, nl=False)
    else:
        with written(output) as file:
            file.write(text.encode())
        note(f"wrote {output}, from {users:,} values")


@surveys.command()
def check(
    survey: Annotated[Path, typer.Argument(help="A survey, as TOML or JSON.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a survey: every mistake with its line and exit code 1, or what it asks and gives away."""
    from fldp import render
    from fldp.survey import Survey, SurveyError

    try:
        found = Survey.load(survey, draft=True)
    except SurveyError as error:
        if not survey.exists():
            raise FldpError(str(error)) from None
        for mistake in error.mistakes:
            note(f"{survey}: {mistake}")
        raise typer.Exit(1) from None
    render.show_facts(render.survey_facts(found), as_json)
