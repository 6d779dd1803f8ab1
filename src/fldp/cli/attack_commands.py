"""The command that attacks."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fldp.cli import app
from fldp.cli.options import Candidates, Subject, needed, note, progress, takes_oracle
from fldp.constraints import one_of
from fldp.errors import ParameterError


@app.command()
@takes_oracle
def attack(
    repeats: Annotated[int, typer.Option(help="Up to how many reports of one value.")] = 64,
    prior: Annotated[
        str | None, typer.Option(help="Values that the attacker knows the population by, as for privatize.")
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column of the values, in CSV or Parquet.")] = None,
    draws: Annotated[
        int | None, typer.Option(help="How many people to simulate; 2,000 unless given, fewer for large domains.")
    ] = None,
    candidates: Candidates = None,
    seed: Annotated[int, typer.Option(help="The seed of the simulation.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Save a picture, as PNG or SVG by its name.")] = None,
    subject: Subject | None = None,
) -> None:
    """Attack: how often a guess is right after one report and after many, and when the value is known for certain."""
    from fldp import attack_view, render

    _check(repeats, draws, prior, column)
    if plot is not None:
        one_of(".png", ".svg")("fldp", "the ending of --plot", plot.suffix)
    about = needed(subject).among(candidates)
    known = None if prior is None else _population(about, prior, column)
    found = _attacked(about, known, repeats, _affordable(about, repeats) if draws is None else draws, seed)
    if as_json:
        typer.echo(attack_view.as_json(found))
    else:
        render.show_facts(attack_view.facts(found), as_json=False)
        render.show("", attack_view.averaging_table(found), attack_view.ADVICE)
    if plot is not None:
        attack_view.save_picture(found, plot)
        note(f"saved {plot}")


def _check(repeats: int, draws: int | None, prior: str | None, column: str | None) -> None:
    """Refuse what the attacks would refuse, by the names of the options."""
    from fldp.privacy.attack import draws_of, most_of

    most_of("fldp", "--repeats", repeats)
    if draws is not None:
        draws_of("fldp", "--draws", draws)
    if column is not None and prior is None:
        raise ParameterError("fldp: --column needs --prior")


def _attacked(about: Subject, prior: Any, most: int, draws: int, seed: int) -> Any:
    from fldp.attack_view import Findings
    from fldp.privacy.attack import averaging, bayes
    from fldp.privacy.elimination import repeats

    oracle = about.listed
    with progress("one report", draws) as advance:
        guess = bayes(oracle, prior, draws=draws, rng=seed, progress=advance)
    with progress("until known", draws) as advance:
        ended = repeats(oracle, trials=draws, rng=seed, progress=advance)
    with progress("many reports", draws * most) as advance:
        return Findings(guess, ended, averaging(oracle, prior, most=most, trials=draws, rng=seed, progress=advance))


def _affordable(about: Subject, most: int) -> int:
    """Return how many people can be simulated in a few seconds, at least 100."""
    return min(2000, max(100, (1 << 28) // (about.listed.domain_size * max(1, most))))


def _population(about: Subject, path: str, column: str | None) -> Any:
    """Return how many hold each value in a file; unknown labels and missing values are left out."""
    from fldp.sources import Encoder, read_cells

    encoder, counts = Encoder(about.as_survey.value, "drop"), np.zeros(about.listed.domain_size, np.int64)
    for cells in read_cells(path, column):
        counts += np.bincount(encoder.encode(cells), minlength=len(counts))
    note(encoder.summary())
    return counts
