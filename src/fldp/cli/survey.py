"""The commands about surveys."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli.collector_options import (
    CollectorOptions,
    InsecureHttp,
    Name,
    To,
    TokenText,
    Version,
    full_version,
    show_rows,
)
from fldp.cli.options import AsJson, Column, Output, note
from fldp.cli.shell import app
from fldp.errors import FldpError, ParameterError
from fldp.support.atomic_files import open_output
from fldp.support.validation import counted

if TYPE_CHECKING:
    from fldp.support.canonical_json import Json
    from fldp.survey.survey import Survey

surveys = typer.Typer(help="Write, check, publish, list, close, reopen and delete surveys.", no_args_is_help=True)
app.add_typer(surveys, name="survey")


@surveys.command()
def init(
    values: Annotated[str, typer.Argument(help="CSV, Parquet, or one value per line; - is standard input.")],
    column: Column = None,
    name: Annotated[str, typer.Option(help="The survey's name.")] = "survey",
    question: Annotated[str, typer.Option(help="The question.")] = "What is your value?",
    epsilon: Annotated[float, typer.Option(help="The epsilon to suggest parameters for.")] = 1.0,
    questions: Annotated[
        bool, typer.Option("--questions", help="A question for each column, all in one report.")
    ] = False,
    cross: Annotated[str, typer.Option(help="With --questions: see all pairs of them together, or none.")] = "none",
    users: Annotated[
        int | None, typer.Option(min=1, help="With --questions: how many people to expect; as many as there are rows.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write labels that look like identifiers; a survey is public.")
    ] = False,
    output: Output = "-",
) -> None:
    """Write a survey from data: its labels, and an oracle that suits them.

    With --questions every column is a question; a column with more than a dozen numbers is asked as a number.
    """
    text, count = (
        _several(values, name, epsilon, users, cross, force)
        if questions
        else _one(values, column, name, question, epsilon, force)
    )
    if output == "-":
        typer.echo(text, nl=False)
    else:
        with open_output(output) as file:
            file.write(text.encode())
        note(f"wrote {output}, from {counted(count, 'row' if questions else 'value')}")


def _one(values: str, column: str | None, name: str, question: str, epsilon: float, force: bool) -> tuple[str, int]:
    from fldp.survey.draft import draft
    from fldp.wire.cells import read_cells

    return draft(read_cells(values, column), name, question, epsilon, identifiers=force)


def _several(values: str, name: str, epsilon: float, users: int | None, cross: str, force: bool) -> tuple[str, int]:
    from fldp.survey.questions_draft import draft_questions
    from fldp.wire.record_cells import read_rows

    return draft_questions(read_rows(values), name, epsilon, users=users, cross=cross, identifiers=force)


@surveys.command()
def check(
    survey: Annotated[Path, typer.Argument(help="A survey, as TOML or JSON.")],
    as_json: AsJson = False,
) -> None:
    """Check a survey: every mistake with its line and exit code 1, or what it asks and gives away."""
    from fldp.presentation import tables
    from fldp.survey.survey import Survey, SurveyError

    try:
        loaded = Survey.load(survey, draft=True)
    except SurveyError as error:
        if not survey.exists():
            raise FldpError(str(error)) from None
        for mistake in error.mistakes:
            note(f"{survey}: {mistake}")
        raise typer.Exit(1) from None
    tables.show_facts({**tables.survey_facts(loaded), "answers": _answers(loaded, as_json)}, as_json)
    _warn_of_limits(loaded)


def _answers(survey: "Survey", as_json: bool) -> "Json":
    """Return how many surveys like this people can answer: a sentence, or the numbers for machines."""
    from fldp.participant.headroom import headroom

    room = headroom(survey)
    numbers: dict[str, Json] = {"on_topic": room.on_topic, "at_origin": room.at_origin, "warnings": [*room.warnings]}
    numbers |= {"in_a_month": room.in_a_month, "in_a_year": room.in_a_year} if room.period else {}
    return numbers if as_json else room.sentence


def _warn_of_limits(survey: "Survey") -> None:
    """Say so where devices with the default limits would not answer."""
    from fldp.participant.headroom import headroom

    for warning in headroom(survey).warnings:
        note(f"warning: nobody can answer survey {survey.name}: {warning}")


@surveys.command()
def create(
    survey: Annotated[Path, typer.Argument(help="A survey, as TOML or JSON.")],
    to: To,
    token: TokenText = None,
    as_json: AsJson = False,
    insecure_http: InsecureHttp = False,
) -> None:
    """Publish a survey at a collector; publishing it again changes nothing, a changed survey is a new version."""
    from fldp.client.messages import clean
    from fldp.presentation import tables
    from fldp.survey.survey import Survey

    loaded = Survey.load(survey)
    with CollectorOptions(to, token, insecure_http).connected() as client:
        reply = client.create(loaded)
    known = [name for name in ("name", "version", "created", "closed", "state", "submit") if name in reply]
    facts: dict[str, Any] = {name: None if reply[name] is None else clean(reply[name], 100) for name in known}
    facts |= {"page": _page(client.url, loaded), "answers": _answers(loaded, as_json)}
    tables.show_facts(facts if as_json else {name: fact for name, fact in facts.items() if fact is not None}, as_json)
    _warn_of_limits(loaded)


def _page(url: str, survey: "Survey") -> str | None:
    """Return the address at which people answer; None where programs answer, or where a relay has the page."""
    return None if survey.needs_relay or survey.collect["submit"] == "token" else f"{url}/s/{survey.name}"


@surveys.command("list")
def list_(to: To, token: TokenText = None, as_json: AsJson = False, insecure_http: InsecureHttp = False) -> None:
    """List the surveys of a collector, newest first."""
    with CollectorOptions(to, token, insecure_http).connected() as client:
        rows = client.surveys()
    if not as_json:
        rows = [{**row, "version": str(row["version"])[:12]} for row in rows]  # enough for --version
    show_rows(rows, ("name", "version", "state", "n", "created", "question"), as_json)


@surveys.command()
def show(
    name: Name,
    to: To,
    version: Version = None,
    token: TokenText = None,
    as_json: AsJson = False,
    insecure_http: InsecureHttp = False,
) -> None:
    """Show a survey as a collector publishes it, with its version recomputed."""
    from fldp.presentation import tables

    with CollectorOptions(to, token, insecure_http).connected() as client:
        published = client.survey(name, version=full_version(client, name, version))
    tables.show_facts({"state": published.state, **tables.survey_facts(published.survey)}, as_json)


@surveys.command()
def close(
    name: Name,
    to: To,
    version: Version = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Close a survey, all versions or --version: it takes no more reports."""
    with CollectorOptions(to, token, insecure_http).connected() as client:
        client.close(name, version=full_version(client, name, version))
    note(f"survey {name} is closed")


