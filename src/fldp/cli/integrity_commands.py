"""The command that asks whether reports look honest."""

import json
from dataclasses import replace
from typing import Annotated

import typer

from fldp import batches
from fldp.cli import app
from fldp.cli.commands import AsJson, size_of
from fldp.cli.options import Subject, progress, takes_oracle


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
