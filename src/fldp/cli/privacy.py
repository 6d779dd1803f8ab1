"""The commands about privacy: verify, card, audit, attack."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli.options import (
    AsJson,
    Candidates,
    check_pictures,
    check_plot,
    needed,
    note,
    progress,
    takes_oracle,
)
from fldp.cli.oracle_options import OracleCommand
from fldp.cli.shell import app
from fldp.errors import ParameterError

if TYPE_CHECKING:
    from fldp.cli.subject import Subject
    from fldp.oracles.base.frequency_oracle import FrequencyOracle
    from fldp.privacy.auditor import Audit
    from fldp.privacy.auditor.external_command import Command
    from fldp.privacy.privacy_card import Card

SAMPLES, CONFIDENCE = 20_000, 0.99  # as fldp.privacy says, which is slow to load


class CardForm(StrEnum):
    """What a card is printed as."""

    TEXT = "text"
    JSON = "json"
    REGISTRY = "registry"
    SHEET = "sheet"


@app.command(cls=OracleCommand)
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
    subject: "Subject | None" = None,
) -> None:
    """Check the privacy of an implemented law, exactly; exit code 1 if it breaks what is declared or claimed."""
    from fldp.presentation import tables
    from fldp.privacy.laws import read_table
    from fldp.privacy.notions import parse
    from fldp.privacy.verifier import verifiable
    from fldp.privacy.verifier import verify as check

    if table is not None and subject is not None:
        raise ParameterError("fldp: give --table, or an oracle, not both")
    oracle = None if table is not None else needed(subject).among(candidates).chosen
    notion = None if claim is None else parse(claim)
    verification = check(verifiable(oracle) if oracle is not None else read_table(table or Path()), notion=notion)
    tables.show_facts(tables.verification_facts(verification, oracle, at or (), exactly=as_json), as_json)
    if verification.notion is not None and not verification.holds:
        raise typer.Exit(1)


@app.command(cls=OracleCommand)
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
    form: Annotated[
        CardForm, typer.Option("--format", help="text for people; registry or sheet for records of a survey.")
    ] = CardForm.TEXT,
    contact: Annotated[str | None, typer.Option(help="Whom to ask, for a registry entry or a sheet.")] = None,
    subject: "Subject | None" = None,
) -> None:
    """Print the privacy card: in plain words, what a report gives away and what all answers together show."""
    from fldp.presentation import card as card_view
    from fldp.privacy.privacy_card import card as card_for

    about = _explained(needed(subject).among(candidates))
    for path in output or ():
        card_view.check_ending(path)
        check_pictures()  # a page has pictures, too
    with progress("attacking, %", 100) as advance:
        result = card_for(about.card, users=users, rng=seed, progress=lambda done: advance(100 * done))
    result = replace(result, survey=about.survey)  # as it was published: among candidates it has another version
    typer.echo(_written(result, CardForm.JSON if as_json else form, contact), nl=False)
    for path in output or ():
        card_view.save_card(result, path)
        note(f"saved {path}")


def _written(result: "Card", form: CardForm, contact: str | None) -> str:
    from fldp.presentation import card as card_view
    from fldp.presentation import registry

    match form:
        case CardForm.TEXT:
            return card_view.as_text(result)
        case CardForm.JSON:
            return card_view.as_json(result)
        case CardForm.REGISTRY:
            return registry.as_registry(result, contact)
    return registry.as_sheet(result, contact)


_STRINGS = tuple(f"text {number}" for number in range(1, 9))


def _explained(about: "Subject") -> "Subject":
    """Return the subject of a card; without candidates, a few texts stand in for all that people may write."""
    from fldp.oracles.base.analysis import analysis

    whole = analysis(about.oracle)
    if about.candidates or whole.domain_size is not None or whole.answers is not None:
        return about
    note(f"no --candidates: {len(_STRINGS)} made-up texts stand in for them; among more, a guess is right less often")
    return replace(about, candidates=_STRINGS)


@app.command(cls=OracleCommand)
@takes_oracle
def audit(
    command: Annotated[
        str | None,
        typer.Option(help="A client to audit: called with a label and a count, it writes one batch of reports."),
    ] = None,
    samples: Annotated[int, typer.Option(help="How many reports of each value.")] = SAMPLES,
    confidence: Annotated[
        float, typer.Option(help="An honest client fails in at most 1 minus this of all audits.")
    ] = CONFIDENCE,
    value: Annotated[list[str] | None, typer.Option(help="A label to compare; give two or more.")] = None,
    candidates: Candidates = None,
    timeout: Annotated[float, typer.Option(help="Seconds that one call of the command may take.")] = 60.0,
    days: Annotated[
        int | None,
        typer.Option(
            help="Audit all reports of a person over this many days, for oracles with a stored first stage; "
            "the command then gets this number as well."
        ),
    ] = None,
    as_json: AsJson = False,
    subject: "Subject | None" = None,
) -> None:
    """Run an oracle, or a client of your own, many times; exit code 1 if its reports give away more than declared."""
    from fldp.presentation import audit as audit_view
    from fldp.presentation import tables
    from fldp.privacy.auditor import values_of
    from fldp.privacy.auditor.external_command import Command

    about = needed(subject).among(candidates)
    oracle, question = about.listed, about.question
    values = [int(v) for v in question.encode(value)] if value else values_of(oracle)
    client = None
    if command is not None:
        client = Command(command, oracle, label=question.label, survey=about.version, timeout=timeout)
    with progress("auditing", 2 * samples * len(values)) as advance:
        verdict = _audited(
            oracle, client, days, values=values, samples=samples, confidence=confidence, progress=advance
        )
    if as_json:
        typer.echo(audit_view.as_json(verdict, question.label, oracle, command, days))
    else:
        table = audit_view.audit_table(verdict, question.label)
        tables.show(table, *audit_view.notes(verdict, days), audit_view.given_away(verdict, oracle))
    if not verdict.holds:
        raise typer.Exit(1)


def _audited(oracle: "FrequencyOracle", client: "Command | None", days: int | None, **options: Any) -> "Audit":
    """Audit single reports, or with a number of days all reports of each person."""
    from fldp.privacy.auditor import audit, audit_histories

    if days is None:
        return audit(client or oracle, oracle=oracle, **options)
    return audit_histories(oracle, days=days, client=None if client is None else client.histories(days), **options)


@app.command(cls=OracleCommand)
@takes_oracle
def attack(
    repeats: Annotated[int, typer.Option(help="Up to how many reports of one value.")] = 64,
    prior: Annotated[
        str | None, typer.Option(help="Values from which the attacker knows the population, as for privatize.")
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column of the values, in CSV or Parquet.")] = None,
    draws: Annotated[
        int | None, typer.Option(help="How many people to simulate; 2,000 by default, fewer for large domains.")
    ] = None,
    candidates: Candidates = None,
    seed: Annotated[int, typer.Option(help="The seed of the simulation.")] = 0,
    as_json: AsJson = False,
    plot: Annotated[Path | None, typer.Option(help="Save a picture, as PNG or SVG by its name.")] = None,
    subject: "Subject | None" = None,
) -> None:
    """Attack an oracle: how often a guess is right after one report and after many, and when the value is certain."""
    from fldp.presentation import attack as attack_view
    from fldp.presentation import tables
    from fldp.privacy.attacker import attack as carry_out

    _check(repeats, draws, prior, column)
    check_plot(plot)
    about = needed(subject).among(candidates)
    population = None if prior is None else _population(about, prior, column)
    with progress("attacking, %", 100) as advance:
        options: dict[str, Any] = {"repeats": repeats, "draws": draws, "rng": seed}
        results = carry_out(about.listed, population, **options, progress=lambda share: advance(100 * share))
    if as_json:
        typer.echo(attack_view.as_json(results))
    else:
        tables.show_facts(attack_view.facts(results), as_json=False)
        tables.show("", attack_view.averaging_table(results), attack_view.SIMULATED, attack_view.ADVICE)
    if plot is not None:
        attack_view.save_picture(results, plot)
        note(f"saved {plot}")


def _check(repeats: int, draws: int | None, prior: str | None, column: str | None) -> None:
    """Check the options of the attacks, so that messages name the options."""
    from fldp.privacy.bayes_attack import draws_of, most_of

    most_of("fldp", "--repeats", repeats)
    if draws is not None:
        draws_of("fldp", "--draws", draws)
    if column is not None and prior is None:
        raise ParameterError("fldp: --column needs --prior")


def _population(about: "Subject", path: str, column: str | None) -> Any:
    """Count the values in a file; unknown labels and missing values are left out."""
    import numpy as np

    from fldp.wire.cells import Encoder, read_cells

    encoder, counts = Encoder(about.question.value, "drop"), np.zeros(about.listed.domain_size, np.int64)
    for cells in read_cells(path, column):
        counts += np.bincount(encoder.encode(cells), minlength=len(counts))
    note(encoder.summary())
    return counts
