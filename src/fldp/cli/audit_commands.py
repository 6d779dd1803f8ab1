"""The command that runs a black box and judges it by its outputs."""

from typing import Annotated

import typer

from fldp.cli import app
from fldp.cli.options import Candidates, Subject, needed, progress, takes_oracle
from fldp.oracle import FrequencyOracle
from fldp.privacy.audit import CONFIDENCE, SAMPLES


@app.command()
@takes_oracle
def audit(
    command: Annotated[
        str | None,
        typer.Option(help="A client to audit: called with a label and a count, it writes one batch of reports."),
    ] = None,
    samples: Annotated[int, typer.Option(help="How many reports of each value.")] = SAMPLES,
    confidence: Annotated[
        float, typer.Option(help="What is honest is accused in at most 1 minus this of all audits.")
    ] = CONFIDENCE,
    value: Annotated[list[str] | None, typer.Option(help="A label to compare; give two or more.")] = None,
    candidates: Candidates = None,
    timeout: Annotated[float, typer.Option(help="Seconds that one call of the command may take.")] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    subject: Subject | None = None,
) -> None:
    """Run an oracle, or a client of your own, many times; exit code 1 if its reports give away more than declared."""
    from fldp import audit_view, render
    from fldp.privacy.audit import audit as run
    from fldp.privacy.audit import values_of
    from fldp.privacy.audit.command import Command

    about = needed(subject).among(candidates)
    oracle, survey = about.listed, about.as_survey
    values = [int(v) for v in survey.encode(value)] if value else values_of(oracle)
    client: Command | FrequencyOracle = oracle
    if command is not None:
        client = Command(command, oracle, label=survey.label, survey=about.version, timeout=timeout)
    with progress("auditing", 2 * samples * len(values)) as advance:
        found = run(
            client, oracle=oracle, values=values, samples=samples, confidence=confidence, progress=advance
        )  # fmt: skip
    if as_json:
        typer.echo(audit_view.as_json(found, survey.label, oracle, command))
    else:
        table = audit_view.audit_table(found, survey.label)
        render.show(table, *audit_view.notes(found), render.exposure(oracle))
    if not found.holds:
        raise typer.Exit(1)
