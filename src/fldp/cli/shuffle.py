"""The command that says what a crowd adds."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fldp.cli.options import AsJson, check_plot, needed, note, takes_oracle
from fldp.cli.oracle_options import OracleCommand
from fldp.cli.shell import app

if TYPE_CHECKING:
    from fldp.cli.subject import Subject

HONEST = 0.5  # as fldp.oracles.shuffle_privacy says, which is slow to load


@app.command(cls=OracleCommand)
@takes_oracle
def shuffle(
    reports: Annotated[int, typer.Option(help="How many reports are in the published totals.")],
    delta: Annotated[
        float | None, typer.Option(help="The delta; by default 1e-6, or a tenth of one honest person if that is less.")
    ] = None,
    honest: Annotated[float, typer.Option(help="The least share of honest reports.")] = HONEST,
    as_json: AsJson = False,
    plot: Annotated[Path | None, typer.Option(help="Save epsilon against reports, as PNG or SVG by its name.")] = None,
    subject: "Subject | None" = None,
) -> None:
    """Compute how much a crowd adds to the privacy of a report, against somebody who sees published totals only."""
    from fldp.oracles.shuffle_privacy import shuffled
    from fldp.presentation import shuffle_privacy as crowd_view
    from fldp.presentation import tables

    check_plot(plot)
    about = needed(subject)
    crowd = shuffled(about.oracle, reports, delta=delta, honest=honest)
    facts = crowd_view.facts(crowd, about.oracle, about.survey)
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        tables.show_facts(crowd_view.shown(facts), as_json=False)
        tables.show("", *crowd_view.words(crowd, about.oracle, about.survey))
    if plot is not None:
        crowd_view.save_curve(crowd, about.oracle, plot)
        note(f"saved {plot}")
