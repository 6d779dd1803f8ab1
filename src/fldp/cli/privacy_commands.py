"""The commands about what a report gives away."""

from pathlib import Path
from typing import Annotated

import typer

from fldp.cli import app
from fldp.cli.commands import AsJson
from fldp.cli.options import Candidates, Subject, needed, note, progress, takes_oracle
from fldp.errors import ParameterError


@app.command()
@takes_oracle
def verify(
    table: Annotated[
        Path | None,
        typer.Option(help="A law of your own: CSV, a row a value, probabilities such as 0.25 or 1/3."),
    ] = None,
    claim: Annotated[
        str | None, typer.Option(help='What to check, such as "LDP(1)", "FLDP(1, 1/2)" or "ApproximateLDP(1, 1e-6)".')
    ] = None,
    at: Annotated[list[float] | None, typer.Option(help="Show the delta at this epsilon, too; repeatable.")] = None,
    candidates: Candidates = None,
    as_json: AsJson = False,
    subject: Subject | None = None,
) -> None:
    """Check the privacy of an implemented law, exactly; exit code 1 if it is not what is declared or claimed."""
    from fldp import render
    from fldp.privacy.laws import read_table
    from fldp.privacy.notions import parse
    from fldp.privacy.verify import verifiable
    from fldp.privacy.verify import verify as check

    if table is not None and subject is not None:
        raise ParameterError("fldp: give --table, or an oracle, not both")
    oracle = None if table is not None else needed(subject).among(candidates).chosen
    notion = None if claim is None else parse(claim)
    found = check(verifiable(oracle) if oracle is not None else read_table(table or Path()), notion=notion)
    render.show_facts(render.verification_facts(found, oracle, at or ()), as_json)
    if found.notion is not None and not found.holds:
        raise typer.Exit(1)


@app.command()
@takes_oracle
def card(
    users: Annotated[int, typer.Option(help="How many people will answer.")],
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Save it as .html, .png or .svg, by its name; repeatable."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the simulated attacks.")] = None,
    candidates: Candidates = None,
    as_json: AsJson = False,
    subject: Subject | None = None,
) -> None:
    """Print the card: what a report gives away, in plain words, and what the answers of all are good for."""
    from fldp import card_view
    from fldp.privacy.card import card as made_for

    about = needed(subject).among(candidates)
    for path in output or ():
        card_view.check_ending(path)
    with progress("attacking, %", 100) as advance:
        shown = about.as_survey if about.survey else about.listed
        made = made_for(shown, users=users, rng=seed, progress=lambda done: advance(100 * done))
    typer.echo(card_view.as_json(made) if as_json else card_view.as_text(made), nl=False)
    for path in output or ():
        card_view.save_card(made, path)
        note(f"saved {path}")