@surveys.command()
def reopen(
    name: Name,
    to: To,
    version: Version = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Reopen a closed survey, its newest version or --version."""
    with CollectorOptions(to, token, insecure_http).connected() as client:
        reply = client.reopen(name, version=full_version(client, name, version))
    note(f"survey {name}, version {str(reply['version'])[:12]}, is {reply['state']}")


@surveys.command()
def delete(
    name: Name,
    to: To,
    version: Version = None,
    everything: Annotated[bool, typer.Option("--all", help="All versions of it.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Delete a survey with everything that was collected: one --version, or --all."""
    if (version is None) == (not everything):
        raise ParameterError("fldp: say what to delete: one --version of the survey, or --all of them")
    with CollectorOptions(to, token, insecure_http).connected() as client:
        exact = full_version(client, name, version)
        if not yes:
            _ask_to_delete(name, [row for row in client.surveys() if row["name"] == name], exact)
        client.delete(name, version=exact, all=everything)
    note(f"survey {name} is deleted")


def _ask_to_delete(name: str, rows: list[dict[str, Any]], version: str | None) -> None:
    """Ask for confirmation, with what would be lost; refuse where nobody can be asked."""
    rows = [row for row in rows if version in (None, row["version"])]
    reports = sum(row.get("n") or 0 for row in rows)
    what = f"{counted(len(rows), 'version')} of survey {name} with {counted(reports, 'report')}"
    if not sys.stdin.isatty():
        raise ParameterError(f"fldp: this deletes {what} permanently; add --yes to confirm")
    if not typer.confirm(f"Delete {what} permanently?", err=True):
        raise ParameterError("fldp: nothing was deleted")
