"""The commands about surveys of a collector."""

from pathlib import Path
from typing import Annotated

import typer

from fldp.cli.connecting import Collector, InsecureHttp, To, TokenText, show_rows
from fldp.cli.options import note
from fldp.cli.survey_commands import surveys

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[str, typer.Argument(help="The survey's name.")]
Version = Annotated[str | None, typer.Option(help="Only this version of it, 64 hexadecimal digits.")]


@surveys.command()
def create(
    survey: Annotated[Path, typer.Argument(help="A survey, as TOML or JSON.")],
    to: To,
    token: TokenText = None,
    as_json: AsJson = False,
    insecure_http: InsecureHttp = False,
) -> None:
    """Publish a survey at a collector; once more changes nothing, and a changed one is a new version."""
    from fldp import render
    from fldp.client.messages import clean
    from fldp.survey import Survey

    found = Survey.load(survey)
    with Collector(to, token, insecure_http).connected() as client:
        made = client.create(found)
    known = [name for name in ("name", "version", "created", "closed", "state", "submit") if name in made]
    render.show_facts({name: None if made[name] is None else clean(made[name], 100) for name in known}, as_json)


@surveys.command("list")
def list_(to: To, token: TokenText = None, as_json: AsJson = False, insecure_http: InsecureHttp = False) -> None:
    """List the surveys of a collector, newest first."""
    with Collector(to, token, insecure_http).connected() as client:
        found = client.surveys()
    show_rows(found, ("name", "version", "state", "n", "created", "question"), as_json)


@surveys.command()
def show(
    name: Name,
    to: To,
    version: Version = None,
    token: TokenText = None,
    as_json: AsJson = False,
    insecure_http: InsecureHttp = False,
) -> None:
    """Show a survey as a collector publishes it, its version computed anew."""
    from fldp import render

    with Collector(to, token, insecure_http).connected() as client:
        found = client.survey(name, version=version)
    render.show_facts({"state": found.state, **render.survey_facts(found.survey)}, as_json)


@surveys.command()
def close(
    name: Name,
    to: To,
    version: Version = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Close a survey: no more reports are taken."""
    with Collector(to, token, insecure_http).connected() as client:
        client.close(name, version=version)
    note(f"survey {name} is closed")


@surveys.command()
def delete(
    name: Name,
    to: To,
    version: Version = None,
    everything: Annotated[bool, typer.Option("--all", help="All versions of it.")] = False,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Delete a survey with everything that was collected; name a --version, or say --all."""
    with Collector(to, token, insecure_http).connected() as client:
        client.delete(name, version=version, all=everything)
    note(f"survey {name} is deleted")
