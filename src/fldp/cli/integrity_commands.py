"""The commands about people who lie: whether reports look honest, and what fakes achieve."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fldp import batches
from fldp.cli import app
from fldp.cli.commands import AsJson, size_of
from fldp.cli.options import Subject, note, progress, takes_oracle
from fldp.constraints import integer, one_of


@app.command()
@takes_oracle
def integrity(
    file: Annotated[str, typer.Argument(help="Reports, or a tally; - is standard input.")] = "-",
    false_alarm: Annotated[
        float, typer.Option(help="Honest reports are called dishonest with this probability at most.")
    ] = 0.001,
    recover: Annotated[bool, typer.Option("--recover", help="Also estimate without the fakes that show.")] = False,
    as_json: AsJson = False,
    subject: Subject | None = None,
) -> None:
    """Test whether reports look as honest ones do, whatever the data; exit code 1 if they do not."""
    from fldp import integrity_view, privacy, render

    oracle, version = (subject.oracle, subject.version) if subject else (None, None)
    with progress("reading", size_of([file])) as advance:
        source = batches.source(file, oracle, version, advance)
    with progress("testing", None):
        found = privacy.integrity(source, false_alarm=false_alarm)
        made = privacy.recover(source, found) if recover else None
    survey = subject.survey if subject else None
    label = survey.label if survey else str
    if made is not None and survey is not None:
        made = replace(made, labels=survey.labels)
    if as_json:
        more = {} if made is None else {"recovered": integrity_view.recovery_facts(made)}
        typer.echo(json.dumps(integrity_view.facts(found, label) | more, ensure_ascii=False, indent=1))
    else:
        render.show(integrity_view.findings_table(found, label), *integrity_view.notes(found, label))
        if made is not None:
            render.show("", render.estimate_table(made, 0.95, 20), *integrity_view.recovery_notes(made))
    if not found.passed:
        raise typer.Exit(1)


@app.command()
def poisoning(
    epsilon: Annotated[float, typer.Option(help="The epsilon of all oracles.")] = 1.0,
    domain: Annotated[int, typer.Option(help="The number of values.")] = 64,
    targets: Annotated[int, typer.Option(help="How many values the fakes promote.")] = 5,
    users: Annotated[int, typer.Option(help="How many users there are, fakes included.")] = 50_000,
    share: Annotated[float, typer.Option(help="The share of fakes.")] = 0.05,
    seed: Annotated[int, typer.Option(help="The seed of the simulation.")] = 0,
    as_json: AsJson = False,
    plot: Annotated[Path | None, typer.Option(help="Save a picture of the gains, as PNG or SVG by its name.")] = None,
) -> None:
    """Measure what fake users achieve on every oracle, with and without tickets, and which tests see them."""
    import numpy as np

    from fldp import poisoning_view, render
    from fldp.privacy.poisoning.measure import oracles_for, outcomes

    if plot is not None:
        one_of(".png", ".svg")("fldp", "the ending of --plot", plot.suffix)
    oracles = oracles_for(epsilon, domain)
    count = integer(1, domain)("fldp", "--targets", targets)
    chosen = np.sort(np.random.default_rng(seed).choice(domain, count, replace=False))
    with progress("attacking", 4 * len(oracles)) as advance:
        found = [
            one
            for oracle in oracles
            for one in outcomes(oracle, chosen, users=users, share=share, rng=seed, progress=advance)
        ]
    if as_json:
        typer.echo(poisoning_view.as_json(found, chosen))
    else:
        render.show(poisoning_view.outcome_table(found), f"Targets: {', '.join(map(str, chosen))}.")
    if plot is not None:
        poisoning_view.save_picture(oracles, found, chosen, plot)
        note(f"saved {plot}")
