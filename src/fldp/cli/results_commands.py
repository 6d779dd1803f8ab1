"""The commands that get results from a collector: estimates, and raw reports."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli import app
from fldp.cli.connecting import Collector, InsecureHttp, To, TokenText, told
from fldp.cli.options import progress
from fldp.constraints import one_of
from fldp.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table

    from fldp.client import Published

Name = Annotated[str, typer.Argument(help="The survey's name.")]
Version = Annotated[
    str | None, typer.Option(help="This version of it, 64 hexadecimal digits, not the newest open one.")
]
Since = Annotated[str | None, typer.Option("--since", "--from", help="The first UTC day, such as 2026-11-01.")]
Until = Annotated[str | None, typer.Option(help="The last UTC day.")]
_SHOWN = 20


@app.command()
def estimates(
    name: Name,
    to: To,
    version: Version = None,
    top: Annotated[int | None, typer.Option(help="How many of the largest; a table shows 20 unless told.")] = None,
    level: Annotated[float, typer.Option(help="The level of the intervals.")] = 0.95,
    decoder: Annotated[str | None, typer.Option(help="fhr: full (default) or paper.")] = None,
    post: Annotated[str | None, typer.Option(help="Post-processing, biased: clip, norm-sub or simplex.")] = None,
    since: Since = None,
    until: Until = None,
    form: Annotated[str, typer.Option("--format", help="text, json, csv or parquet.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    output: Annotated[str | None, typer.Option("-o", "--output", help="Where to write; - is standard output.")] = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Show or save what a collector estimates: how many people hold each value, with error bars."""
    form = str(one_of("text", "json", "csv", "parquet")("fldp", "--format", "json" if as_json else form))
    if form == "text" and output is not None:
        raise ParameterError("fldp: a table is only shown; name a --format to save: json, csv or parquet")
    asked: dict[str, Any] = {"level": level, "decoder": decoder, "post": post, "since": since, "until": until}
    with told(), Collector(to, token, insecure_http).connected() as client:
        found = client.survey(name, version=version)
        if form == "text":
            _show(client.estimates(found.survey, top=top or _SHOWN, **asked), found)
        elif form == "json" and output is None:
            typer.echo(json.dumps(client.estimates(found.survey, top=top, **asked), indent=1))
        else:
            with progress("saving", None) as advance:
                client.save_estimates(found.survey, output or "-", format=form, top=top, progress=advance, **asked)


def _show(found: dict[str, Any], published: "Published") -> None:
    from fldp import render
    from fldp.client.messages import clean

    method = f"By {clean(found.get('method'), 60)}: biased. " if found.get("biased") else ""
    about = f"{method}{found['n']:,} reports of survey version {published.version[:12]}, which is {published.state}."
    render.show(_table(found, published), about, render.exposure(published.survey.oracle))


def _table(found: dict[str, Any], published: "Published") -> "Table":
    from rich.table import Table
    from rich.text import Text

    from fldp.client.messages import clean

    size = published.survey.domain_size
    of = "" if size is None else f" of {size:,}"
    table = Table(title=f"The {len(found['rows']):,} largest{of} estimates")
    table.title_justify = "left"
    table.add_column("value")
    for heading in ("estimate", "std. error", f"{100 * found['level']:.4g} % interval", "share"):
        table.add_column(heading, justify="right")
    for row in found["rows"]:
        interval = f"{row['low']:,.1f} .. {row['high']:,.1f}"
        cells = (f"{row['count']:,.1f}", f"{row['stderr']:,.1f}", interval, f"{row['frequency']:.3%}")
        table.add_row(Text(clean(row["label"], 200)), *cells)
    return table
